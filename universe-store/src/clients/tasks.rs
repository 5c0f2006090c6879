//! Tasks of the nodes' clients: records with an owner and a time to live, each run by one node.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::nodes::Unavailable;

/// The bounds of [`Tasks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskBounds {
    /// The most tasks of one client, on all nodes. 2,000 by default.
    pub tasks_per_client: usize,
    /// The most bytes kept for the tasks of one client, on all nodes. Checked when a task is started. 64 MiB by
    /// default.
    pub bytes_per_client: usize,
    /// The maximum size of one record, in bytes. 16 MiB by default.
    pub record_bytes: usize,
}

/// Why a task was not kept, found or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The store does not answer, or takes no writes.
    #[error("the store is unavailable")]
    Unavailable,
    /// The client has reached its limit.
    #[error("a client has at most {tasks} tasks, and {bytes} bytes in them")]
    Full {
        /// The most tasks of a client.
        tasks: usize,
        /// The most bytes of a client's tasks together.
        bytes: usize,
    },
    /// The content of the task is too large.
    #[error("a task has at most {max} bytes")]
    TooLarge {
        /// The limit, in bytes.
        max: usize,
    },
}

/// A task as read from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name, if it has an owner.
    pub name: Option<String>,
    /// Later tasks have greater numbers.
    pub number: u64,
    /// How often it was replaced.
    pub version: u64,
    /// The rest of its time to live.
    pub ttl: Duration,
    /// Whether the node that ran it has ended.
    pub is_orphaned: bool,
    /// Its content.
    pub body: Vec<u8>,
}

/// The tasks of all nodes that use one store. A record is found by the hash of its name, and its owner is compared by a
/// hash. The name itself is stored only if the task also has an owner, so that reading the store does not give access
/// to any task. Times are those of the store's clock.
pub trait Tasks: fmt::Debug + Send + Sync {
    /// Stores a new task, which this node runs, for a limited time. Returns its number.
    ///
    /// # Errors
    /// [`TaskError`].
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        client: Option<&'a str>,
        ttl: Duration,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<u64, TaskError>>;

    /// The task of that name, if it belongs to this owner and has not expired. Its result is not read.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn load<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Found>, TaskError>>;

    /// The result of the task of that name, if it has one and has not expired.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn result<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, TaskError>>;

    /// At most `max` tasks of an owner that have numbers greater than `after` and have not expired, ordered by number.
    /// Their results are not read.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: u64,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Found>, TaskError>>;

    /// Replaces the body and result of a task if it still has this version, and notifies the other nodes. Returns
    /// whether it did. The version is then one higher.
    ///
    /// # Errors
    /// [`TaskError`].
    fn replace<'a>(
        &'a self,
        name: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> BoxFuture<'a, Result<bool, TaskError>>;

    /// Deletes a task, if it exists.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), TaskError>>;

    /// An item whenever another node may have changed a task. It is only a hint, and always comes after this node was
    /// disconnected for a while. Ends with the tasks.
    fn hints(&self, name: &str) -> BoxStream<'static, ()>;
}

impl TaskBounds {
    /// # Errors
    /// [`TaskError::TooLarge`].
    pub fn check(&self, bytes: usize) -> Result<(), TaskError> {
        let max = self.record_bytes;
        if bytes > max { Err(TaskError::TooLarge { max }) } else { Ok(()) }
    }
}

impl Default for TaskBounds {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self { tasks_per_client: 2_000, bytes_per_client: 64 * MIB, record_bytes: 16 * MIB }
    }
}

impl From<Unavailable> for TaskError {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

//! Tasks of the nodes' clients: records with an owner and a time, each run by one node.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::nodes::Unavailable;

/// The bounds of [`Tasks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskBounds {
    /// The most tasks of one client, over all nodes. 2,000 by default.
    pub tasks_per_client: usize,
    /// The most that is kept of the tasks of one client, over all nodes, in bytes; judged when one more is begun. 64
    /// MiB by default.
    pub bytes_per_client: usize,
    /// The most that is in one record, in bytes. 16 MiB by default.
    pub record_bytes: usize,
}

/// Why a task was not kept, found or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The store does not answer, or takes no writes.
    #[error("the store is unavailable")]
    Unavailable,
    /// The client has its share.
    #[error("a client has at most {tasks} tasks, and {bytes} bytes in them")]
    Full {
        /// How many tasks it may have.
        tasks: usize,
        /// How many bytes they may have together.
        bytes: usize,
    },
    /// What is in it is too large.
    #[error("a task has at most {max} bytes")]
    TooLarge {
        /// The bound that was met, in bytes.
        max: usize,
    },
}

/// A task as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Its name, where it has an owner.
    pub name: Option<String>,
    /// Later tasks have greater numbers.
    pub number: u64,
    /// How often it was replaced.
    pub version: u64,
    /// What is left of its time.
    pub ttl: Duration,
    /// Whether the node that ran it has ended.
    pub is_orphaned: bool,
    /// What is in it.
    pub body: Vec<u8>,
}

/// The tasks of all nodes that use one store. A record is found by the hash of its name, and its owner is compared by a
/// hash. The name itself is kept only where there is an owner besides: who reads the store can take part in no task.
/// The time is the store's.
pub trait Tasks: fmt::Debug + Send + Sync {
    /// Keeps a new task, which this node runs, for some time. Its number.
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

    /// The task of that name, if it is this owner's and its time is not over. Its result is not read.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn load<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Found>, TaskError>>;

    /// The result of the task of that name, if it has one and its time is not over.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn result<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, TaskError>>;

    /// At most `max` tasks of an owner whose numbers are greater than `after` and whose time is not over, by their
    /// numbers. Their results are not read.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: u64,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Found>, TaskError>>;

    /// Puts `body` and `result` in the place of what is there, if that still has this version, and notifies the other
    /// nodes. Whether it was done. The version is one more then.
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

    /// Takes a task out, if it is there.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), TaskError>>;

    /// Reports whenever another node may have changed a task: a hint only, and always one after this node had no
    /// connection for a while. Ends with the tasks.
    fn hints(&self, name: &str) -> BoxStream<'static, ()>;
}

impl TaskBounds {
    /// # Errors
    /// [`TaskError::TooLarge`].
    pub(crate) fn check(&self, bytes: usize) -> Result<(), TaskError> {
        let max = self.record_bytes;
        match bytes > max {
            true => Err(TaskError::TooLarge { max }),
            false => Ok(()),
        }
    }
}

impl Default for TaskBounds {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            tasks_per_client: 2_000,
            bytes_per_client: 64 * MIB,
            record_bytes: 16 * MIB,
        }
    }
}

impl From<Unavailable> for TaskError {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

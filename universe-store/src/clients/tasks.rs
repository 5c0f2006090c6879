//! Tasks of the nodes' clients: records with an owner and a time to live, each run by one node.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use futures_util::stream::BoxStream;

use super::nodes::Unavailable;
pub use super::records::Found;
use super::records::{Change, Id, Kind, Limit, Limits, New, Put, Records};
use crate::adapter::keys::{hash, task_key};

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

/// The tasks of all nodes that use one store. A record is found by the hash of its name, and its owner is compared by a
/// hash. The name itself is stored only if the task also has an owner, so that reading the store does not give access
/// to any task. Times are those of the store's clock.
#[derive(Debug, Clone)]
pub struct Tasks {
    records: Arc<dyn Records>,
    bounds: TaskBounds,
}

impl Tasks {
    /// The tasks among these records.
    pub fn new(records: Arc<dyn Records>, bounds: TaskBounds) -> Self {
        Self { records, bounds }
    }

    /// Stores a new task, which this node runs, for a limited time. Returns its number.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        client: Option<&str>,
        ttl: Duration,
        body: &[u8],
    ) -> Result<u64, TaskError> {
        self.check(body.len())?;
        let TaskBounds { tasks_per_client: tasks, bytes_per_client: bytes, .. } = self.bounds;
        let full = TaskError::Full { tasks, bytes };
        // A share's last task may exceed the limit of its bytes, by the size of one task at most.
        let before = bytes.checked_sub(1).ok_or(full)?;
        let (hashed_owner, client) = (owner.map(hashed), client.map(hashed));
        let new = New {
            share: client.as_deref(),
            owner: hashed_owner.as_deref(),
            name: owner.map(|_| name),
            limits: Limits { share: Limit { records: tasks, bytes: before }, ..Limits::default() },
            ..New::of(id(name), ttl, body)
        };
        match self.records.put(new).await? {
            Put::Stored(number) => Ok(number),
            Put::Full { .. } => Err(full),
            Put::Missing => Err(TaskError::Unavailable),
        }
    }

    /// The task of that name, if it belongs to this owner and has not expired. Its result is not read.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    pub async fn load(&self, name: &str, owner: Option<&str>) -> Result<Option<Found>, TaskError> {
        let found = self.records.read(id(name)).await?;
        Ok(found.filter(|found| found.owner == owner.map(hashed)))
    }

    /// The result of the task of that name, if it has one and has not expired.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    pub async fn result(&self, name: &str) -> Result<Option<Vec<u8>>, TaskError> {
        Ok(self.records.result(id(name)).await?)
    }

    /// At most `max` tasks of an owner that have numbers greater than `after` and have not expired, ordered by number.
    /// Their results are not read.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    pub async fn list(&self, owner: &str, after: u64, max: usize) -> Result<Vec<Found>, TaskError> {
        Ok(self.records.owned(&hashed(owner), after, max).await?)
    }

    /// Replaces the body and result of a task if it still has this version, and notifies the other nodes. Returns
    /// whether it did. The version is then one higher.
    ///
    /// # Errors
    /// [`TaskError`].
    pub async fn replace(
        &self,
        name: &str,
        version: u64,
        body: &[u8],
        result: Option<&[u8]>,
    ) -> Result<bool, TaskError> {
        self.check(body.len().saturating_add(result.map_or(0, <[u8]>::len)))?;
        let change = Change { version, body, result, lives: None };
        Ok(self.records.replace(id(name), change).await?)
    }

    /// Deletes a task, if it exists.
    ///
    /// # Errors
    /// [`TaskError::Unavailable`].
    pub async fn remove(&self, name: &str) -> Result<(), TaskError> {
        self.records.remove(id(name)).await?;
        Ok(())
    }

    /// An item whenever another node may have changed a task. It is only a hint, and always comes after this node was
    /// disconnected for a while. Ends with the tasks.
    pub fn hints(&self, name: &str) -> BoxStream<'static, ()> {
        self.records.hints(id(name))
    }

    fn check(&self, bytes: usize) -> Result<(), TaskError> {
        let max = self.bounds.record_bytes;
        if bytes > max { Err(TaskError::TooLarge { max }) } else { Ok(()) }
    }
}

fn id(name: &str) -> Id {
    Kind::Task.id(task_key(name))
}

/// Names of owners and clients are not stored.
fn hashed(text: &str) -> String {
    HEXLOWER.encode(&hash(&[text.as_bytes()]))
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

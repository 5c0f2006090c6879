//! The interface of a store in which several servers share tasks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};

/// Tasks in a store that several servers use: each serves the tasks of all of them ([guide](crate::guide::tasks)).
///
/// A record is written by the server that runs its task, and by other servers when their clients answer or cancel. Each
/// write names the version that it replaces, so that one of two concurrent writes is repeated. The content of a record
/// is opaque; the store only knows its owner, the server that runs it, and when it expires.
pub trait TaskStore: fmt::Debug + Send + Sync + 'static {
    /// Stores a new task, which this server runs, as version 0. Returns its number: later tasks have greater numbers.
    fn insert(&self, task: NewTaskRecord) -> BoxFuture<'_, Result<u64, TaskStoreError>>;

    /// The task of that name, if it belongs to this owner and has not expired. Its result is not read.
    fn load<'a>(
        &'a self,
        id: &'a str,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>>;

    /// At most `max` tasks of an owner whose numbers are greater than `after` and that have not expired, in order of
    /// their numbers. Their results are not read.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: u64,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>>;

    /// The result of the task of that name, as JSON, if it has one and has not expired.
    fn result<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, TaskStoreError>>;

    /// Replaces the record with `body` and `result` if it still has this version, and increments the version. Other
    /// servers are notified. Returns whether the record was replaced.
    fn replace<'a>(
        &'a self,
        id: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> BoxFuture<'a, Result<bool, TaskStoreError>>;

    /// Removes a task, if it exists.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>>;

    /// Reports whenever another server may have changed a task. A hint only: it may come too often. If it comes late or
    /// never, as by default, waiting clients notice the change within 5 seconds, and the server that runs a task within
    /// 30.
    fn hints(&self, id: &str) -> BoxStream<'static, ()> {
        // By default there are no hints.
        let _ = id;
        Box::pin(stream::pending())
    }
}

/// A new task to store.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewTaskRecord {
    /// Its name: 128 random bits. If the task has no owner, any caller that knows the name has access; then the store
    /// should keep a hash of the name.
    pub id: Arc<str>,
    /// Its owner, as a text for comparison. It may contain the id of a session, so the store should keep a hash of it.
    pub owner: Option<Arc<str>>,
    /// The client whose share of the store it uses. `None` if the client is unknown.
    pub client: Option<Arc<str>>,
    /// How long it is kept from now on, in any state.
    pub ttl: Duration,
    /// Its content.
    pub body: Vec<u8>,
}

impl NewTaskRecord {
    /// A task without an owner, of an unknown client, such as for testing a store.
    pub fn new(id: impl Into<Arc<str>>, ttl: Duration, body: Vec<u8>) -> Self {
        Self { id: id.into(), owner: None, client: None, ttl, body }
    }
}

/// A task as it is kept.
#[derive(Clone)]
#[non_exhaustive]
pub struct TaskRecord {
    /// Its name.
    pub id: Arc<str>,
    /// The number that it got when it was created.
    pub number: u64,
    /// How often it was replaced.
    pub version: u64,
    /// The time until it expires.
    pub ttl: Duration,
    /// Whether the server that ran it has ended, so that it will never complete.
    pub is_orphaned: bool,
    /// Its content.
    pub body: Vec<u8>,
}

/// Why the store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskStoreError {
    /// It is unavailable now.
    #[error("the store of tasks is unavailable: {0}")]
    Unavailable(String),
    /// It has no capacity for another task.
    #[error("the store of tasks has no room for another one: {0}")]
    Full(String),
    /// A task is too large for it.
    #[error("the store of tasks takes at most {max} bytes of one task")]
    TooLarge {
        /// The bound that was exceeded, in bytes.
        max: usize,
    },
}

impl TaskRecord {
    /// A stored task with this name, number, version and remaining time; it is not orphaned.
    pub fn new(id: Arc<str>, number: u64, version: u64, ttl: Duration, body: Vec<u8>) -> Self {
        Self { id, number, version, ttl, is_orphaned: false, body }
    }

    /// The same task with the information whether the server that ran it has ended.
    #[must_use]
    pub fn orphaned(self, is_orphaned: bool) -> Self {
        Self { is_orphaned, ..self }
    }
}

impl fmt::Debug for NewTaskRecord {
    /// Omits names: a caller that knows one may have access to the task.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewTaskRecord")
            .field("ttl", &self.ttl)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TaskRecord {
    /// Omits the name: a caller that knows it may have access to the task.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TaskRecord")
            .field("number", &self.number)
            .field("version", &self.version)
            .field("is_orphaned", &self.is_orphaned)
            .finish_non_exhaustive()
    }
}

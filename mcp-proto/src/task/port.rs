//! Where several servers keep the tasks that they share: what a store of them has to do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};

/// Tasks in a store that several servers use: each answers for the tasks of all ([guide](crate::guide::tasks)).
///
/// A record is written by the server that runs its task, and by others for what their clients answer or cancel. Each
/// write names the version that it replaces, so that of two at once one is made again. What is in a record is the
/// library's own; the store has to know whose it is, which server runs it, and when its time is over.
pub trait TaskStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps a new task, which this server runs, as version 0. The number that it gets: later tasks have greater ones.
    fn insert(&self, task: NewTaskRecord) -> BoxFuture<'_, Result<u64, TaskStoreError>>;

    /// The task of that name, if it is this owner's and its time is not over. Its result is not read.
    fn load<'a>(
        &'a self,
        id: &'a str,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, TaskStoreError>>;

    /// At most `max` tasks of an owner whose numbers are greater than `after` and whose time is not over, by their
    /// numbers. Their results are not read.
    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: u64,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<TaskRecord>, TaskStoreError>>;

    /// The result of the task of that name, as JSON, if it has one and its time is not over.
    fn result<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, TaskStoreError>>;

    /// Puts `body` and `result` in the place of what is there, if that still has this version; the next version is one
    /// more. Other servers are notified. Whether it was done.
    fn replace<'a>(
        &'a self,
        id: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> BoxFuture<'a, Result<bool, TaskStoreError>>;

    /// Takes a task out, if it is there.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), TaskStoreError>>;

    /// Reports whenever another server may have changed a task. A hint only: it may come too often. Where it comes too
    /// late or never, as by default, clients that wait find out within 5 seconds, and the server that runs a task
    /// within 30.
    fn hints(&self, id: &str) -> BoxStream<'static, ()> {
        let _never = id;
        Box::pin(stream::pending())
    }
}

/// A task to be kept.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewTaskRecord {
    /// Its name: 128 random bits. Where it has no owner, any caller that knows the name has the task; then the store
    /// should keep a hash of it.
    pub id: Arc<str>,
    /// Whose it is, as a text to be compared. It may contain the name of a session: the store should keep a hash of it.
    pub owner: Option<Arc<str>>,
    /// Whose share of the store it takes. `None` where nothing is known of the client.
    pub client: Option<Arc<str>>,
    /// How long it is kept from now on, whatever becomes of it.
    pub ttl: Duration,
    /// What is in it.
    pub body: Vec<u8>,
}

/// A task as it is kept.
#[derive(Clone)]
#[non_exhaustive]
pub struct TaskRecord {
    /// Its name.
    pub id: Arc<str>,
    /// The number that it got when it was new.
    pub number: u64,
    /// How often it was replaced.
    pub version: u64,
    /// What is left of its time.
    pub ttl: Duration,
    /// Whether the server that ran it has ended: nothing will come of it any more.
    pub is_orphaned: bool,
    /// What is in it.
    pub body: Vec<u8>,
}

/// The store cannot do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskStoreError {
    /// It cannot answer now.
    #[error("the store of tasks is unavailable: {0}")]
    Unavailable(String),
    /// It has no room for one more task.
    #[error("the store of tasks has no room for another one: {0}")]
    Full(String),
    /// A task is too large for it.
    #[error("the store of tasks takes at most {max} bytes of one task")]
    TooLarge {
        /// The bound that was met, in bytes.
        max: usize,
    },
}

impl TaskRecord {
    /// A task as it is kept, by its name, number, version, and what is left of its time; it is not orphaned.
    #[must_use]
    pub fn new(id: Arc<str>, number: u64, version: u64, ttl: Duration, body: Vec<u8>) -> Self {
        Self {
            id,
            number,
            version,
            ttl,
            is_orphaned: false,
            body,
        }
    }

    /// The same task, of which it is known whether the server that ran it has ended.
    #[must_use]
    pub fn orphaned(self, is_orphaned: bool) -> Self {
        Self {
            is_orphaned,
            ..self
        }
    }
}

impl fmt::Debug for NewTaskRecord {
    /// Shows no names: a caller that knows one may have the task.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewTaskRecord")
            .field("ttl", &self.ttl)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TaskRecord {
    /// Shows no name: a caller that knows it may have the task.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TaskRecord")
            .field("number", &self.number)
            .field("version", &self.version)
            .field("is_orphaned", &self.is_orphaned)
            .finish_non_exhaustive()
    }
}

//! State of clients that nodes share through one store: sessions, their running calls, tasks, and which nodes are
//! alive.
//!
//! The store does not read the content of records. `PostgresStore` and `NatsStore` keep them with the same meaning and
//! bounds, and the same test suite covers both.

mod lease;
pub mod logs;
pub mod nodes;
pub mod sessions;
pub mod tasks;
pub(crate) mod watched;

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use self::logs::{LogBounds, Logs};
use self::nodes::Nodes;
use self::sessions::{SessionBounds, Sessions};
use self::tasks::{TaskBounds, Tasks};
use crate::UniverseLog;

#[cfg(feature = "nats")]
pub(crate) use self::lease::millis;
pub(crate) use self::lease::{LEASE, Lease, REFRESHES};

/// A store through which many nodes share the state of their clients. The values that its methods return outlive it.
pub trait SharedStore: UniverseLog {
    /// This node among the nodes that use the store. Its lease begins with the first call of any method of this trait.
    fn nodes(&self) -> Arc<dyn Nodes>;

    /// The sessions of clients.
    fn sessions(&self, bounds: SessionBounds) -> Arc<dyn Sessions>;

    /// The streams and inboxes of these sessions.
    fn logs(&self, bounds: LogBounds) -> Arc<dyn Logs>;

    /// The tasks of clients.
    fn tasks(&self, bounds: TaskBounds) -> Arc<dyn Tasks>;
}

/// The key of a record: a hash.
pub(crate) type Key = [u8; 32];

/// The hash of parts of a name.
pub(crate) fn hash(parts: &[&[u8]]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The key of a session.
pub(crate) fn session_key(name: &str) -> Key {
    hash(&[name.as_bytes()])
}

/// The key of a task. It differs from that of a session of the same name, because one notification serves both.
pub(crate) fn task_key(name: &str) -> Key {
    hash(&[b"task ", name.as_bytes()])
}

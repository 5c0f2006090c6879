//! What nodes that use one store share of their clients: sessions, what of these is at work, tasks, and which nodes are
//! alive.
//!
//! What is in a record is opaque here. `PostgresStore` and `NatsStore` have them with the same meaning and bounds; one
//! suite of tests judges both.

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

/// A store that many nodes use, and where they share what they have of their clients. What it gives outlives it.
pub trait SharedStore: UniverseLog {
    /// This node among those that use the store. Its lease begins when it, or one of the others here, is first asked
    /// for.
    fn nodes(&self) -> Arc<dyn Nodes>;

    /// The sessions of clients.
    fn sessions(&self, bounds: SessionBounds) -> Arc<dyn Sessions>;

    /// The streams and inboxes of these sessions.
    fn logs(&self, bounds: LogBounds) -> Arc<dyn Logs>;

    /// The tasks of clients.
    fn tasks(&self, bounds: TaskBounds) -> Arc<dyn Tasks>;
}

/// What a record is known by: a hash.
pub(crate) type Key = [u8; 32];

/// The hash of parts of a name.
pub(crate) fn hash(parts: &[&[u8]]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// What a session is known by.
pub(crate) fn session_key(name: &str) -> Key {
    hash(&[name.as_bytes()])
}

/// What a task is known by. Not as a session of the same name: nodes are notified of both in one way.
pub(crate) fn task_key(name: &str) -> Key {
    hash(&[b"task ", name.as_bytes()])
}

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

use sha2::{Digest as _, Sha256};

pub(crate) use self::lease::{LEASE, Lease, REFRESHES};

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

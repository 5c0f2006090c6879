//! The keys of records of clients: hashes, so that reading a store does not give access to a session or task.

use sha2::{Digest as _, Sha256};

/// The key of a record: a hash.
pub type Key = [u8; 32];

/// The hash of parts of a name.
pub fn hash(parts: &[&[u8]]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// The key of a session.
pub fn session_key(name: &str) -> Key {
    hash(&[name.as_bytes()])
}

/// The key of a task. It differs from that of a session of the same name, because one notification serves both.
pub fn task_key(name: &str) -> Key {
    hash(&[b"task ", name.as_bytes()])
}

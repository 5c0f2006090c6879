//! Sessions of the revisions from 2024-11-05 to 2025-11-25: the record of one, the stores that hold them, and the store
//! of their streams, with which any process serves any session. The guide is
//! [`guide::sessions`](crate::guide::sessions).

pub use crate::legacy::event_store::{
    EventStore, EventStoreError, StreamEvent, StreamFate, StreamWrite, Tailed,
};
pub use crate::legacy::handshake::{MAX_CAPABILITY_VALUES, MAX_CLIENT_BYTES};
#[cfg(feature = "file-sessions")]
pub use crate::legacy::session::{FileSessions, FileSessionsError};
pub use crate::legacy::session::{
    MemorySessions, MemorySessionsConfig, Session, SessionChange, SessionId, SessionStore,
    SessionStoreError,
};

//! The revisions up to 2025-11-25, all of them: the handshake, sessions, batches, questions on a call's own stream,
//! resumable streams, the experimental tasks.
//!
//! A wing of its own. Only `http`, `stdio` and `server` name it, each in few places; what they serve without it is the
//! revision 2026-07-28 alone. To drop the older revisions one day, remove this wing and what the compiler asks for.

pub(crate) mod asking;
pub(crate) mod batch;
pub(crate) mod dispatch;
pub(crate) mod event_store;
pub(crate) mod handshake;
#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod method;
pub(crate) mod older;
pub(crate) mod rounds;
pub(crate) mod session;
pub(crate) mod stdio;
pub(crate) mod tasks;

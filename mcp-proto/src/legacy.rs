//! All revisions up to 2025-11-25: the handshake, sessions, batches, questions on a call's stream, resumable streams,
//! the experimental tasks.
//!
//! A separate module. Only `http`, `stdio` and `server` use it, each in few places. Without it they serve only the
//! revision 2026-07-28. To drop the older revisions, remove this module and every use that the compiler reports.
//!
//! A trait that this module implements would only hide who calls whom. Instead few modules may use it.

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

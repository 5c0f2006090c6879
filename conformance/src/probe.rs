//! An independent reader and writer of the wire format: sends requests exactly as given, right or wrong, and keeps the
//! whole response.
//!
//! Nothing of `mcp-proto` is used here: a judge must not share the code of the judged.

mod bench;
mod discover;
mod exchange;
mod http;
mod incoming;
mod log;
mod offers;
mod plain;
mod revision;
mod several;
mod stdio;

pub(crate) use bench::{Bench, Endpoint, MadeCall, handshake};
pub(crate) use discover::{Revisions, newest, revisions};
pub use exchange::Exchange;
pub(crate) use exchange::{NOT_JSON, QUIET, Watched, is_like_a_message};
pub(crate) use http::{Raw, request, send};
pub(crate) use incoming::{Incoming, NO_LIMIT, Stop};
pub(crate) use log::{Line, Log, Logged, Talk};
pub use revision::Revision;
pub(crate) use stdio::{CLOSED, NOT_WRITTEN};

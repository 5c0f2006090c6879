//! An independent reader and writer of the wire format: sends requests exactly as given, right or wrong, and keeps the
//! whole response.
//!
//! Nothing of `mcp-proto` is used here: a judge must not share the code of the judged.

mod bench;
mod discover;
mod exchange;
mod http;
mod revision;
mod several;
mod stdio;

pub(crate) use bench::{Bench, Endpoint, MadeCall, QUIET, SeenMessage};
pub(crate) use discover::{newest, revisions};
pub use exchange::Exchange;
pub(crate) use exchange::Watched;
pub(crate) use http::Raw;
pub use revision::Revision;

//! A reader and writer of the wire of its own: requests as they are meant, right or wrong, and what came back, whole.
//!
//! Nothing of `mcp-proto` is used here: a judge must not share the code of the judged.

mod bench;
mod discover;
mod exchange;
mod http;
mod revision;
mod several;
mod stdio;

pub(crate) use bench::{Bench, Place, QUIET};
pub(crate) use discover::{newest, revisions};
pub use exchange::Exchange;
pub(crate) use http::Raw;
pub use revision::Revision;

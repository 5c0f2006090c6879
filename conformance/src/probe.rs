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
mod login;
mod offers;
mod plain;
mod revision;
mod several;
mod stdio;

pub(crate) use bench::{Bench, Endpoint, MadeCall};
pub(crate) use discover::{Revisions, newest, revisions};
pub use exchange::Exchange;
pub(crate) use exchange::{NOT_JSON, QUIET, Watched, is_like_a_message};
pub(crate) use http::{Raw, request};
pub(crate) use incoming::{Incoming, NO_LIMIT, Stop};
pub(crate) use log::{Line, Log, Logged, Talk};
pub(crate) use login::{Challenges, is_of, is_secure, origin, servers};
pub use login::{LoggedIn, Login, LoginError};
pub use revision::Revision;
pub(crate) use revision::handshake;
pub(crate) use stdio::{CLOSED, NOT_WRITTEN};

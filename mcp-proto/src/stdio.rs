//! Newline-delimited messages over any pair of byte streams: stdin and stdout, a Unix socket, a pipe in memory.
//!
//! Both eras on one stream: a modern request carries its version, a legacy one relies on the `initialize` before it.
//! All calls run on the task of [`serve`], side by side; dropping it drops them.

mod connection;
#[cfg(unix)]
mod descriptor;
mod lines;
pub(crate) mod output;
mod process;
#[cfg(unix)]
mod unix;

use std::io;
use std::time::Duration;

use http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::json::MAX_TREE_BYTES;
use crate::server::Server;
use connection::Connection;

pub use lines::{Line, Lines};
pub use process::{Stdin, Stdout, stdin, stdout};
#[cfg(unix)]
pub use unix::{UnixConfig, UnixPeer, serve_unix};

/// The bounds of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StdioConfig {
    /// The longest line that is read, in bytes; a longer one is dropped, and reading continues with the next. 4 MiB by
    /// default.
    pub max_line_bytes: usize,
    /// The most bytes of memory that a line may take once it is read as JSON, which is up to a hundred times its
    /// length; one that takes more is answered −32600. [`MAX_TREE_BYTES`], 128 MiB, by default.
    pub max_line_memory: usize,
    /// The most calls at once; further requests are answered −32600, notifications are still accepted. 1,024 by
    /// default.
    pub max_calls: usize,
    /// The most messages of one batch, which is accepted only on a connection that was initialized for 2025-03-26; a
    /// longer one is answered −32600. 50 by default.
    pub max_batch_messages: usize,
    /// The longest answer that is written, as bytes of its line: clients end the connection at a longer one, Codex
    /// above 8 MiB and the TypeScript clients above 10 MiB. 64 KiB less than 8 MiB by default.
    ///
    /// The result of a tool that would be longer is sent without one of its two forms, or becomes a failure of code
    /// `ANSWER_TOO_LARGE` ([`Tool::with_whole_results`](crate::Tool::with_whole_results)). Any other answer becomes an
    /// error −32603, as do those answers of a batch that make its line longer.
    pub max_answer_bytes: usize,
    /// How long the connection may continue after the end of its input: running calls, their answers, and the last
    /// flush together. 900 ms by default.
    pub drain_time: Duration,
    /// How long a peer may leave output unread while 256 KiB of it wait and its input is no longer read: the end of
    /// that input could not be seen, so the connection is then closed. 10 s by default.
    pub stall_time: Duration,
}

/// Serves one connection until its input ends, then lets running calls finish and be written within
/// [`drain_time`](StdioConfig::drain_time); calls that have not ended by then are dropped.
///
/// A peer that does not read its answers is no longer served once 256 KiB of answers wait. Up to 256 KiB of its input
/// are read ahead, to find the end of the input. If the end is not found, the connection is closed after
/// [`stall_time`](StdioConfig::stall_time).
///
/// A line that is JSON but not a valid message (another version, params that are not an object, a member twice) is
/// answered with −32600 if its id can be read; a line that is too long, or whose id is too long, is answered without an
/// id. One that begins as a message, with `{` or `[`, and is not JSON is answered with −32700 and the id null, at most
/// once a second. A batch, and a request whose id cannot be one, are answered with −32600; after a handshake of
/// 2025-03-26 a batch is accepted, and its answers are one line. Any other line that is not a message is logged and
/// skipped. A byte order mark before a message is ignored.
///
/// # Errors
/// Those of the streams, and [`TimedOut`](io::ErrorKind::TimedOut) for a peer that stalls. A writer that fails ends the
/// connection.
pub async fn serve<R, W>(
    server: Server,
    reader: R,
    writer: W,
    config: StdioConfig,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    serve_with(server, reader, writer, config, Extensions::new()).await
}

/// [`serve`] for a connection whose other end is known: `extensions` reach the handlers of all its requests as
/// [`Context::extensions`](crate::Context::extensions), a [`Principal`](crate::Principal) among them.
///
/// # Errors
/// Those of [`serve`].
pub async fn serve_with<R, W>(
    server: Server,
    reader: R,
    writer: W,
    config: StdioConfig,
    extensions: Extensions,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let connection = Connection::new(server, config, extensions);
    connection.run(reader, writer).await
}

/// [`serve`] on this process's [`stdin`] and [`stdout`] with default bounds. Nothing else may write to stdout.
///
/// A read or write that is blocked when this ends does not hold up the end of the runtime or of the process.
///
/// # Errors
/// Those of [`serve`].
pub async fn serve_stdio(server: Server) -> io::Result<()> {
    serve(server, stdin(), stdout(), StdioConfig::default()).await
}

impl Default for StdioConfig {
    fn default() -> Self {
        Self {
            max_line_bytes: 4 * 1024 * 1024,
            max_line_memory: MAX_TREE_BYTES,
            max_calls: 1_024,
            max_batch_messages: 50,
            max_answer_bytes: 8 * 1024 * 1024 - 64 * 1024,
            drain_time: Duration::from_millis(900),
            stall_time: Duration::from_secs(10),
        }
    }
}

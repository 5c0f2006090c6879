//! Newline-delimited messages over any pair of byte streams: stdin and stdout, a Unix socket, a pipe in memory.
//!
//! Both eras on one stream: a modern request carries its version, a legacy one relies on the `initialize` before it.
//! All calls run on the task of [`serve`], side by side; dropping it drops them.

mod call;
mod connection;
mod lines;
pub(crate) mod output;
#[cfg(unix)]
mod unix;

use std::io;
use std::time::Duration;

use http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::server::Server;
use connection::Connection;

pub(crate) use lines::{Line, Lines};
#[cfg(unix)]
pub use unix::{UnixConfig, UnixPeer, serve_unix};

/// The bounds of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StdioConfig {
    /// The longest line that is read, in bytes; a longer one is dropped and the next one read. 4 MiB by default.
    pub max_line_bytes: usize,
    /// The most calls at once; further requests are answered −32600, notifications are taken as ever. 1,024 by default.
    pub max_calls: usize,
    /// The most messages of one batch, which only a connection that was initialized for 2025-03-26 takes; a longer one
    /// is answered −32600. 50 by default.
    pub max_batch_messages: usize,
    /// How long the connection may go on after the end of its input: running calls, their answers, and the last flush
    /// together. 900 ms by default.
    pub drain_time: Duration,
}

/// Serves one connection until its input ends, then lets running calls finish and be written within
/// [`drain_time`](StdioConfig::drain_time); what is not done by then is dropped.
///
/// A peer that does not read its answers is served no further once 256 KiB of them wait; its input is read ahead by as
/// much, so that its end is seen.
///
/// A line that is JSON but no good message (another version, params that are no object, a member twice) is answered
/// −32600 if its id can be read, and one that is too long is answered without an id. Any other line that is no message
/// is logged and skipped: text that is no JSON, a batch, an id that is null or a fraction. After a handshake of
/// 2025-03-26 a batch is taken, and its answers are one line.
///
/// # Errors
/// Those of the streams. A writer that breaks ends the connection: there is nobody left to answer.
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

/// [`serve`] on this process's stdin and stdout with default bounds. Nothing else may write to stdout.
///
/// Tokio reads stdin and writes stdout on threads of its own, and a blocked read or write cannot be cancelled. When
/// this ends for another reason than the end of stdin (a broken stdout, a `select!` with a signal), or while the peer
/// does not read stdout, dropping the runtime waits for that thread, and so the process does not end. Own the runtime
/// and end it with `Runtime::shutdown_timeout`, or leave by `std::process::exit`:
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = mcp_proto::Server::builder("echo", "0.1.0", ()).build()?;
/// let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// let served = runtime.block_on(mcp_proto::stdio::serve_stdio(server));
/// runtime.shutdown_timeout(std::time::Duration::from_millis(100));
/// # Ok(served?)
/// # }
/// ```
///
/// # Errors
/// Those of [`serve`].
pub async fn serve_stdio(server: Server) -> io::Result<()> {
    serve(
        server,
        tokio::io::stdin(),
        tokio::io::stdout(),
        StdioConfig::default(),
    )
    .await
}

impl Default for StdioConfig {
    fn default() -> Self {
        Self {
            max_line_bytes: 4 * 1024 * 1024,
            max_calls: 1_024,
            max_batch_messages: 50,
            drain_time: Duration::from_millis(900),
        }
    }
}

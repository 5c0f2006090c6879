//! Newline-delimited messages over any pair of byte streams: stdin and stdout, a Unix socket, a pipe in memory.
//!
//! Both eras on one stream: a modern request carries its version, a legacy one relies on the `initialize` before it.
//! All calls run on the task of [`serve`], side by side; dropping it drops them.

mod connection;
mod lines;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::server::Server;
use connection::Connection;

/// The bounds of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StdioConfig {
    /// The longest line that is read, in bytes; a longer one is dropped and the next one read. 4 MiB by default.
    pub max_line_bytes: usize,
    /// The most calls at once; further ones stay unread. 1,024 by default.
    pub max_calls: usize,
    /// How long running calls may go on after the end of the input. 900 ms by default.
    pub drain_time: Duration,
}

/// Serves one connection until its input ends, then lets running calls finish within
/// [`drain_time`](StdioConfig::drain_time).
///
/// A line that is no JSON-RPC message is answered if its id can be read; otherwise it is logged and skipped.
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
    Connection::new(server, config).run(reader, writer).await
}

/// [`serve`] on this process's stdin and stdout with default bounds. Nothing else may write to stdout.
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
            drain_time: Duration::from_millis(900),
        }
    }
}

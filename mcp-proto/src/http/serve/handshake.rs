//! The step on a connection before HTTP, such as a TLS handshake.

use std::future::{Future, ready};
use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

use super::stall::Socket;

/// Makes the stream for HTTP of an accepted connection. The library brings no TLS: a program that serves HTTPS
/// implements this trait with its TLS library.
///
/// It runs on the connection's own task, within the bound of connections, and is dropped after
/// [`ServeConfig::handshake_timeout`](super::ServeConfig::handshake_timeout), when its place is needed, or at the end
/// of the server.
pub trait Handshake: Send + Sync + 'static {
    /// The stream.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Makes it.
    ///
    /// # Errors
    /// Why the connection is closed.
    fn shake(&self, socket: Socket) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// HTTP starts at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

impl Handshake for Plain {
    type Stream = Socket;

    fn shake(&self, socket: Socket) -> impl Future<Output = io::Result<Socket>> + Send {
        ready(Ok(socket))
    }
}

//! The step on a connection before HTTP, such as a TLS handshake.
//!
//! The library has the place for TLS, and the embedder the TLS. A handshake has to be bounded in time, count as a
//! connection, and be closed like an idle one, which only the accept loop can do. An embedder behind a proxy pays
//! nothing for it.

use std::future::Future;
use std::io;

use futures_util::future::BoxFuture;
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

/// No handshake: HTTP starts at once.
pub(super) struct Plain;

impl Handshake for Plain {
    type Stream = Socket;

    async fn shake(&self, socket: Socket) -> io::Result<Socket> {
        Ok(socket)
    }
}

/// A [`Handshake`] without its type, so that HTTP is compiled once and not for each kind of stream.
pub(super) trait Shake: Send + Sync {
    fn shaken(&self, socket: Socket) -> BoxFuture<'_, io::Result<Stream>>;
}

impl<H: Handshake> Shake for H {
    fn shaken(&self, socket: Socket) -> BoxFuture<'_, io::Result<Stream>> {
        Box::pin(async {
            let stream = self.shake(socket).await?;
            Ok(Box::new(stream) as Stream)
        })
    }
}

/// What can be read and written.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// The stream for HTTP of a connection.
pub(super) type Stream = Box<dyn Duplex>;

//! The step on a connection before HTTP, such as a TLS handshake.
//!
//! The library has the place for TLS, and the embedder the TLS. A handshake has to be bounded in time, count as a
//! connection, and be closed like an idle one, which only the accept loop can do. An embedder behind a proxy pays
//! nothing for it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

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

/// What comes before HTTP on the connections of a server.
pub(super) enum Opening {
    /// HTTP starts at once.
    Plain,
    /// A handshake.
    By(Box<dyn Shake>),
}

impl Opening {
    /// Makes the stream for HTTP.
    ///
    /// # Errors
    /// Those of the handshake.
    pub(super) async fn shake(&self, socket: Socket) -> io::Result<Stream> {
        match self {
            Self::Plain => Ok(Stream::Plain(socket)),
            Self::By(handshake) => Ok(Stream::Shaken(handshake.shaken(socket).await?)),
        }
    }
}

/// A [`Handshake`] without its type, so that HTTP is compiled once and not for each kind of stream.
pub(super) trait Shake: Send + Sync {
    fn shaken(&self, socket: Socket) -> BoxFuture<'_, io::Result<Box<dyn Duplex>>>;
}

impl<H: Handshake> Shake for H {
    fn shaken(&self, socket: Socket) -> BoxFuture<'_, io::Result<Box<dyn Duplex>>> {
        Box::pin(async {
            let stream = self.shake(socket).await?;
            Ok(Box::new(stream) as Box<dyn Duplex>)
        })
    }
}

/// What can be read and written.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// The stream for HTTP of a connection.
pub(super) enum Stream {
    Plain(Socket),
    Shaken(Box<dyn Duplex>),
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Shaken(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Shaken(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_write_vectored(context, slices),
            Self::Shaken(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_write_vectored(),
            Self::Shaken(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_flush(context),
            Self::Shaken(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Shaken(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

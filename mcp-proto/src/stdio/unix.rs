//! Connections over Unix sockets: an accept loop, and one [`serve`](super::serve) for each connection.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::Extensions;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

use super::{StdioConfig, serve_with};
use crate::accept_loop::accept_until;
use crate::server::Server;

/// The bounds of [`serve_unix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnixConfig {
    /// The most connections at once; further ones wait in the kernel's backlog. 256 by default.
    pub max_connections: usize,
    /// The bounds of each connection.
    pub connection: StdioConfig,
}

/// The peer of a Unix socket, as the kernel reports it. Handlers find it by
/// [`Context::extension`](crate::Context::extension).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnixPeer {
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its process id, where the system provides it.
    pub pid: Option<i32>,
}

/// Serves connections of `listener` until `shutdown` resolves. Then it accepts no more, ends listeners
/// ([`Server::close`]), and treats every connection as if its input had ended: running calls may continue for
/// [`drain_time`](StdioConfig::drain_time).
///
/// The file system decides which users may connect: bind the socket in a directory of mode 0700.
pub async fn serve_unix(
    server: Server,
    listener: UnixListener,
    config: UnixConfig,
    shutdown: impl Future<Output = ()>,
) {
    let (closing, closed) = watch::channel(false);
    let accept =
        |context: &mut Context<'_>| listener.poll_accept(context).map_ok(|(stream, _)| stream);
    let run = |stream| run(server.clone(), stream, config.connection, closed.clone());
    let mut connections = accept_until(config.max_connections, shutdown, accept, run).await;
    drop(listener);
    server.close();
    closing.send_replace(true);
    while connections.join_next().await.is_some() {}
}

async fn run(
    server: Server,
    stream: UnixStream,
    config: StdioConfig,
    mut closed: watch::Receiver<bool>,
) {
    let mut extensions = Extensions::new();
    if let Ok(peer) = stream.peer_cred() {
        extensions.insert(UnixPeer { uid: peer.uid(), gid: peer.gid(), pid: peer.pid() });
    }
    let (reader, writer) = stream.into_split();
    let reader = UntilClosed {
        reader,
        closed: Box::pin(async move {
            // The sender lives as long as the loop; when it is dropped, so is the server.
            drop(closed.wait_for(|closed| *closed).await);
        }),
        is_closed: false,
    };
    if let Err(error) = serve_with(server, reader, writer, config, extensions).await {
        tracing::debug!(%error, "a connection broke");
    }
}

/// A reader that ends when the server closes.
struct UntilClosed {
    reader: OwnedReadHalf,
    closed: BoxFuture<'static, ()>,
    is_closed: bool,
}

impl AsyncRead for UntilClosed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.is_closed {
            self.is_closed = self.closed.as_mut().poll(context).is_ready();
        }
        if self.is_closed {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

impl Default for UnixConfig {
    fn default() -> Self {
        Self { max_connections: 256, connection: StdioConfig::default() }
    }
}

//! An accept loop for any hyper service: bounded connections, header time-outs, back-off, graceful shutdown.

mod ahead;
mod callers;
mod connection;
mod handshake;
#[cfg(feature = "http2")]
mod http2;
#[cfg(not(feature = "http2"))]
#[path = "serve/http2/none.rs"]
mod http2;
mod lane;
mod stall;
mod starts;
mod table;
mod tracked;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::Service;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::forwarded::Proxies;
use crate::accept_loop::accept_until;
use crate::budget::Bound;
use starts::Starts;
use table::Table;
use tracked::BodyError;

pub use callers::{Callers, Undecided};
pub use handshake::Handshake;
use handshake::{Plain, Shake};
pub use stall::Socket;

/// The bounds of [`serve`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeConfig {
    /// The most connections at once, of all clients and of one; 20,480 and 10,240 by default. A further one replaces an
    /// idle connection of the same client or of the client with the most connections. If no connection is idle, the new
    /// one is closed.
    pub connections: Bound,
    /// Who may call. Programs on this machine by default. Listening on any other address requires a decision.
    pub callers: Callers,
    /// The proxies in front of the server: one may have all connections. None by default.
    pub proxies: Proxies,
    /// How long a [`Handshake`] may take; then the connection is closed. 10 s by default.
    pub handshake_timeout: Duration,
    /// How long a client may take to send the head of a request, and how long a connection without a running request is
    /// kept open: it is closed after this time, or at most a quarter more. An HTTP/2 client is then asked to go away,
    /// and closed after twice the time, even if it sends pings. 60 s by default.
    pub header_timeout: Duration,
    /// How long a client may show no sign of life while there is something to say to it: a write makes no progress, or
    /// its machine acknowledges nothing (Linux), not even the TCP keep-alives on a quiet connection. Then the
    /// connection is closed. 60 s by default.
    ///
    /// This applies to the socket. An HTTP/2 client that reads its socket but gives a stream no window keeps that one
    /// stream open, within [`ServeConfig::max_http2_streams`]; a client that reads a little at a time keeps its
    /// connection.
    pub write_timeout: Duration,
    /// The most headers of one request. 100 by default.
    pub max_headers: usize,
    /// The most requests at once on one HTTP/2 connection. 200 by default. Of use with the feature `http2`: without it
    /// connections are of HTTP/1 alone.
    pub max_http2_streams: u32,
    /// How long running requests may continue after the shutdown signal. 5 s by default.
    pub shutdown_deadline: Duration,
}

/// Serves connections of `listener` by `service` until `shutdown` resolves; then stops accepting, lets running
/// requests finish until the deadline, and drops the rest.
///
/// Call [`StreamableHttpService::close`](super::StreamableHttpService::close) as part of `shutdown`: it ends listening
/// streams, which would delay the end until the deadline, and no legacy call continues without its connection, so that
/// calls dropped here do end. For calls that lost their connection before,
/// [`StreamableHttpService::ended`](super::StreamableHttpService::ended) waits.
///
/// Bodies of responses are `Unpin`, as those of [`StreamableHttpService`](super::StreamableHttpService) and all boxed
/// ones are.
///
/// # Errors
/// Other machines can reach the listener, and [who may call](ServeConfig::callers) was not decided. Nothing is served
/// then.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    config: ServeConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Undecided>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Body<Data = Bytes, Error: Into<BodyError>> + Send + Unpin + 'static,
{
    serve_with(listener, Plain, service, config, shutdown).await
}

/// [`serve`] on the streams that `handshake` returns for connections.
///
/// # Errors
/// As for [`serve`].
pub async fn serve_with<H, S, B>(
    listener: TcpListener,
    handshake: H,
    service: S,
    config: ServeConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Undecided>
where
    H: Handshake,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>
        + Clone
        + Send
        + 'static,
    B: Body<Data = Bytes, Error: Into<BodyError>> + Send + Unpin + 'static,
{
    config.callers.judge(&listener)?;
    let (closing, closed) = watch::channel(false);
    let (config, handshake): (_, Arc<dyn Shake>) = (Arc::new(config), Arc::new(handshake));
    let workers = Handle::current().metrics().num_workers();
    let table = Table::new(config.connections, config.proxies.clone(), workers);
    let (stopping, stopped) = oneshot::channel::<Infallible>();
    let deadline = config.shutdown_deadline;
    let accepting = async move {
        let mut starts = Starts::new(listener, table);
        let run = move |(stream, admitted)| {
            connection::run(
                stream,
                admitted,
                Arc::clone(&handshake),
                service.clone(),
                closed.clone(),
                Arc::clone(&config),
            )
        };
        let accept = |context: &mut Context<'_>| starts.poll_next(context);
        // The table has the bound. The channel ends when the server stops, or is dropped.
        accept_until(usize::MAX, stopped.map(drop), accept, run).await
    };
    // Its own task, on a worker of the runtime. The caller's future may run on a thread that the system seldom chooses
    // beside busy workers, and the kernel's backlog would fill.
    let mut accepting = JoinSet::from_iter([accepting]);
    let ended = tokio::select! {
        () = shutdown => {
            drop(stopping);
            accepting.join_next().await
        }
        ended = accepting.join_next() => ended,
    };
    let mut connections = match ended {
        Some(Ok(connections)) => connections,
        Some(Err(error)) if error.is_panic() => resume_unwind(error.into_panic()),
        _ => JoinSet::new(),
    };
    closing.send_replace(true);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(deadline, all).await.is_err() {
        tracing::warn!("requests were still running at the shutdown deadline and were dropped");
    }
    connections.shutdown().await;
    Ok(())
}

/// How many connections wait to be accepted; the system may allow fewer. A further client connects a second later.
const BACKLOG: u32 = 4_096;

/// Listens on an address, with a backlog for bursts of connections.
///
/// # Errors
/// Those of the system, such as [`AddrInUse`](io::ErrorKind::AddrInUse).
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // As the standard library does: a port of connections that are closing can be taken again, except on Windows.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl ServeConfig {
    /// The same with any of its public fields set: `ServeConfig::default().with(|it| it.max_headers = 50)`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            callers: Callers::default(),
            connections: Bound::of(20_480),
            proxies: Proxies::default(),
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            max_headers: 100,
            max_http2_streams: 200,
            shutdown_deadline: Duration::from_secs(5),
        }
    }
}

//! An accept loop for any hyper service: bounded connections, header time-outs, back-off, graceful shutdown.

mod connection;
mod stall;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

/// The bounds of [`serve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeConfig {
    /// The most connections at once; further ones wait in the kernel's backlog. 4,096 by default.
    pub max_connections: usize,
    /// How long a client may take to send the head of a request. A connection on which no request runs is ended after
    /// as long and at most three times as long, whatever the client sends instead (HTTP/2 pings). 60 s by default.
    pub header_timeout: Duration,
    /// How long a write to a client may make no progress; then the connection is closed. 60 s by default.
    ///
    /// That is the socket's view. An HTTP/2 client that reads its socket but gives a stream no window keeps that one
    /// stream open, within [`ServeConfig::max_http2_streams`]; a client that reads a little at a time keeps its
    /// connection.
    pub write_timeout: Duration,
    /// The most headers of one request. 100 by default.
    pub max_headers: usize,
    /// The most requests at once on one HTTP/2 connection. 200 by default.
    pub max_http2_streams: u32,
    /// How long running requests may go on after the shutdown signal. 5 s by default.
    pub shutdown_deadline: Duration,
}

/// How long the loop waits after a failed accept, such as for want of file descriptors.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Serves connections of `listener` by `service` until `shutdown` resolves; then stops accepting, lets running
/// requests finish until the deadline, and drops the rest.
///
/// Call [`StreamableHttpService::close`](super::StreamableHttpService::close) as part of `shutdown`: it ends listening
/// streams, which hold the end up until the deadline otherwise, and lets no legacy call run on without its connection,
/// so that what is dropped here is dropped. For calls that lost their connection before,
/// [`StreamableHttpService::ended`](super::StreamableHttpService::ended) waits.
///
/// Bodies of responses are `Unpin`, as those of [`StreamableHttpService`](super::StreamableHttpService) and all boxed
/// ones are.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    config: ServeConfig,
    shutdown: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let permits = Arc::new(Semaphore::new(
        config.max_connections.min(Semaphore::MAX_PERMITS),
    ));
    let (closing, closed) = watch::channel(false);
    let builder = connection::builder(&config);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next() => {}
            accepted = accept(&listener, &permits) => match accepted {
                Ok((stream, permit)) => {
                    let connection =
                        connection::run(builder.clone(), stream, service.clone(), closed.clone(), config);
                    connections.spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(BACK_OFF).await;
                }
            },
        }
    }
    drop(listener);
    closing.send_replace(true);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(config.shutdown_deadline, all)
        .await
        .is_err()
    {
        tracing::warn!("requests were still running at the shutdown deadline and were dropped");
    }
    connections.shutdown().await;
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits)
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _address) = listener.accept().await?;
    // Small answers must not wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays without TCP_NODELAY");
    }
    Ok((stream, permit))
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            max_connections: 4_096,
            header_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            max_headers: 100,
            max_http2_streams: 200,
            shutdown_deadline: Duration::from_secs(5),
        }
    }
}

//! An accept loop for any hyper service: bounded connections, header time-outs, back-off, graceful shutdown.

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
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// The bounds of [`serve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeConfig {
    /// The most connections at once; further ones wait in the kernel's backlog. 4,096 by default.
    pub max_connections: usize,
    /// How long a client may take to send the head of a request, and how long an idle connection is kept. 60 s by
    /// default.
    pub header_timeout: Duration,
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
/// End listening streams ([`StreamableHttpService::close`](super::StreamableHttpService::close)) as part of `shutdown`,
/// or they hold it up until the deadline.
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
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let permits = Arc::new(Semaphore::new(
        config.max_connections.min(Semaphore::MAX_PERMITS),
    ));
    let graceful = GracefulShutdown::new();
    let builder = builder(&config);
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next() => {}
            accepted = accept(&listener, &permits) => match accepted {
                Ok((stream, permit)) => {
                    let connection = connection(builder.clone(), stream, service.clone(), graceful.watcher());
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
    if tokio::time::timeout(config.shutdown_deadline, graceful.shutdown())
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
    stream.set_nodelay(true)?;
    Ok((stream, permit))
}

fn builder(config: &ServeConfig) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_timeout)
        .max_headers(config.max_headers)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(config.header_timeout)
        .max_concurrent_streams(config.max_http2_streams);
    builder
}

async fn connection<S, B>(
    builder: auto::Builder<TokioExecutor>,
    stream: TcpStream,
    service: S,
    watcher: Watcher,
) where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let connection = builder
        .serve_connection(TokioIo::new(stream), service)
        .into_owned();
    if let Err(error) = watcher.watch(connection).await {
        // The client's doing in nearly every case: it went away or spoke no HTTP.
        tracing::debug!(%error, "a connection ended with an error");
    }
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            max_connections: 4_096,
            header_timeout: Duration::from_secs(60),
            max_headers: 100,
            max_http2_streams: 200,
            shutdown_deadline: Duration::from_secs(5),
        }
    }
}

//! One connection, from its first byte to its end: an idle one is closed after a while.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, Either};
use futures_util::stream::FuturesUnordered;
use http::{Method, Request, Response, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

use super::ServeConfig;
use super::begun::Begun;
use super::handover::chunked::Chunked;
use super::handover::{ForHyper, Handover, is_long};
use super::handshake::Opening;
use super::http2;
use super::stall::Socket;
use super::table::Admitted;
use super::tracked::Tracked;

/// How many bytes a connection buffers of what it reads, and of each answer that it writes: a head has no more. That is
/// as much as other servers take, and all connections may have it at once.
const MAX_BUFFER: usize = 16 * 1024;

/// How often a connection is checked within the time limit for a head.
///
/// hyper could time heads itself, with a timer and one more turn of its loop for each request: a fortieth of a small
/// call.
const CHECKS: u32 = 4;

/// The number of headers that hyper accepts by default. For another number it allocates space with each request.
const HYPER_HEADERS: usize = 100;

fn http1(config: &ServeConfig) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_BUFFER);
    if config.max_headers != HYPER_HEADERS {
        builder.max_headers(config.max_headers);
    }
    builder
}

/// Serves a connection until it ends, or until `closing` resolves and its running requests have ended.
// Not an `async fn`, whose future would keep two copies of its arguments.
pub(super) fn run<S, B>(
    stream: TcpStream,
    admitted: Admitted,
    opening: Arc<Opening>,
    service: S,
    mut closing: watch::Receiver<bool>,
    config: Arc<ServeConfig>,
) -> impl Future<Output = ()> + Send
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut seat = admitted.connection.lane.seat();
    // Boxed, because a task is as large as the largest value that it ever holds.
    let mut served = Serving(Box::pin(async move {
        let begun = Instant::now();
        let opened = open(stream, &opening, &admitted, &mut closing, &config);
        let (version, stream) = Box::pin(opened).await?;
        drop(opening);
        serve(version, stream, begun, admitted, service, closing, config).await
    }));
    let mut poll = move |context: &mut std::task::Context<'_>| {
        while let Some(next) = ready!(served.0.as_mut().poll(context)) {
            served = next;
        }
        Poll::Ready(())
    };
    poll_fn(move |context| seat.poll(context, &mut poll))
}

/// What a connection does, and what it does after that. So the memory of the first is free when it begins the second.
struct Serving(BoxFuture<'static, Option<Self>>);

/// The stream for HTTP, and which version its client speaks; `None` if the connection ends before.
async fn open(
    socket: TcpStream,
    opening: &Opening,
    admitted: &Admitted,
    closing: &mut watch::Receiver<bool>,
    config: &ServeConfig,
) -> Option<(Version, Begun)> {
    let opened = async {
        let socket = Socket::new(socket, config.write_timeout);
        let shaken = tokio::time::timeout(config.handshake_timeout, opening.shake(socket));
        let stream = match shaken.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a handshake failed");
                return None;
            }
            Err(_) => {
                tracing::debug!("a connection was closed: its handshake was not done in time");
                return None;
            }
        };
        match tokio::time::timeout(config.header_timeout, Begun::read(stream)).await {
            Ok(Ok(begun)) => Some(begun),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a connection ended with an error");
                None
            }
            Err(_) => {
                tracing::debug!("a connection was closed: it sent no request in time");
                None
            }
        }
    };
    tokio::select! {
        biased;
        opened = opened => opened,
        () = admitted.connection.gives_way() => {
            tracing::debug!("an idle connection was closed: others need its place");
            None
        }
        _ = closing.wait_for(|closing| *closing) => None,
    }
}

/// Serves a stream by HTTP. The client's first contact was at `since`. Returns what is left to do when a response
/// leaves hyper.
fn serve<S, B>(
    version: Version,
    stream: Begun,
    since: Instant,
    admitted: Admitted,
    service: S,
    mut closing: watch::Receiver<bool>,
    config: Arc<ServeConfig>,
) -> impl Future<Output = Option<Serving>> + Send
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let tracking = Arc::clone(&admitted.connection);
    // HTTP/1 has no streams: hyper writes one answer after the other.
    let in_streams = http2::IS_SPOKEN && version == Version::HTTP_2;
    let handover = Handover::new(Arc::clone(stream.head()));
    let leaving = Arc::clone(&handover);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let running = tracking.begin();
        let peer = tracking.peer.clone();
        let of_stream = in_streams.then(|| peer.clone());
        // Others have no chunks, or no body.
        let may_leave = request.version() == Version::HTTP_11 && request.method() != Method::HEAD;
        let leaving = may_leave.then(|| Arc::clone(&leaving));
        request.extensions_mut().insert(peer);
        let answer = service.call(request);
        async move {
            answer.await.map(|response| {
                let leaving = leaving.filter(|_| is_long(&response));
                let (mut head, body) = response.into_parts();
                let body = match (of_stream, leaving) {
                    (Some(peer), _) => ForHyper::Stays(Tracked::in_chunks(body, running, peer)),
                    (None, None) => ForHyper::Stays(Tracked::whole(body, running)),
                    (None, Some(handover)) => {
                        handover.begin(Tracked::whole(body, running), &mut head.headers)
                    }
                };
                Response::from_parts(head, body)
            })
        }
    });
    // hyper-util chooses the version, too, but lets hyper read the first bytes alone, for which it takes twice the
    // buffer.
    let lane = &admitted.connection.lane;
    let mut connection = match http2::serve(version, stream, service, &config, lane) {
        Ok(http2) => Either::Right(Box::new(http2)),
        Err((stream, service)) => {
            let stream = TokioIo::new(stream);
            Either::Left(http1(&config).serve_connection(stream, service))
        }
    };
    async move {
        let activity = &admitted.connection;
        // Polled when they are ready, and not each time the connection is polled.
        let mut signals = FuturesUnordered::<BoxFuture<'_, Signal>>::new();
        let every = config.header_timeout / CHECKS;
        let check = || async move {
            tokio::time::sleep(every).await;
            Signal::Check
        };
        signals.push(Box::pin(check()));
        signals.push(Box::pin(async {
            tokio::select! {
                biased;
                () = activity.gives_way() => Signal::GiveWay,
                // If the sender was dropped, the server no longer runs. A server that ends needs no free connections.
                _ = closing.wait_for(|closing| *closing) => Signal::Close,
            }
        }));
        let mut begun_before = 0;
        // The time before its first byte counts.
        let mut quiet =
            (1..CHECKS).take_while(|checks| every * *checks <= since.elapsed()).count() as u32;
        let body = loop {
            let mut left = poll_fn(|context| match Pin::new(&mut connection).poll(context) {
                Poll::Ready(ended) => Poll::Ready(ended.map(|()| None)),
                Poll::Pending => match handover.taken() {
                    Some(body) => Poll::Ready(Ok(Some(body))),
                    None => Poll::Pending,
                },
            });
            let signal = tokio::select! {
                biased;
                left = &mut left => match left {
                    Ok(Some(body)) => break body,
                    Ok(None) => return None,
                    Err(error) => {
                        // The client is nearly always the cause: it disconnected or did not send HTTP.
                        tracing::debug!(%error, "a connection ended with an error");
                        return None;
                    }
                },
                signal = signals.select_next_some() => signal,
            };
            let shuts_down = match signal {
                Signal::Close => true,
                Signal::GiveWay => {
                    tracing::debug!("an idle connection was closed: others need its place");
                    return None;
                }
                Signal::Check => {
                    signals.push(Box::pin(check()));
                    let begun = activity.begun();
                    let is_quiet = begun == begun_before && activity.running() == 0;
                    begun_before = begun;
                    quiet = if is_quiet { quiet + 1 } else { 0 };
                    // The client has sent nothing, or did not disconnect when asked to.
                    if quiet >= CHECKS && (begun == 0 || quiet >= 2 * CHECKS) {
                        tracing::debug!("a connection was closed: it sent no request in time");
                        return None;
                    }
                    // In HTTP/1 this closes it, even in the middle of a head; in HTTP/2 the client has to close it.
                    quiet == CHECKS
                }
            };
            if shuts_down {
                match &mut connection {
                    Either::Left(http1) => Pin::new(http1).graceful_shutdown(),
                    Either::Right(http2) => Pin::new(&mut **http2).graceful_shutdown(),
                }
            }
        };
        drop(signals);
        let Either::Left(connection) = connection else {
            return None;
        };
        let stream = connection.into_parts().io.into_inner().into_stream();
        Some(Serving(Box::pin(async move {
            let _admitted = admitted;
            if let Err(error) = Chunked::new(stream, *body).await {
                tracing::debug!(%error, "a connection ended with an error");
            }
            None
        })))
    }
}

/// Signals to a connection that are not from its client.
enum Signal {
    /// The server shuts down: running requests may finish, and no new ones start.
    Close,
    /// Another connection needs its slot.
    GiveWay,
    /// It is time to check whether any request runs.
    Check,
}

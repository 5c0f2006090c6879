//! One connection, from its first byte to its end: an idle one is closed after a while.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, Either};
use futures_util::stream::FuturesUnordered;
use http::header::CONTENT_TYPE;
use http::{Request, Response, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

use super::ServeConfig;
use super::ahead::{AheadStream, MAX_BUFFER};
use super::handshake::Shake;
use super::http2;
use super::stall::Socket;
use super::table::Admitted;
use super::tracked::Tracked;

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
    handshake: Arc<dyn Shake>,
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
    let mut served: BoxFuture<'static, ()> = Box::pin(async move {
        let begun = Instant::now();
        let opened = open(stream, &*handshake, &admitted, &mut closing, &config);
        if let Some((version, stream)) = Box::pin(opened).await {
            drop(handshake);
            serve(version, stream, begun, admitted, service, closing, config).await;
        }
    });
    poll_fn(move |context| seat.poll(context, |context| served.as_mut().poll(context)))
}

/// The stream for HTTP, and which version its client speaks; `None` if the connection ends before.
async fn open(
    socket: TcpStream,
    handshake: &dyn Shake,
    admitted: &Admitted,
    closing: &mut watch::Receiver<bool>,
    config: &ServeConfig,
) -> Option<(Version, AheadStream)> {
    let opened = async {
        let socket = Socket::new(socket, config.write_timeout);
        let shaken = tokio::time::timeout(config.handshake_timeout, handshake.shaken(socket));
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
        match tokio::time::timeout(config.header_timeout, AheadStream::read(stream)).await {
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

/// Serves a stream by HTTP. The client's first contact was at `since`.
fn serve<S, B>(
    version: Version,
    stream: AheadStream,
    since: Instant,
    admitted: Admitted,
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
    let tracking = Arc::clone(&admitted.connection);
    // HTTP/1 has no streams: hyper writes one answer after the other.
    let in_streams = http2::IS_SPOKEN && version == Version::HTTP_2;
    let client = stream.clone();
    if !in_streams {
        client.expect_head();
    }
    let reading = stream.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        reading.head_read();
        let running = tracking.begin();
        let peer = tracking.peer.clone();
        let of_stream = in_streams.then(|| peer.clone());
        request.extensions_mut().insert(peer);
        let answer = service.call(request);
        async move {
            answer.await.map(|response| {
                running.answers_by_events(is_event_stream(&response));
                response.map(|body| match of_stream {
                    Some(peer) => Tracked::in_chunks(body, running, peer),
                    None => Tracked::whole(body, running),
                })
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
        loop {
            let mut ended = poll_fn(|context| match Pin::new(&mut connection).poll(context) {
                Poll::Pending if !in_streams && activity.running() == 0 => {
                    client.expect_head();
                    Poll::Pending
                }
                Poll::Pending if !in_streams => {
                    let left = client.poll_left(context, activity.lasts());
                    left.map(|()| {
                        tracing::debug!(
                            "a client disconnected before its answer was complete, or sent too much behind its request"
                        );
                        Ok(())
                    })
                }
                ended => ended,
            });
            let signal = tokio::select! {
                biased;
                ended = &mut ended => {
                    if let Err(error) = ended {
                        // The client is nearly always the cause: it disconnected or did not send HTTP.
                        tracing::debug!(%error, "a connection ended with an error");
                        if let Err(error) = Box::pin(client.refuse_head()).await {
                            tracing::debug!(%error, "a refusal was not written");
                        }
                    }
                    return;
                }
                signal = signals.select_next_some() => signal,
            };
            let shuts_down = match signal {
                Signal::Close => true,
                Signal::GiveWay => {
                    tracing::debug!("an idle connection was closed: others need its place");
                    return;
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
                        return;
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
        }
    }
}

fn is_event_stream<B>(response: &Response<B>) -> bool {
    let media = response.headers().get(CONTENT_TYPE);
    media.is_some_and(|media| media.as_bytes().starts_with(b"text/event-stream"))
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

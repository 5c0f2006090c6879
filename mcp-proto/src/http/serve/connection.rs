//! One connection, from its first byte to its end: an idle one is closed after a while.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use http::{Request, Response, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::ServeConfig;
use super::handshake::Handshake;
use super::lane::Lane;
use super::stall::Socket;
use super::streams::Streams;
use super::table::Admitted;
use super::tracked::Tracked;

/// How many bytes a connection buffers of what it reads, and of each answer that it writes: a head has no more.
const MAX_BUFFER: usize = 64 * 1024;

/// How often a connection is looked at in the time that a head may take.
///
/// hyper could time heads itself, with a timer and one more turn of its loop for each request: a fortieth of a small call.
const CHECKS: u32 = 4;

/// How many headers hyper takes unasked. For another number it allocates their places with each request.
const HYPER_HEADERS: usize = 100;

fn builder(config: &ServeConfig, lane: Lane) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(Streams {
        lane,
        write_timeout: config.write_timeout,
    });
    builder
        .http1()
        .max_buf_size(MAX_BUFFER)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(config.header_timeout)
        .max_concurrent_streams(config.max_http2_streams)
        .max_send_buf_size(MAX_BUFFER);
    if config.max_headers != HYPER_HEADERS {
        builder.http1().max_headers(config.max_headers);
    }
    builder
}

/// Serves a connection until it ends, or until `closing` and then what runs on it has ended.
pub(super) async fn run<H, S, B>(
    stream: TcpStream,
    admitted: Admitted,
    handshake: Arc<H>,
    service: S,
    mut closing: watch::Receiver<bool>,
    config: Arc<ServeConfig>,
) where
    H: Handshake,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut seat = admitted.connection.lane.seat();
    let served = async {
        let socket = Socket::new(stream, config.write_timeout);
        let shaken = shake(&*handshake, socket, &admitted, &mut closing, &config).await;
        if let Some(stream) = shaken {
            serve(stream, admitted, service, closing, config).await;
        }
    };
    let mut served = pin!(served);
    poll_fn(|context| seat.poll(context, |context| served.as_mut().poll(context))).await;
}

/// The stream for HTTP; `None` if the connection ends before.
async fn shake<H: Handshake>(
    handshake: &H,
    socket: Socket,
    admitted: &Admitted,
    closing: &mut watch::Receiver<bool>,
    config: &ServeConfig,
) -> Option<H::Stream> {
    let shaken = tokio::time::timeout(config.handshake_timeout, handshake.shake(socket));
    tokio::select! {
        biased;
        shaken = shaken => match shaken {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a handshake failed");
                None
            }
            Err(_) => {
                tracing::debug!("a connection was closed: its handshake was not done in time");
                None
            }
        },
        () = admitted.connection.gives_way() => None,
        _ = closing.wait_for(|closing| *closing) => None,
    }
}

async fn serve<I, S, B>(
    stream: I,
    admitted: Admitted,
    service: S,
    mut closing: watch::Receiver<bool>,
    config: Arc<ServeConfig>,
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let activity = &admitted.connection;
    let builder = builder(&config, activity.lane.clone());
    let tracking = Arc::clone(activity);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let running = tracking.begin();
        let peer = tracking.peer.clone();
        // HTTP/1 has no streams: hyper writes one answer after the other.
        let in_streams = request.version() == Version::HTTP_2;
        request.extensions_mut().insert(peer.clone());
        let answer = service.call(request);
        async move {
            answer.await.map(|response| {
                response.map(|body| match in_streams {
                    true => Tracked::in_chunks(body, running, peer),
                    false => Tracked::whole(body, running),
                })
            })
        }
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // Polled when they are ready, and not each time the connection is polled.
    let signals = FuturesUnordered::<BoxFuture<'_, Signal>>::new();
    let check = || async {
        tokio::time::sleep(config.header_timeout / CHECKS).await;
        Signal::Check
    };
    signals.push(Box::pin(check()));
    signals.push(Box::pin(async {
        activity.gives_way().await;
        Signal::GiveWay
    }));
    signals.push(Box::pin(async {
        // If the sender is gone, the server no longer runs.
        let _ = closing.wait_for(|closing| *closing).await;
        Signal::Close
    }));
    let mut signals = pin!(signals);
    let (mut begun_before, mut quiet) = (0, 0);
    loop {
        let signal = tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    // The client's doing in nearly every case: it went away or spoke no HTTP.
                    tracing::debug!(%error, "a connection ended with an error");
                }
                return;
            }
            signal = signals.select_next_some() => signal,
        };
        match signal {
            Signal::Close => connection.as_mut().graceful_shutdown(),
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
                // It has sent nothing, or did not go away when asked.
                if quiet >= CHECKS && (begun == 0 || quiet >= 2 * CHECKS) {
                    tracing::debug!("a connection was closed: it sent no request in time");
                    return;
                }
                // In HTTP/1 this closes it, even in the middle of a head; in HTTP/2 the client has to close it.
                if quiet == CHECKS {
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

/// Signals to a connection that are not from its client.
enum Signal {
    /// The server ends: running requests may finish, and no new ones begin.
    Close,
    /// Others need its place.
    GiveWay,
    /// It is time to look whether anything runs.
    Check,
}

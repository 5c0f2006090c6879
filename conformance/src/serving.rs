//! The HTTP servers of this program: their connections, bodies, and plain answers.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Any error, as bodies and services have them.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer, as it comes in.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The most connections at once; further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Answers the requests on all connections, until this is dropped.
///
/// # Errors
///
/// The listener fails.
pub(crate) async fn serve<A>(
    listener: TcpListener,
    answer: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) -> io::Result<()>
where
    A: Future<Output = Response<Body>> + Send,
{
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else {
            return Ok(());
        };
        let (socket, _) = listener.accept().await?;
        while connections.try_join_next().is_some() {}
        let answer = answer.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let answer = answer(request);
                async move { Ok::<_, Infallible>(answer.await) }
            });
            // A connection that breaks off is its client's affair.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(socket), service)
                .await;
            drop(permit);
        });
    }
}

pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// An answer without a body.
pub(crate) fn bare(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(full(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// An answer to a method that is not among these.
pub(crate) fn not_allowed(allowed: &'static str, body: Body) -> Response<Body> {
    let mut response = bare(StatusCode::METHOD_NOT_ALLOWED).map(|_| body);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// An answer with a body of this media type.
pub(crate) fn typed(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

pub(crate) fn plain(status: StatusCode, text: &str) -> Response<Body> {
    bare(status).map(|_| full(format!("mcp-conformance: {text}\n")))
}

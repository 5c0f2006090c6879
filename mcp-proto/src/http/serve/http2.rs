//! HTTP/2 connections and their streams. Behind the feature `http2`; without it, the module `none` is used instead.

pub(super) mod streams;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};

use super::ServeConfig;
use super::ahead::AheadStream;
use super::lane::Lane;
use super::tracked::BodyError;
use streams::Streams;

/// Whether connections can use HTTP/2.
pub(super) const IS_SPOKEN: bool = true;

/// How many bytes of an answer a stream buffers.
const MAX_STREAM_BUFFER: usize = 64 * 1024;

/// A connection by which a service is called.
pub(super) type Connection<S> = http2::Connection<TokioIo<AheadStream>, S, Streams>;

/// The connection on a stream whose client speaks this version.
///
/// # Errors
/// What it was given, when that is not HTTP/2.
pub(super) fn serve<S, B>(
    version: Version,
    stream: AheadStream,
    service: S,
    config: &ServeConfig,
    lane: &Lane,
) -> Result<Connection<S>, (AheadStream, S)>
where
    S: Service<
            Request<Incoming>,
            Response = Response<B>,
            Error: Into<BodyError>,
            Future: Send + 'static,
        > + Send
        + 'static,
    B: Body<Data = Bytes, Error: Into<BodyError>> + Send + 'static,
{
    if version != Version::HTTP_2 {
        return Err((stream, service));
    }
    let mut builder =
        http2::Builder::new(Streams { lane: lane.clone(), write_timeout: config.write_timeout });
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(config.header_timeout)
        .max_concurrent_streams(config.max_http2_streams)
        .max_send_buf_size(MAX_STREAM_BUFFER);
    Ok(builder.serve_connection(TokioIo::new(stream), service))
}

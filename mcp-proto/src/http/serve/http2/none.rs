//! Replaces HTTP/2 when the feature `http2` is off: no connection uses it.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Version;

use super::ServeConfig;
use super::ahead::AheadStream;
use super::lane::Lane;

/// Whether connections can use HTTP/2.
pub(super) const IS_SPOKEN: bool = false;

/// A connection over HTTP/2, which cannot exist here.
pub(super) struct Connection<S>(Infallible, PhantomData<fn(S)>);

/// Returns its arguments: hyper refuses HTTP/2 on a connection over HTTP/1.
///
/// # Errors
/// Always.
pub(super) fn serve<S>(
    _version: Version,
    stream: AheadStream,
    service: S,
    _config: &ServeConfig,
    _lane: &Lane,
) -> Result<Connection<S>, (AheadStream, S)> {
    Err((stream, service))
}

impl<S> Connection<S> {
    pub(super) fn graceful_shutdown(self: Pin<&mut Self>) {
        match self.0 {}
    }
}

impl<S> Future for Connection<S> {
    type Output = hyper::Result<()>;

    fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        match self.0 {}
    }
}

/// Replaces the streams.
pub(super) mod streams {
    /// Does nothing.
    pub(in crate::http::serve) fn note(_has_frame: bool) {}
}

//! In the place of HTTP/2, without the feature: no connection is of it.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Version;

use super::ServeConfig;
use super::lane::Lane;

/// Whether connections can be of HTTP/2.
pub(super) const IS_SPOKEN: bool = false;

/// What there is none of.
pub(super) struct Connection<I, S>(Infallible, PhantomData<fn(I, S)>);

/// Gives back what it was given: hyper refuses HTTP/2 in a connection of HTTP/1.
///
/// # Errors
/// Always.
pub(super) fn serve<I, S>(
    _version: Version,
    stream: I,
    service: S,
    _config: &ServeConfig,
    _lane: &Lane,
) -> Result<Connection<I, S>, (I, S)> {
    Err((stream, service))
}

impl<I, S> Connection<I, S> {
    pub(super) fn graceful_shutdown(self: Pin<&mut Self>) {
        match self.0 {}
    }
}

impl<I, S> Future for Connection<I, S> {
    type Output = hyper::Result<()>;

    fn poll(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<hyper::Result<()>> {
        match self.0 {}
    }
}

/// In the place of the streams.
pub(super) mod streams {
    /// Nothing is noted of what a body gives.
    pub(in crate::http::serve) fn note(_has_frame: bool) {}
}

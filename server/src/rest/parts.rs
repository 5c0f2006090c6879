//! A body of known length in parts that are all there.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;

use super::RestBody;

/// A text in parts.
pub(super) struct PartsBody(VecDeque<Bytes>);

impl PartsBody {
    pub(super) fn boxed(parts: Vec<Bytes>) -> RestBody {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        Self(parts.collect()).boxed_unsync()
    }
}

impl Body for PartsBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}

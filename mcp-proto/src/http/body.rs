//! The one type of body that all our responses have.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Body, Frame, SizeHint};
use serde::Serialize;

use crate::jsonrpc::Response;

/// The body of every response: nothing, one JSON text, or an event stream that owns the call it tells of.
#[derive(Debug)]
pub struct ResponseBody(Kind);

enum Kind {
    Full(Bytes),
    Events(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl ResponseBody {
    pub(crate) fn empty() -> Self {
        Self(Kind::Full(Bytes::new()))
    }

    pub(crate) fn json(answer: &Response) -> Self {
        Self::write(answer, size(answer))
    }

    /// A value of about this size as JSON.
    pub(crate) fn write(answer: &impl Serialize, size: usize) -> Self {
        let mut text = Vec::with_capacity(size);
        if let Err(error) = serde_json::to_writer(&mut text, answer) {
            // An answer is made of strings and JSON values; this cannot fail short of a bug.
            tracing::error!(%error, "an answer could not be serialised");
        }
        Self(Kind::Full(text.into()))
    }

    pub(crate) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self(Kind::Events(Box::pin(events)))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Events(events) => events
                .as_mut()
                .poll_next(context)
                .map(|event| event.map(|event| Ok(Frame::data(event)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Kind::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(bytes) => write!(formatter, "Full({} bytes)", bytes.len()),
            Self::Events(_) => formatter.write_str("Events"),
        }
    }
}

/// About how long an answer is as JSON text, so that it is written without growing.
pub(crate) fn size(answer: &Response) -> usize {
    128 + answer
        .outcome
        .as_ref()
        .map_or(128, |payload| payload.as_str().len())
}

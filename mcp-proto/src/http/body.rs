//! The one type of body that all our responses have.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Body, Frame, SizeHint};
use serde::Serialize;

use super::exchange::Holding;
use crate::budget::{self, Client, Held, Over};
use crate::jsonrpc::Response;

/// The body of every response: nothing, one JSON text, or an event stream that owns the call it tells of.
#[derive(Debug)]
pub struct ResponseBody {
    kind: Kind,
    /// What the call holds until its answer is given to the connection.
    held: Option<Holding>,
}

enum Kind {
    Full(Bytes),
    Events(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// A text that is counted until the last byte of it is written.
struct Counted {
    text: Vec<u8>,
    _held: Held,
}

/// How long a text is before it is counted until it is written. Shorter ones are within what a connection may buffer.
const COUNTED: usize = 16 * 1024;

impl ResponseBody {
    pub(crate) fn empty() -> Self {
        Self::full(Bytes::new())
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
        Self::full(text.into())
    }

    fn full(text: Bytes) -> Self {
        Self {
            kind: Kind::Full(text),
            held: None,
        }
    }

    pub(crate) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self {
            kind: Kind::Events(Box::pin(events)),
            held: None,
        }
    }

    /// The answer of a call, with what is held for it: its place until the answer is given to the connection, and the
    /// memory of a large one until it is written.
    pub(crate) fn answer(answer: &Response, held: Holding) -> Result<Self, Over> {
        let mut body = Self::json(answer);
        if let Kind::Full(text) = &mut body.kind {
            *text = counted(std::mem::take(text), &held.client())?;
        }
        body.held = Some(held);
        Ok(body)
    }
}

/// A text that a client holds until it is written; a short one as it is.
pub(crate) fn counted(text: Bytes, client: &Client) -> Result<Bytes, Over> {
    if text.len() < COUNTED {
        return Ok(text);
    }
    let held = client.hold(budget::Kind::AnswerBytes, text.len())?;
    Ok(Bytes::from_owner(Counted {
        text: text.into(),
        _held: held,
    }))
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.kind {
            Kind::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Events(events) => events
                .as_mut()
                .poll_next(context)
                .map(|event| event.map(|event| Ok(Frame::data(event)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.kind, Kind::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
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

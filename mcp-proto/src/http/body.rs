//! The one type of body that all our responses have.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Body, Frame, SizeHint};
use serde_json::json;

use crate::budget::{Client, Held, Over};
use crate::jsonrpc::{Response, append_all};

/// The resources that a call holds until its answer is written or dropped.
#[derive(Debug)]
pub(crate) struct Holding {
    /// Its share of the bound on calls.
    pub(crate) call: Held,
    /// Its share of the bound on listeners, if it is a `subscriptions/listen`.
    pub(crate) _listener: Option<Held>,
    /// The memory of its request.
    pub(crate) _request: Option<Held>,
}

impl Holding {
    /// The client that holds it.
    pub(crate) fn client(&self) -> Client {
        self.call.client()
    }
}

/// The body of every response: nothing, one JSON text, or an event stream that owns the call it reports on.
#[derive(Debug)]
pub struct ResponseBody {
    kind: Kind,
    /// The resources that the call holds until its answer is passed to the connection.
    held: Option<Holding>,
}

enum Kind {
    /// One short text; empty once it is written.
    Full(Bytes),
    /// The remaining parts of one text.
    Parts(VecDeque<Bytes>),
    Events(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// How long a text is before it is counted until it is written. Shorter ones are within what a connection may buffer.
const COUNTED: usize = 16 * 1024;

impl ResponseBody {
    pub(crate) fn empty() -> Self {
        Self::full(Bytes::new())
    }

    pub(crate) fn json(answer: Response) -> Self {
        Self::full(answer.into_text())
    }

    pub(super) fn full(text: Bytes) -> Self {
        Self { kind: Kind::Full(text), held: None }
    }

    /// The parts of a complete text.
    #[cfg(feature = "compression")]
    pub(super) fn parts(&self) -> Option<Vec<Bytes>> {
        match &self.kind {
            Kind::Full(text) => Some(vec![text.clone()]),
            Kind::Parts(parts) => Some(parts.iter().cloned().collect()),
            Kind::Events(_) => None,
        }
    }

    /// Replaces the text.
    #[cfg(feature = "compression")]
    pub(super) fn replace(&mut self, text: Bytes) {
        self.kind = Kind::Full(text);
    }

    pub(crate) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self { kind: Kind::Events(Box::pin(events)), held: None }
    }

    /// The answer of a call, with its resources: its share of the bound on calls until the answer is passed to the
    /// connection, and the memory of a large answer until it is written.
    pub(crate) fn answer(answer: Response, held: Holding) -> Result<Self, Over> {
        let mut body = if is_large(&answer) {
            Self { kind: Kind::Parts(in_parts(answer, &held.client())?.into()), held: None }
        } else {
            Self::json(answer)
        };
        body.held = Some(held);
        Ok(body)
    }

    /// Several answers as one array, which is held until it is written.
    pub(crate) fn answers(answers: &[Response], mut held: Held) -> Self {
        let mut text = Vec::with_capacity(answers.iter().map(Response::size_hint).sum());
        append_all(answers, &mut text);
        held.shrink_to(text.len());
        Self::full(held.keep(text.into()))
    }
}

/// Whether an answer is counted until it is written.
pub(crate) fn is_large(answer: &Response) -> bool {
    answer.outcome.as_ref().is_ok_and(|payload| payload.size() >= COUNTED)
}

/// The text of a large answer, whose result is not copied.
pub(crate) fn in_parts(answer: Response, client: &Client) -> Result<Vec<Bytes>, Over> {
    let Response { id, outcome } = answer;
    let payload = match outcome {
        Ok(payload) => payload,
        Err(error) => {
            let text = Response::error(id, error).into_text();
            return Ok(vec![text]);
        }
    };
    let id = id.map_or_else(String::new, |id| format!(r#","id":{}"#, json!(id)));
    let mut parts = vec![format!(r#"{{"jsonrpc":"2.0"{id},"result":"#).into()];
    parts.extend(payload.into_counted(client)?);
    parts.push(Bytes::from_static(b"}"));
    Ok(parts)
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.kind {
            Kind::Full(text) => {
                let text = (!text.is_empty()).then(|| std::mem::take(text));
                Poll::Ready(text.map(|text| Ok(Frame::data(text))))
            }
            Kind::Parts(parts) => Poll::Ready(parts.pop_front().map(|part| Ok(Frame::data(part)))),
            Kind::Events(events) => events
                .as_mut()
                .poll_next(context)
                .map(|event| event.map(|event| Ok(Frame::data(event)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full(text) => text.is_empty(),
            Kind::Parts(parts) => parts.is_empty(),
            Kind::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full(text) => SizeHint::with_exact(text.len() as u64),
            Kind::Parts(parts) => SizeHint::with_exact(length(parts)),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(text) => write!(formatter, "Full({} bytes)", text.len()),
            Self::Parts(parts) => write!(formatter, "Parts({} bytes)", length(parts)),
            Self::Events(_) => formatter.write_str("Events"),
        }
    }
}

fn length(parts: &VecDeque<Bytes>) -> u64 {
    parts.iter().map(|part| part.len() as u64).sum()
}

//! Bodies: reading one under a limit, and the one type that all our responses have.

use std::convert::Infallible;
use std::fmt::{self, Display};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use futures_util::Stream;
use http::header::{CONTENT_LENGTH, HeaderMap};
use http_body::{Body, Frame, SizeHint};

use super::config::HttpConfig;
use super::rejection::Rejection;
use crate::jsonrpc::{Payload, Response};

/// The body of every response: nothing, one JSON text, or an event stream that owns the call it tells of.
#[derive(Debug)]
pub struct ResponseBody(Kind);

enum Kind {
    Full(Bytes),
    Events(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// Room for what stands around a result, with an id of usual length.
const ENVELOPE: usize = 128;

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self(Kind::Full(Bytes::new()))
    }

    pub(super) fn json(message: &Response) -> Self {
        let result = message.outcome.as_ref().map_or("", Payload::as_str);
        let mut text = Vec::with_capacity(result.len() + ENVELOPE);
        if let Err(error) = serde_json::to_writer(&mut text, message) {
            // A message is made of strings and JSON values; this cannot fail short of a bug.
            tracing::error!(%error, "a message could not be serialised");
            text.clear();
        }
        Self(Kind::Full(text.into()))
    }

    pub(super) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
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

/// Reads a whole body, counting while it reads: a length that was announced is a hint, not a promise.
pub(super) async fn read<B>(
    body: B,
    headers: &HeaderMap,
    config: &HttpConfig,
) -> Result<Bytes, Rejection>
where
    B: Body,
    B::Error: Display,
{
    let max = config.max_body_bytes;
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max as u64) {
        return Err(Rejection::BodyTooLarge(max));
    }
    let mut body = pin!(body);
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    // The clock starts only when the body is not there already, as small bodies are.
    let mut deadline = None;
    loop {
        let frame = poll_fn(|context| {
            if let Poll::Ready(frame) = body.as_mut().poll_frame(context) {
                return Poll::Ready(Ok(frame));
            }
            let deadline =
                deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(config.body_timeout)));
            deadline
                .as_mut()
                .poll(context)
                .map(|()| Err(Rejection::BodyTimeout))
        })
        .await?;
        let Some(frame) = frame else { break };
        let frame = frame.map_err(|error| {
            tracing::debug!(%error, "a request body broke off");
            Rejection::BodyBroken
        })?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let read = first.as_ref().map_or(0, Bytes::len) + rest.len();
        if data.remaining() > max.saturating_sub(read) {
            return Err(Rejection::BodyTooLarge(max));
        }
        // The common body is one chunk, which is kept without a copy.
        match &first {
            None => first = Some(data.copy_to_bytes(data.remaining())),
            Some(_) => rest.extend_from_slice(&data.copy_to_bytes(data.remaining())),
        }
    }
    let first = first.unwrap_or_default();
    if rest.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}

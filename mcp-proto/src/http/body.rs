//! Bodies: reading one under a limit, and the one type that all our responses have.

use std::convert::Infallible;
use std::fmt::{self, Display};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut as _, Bytes, BytesMut};
use futures_util::Stream;
use http::header::{CONTENT_LENGTH, EXPECT, HeaderMap};
use http_body::{Body, Frame, SizeHint};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::config::HttpConfig;
use super::deadline::Deadline;
use super::rejection::Rejection;
use crate::jsonrpc::Response;

/// The body of every response: nothing, one JSON text, or an event stream that owns the call it tells of.
#[derive(Debug)]
pub struct ResponseBody(Kind);

enum Kind {
    Full(Bytes),
    Events(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl ResponseBody {
    pub(super) fn empty() -> Self {
        Self(Kind::Full(Bytes::new()))
    }

    pub(super) fn json(answer: &Response) -> Self {
        Self::write(answer, size(answer))
    }

    /// The answers to a batch.
    pub(super) fn json_array(answers: &[Response]) -> Self {
        Self::write(&answers, answers.iter().map(size).sum())
    }

    fn write(answer: &impl Serialize, size: usize) -> Self {
        let mut text = Vec::with_capacity(size);
        if let Err(error) = serde_json::to_writer(&mut text, answer) {
            // An answer is made of strings and JSON values; this cannot fail short of a bug.
            tracing::error!(%error, "an answer could not be serialised");
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

/// About how long an answer is as JSON text, so that it is written without growing.
pub(super) fn size(answer: &Response) -> usize {
    128 + answer
        .outcome
        .as_ref()
        .map_or(128, |payload| payload.as_str().len())
}

/// A body that was read. It takes its share of the memory for bodies until it is dropped.
#[derive(Debug)]
pub(super) struct Text {
    bytes: Bytes,
    _share: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The most bytes that are made room for because they were announced.
const MAX_AHEAD: usize = 256 * 1024;
/// The most bytes of a refused body that are read to no purpose but the client's hearing of it.
const MAX_DISCARDED: usize = 64 * 1024 * 1024;

/// Reads a whole body, counting while it reads: a length that was announced is a hint, not a promise. `memory` has a
/// permit for each byte of all the bodies that are held at once.
pub(super) async fn read<B>(
    body: B,
    headers: &HeaderMap,
    config: &HttpConfig,
    memory: &Arc<Semaphore>,
) -> Result<Text, Rejection>
where
    B: Body,
    B::Error: Display,
{
    if announced(headers).is_some_and(|length| length > config.max_body_bytes) {
        discard(body, headers, config).await;
        return Err(Rejection::BodyTooLarge(config.max_body_bytes));
    }
    let mut body = pin!(body);
    let read = collect(body.as_mut(), headers, config, memory).await;
    if let Err(Rejection::BodyTooLarge(_) | Rejection::TooManyBodies) = read {
        skip(body, config).await;
    }
    read
}

async fn collect<B>(
    mut body: Pin<&mut B>,
    headers: &HeaderMap,
    config: &HttpConfig,
    memory: &Arc<Semaphore>,
) -> Result<Text, Rejection>
where
    B: Body,
    B::Error: Display,
{
    let max = config.max_body_bytes;
    let mut deadline = Deadline::new(config.body_timeout);
    let mut share: Option<OwnedSemaphorePermit> = None;
    // The common body is one chunk, which is kept without a copy.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = deadline
        .run(poll_fn(|context| body.as_mut().poll_frame(context)))
        .await
        .ok_or(Rejection::BodyTimeout)?
    {
        let frame = frame.map_err(|error| {
            tracing::debug!(%error, "a request body broke off");
            Rejection::BodyBroken
        })?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let (read, more) = (first.len() + whole.len(), data.remaining());
        if more > max.saturating_sub(read) {
            return Err(Rejection::BodyTooLarge(max));
        }
        let taken = u32::try_from(more)
            .ok()
            .and_then(|more| Arc::clone(memory).try_acquire_many_owned(more).ok())
            .ok_or(Rejection::TooManyBodies)?;
        match &mut share {
            None => share = Some(taken),
            Some(share) => share.merge(taken),
        }
        if read == 0 {
            first = data.copy_to_bytes(more);
            continue;
        }
        if whole.is_empty() {
            let ahead = announced(headers).unwrap_or(0).min(MAX_AHEAD);
            whole.reserve(ahead.max(read + more));
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.put(data);
    }
    let bytes = if whole.is_empty() {
        first
    } else {
        whole.freeze()
    };
    Ok(Text {
        bytes,
        _share: share,
    })
}

/// Reads the body of a request that is refused unread, in bounds: a client that still writes when the connection is
/// closed may never see the answer. One that waits to be told to send, or announces more than the bound, is answered
/// at once.
pub(super) async fn discard<B: Body>(body: B, headers: &HeaderMap, config: &HttpConfig) {
    let asks = headers
        .get(EXPECT)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    if asks || announced(headers).is_some_and(|length| length > max_discarded(config)) {
        return;
    }
    skip(pin!(body), config).await;
}

/// Reads what is left of a body, in bounds.
async fn skip<B: Body>(mut body: Pin<&mut B>, config: &HttpConfig) {
    let mut deadline = Deadline::new(config.body_timeout);
    let mut left = max_discarded(config);
    while !body.is_end_stream() {
        let frame = deadline
            .run(poll_fn(|context| body.as_mut().poll_frame(context)))
            .await;
        let Some(Some(Ok(frame))) = frame else { return };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        match left.checked_sub(data.remaining()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

fn max_discarded(config: &HttpConfig) -> usize {
    config.max_body_bytes.saturating_mul(4).min(MAX_DISCARDED)
}

/// The length that the client announced.
fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

//! Reading the body of a request under a limit.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::{Pin, pin};

use bytes::{Buf, BufMut as _, Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, EXPECT, HeaderMap};
use http_body::Body;

use super::config::HttpConfig;
use super::deadline::Deadline;
use super::rejection::Rejection;
use crate::budget::{Client, Held, Kind, Over};

/// A body that was read, and its part of the memory for requests.
#[derive(Debug)]
pub(crate) struct Text {
    bytes: Bytes,
    held: Held,
}

impl Text {
    /// Gives the text up for what was read from it, which takes so much memory.
    pub(crate) fn read_as(mut self, memory: usize) -> Result<Held, Over> {
        self.held.set(memory)?;
        Ok(self.held)
    }
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

/// Reads a whole body, counting while it reads: a length that was announced is a hint, not a promise. `client` holds
/// each byte.
pub(super) async fn read<B>(
    body: B,
    headers: &HeaderMap,
    config: &HttpConfig,
    client: &Client,
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
    let read = collect(body.as_mut(), headers, config, client).await;
    if let Err(Rejection::BodyTooLarge(_) | Rejection::Over(_)) = read {
        skip(body, config).await;
    }
    read
}

async fn collect<B>(
    mut body: Pin<&mut B>,
    headers: &HeaderMap,
    config: &HttpConfig,
    client: &Client,
) -> Result<Text, Rejection>
where
    B: Body,
    B::Error: Display,
{
    let max = config.max_body_bytes;
    let mut deadline = Deadline::new(config.body_timeout);
    let mut held = client.hold(Kind::RequestBytes, 0)?;
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
        held.grow(more)?;
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
    Ok(Text { bytes, held })
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

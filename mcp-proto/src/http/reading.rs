//! Reading the body of a request under a limit.

use std::fmt::Display;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, BufMut as _, Bytes, BytesMut};
use futures_util::future::Either;
use http::header::{CONTENT_LENGTH, EXPECT, HeaderMap};
use http_body::Body;
use tokio::time::{sleep, timeout};

use super::config::HttpConfig;
use super::head;
use super::rejection::{Refused, Rejection, Result};
use crate::blocking::{self, NotDone};
use crate::budget::{Client, Held, Kind, Over, Turn};
use crate::json::Meter;
use crate::jsonrpc::without_mark;

/// A body that was read, and its part of the memory for requests.
#[derive(Debug)]
pub(crate) struct Text {
    bytes: Bytes,
    held: Held,
}

/// The resources that a request holds after it was read.
#[derive(Debug)]
pub(crate) struct Arrived {
    /// The memory of the parsed request.
    pub(crate) held: Option<Held>,
    /// Its client's turn to keep a processor busy, if the request is large.
    pub(crate) turn: LongTurn,
}

/// A turn that lasts until the handling of a large request first waits, because judging the request takes as long as
/// reading it.
#[derive(Debug)]
pub(crate) struct LongTurn(Option<Turn>);

impl LongTurn {
    /// A client's next turn.
    pub(crate) async fn of(client: &Client) -> Self {
        Self(Some(client.turn().await))
    }

    /// Runs `work`; the turn ends when it first waits.
    pub(crate) fn begin<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        let Some(turn) = self.0 else {
            return Either::Left(work);
        };
        // Few calls have a turn. This keeps the future of all others small.
        Either::Right(Box::pin(async move {
            let mut work = pin!(work);
            let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
            drop(turn);
            match first {
                Poll::Ready(done) => done,
                Poll::Pending => work.await,
            }
        }))
    }
}

/// The size in bytes from which other tasks should not wait while a body is read: that takes about a millisecond.
const LARGE: usize = 64 * 1024;

impl Text {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Parses the text into a value that takes at most `max` bytes of memory, and drops the text.
    ///
    /// A large one is read on a blocking thread, few at once for one client.
    pub(crate) async fn parse<T: Send + 'static>(
        self,
        max: usize,
        read: impl FnOnce(&[u8], &Meter) -> Result<T, Refused> + Send + 'static,
    ) -> Result<(T, Arrived), Refused> {
        if self.bytes.len() > LARGE {
            return Box::pin(self.parse_on_thread(max, read)).await;
        }
        let (parsed, held) = self.parse_here(max, read);
        let arrived = Arrived { held: held?, turn: LongTurn(None) };
        Ok((parsed?, arrived))
    }

    async fn parse_on_thread<T: Send + 'static>(
        self,
        max: usize,
        read: impl FnOnce(&[u8], &Meter) -> Result<T, Refused> + Send + 'static,
    ) -> Result<(T, Arrived), Refused> {
        let turn = LongTurn::of(&self.held.client()).await;
        let parsed = blocking::run(move || self.parse_here(max, read)).await;
        let (parsed, held) = parsed.map_err(|NotDone| Rejection::BodyBroken)?;
        let arrived = Arrived { held: held?, turn };
        Ok((parsed?, arrived))
    }

    /// The parsed value and the memory held for it.
    fn parse_here<T>(
        self,
        max: usize,
        read: impl FnOnce(&[u8], &Meter) -> T,
    ) -> (T, Result<Option<Held>, Over>) {
        let Self { bytes, held } = self;
        let meter = Meter::held_by(held, max);
        let parsed = read(&bytes, &meter);
        // The parsed value does not need the text and may live long.
        drop(bytes);
        (parsed, meter.into_held())
    }
}

/// The most bytes of a refused body that are read and dropped only so that the client receives the refusal. They are
/// read at a limited pace, so that a longer body delays its own client and no other.
const MAX_DISCARDED: usize = 256 * 1024 * 1024;

/// After how many bytes of a refused body other work goes first, and for how long.
const SKIPPED_IN_A_ROW: usize = 256 * 1024;
const SKIP_PAUSE: Duration = Duration::from_millis(1);

/// A client that sends no part of a refused body for this long is considered not to be writing, and is answered.
const SILENCE: Duration = Duration::from_secs(1);

/// The initial capacity, in bytes, for a body that arrives in pieces.
const FIRST_ROOM: usize = 16 * 1024;

/// Reads a whole body, counting while it reads: a length that was announced is a hint, not a promise. `client` holds
/// what it announces before anything of it is read, and each byte beyond.
pub(super) async fn read<B>(
    mut body: Pin<&mut B>,
    headers: &HeaderMap,
    announced: Option<usize>,
    config: &HttpConfig,
    client: &Client,
) -> Result<Text>
where
    B: Body,
    B::Error: Display,
{
    let announced = announced.unwrap_or_default();
    if announced > config.max_body_bytes {
        Box::pin(discard(body, headers, config, client)).await;
        return Err(Rejection::BodyTooLarge(config.max_body_bytes));
    }
    let collected = collect(body.as_mut(), announced, config, client);
    let read = timeout(config.body_timeout, collected).await;
    let read = read.unwrap_or(Err(Rejection::BodyTimeout));
    if let Err(Rejection::BodyTooLarge(_) | Rejection::Over(_)) = read {
        Box::pin(skip(body, config, client)).await;
    }
    read
}

async fn collect<B>(
    mut body: Pin<&mut B>,
    announced: usize,
    config: &HttpConfig,
    client: &Client,
) -> Result<Text>
where
    B: Body,
    B::Error: Display,
{
    let max = config.max_body_bytes;
    let mut held = client.hold(Kind::RequestBytes, announced)?;
    // The common body is one chunk, which is kept without a copy.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    loop {
        let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await else {
            break;
        };
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
        if read == 0 {
            held.grow(more.saturating_sub(held.amount()))?;
            first = data.copy_to_bytes(more);
        } else {
            let room = room(whole.capacity(), read + more, announced).min(max);
            held.grow(room.saturating_sub(held.amount()))?;
            whole.reserve(room - whole.len());
            if whole.is_empty() {
                whole.extend_from_slice(&std::mem::take(&mut first));
            }
            whole.put(data);
        }
    }
    let bytes = if whole.is_empty() { first } else { whole.freeze() };
    Ok(Text { bytes: without_mark(bytes), held })
}

/// The capacity to reserve when `needed` bytes have arrived: for all that were announced once a quarter has arrived,
/// otherwise for twice as many as before. Memory follows what has arrived, not what was promised.
fn room(before: usize, needed: usize, announced: usize) -> usize {
    if needed <= before {
        return before;
    }
    let double = needed.max(FIRST_ROOM).max(before * 2);
    if (needed..=needed.saturating_mul(4)).contains(&announced) { announced } else { double }
}

/// Reads and drops the body of a refused request, in bounds: a client that still writes when the connection is closed
/// may never see the answer. A client that waits for `100 Continue`, or announces more than the bound, is answered at
/// once; one that sends nothing for a second, then.
pub(super) async fn discard<B: Body>(
    body: Pin<&mut B>,
    headers: &HeaderMap,
    config: &HttpConfig,
    client: &Client,
) {
    let asks = headers
        .get(EXPECT)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    if asks || announced(headers).is_some_and(|length| length > MAX_DISCARDED) {
        return;
    }
    skip(body, config, client).await;
}

/// Reads the rest of a body, within bounds, when it is the client's turn.
async fn skip<B: Body>(body: Pin<&mut B>, config: &HttpConfig, client: &Client) {
    if !body.is_end_stream() {
        // The rest of what takes longer is not read.
        drop(timeout(config.body_timeout, skip_frames(body, client)).await);
    }
}

async fn skip_frames<B: Body>(mut body: Pin<&mut B>, client: &Client) {
    let _turn = client.discard().await;
    let mut left = MAX_DISCARDED;
    let mut in_a_row = 0;
    while !body.is_end_stream() {
        if in_a_row >= SKIPPED_IN_A_ROW {
            in_a_row = 0;
            sleep(SKIP_PAUSE).await;
        }
        let frame = poll_fn(|context| body.as_mut().poll_frame(context));
        let read = match timeout(SILENCE, frame).await {
            Ok(Some(Ok(frame))) => frame.into_data().map_or(0, |data| data.remaining()),
            _ => return,
        };
        match left.checked_sub(read) {
            Some(rest) => left = rest,
            None => return,
        }
        in_a_row += read;
    }
}

/// The body's length as the client announced it.
fn announced(headers: &HeaderMap) -> Option<usize> {
    head::first(headers, &CONTENT_LENGTH).and_then(head::length)
}

//! An answer over HTTP as it comes in: its head first, then a body, or the events of a stream. Each is read here, and
//! nowhere else, also one that is on its way to another client.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Request;
use http::response::Parts;
use http_body::Body as _;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::time::timeout;

use super::exchange::{Exchange, NOT_JSON, is_like_a_message};
use crate::json::messages;
use crate::serving::Body;
use crate::sse::{Decoder, Frame, MAX_EVENT_BYTES, is_event_stream};
use crate::target::{Target, TargetError};

/// For an answer whose time someone else limits.
pub(crate) const NO_LIMIT: Duration = Duration::from_secs(86_400);

/// Dropping it ends the exchange.
pub(crate) struct Incoming {
    /// The status and the headers, and what was read of the body as a whole.
    pub(crate) exchange: Exchange,
    /// Whether it is an event stream.
    pub(crate) streams: bool,
    body: Body,
    decoder: Decoder,
    frames: VecDeque<Frame>,
    /// What was read of the body and is not in the exchange yet.
    bytes: Vec<u8>,
    watch: Option<Watch>,
}

/// Sees the data and the id of each event as it comes, or the whole body.
type Watch = Box<dyn Fn(&[u8], Option<&str>) + Send + Sync>;

/// Why a body was not read to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The time was over.
    Late,
    /// It broke off, or is too long.
    Problem(String),
}

impl Incoming {
    /// Sends a request, and waits for the head of its answer.
    ///
    /// # Errors
    /// Those of [`Target::send`].
    pub(crate) async fn open(
        target: &Target,
        request: Request<Bytes>,
    ) -> Result<Self, TargetError> {
        let (head, body) = target.send(request).await?.into_parts();
        Ok(Self::of(head, body))
    }

    /// An answer whose head has come.
    pub(crate) fn of(head: Parts, body: Body) -> Self {
        let streams = is_event_stream(&head.headers);
        let status = Some(head.status.as_u16());
        Self {
            exchange: Exchange { status, headers: head.headers, ..Exchange::default() },
            streams,
            body,
            decoder: Decoder::default(),
            frames: VecDeque::new(),
            bytes: Vec::new(),
            watch: None,
        }
    }

    /// The same; `watch` sees the data and the id of each event as it comes, or the whole body.
    pub(crate) fn watched(
        self,
        watch: impl Fn(&[u8], Option<&str>) + Send + Sync + 'static,
    ) -> Self {
        Self { watch: Some(Box::new(watch)), ..self }
    }

    /// The body for another client, who ends it by leaving. What watches it sees what passes, as far as it can be read.
    pub(crate) fn passed_on(self) -> Body {
        let frames = stream::unfold(Some(self), |open| async {
            let mut open = open?;
            let frame = open.body.frame().await;
            let data = frame.as_ref().and_then(|it| it.as_ref().ok()?.data_ref());
            let is_read = match data {
                Some(data) if open.streams => open.decode(data).is_ok(),
                Some(data) => open.keep(data).is_ok(),
                None => true,
            };
            open.frames.clear();
            if !is_read {
                open.watch = None;
            }
            // The connection does not ask again for a body whose length it knows.
            let has_failed = frame.as_ref().is_some_and(Result::is_err);
            let is_over = open.body.is_end_stream() || frame.is_none();
            if let Some(watch) = open.watch.as_ref().filter(|_| is_over && !has_failed)
                && !open.streams
            {
                watch(&open.bytes, None);
            }
            Some((frame?, (!is_over && !has_failed).then_some(open)))
        });
        StreamBody::new(frames).boxed_unsync()
    }

    /// The next frame of an event stream, or `None` at its end. Loses nothing when it is dropped while it waits.
    ///
    /// # Errors
    /// It broke off, or cannot be decoded.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, String> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Ok(Some(frame));
            }
            let Some(data) = self.chunk().await? else {
                return Ok(None);
            };
            self.decode(&data)?;
        }
    }

    /// Reads on to the end, of an event stream until it is enough, and adds what comes to the exchange.
    ///
    /// # Errors
    /// It did not end within this time, or cannot be read.
    pub(crate) async fn read(
        &mut self,
        within: Duration,
        is_enough: impl Fn(&Exchange) -> bool,
    ) -> Result<(), Stop> {
        let read = timeout(within, self.fill(is_enough)).await;
        let read = read.map_or(Err(Stop::Late), |read| read.map_err(Stop::Problem));
        let bytes = std::mem::take(&mut self.bytes);
        // A character that is cut off at the end may come later.
        self.exchange.is_garbled |=
            str::from_utf8(&bytes).is_err_and(|it| it.error_len().is_some());
        let text = String::from_utf8_lossy(&bytes);
        self.exchange.received.push_str(&text);
        if self.streams {
            return read;
        }
        if let Some(watch) = self.watch.as_ref().filter(|_| !bytes.is_empty()) {
            watch(&bytes, None);
        }
        match serde_json::from_slice(&bytes) {
            Ok(body) => self.exchange.messages = messages(body),
            Err(_) if is_like_a_message(&text) => return Err(Stop::Problem(NOT_JSON.to_owned())),
            Err(_) => {}
        }
        read
    }

    async fn fill(&mut self, is_enough: impl Fn(&Exchange) -> bool) -> Result<(), String> {
        while let Some(data) = self.chunk().await? {
            self.keep(&data)?;
            // What comes after bytes that are no event stream is read nevertheless.
            if !self.streams || self.decode(&data).is_err() {
                continue;
            }
            let mut is_broken = false;
            for frame in self.frames.drain(..) {
                let Frame::Event(event) = frame else { continue };
                match serde_json::from_str(&event.data) {
                    Ok(message) => self.exchange.messages.push(message),
                    Err(_) => is_broken |= is_like_a_message(&event.data),
                }
            }
            if is_enough(&self.exchange) {
                return Ok(());
            }
            if is_broken {
                return Err(NOT_JSON.to_owned());
            }
        }
        Ok(())
    }

    fn keep(&mut self, data: &[u8]) -> Result<(), String> {
        if self.bytes.len() + data.len() > MAX_EVENT_BYTES {
            return Err(format!("the body is longer than {MAX_EVENT_BYTES} bytes"));
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        while let Some(frame) = self.body.frame().await {
            let what = if self.streams { "stream" } else { "body" };
            let frame = frame.map_err(|error| format!("the {what} broke off: {error}"))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    fn decode(&mut self, data: &[u8]) -> Result<(), String> {
        let before = self.frames.len();
        let decoded = self.decoder.push(data, &mut self.frames);
        for frame in self.frames.iter().skip(before) {
            if let (Frame::Event(event), Some(watch)) = (frame, &self.watch)
                && !event.data.is_empty()
            {
                watch(event.data.as_bytes(), event.id.as_deref());
            }
        }
        decoded.map_err(|error| error.to_string())
    }
}

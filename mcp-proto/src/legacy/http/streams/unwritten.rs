//! The part of a stream that has not been written to the event store yet.

use bytes::Bytes;

use super::ring::Ring;
use crate::jsonrpc::RequestId;
use crate::legacy::event_store::StreamEvent;

/// The largest event that is written. A stream with a larger one is not shared any more.
const MAX_EVENT: usize = 4 * 1024 * 1024;

/// The most bytes of events that are written at once, or one event.
const AT_ONCE: usize = 1024 * 1024;

/// How much of a stream was written.
#[derive(Debug)]
pub(super) struct Unwritten {
    /// The number of the first event that was not written.
    next: u64,
    /// Whether it waits to be written.
    noted: bool,
    /// All events have been written to the stream.
    pub(super) complete: bool,
    /// The stream is not shared any more.
    given_up: bool,
    /// The requests whose answers it has yet to carry.
    pub(super) requests: Vec<RequestId>,
}

/// The data to write for a stream.
#[derive(Debug)]
pub(super) struct News {
    pub(super) about: Bytes,
    /// The number of the oldest event that is kept.
    pub(super) first: u64,
    pub(super) events: Vec<StreamEvent>,
    /// Whether the stream ends after these events.
    pub(super) ended: bool,
    /// The number of the event after the last of them.
    pub(super) next: u64,
    /// Whether more events remain to be written after these.
    pub(super) more: bool,
}

impl Default for Unwritten {
    fn default() -> Self {
        Self { next: 1, noted: false, complete: false, given_up: false, requests: Vec::new() }
    }
}

impl Unwritten {
    pub(super) fn note(&mut self) -> bool {
        !self.given_up && !std::mem::replace(&mut self.noted, true)
    }

    /// Stops sharing it. Returns whether it must be queued for that.
    pub(super) fn give_up(&mut self) -> bool {
        !std::mem::replace(&mut self.given_up, true) && !std::mem::replace(&mut self.noted, true)
    }

    /// `None` if the stream is to be removed from the store.
    pub(super) fn news(&mut self, ring: &Ring) -> Option<News> {
        self.noted = false;
        let first = ring.first();
        let mut next = self.next.max(first);
        let (mut events, mut bytes) = (Vec::new(), 0_usize);
        while let Some(text) = ring.get(next).filter(|_| !self.given_up) {
            if text.len() > MAX_EVENT {
                tracing::warn!(
                    "a stream of calls cannot be resumed at other servers: it has an event that is too large"
                );
                self.given_up = true;
            }
            bytes = bytes.saturating_add(text.len());
            if bytes > AT_ONCE && !events.is_empty() {
                break;
            }
            events.push(StreamEvent { number: next, text: text.clone() });
            next += 1;
        }
        if self.given_up {
            return None;
        }
        let about = serde_json::to_vec(&self.requests).unwrap_or_default();
        let more = next < ring.next();
        Some(News { about: about.into(), first, events, ended: self.complete && !more, next, more })
    }

    pub(super) fn written(&mut self, next: u64) {
        self.next = self.next.max(next);
    }
}

//! One stream of a session: what was said on it lately, who says it, and the one connection that hears it.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::event_id::{EventId, StreamName};
use super::ring::Ring;
use super::speaker::Speaker;
use super::unwritten::{News, Unwritten};
use crate::budget::{Client, Over};
use crate::http::sse::KEEP_ALIVE;
use crate::jsonrpc::RequestId;
use crate::legacy::http::refusal::Refusal;

/// How many events may wait for a connection before whoever says them waits.
const MAX_UNHEARD: u64 = 16;

/// A stream. Whoever says something on it is one task, or one future ([`Speaker`]); connections come and go.
#[derive(Debug)]
pub(in crate::legacy::http) struct Stream {
    name: StreamName,
    state: Mutex<State>,
    /// Wakes readers.
    news: Notify,
    /// Wakes the task that says what is heard here.
    changed: Notify,
    /// What is said, on a standalone stream; that of calls is said by their tasks.
    speaker: OnceLock<Speaker>,
}

#[derive(Debug)]
struct State {
    ring: Ring,
    reader: Option<Reading>,
    /// The key of the next reader.
    next_key: u64,
    /// The number of the first event that no reader was given.
    unheard: u64,
    /// A reader came for which there is nothing: an event would give it an id to come back with.
    wants_id: bool,
    /// The reader has heard nothing for long.
    is_quiet: bool,
    /// Nothing more will be said.
    ended: bool,
    /// The session has changed in the store.
    session_changed: bool,
    /// Nobody may come back: the task has no reason to go on.
    forgotten: bool,
    /// What other processes do not know of it, if there is a store for that.
    unwritten: Unwritten,
}

#[derive(Debug)]
struct Reading {
    key: u64,
    /// The number of the first event that it is given.
    first: u64,
    /// The number of the event it gets next.
    next: u64,
    /// It was told to go after the event of this number.
    until: Option<u64>,
}

/// Who hears a stream, as the task that speaks on it sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::legacy::http) enum Audience {
    /// A connection. `room`: it has not too much to read.
    Here { room: bool },
    /// Nobody, but somebody may come back. `room`: what was said since is fewer events than are kept.
    Away { room: bool },
    /// Nobody, for ever.
    Gone,
}

/// What a reader finds.
pub(super) enum StreamRead {
    Event(Bytes),
    Nothing,
    End,
}

impl Stream {
    pub(super) fn new(name: StreamName, client: &Client) -> Self {
        Self {
            name,
            state: Mutex::new(State {
                ring: Ring::new(client),
                reader: None,
                next_key: 0,
                unheard: 1,
                wants_id: false,
                is_quiet: false,
                ended: false,
                session_changed: false,
                forgotten: false,
                unwritten: Unwritten::default(),
            }),
            news: Notify::new(),
            changed: Notify::new(),
            speaker: OnceLock::new(),
        }
    }

    /// What is said on it is said by this future, which a reader runs, or a task of its own without one. Once.
    pub(super) fn speak_by(&self, work: BoxFuture<'static, ()>) {
        // Only the one that opens a standalone stream does so.
        let _once = self.speaker.set(Speaker::new(work));
    }

    pub(super) fn speaker(&self) -> Option<&Speaker> {
        self.speaker.get()
    }

    /// Runs what is said here, for the reader of this key or for no reader; ready when that is done.
    pub(super) fn speak(&self, key: Option<u64>, context: &mut Context<'_>) -> Poll<()> {
        let Some(speaker) = self.speaker() else {
            return Poll::Pending;
        };
        let is_turn = || self.state().reader.as_ref().map(|reader| reader.key) == key;
        speaker.poll(context, is_turn)
    }

    /// Whether a connection reads it.
    pub(super) fn is_read(&self) -> bool {
        self.state().reader.is_some()
    }

    /// The session has changed in the store: tells what is said here.
    pub(super) fn change_session(&self) {
        self.state().session_changed = true;
        self.changed.notify_one();
    }

    /// Whether the session has changed since this was asked.
    pub(super) fn has_session_changed(&self) -> bool {
        std::mem::take(&mut self.state().session_changed)
    }

    pub(super) fn name(&self) -> StreamName {
        self.name
    }

    /// Whose it is.
    pub(super) fn client(&self) -> Client {
        self.state().ring.client()
    }

    /// Whether its client, or all together, keep more than they may.
    pub(super) fn is_over(&self) -> bool {
        self.state().ring.is_over()
    }

    /// Why there is no room for a large event.
    pub(super) fn has_room(&self, event: usize) -> Result<(), Over> {
        self.state().ring.has_room(event)
    }

    /// The key of a reader of everything after the event of this number that is still kept. It takes the place of
    /// another one.
    pub(super) fn resume(&self, after: u64) -> Result<u64, Refusal> {
        let mut state = self.state();
        if state.forgotten || after == 0 || after >= state.ring.next() {
            return Err(Refusal::ForgottenStream);
        }
        let first = state.ring.first();
        if after + 1 < first {
            tracing::info!(
                events = first - after - 1,
                "a client came back for events of which some are not kept any more"
            );
        }
        let key = state.read_from(first.max(after + 1));
        drop(state);
        self.wake();
        Ok(key)
    }

    /// The key of a reader of what no reader was given yet, if no connection reads now.
    pub(super) fn take_up(&self) -> Result<u64, Refusal> {
        let mut state = self.state();
        if state.reader.is_some() {
            return Err(Refusal::StreamTaken);
        }
        if state.forgotten {
            return Err(Refusal::ForgottenStream);
        }
        let next = state.unheard.max(state.ring.first());
        let key = state.read_from(next);
        drop(state);
        self.wake();
        Ok(key)
    }

    fn wake(&self) {
        // The reader before, if any, and the task that speaks.
        self.news.notify_waiters();
        self.changed.notify_one();
    }

    /// Writes a comment to whoever hears, if there is nothing else to read.
    pub(super) fn keep_alive(&self) {
        self.state().is_quiet = true;
        self.news.notify_waiters();
    }

    /// Says something. One task does so, so that numbers are in order.
    pub(super) fn push(&self, event: impl FnOnce(EventId) -> Bytes) -> u64 {
        let number = self.state().ring.next();
        // A large answer takes its time, and a reader may need the lock meanwhile.
        let event = event(EventId {
            stream: self.name,
            number,
        });
        self.state().ring.push(event);
        self.news.notify_waiters();
        number
    }

    /// Forgets old events, but none that the connection has yet to read.
    pub(super) fn trim(&self, max_events: usize, max_bytes: usize) {
        let mut state = self.state();
        let needed = state.needed();
        state.ring.trim(max_events, max_bytes, needed);
    }

    /// Forgets everything that no connection has yet to read, the last event too.
    pub(super) fn empty(&self) {
        let mut state = self.state();
        let needed = state.needed();
        state.ring.forget_before(needed);
    }

    /// The connection may go once it has read the event of this number.
    pub(super) fn release(&self, number: u64) {
        if let Some(reader) = &mut self.state().reader {
            reader.until = Some(number);
        }
    }

    /// Nothing more will be said.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.news.notify_waiters();
    }

    /// Nobody may come back. `cut`: whoever reads is cut off too.
    pub(super) fn forget(&self, cut: bool) {
        let mut state = self.state();
        state.forgotten = true;
        if cut {
            state.reader = None;
            state.ended = true;
            state.ring.forget_before(u64::MAX);
        }
        drop(state);
        self.news.notify_waiters();
        self.changed.notify_one();
    }

    /// Whether nothing is kept: whoever came back would get nothing.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state();
        state.ring.first() == state.ring.next()
    }

    /// `max_events`: how many may be said while nobody hears.
    pub(super) fn audience(&self, max_events: usize) -> Audience {
        let state = self.state();
        let said = state.ring.next();
        match &state.reader {
            _ if state.forgotten => Audience::Gone,
            Some(reader) if reader.until.is_none() => Audience::Here {
                room: said - reader.next < MAX_UNHEARD,
            },
            _ => Audience::Away {
                room: said - state.unheard < max_events as u64,
            },
        }
    }

    /// Whether a reader came for which there is nothing; true once.
    pub(super) fn wants_id(&self) -> bool {
        let mut state = self.state();
        std::mem::take(&mut state.wants_id) && state.reader.is_some()
    }

    /// Resolves when something is said or readers change, from the moment it is enabled.
    pub(super) fn said(&self) -> Notified<'_> {
        self.news.notified()
    }

    /// Waits for another audience, or for more room. For one task.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// What comes next for a reader.
    pub(super) fn find(&self, key: u64) -> StreamRead {
        let mut state = self.state();
        let State {
            ring,
            reader: Some(reader),
            unheard,
            is_quiet,
            ended,
            ..
        } = &mut *state
        else {
            return StreamRead::End;
        };
        let goes = |until| reader.next > until || reader.next < ring.first();
        if reader.key != key || reader.until.is_some_and(goes) {
            return StreamRead::End;
        }
        let was_quiet = std::mem::take(is_quiet);
        let Some(event) = ring.get(reader.next) else {
            return match (*ended, was_quiet) {
                (true, _) => StreamRead::End,
                (false, true) => StreamRead::Event(KEEP_ALIVE),
                (false, false) => StreamRead::Nothing,
            };
        };
        let event = event.clone();
        let was_full = ring.next() - reader.next >= MAX_UNHEARD;
        reader.next += 1;
        *unheard = reader.next.max(*unheard);
        drop(state);
        if was_full {
            self.changed.notify_one();
        }
        StreamRead::Event(event)
    }

    /// Its client has read up to the event of this number, and reads on in another process: the connection here that it
    /// had that event from is dead, whether that was noticed or not.
    pub(in crate::legacy::http) fn taken_over(&self, number: u64) {
        let mut state = self.state();
        // A newer one begins behind that event.
        if state
            .reader
            .as_ref()
            .is_some_and(|reader| reader.first <= number)
        {
            state.reader = None;
            drop(state);
            self.wake();
        }
    }

    /// All has been said that was to be said.
    pub(super) fn complete(&self) {
        self.state().unwritten.complete();
        self.end();
    }

    /// Whose answers it will carry.
    pub(super) fn expects(&self, requests: Vec<RequestId>) {
        self.state().unwritten.expects(requests);
    }

    /// The answer to a request is about to be said.
    pub(super) fn answered(&self, request: &RequestId) {
        self.state().unwritten.answered(request);
    }

    /// Notes that there is something to write; false when that is known already.
    pub(super) fn has_news(&self) -> bool {
        self.state().unwritten.note()
    }

    /// It is not to be shared any more; whether that is news.
    pub(super) fn give_up(&self) -> bool {
        self.state().unwritten.give_up()
    }

    /// What there is to write; `None` where nothing is to be left of it.
    pub(super) fn news(&self) -> Option<News> {
        let State {
            ring, unwritten, ..
        } = &mut *self.state();
        unwritten.news(ring)
    }

    /// Everything before the event of this number was written.
    pub(super) fn written(&self, next: u64) {
        self.state().unwritten.written(next);
    }

    /// A reader is gone; whether no connection reads now because of that.
    pub(super) fn left(&self, key: u64) -> bool {
        let mut state = self.state();
        if state
            .reader
            .as_ref()
            .is_some_and(|reader| reader.key == key)
        {
            state.reader = None;
            drop(state);
            self.changed.notify_one();
            return true;
        }
        false
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The number of the first event that a connection has yet to read. One that was told to go holds nothing up: its
    /// client comes back for what is left then.
    fn needed(&self) -> u64 {
        let reader = self.reader.as_ref();
        let reader = reader.filter(|reader| reader.until.is_none());
        reader.map_or(u64::MAX, |reader| reader.next)
    }

    fn read_from(&mut self, next: u64) -> u64 {
        self.next_key += 1;
        self.is_quiet = false;
        self.wants_id = next == self.ring.next() && !self.ended;
        self.reader = Some(Reading {
            key: self.next_key,
            first: next,
            next,
            until: None,
        });
        self.next_key
    }
}

//! One stream of a session: its latest events, its writer, and the connection that reads it.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;

use super::Bounds;
use super::aside::Aside;
use super::ring::Ring;
use super::unwritten::Unwritten;
use crate::budget::{Client, Over};
use crate::http::sse::KEEP_ALIVE;
use crate::legacy::http::event_id::{EventId, StreamName};
use crate::legacy::http::refusal::Refusal;
use crate::locked::Locked as _;

/// The most events that may wait for a connection before their writer waits.
const MAX_UNREAD: u64 = 16;

/// A stream. Its writer is one task. Its connections may change.
#[derive(Debug)]
pub(in crate::legacy::http) struct Stream {
    name: StreamName,
    state: Mutex<State>,
    /// Wakes the task that writes the stream.
    changed: Notify,
    /// Wakes requests that wait for the reader to leave.
    vacated: Notify,
}

#[derive(Debug)]
struct State {
    ring: Ring,
    reader: Option<Reading>,
    /// The key of that reader, or of the last one, and the highest of all.
    latest: u64,
    highest: u64,
    /// Wakes it when there is something to read, or one that is replaced or closed.
    waiting: Option<Waker>,
    /// The other connections of a GET stream.
    aside: Aside,
    /// The number of the first event that no reader has received.
    unread: u64,
    /// A reader came for which there is no event. An event would give it an id for reconnecting.
    wants_id: bool,
    /// The reader has received nothing for a long time.
    is_quiet: bool,
    /// No more events will follow.
    ended: bool,
    /// The session has changed in the store.
    session_changed: bool,
    /// Another connection reads, and the task that writes does not know yet: the one before may have been dead.
    taken_over: bool,
    /// No client may reconnect, so the task has no reason to continue.
    forgotten: bool,
    /// The state that the event store does not have yet, if there is one.
    unwritten: Unwritten,
}

#[derive(Debug)]
struct Reading {
    /// The number of the first event that it receives.
    first: u64,
    /// The number of the next event that it receives.
    next: u64,
    /// The number of the event after which its connection is to be closed.
    until: Option<u64>,
}

/// An event that was appended.
pub(super) struct Pushed {
    pub(super) number: u64,
    /// Whether its client, or all clients together, exceed the bound of kept bytes.
    pub(super) is_over: bool,
}

/// The reader of a stream, as the task that writes it sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::legacy::http) enum Audience {
    /// A connection. `room`: not too many events wait for it. `wants_id`: it came when there was no event for it.
    Here { room: bool, wants_id: bool },
    /// No connection, but the client may reconnect. `room`: the events since then are fewer than may be kept.
    Away { room: bool },
    /// No connection, and no client may reconnect.
    Gone,
}

impl Stream {
    pub(super) fn new(name: StreamName, client: &Client) -> Self {
        Self {
            name,
            state: Mutex::new(State {
                ring: Ring::new(client),
                reader: None,
                latest: 0,
                highest: 0,
                waiting: None,
                aside: Aside::default(),
                unread: 1,
                wants_id: false,
                is_quiet: false,
                ended: false,
                session_changed: false,
                taken_over: false,
                forgotten: false,
                unwritten: Unwritten::default(),
            }),
            changed: Notify::new(),
            vacated: Notify::new(),
        }
    }

    /// The session has changed in the store: notifies the writer of the stream.
    pub(super) fn change_session(&self) {
        self.state.locked().session_changed = true;
        self.changed.notify_one();
    }

    /// Whether the session has changed since this was asked.
    pub(in crate::legacy::http) fn has_session_changed(&self) -> bool {
        std::mem::take(&mut self.state.locked().session_changed)
    }

    pub(super) fn name(&self) -> StreamName {
        self.name
    }

    /// The client that it belongs to.
    pub(super) fn client(&self) -> Client {
        self.state.locked().ring.client()
    }

    /// Whether its client, or all clients together, exceed the bound of kept bytes.
    pub(super) fn is_over(&self) -> bool {
        self.state.locked().ring.is_over()
    }

    /// The bound that a large event would exceed, if any.
    pub(super) fn has_room(&self, event: usize) -> Result<(), Over> {
        self.state.locked().ring.has_room(event)
    }

    /// The key of a reader of everything after the event of this number that is still kept. Another reader is put
    /// aside, or replaced if it reads calls.
    pub(super) fn resume(&self, after: u64) -> Result<u64, Refusal> {
        let mut state = self.state.locked();
        if state.forgotten || after == 0 || after >= state.ring.next() {
            return Err(Refusal::ForgottenStream);
        }
        let first = state.ring.first();
        if after + 1 < first {
            tracing::info!(
                events = first - after - 1,
                "a client reconnected for events of which some are not kept any more"
            );
        }
        self.put_aside(&mut state);
        let key = state.read_from(first.max(after + 1));
        self.wake(state);
        Ok(key)
    }

    /// The key of a reader of the events that no reader has received yet. Another reader is put aside.
    pub(super) fn take_up(&self) -> Result<u64, Refusal> {
        let mut state = self.state.locked();
        if state.forgotten {
            return Err(Refusal::ForgottenStream);
        }
        state.taken_over |= state.reader.is_some();
        self.put_aside(&mut state);
        let next = state.unread.max(state.ring.first());
        let key = state.read_from(next);
        self.wake(state);
        Ok(key)
    }

    fn put_aside(&self, state: &mut State) {
        if state.reader.is_some() && self.name.is_standalone() {
            let waiting = state.waiting.take();
            state.waiting = state.aside.add(state.latest, waiting);
        }
    }

    /// Whether another connection reads since this was asked.
    pub(in crate::legacy::http) fn was_taken_over(&self) -> bool {
        std::mem::take(&mut self.state.locked().taken_over)
    }

    pub(in crate::legacy::http) fn is_read(&self) -> bool {
        self.state.locked().reader.is_some()
    }

    /// Waits until its reader leaves, at most for this time.
    pub(in crate::legacy::http) async fn vacated(&self, most: Duration) {
        let mut vacated = pin!(self.vacated.notified());
        // From here on it is woken, so that none that leaves meanwhile is missed.
        vacated.as_mut().enable();
        if self.is_read() {
            // Whether it has left is seen when it is asked for again.
            let _ = tokio::time::timeout(most, vacated).await;
        }
    }

    /// Wakes all that wait, and the task that writes.
    fn wake(&self, state: MutexGuard<'_, State>) {
        wake_all(state);
        self.changed.notify_one();
    }

    /// Sends a comment to the connections that do not read, and to the one that reads if it `is_quiet`, and there is
    /// nothing else for it.
    pub(in crate::legacy::http) fn keep_alive(&self, is_quiet: bool) {
        let mut state = self.state.locked();
        state.is_quiet |= is_quiet;
        state.aside.keep_alive();
        wake_all(state);
    }

    /// Appends an event and forgets old ones, as [`trim`](Self::trim) does. Returns its number. Only one task does so,
    /// which keeps the numbers in order.
    pub(super) fn push(&self, event: impl FnOnce(EventId) -> Vec<u8>, bounds: &Bounds) -> Pushed {
        let number = self.state.locked().ring.next();
        // A large answer takes time to write, and a reader may need the lock meanwhile.
        let event = event(EventId { stream: self.name, number });
        let mut state = self.state.locked();
        state.ring.push(event);
        let is_over = state.trim(bounds);
        wake_waiting(state);
        Pushed { number, is_over }
    }

    /// Forgets old events, but none that the connection has yet to read. Returns whether its client, or all clients
    /// together, still exceed the bound of kept bytes.
    pub(super) fn trim(&self, bounds: &Bounds) -> bool {
        self.state.locked().trim(bounds)
    }

    /// Forgets everything except the events that a connection has yet to read, even the last event.
    pub(super) fn empty(&self) {
        let mut state = self.state.locked();
        let needed = state.needed();
        state.ring.forget_before(needed);
    }

    /// The connection may be closed once it has read the event of this number.
    pub(super) fn release(&self, number: u64) {
        if let Some(reader) = &mut self.state.locked().reader {
            reader.until = Some(number);
        }
    }

    /// No more events will follow.
    pub(super) fn end(&self) {
        let mut state = self.state.locked();
        state.ended = true;
        wake_all(state);
    }

    /// No client may reconnect. `cut`: the current reader is cut off too.
    pub(super) fn forget(&self, cut: bool) {
        let mut state = self.state.locked();
        state.forgotten = true;
        if cut {
            state.reader = None;
            state.ended = true;
            state.ring.forget_before(u64::MAX);
        }
        self.wake(state);
    }

    /// Whether nothing is kept, so that a client that reconnects would receive nothing.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state.locked();
        state.ring.first() == state.ring.next()
    }

    /// `max_events`: how many events may be written while no connection reads.
    pub(super) fn audience(&self, max_events: usize) -> Audience {
        let state = self.state.locked();
        let written = state.ring.next();
        match &state.reader {
            _ if state.forgotten => Audience::Gone,
            Some(reader) if reader.until.is_none() => Audience::Here {
                room: written - reader.next < MAX_UNREAD,
                wants_id: state.wants_id,
            },
            _ => Audience::Away { room: written - state.unread < max_events as u64 },
        }
    }

    /// Whether a reader came for which there is no event. True once.
    pub(super) fn wants_id(&self) -> bool {
        let mut state = self.state.locked();
        std::mem::take(&mut state.wants_id) && state.reader.is_some()
    }

    /// Waits for another audience, or for more room. For one task.
    pub(in crate::legacy::http) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The next item for the reader of this key; `None` at the end.
    pub(super) fn poll_next(&self, key: u64, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state.locked();
        if state.latest != key {
            return if state.ended {
                Poll::Ready(None)
            } else {
                state.aside.poll_next(key, context)
            };
        }
        let State { ring, reader: Some(reader), unread, is_quiet, ended, .. } = &mut *state else {
            return Poll::Ready(None);
        };
        let goes = |until| reader.next > until || reader.next < ring.first();
        if reader.until.is_some_and(goes) {
            return Poll::Ready(None);
        }
        let was_quiet = std::mem::take(is_quiet);
        let Some(event) = ring.get(reader.next) else {
            if *ended {
                return Poll::Ready(None);
            }
            if was_quiet {
                return Poll::Ready(Some(KEEP_ALIVE));
            }
            // Under the same lock as readers change, so that none is kept waiting.
            state.waiting = Some(context.waker().clone());
            return Poll::Pending;
        };
        let event = event.clone();
        let was_full = ring.next() - reader.next >= MAX_UNREAD;
        reader.next += 1;
        *unread = reader.next.max(*unread);
        drop(state);
        if was_full {
            self.changed.notify_one();
        }
        Poll::Ready(Some(event))
    }

    /// Its client has read up to the event of this number and continues in another process. The connection here that
    /// delivered that event is dead, whether or not that was noticed.
    pub(in crate::legacy::http) fn reader_moved(&self, number: u64) {
        let mut state = self.state.locked();
        // A newer reader begins after that event.
        if state.reader.as_ref().is_some_and(|reader| reader.first <= number) {
            state.reader = None;
            self.wake(state);
        }
    }

    /// All events have been written.
    pub(super) fn complete(&self) {
        self.state.locked().unwritten.complete = true;
        self.end();
    }

    /// Asks or says what was written to the event store.
    pub(super) fn unwritten<T>(&self, with: impl FnOnce(&mut Unwritten, &Ring) -> T) -> T {
        let State { ring, unwritten, .. } = &mut *self.state.locked();
        with(unwritten, ring)
    }

    /// The reader of this key has left.
    pub(super) fn left(&self, key: u64) {
        let mut state = self.state.locked();
        if state.latest != key {
            return state.aside.remove(key);
        }
        state.reader = None;
        // It would keep the memory of the connection's task.
        state.waiting = None;
        if let Some((key, waiting)) = state.aside.take_newest() {
            let next = state.unread.max(state.ring.first());
            state.read_by(key, next);
            (state.waiting, state.taken_over) = (waiting, true);
        }
        self.wake(state);
        self.vacated.notify_waiters();
    }
}

impl State {
    fn trim(&mut self, bounds: &Bounds) -> bool {
        let needed = self.needed();
        self.ring.trim(bounds.events, bounds.stream_bytes, needed);
        self.ring.is_over()
    }

    /// The number of the first event that a connection has yet to read. A connection that is to be closed delays
    /// nothing: its client reconnects for the rest.
    fn needed(&self) -> u64 {
        let reader = self.reader.as_ref();
        let reader = reader.filter(|reader| reader.until.is_none());
        reader.map_or(u64::MAX, |reader| reader.next)
    }

    /// The key of a new reader. The caller wakes the previous one.
    fn read_from(&mut self, next: u64) -> u64 {
        self.highest += 1;
        self.read_by(self.highest, next);
        self.highest
    }

    fn read_by(&mut self, key: u64, next: u64) {
        self.is_quiet = false;
        self.wants_id = next == self.ring.next() && !self.ended;
        self.reader = Some(Reading { first: next, next, until: None });
        self.latest = key;
    }
}

/// Wakes every connection.
fn wake_all(mut state: MutexGuard<'_, State>) {
    let State { waiting, aside, .. } = &mut *state;
    let all: Vec<_> = aside.wakers().chain(waiting.take()).collect();
    drop(state);
    all.into_iter().for_each(Waker::wake);
}

/// Wakes the latest reader, or the one before it.
fn wake_waiting(mut state: MutexGuard<'_, State>) {
    let waiting = state.waiting.take();
    drop(state);
    if let Some(waiting) = waiting {
        waiting.wake();
    }
}

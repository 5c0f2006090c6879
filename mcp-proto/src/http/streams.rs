//! The streams of legacy sessions that can be resumed (2025-11-25, Streamable HTTP, "Resumability and Redelivery"):
//! which there are, and for how long those are kept that nobody hears.

mod event_id;
mod ring;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use super::config::HttpConfig;
use super::rejection::Rejection;
use super::sse;
use crate::session::SessionId;
use ring::Budget;
use stream::Stream;

pub(super) use event_id::{EventId, StreamName};
pub(super) use stream::{Audience, Reader};

/// The streams of this process, by session. A session is listed as long as it has one.
#[derive(Debug)]
pub(super) struct Streams {
    table: Mutex<Table>,
    budget: Arc<Budget>,
    bounds: Bounds,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    events: usize,
    stream_bytes: usize,
    streams: usize,
    streams_per_session: usize,
    ended_time: Duration,
}

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, OfSession>,
    /// The streams that nobody hears and that need no client to go on, by age.
    kept: BTreeMap<u64, (SessionId, StreamName)>,
    next_age: u64,
}

#[derive(Debug, Default)]
struct OfSession {
    streams: HashMap<StreamName, Entry>,
    standalone: Option<StreamName>,
    /// The ages of those that are kept.
    kept: BTreeSet<u64>,
}

#[derive(Debug)]
struct Entry {
    stream: Arc<Stream>,
    kept: Option<u64>,
}

/// The end of a stream at which something is said. Dropping it ends the stream and takes it out of the table.
#[derive(Debug)]
pub(super) struct Opened {
    streams: Arc<Streams>,
    session: SessionId,
    stream: Arc<Stream>,
}

/// The standalone stream of a session.
pub(super) enum Standalone {
    /// There was none.
    New(Opened),
    /// It waits for its client.
    Waiting(Arc<Stream>),
}

impl Streams {
    pub(super) fn new(config: &HttpConfig) -> Arc<Self> {
        Arc::new(Self {
            table: Mutex::default(),
            budget: Budget::new(config.max_kept_bytes),
            bounds: Bounds {
                events: config.max_kept_events,
                stream_bytes: config.max_kept_bytes_per_stream,
                streams: config.max_kept_streams,
                streams_per_session: config.max_kept_streams_per_session,
                ended_time: config.keep_ended_streams,
            },
        })
    }

    /// Opens a stream for calls.
    pub(super) fn open(self: &Arc<Self>, session: &SessionId) -> Opened {
        let mut table = self.table();
        let of_session = table.sessions.entry(session.clone()).or_default();
        self.enter(session, of_session, StreamName::of_calls())
    }

    /// The standalone stream of a session; there is one at a time.
    pub(super) fn standalone(
        self: &Arc<Self>,
        session: &SessionId,
    ) -> Result<Standalone, Rejection> {
        let mut table = self.table();
        let of_session = table.sessions.entry(session.clone()).or_default();
        let open = of_session.standalone.and_then(|name| of_session.streams.get(&name));
        if let Some(Entry { stream, .. }) = open {
            return match stream.audience(self.bounds.events) {
                Audience::Away { .. } => Ok(Standalone::Waiting(Arc::clone(stream))),
                Audience::Here { .. } | Audience::Gone => Err(Rejection::StreamTaken),
            };
        }
        let name = StreamName::standalone();
        of_session.standalone = Some(name);
        Ok(Standalone::New(self.enter(session, of_session, name)))
    }

    fn enter(
        self: &Arc<Self>,
        session: &SessionId,
        of_session: &mut OfSession,
        name: StreamName,
    ) -> Opened {
        let stream = Arc::new(Stream::new(name, Arc::clone(&self.budget)));
        let entry = Entry {
            stream: Arc::clone(&stream),
            kept: None,
        };
        of_session.streams.insert(name, entry);
        Opened {
            streams: Arc::clone(self),
            session: session.clone(),
            stream,
        }
    }

    /// A stream of that session, if it is kept.
    pub(super) fn find(&self, session: &SessionId, name: StreamName) -> Option<Arc<Stream>> {
        let table = self.table();
        let entry = table.sessions.get(session)?.streams.get(&name)?;
        Some(Arc::clone(&entry.stream))
    }

    /// Ends every stream of a session.
    pub(super) fn end(&self, session: &SessionId) {
        let mut table = self.table();
        let ended = table.sessions.remove(session).unwrap_or_default();
        for age in &ended.kept {
            table.kept.remove(age);
        }
        drop(table);
        for entry in ended.streams.into_values() {
            entry.stream.forget(true);
        }
    }

    /// Forgets what is kept for clients that may come back.
    pub(super) fn forget_kept(&self) {
        while let Some(stream) = {
            let mut table = self.table();
            table.forget_oldest()
        } {
            stream.forget(false);
        }
    }

    /// Makes room while the streams together keep too much; the oldest that nobody needs go first.
    fn make_room(&self) {
        while self.budget.is_over() {
            let Some(oldest) = self.table().forget_oldest() else {
                return;
            };
            oldest.forget(false);
            oldest.empty();
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing panics while it holds the table.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Lists a stream among those that are kept; gives those that have to go for it.
    fn keep(&mut self, session: &SessionId, name: StreamName, bounds: &Bounds) -> Vec<Arc<Stream>> {
        let Some(of_session) = self.sessions.get_mut(session) else {
            return Vec::new();
        };
        let Some(entry) = of_session.streams.get_mut(&name) else {
            return Vec::new();
        };
        self.next_age += 1;
        let age = self.next_age;
        entry.kept = Some(age);
        of_session.kept.insert(age);
        let too_many = of_session.kept.len() > bounds.streams_per_session;
        let oldest = of_session.kept.first().copied().filter(|_| too_many);
        self.kept.insert(age, (session.clone(), name));
        let mut forgotten: Vec<_> = oldest.and_then(|age| self.forget(age)).into_iter().collect();
        while self.kept.len() > bounds.streams {
            forgotten.extend(self.forget_oldest());
        }
        forgotten
    }

    /// Its client is back.
    fn unkeep(&mut self, session: &SessionId, name: StreamName) {
        let of_session = self.sessions.get_mut(session);
        let kept = of_session.and_then(|of_session| {
            let age = of_session.streams.get_mut(&name)?.kept.take()?;
            of_session.kept.remove(&age);
            Some(age)
        });
        if let Some(age) = kept {
            self.kept.remove(&age);
        }
    }

    fn forget_oldest(&mut self) -> Option<Arc<Stream>> {
        let age = *self.kept.first_key_value()?.0;
        self.forget(age)
    }

    fn forget(&mut self, age: u64) -> Option<Arc<Stream>> {
        let (session, name) = self.kept.remove(&age)?;
        self.remove(&session, name)
    }

    fn remove(&mut self, session: &SessionId, name: StreamName) -> Option<Arc<Stream>> {
        let of_session = self.sessions.get_mut(session)?;
        let removed = of_session.streams.remove(&name);
        if let Some(age) = removed.as_ref().and_then(|entry| entry.kept) {
            of_session.kept.remove(&age);
            self.kept.remove(&age);
        }
        if of_session.standalone == Some(name) {
            of_session.standalone = None;
        }
        if of_session.streams.is_empty() {
            self.sessions.remove(session);
        }
        removed.map(|entry| entry.stream)
    }
}

impl Opened {
    /// Its first reader.
    pub(super) fn read(&self, keep_alive: Duration) -> Result<Reader, Rejection> {
        self.stream.take_up(keep_alive)
    }

    /// Says something; the number of the event.
    pub(super) fn push(&self, event: impl FnOnce(EventId) -> Bytes) -> u64 {
        let bounds = &self.streams.bounds;
        let number = self.stream.push(event);
        self.stream.trim(bounds.events, bounds.stream_bytes);
        if self.streams.budget.is_over() {
            self.streams.make_room();
            if self.streams.budget.is_over() {
                // What others need of the memory leaves none for this one.
                tracing::warn!("the events of a stream are not kept: HttpConfig::max_kept_bytes are");
                self.stream.empty();
            }
        }
        number
    }

    /// Tells the client to come back for the rest, no sooner than after `retry`, and lets its connection go.
    pub(super) fn release(&self, retry: Duration) {
        let number = self.push(|id| sse::retry(id, retry));
        self.stream.release(number);
    }

    /// Who hears it.
    pub(super) fn audience(&self) -> Audience {
        self.stream.audience(self.streams.bounds.events)
    }

    /// Waits for another audience, or for more room.
    pub(super) async fn changed(&self) {
        self.stream.changed().await;
    }

    /// Gives the reader an id to come back with, if it came for nothing that has one.
    pub(super) fn prime(&self) {
        if self.stream.wants_id() {
            self.push(sse::priming);
        }
    }

    /// Counts among the streams that are kept, of which the oldest make room.
    pub(super) fn keep(&self) {
        let streams = &self.streams;
        let forgotten = streams
            .table()
            .keep(&self.session, self.stream.name(), &streams.bounds);
        for stream in forgotten {
            stream.forget(false);
        }
    }

    /// Counts among them no more.
    pub(super) fn unkeep(&self) {
        self.streams
            .table()
            .unkeep(&self.session, self.stream.name());
    }

    /// Nothing more will be said: keeps what was said for those who come back, for its time.
    pub(super) async fn linger(self) {
        self.stream.end();
        if self.stream.is_empty() {
            return;
        }
        self.keep();
        let forgotten = async {
            while self.audience() != Audience::Gone {
                self.changed().await;
            }
        };
        // The only failure is that the time is over.
        let _over = tokio::time::timeout(self.streams.bounds.ended_time, forgotten).await;
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.stream.end();
        let removed = self
            .streams
            .table()
            .remove(&self.session, self.stream.name());
        drop(removed);
    }
}

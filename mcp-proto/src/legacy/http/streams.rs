//! The streams of legacy sessions that can be resumed (2025-11-25, Streamable HTTP, "Resumability and Redelivery"):
//! which exist, and for how long those without a reader are kept.

mod aside;
mod mirror;
mod reader;
mod ring;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod unwritten;

use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::config::LegacyConfig;
use super::event_id::{EventId, StreamName};
use super::events;
use crate::budget::{Bound, Client, Over};
use crate::jsonrpc::RequestId;
use crate::legacy::event_store::EventStore;
use crate::legacy::http::refusal::Refusal;
use crate::legacy::session::SessionId;
use crate::locked::Locked as _;
use mirror::Mirror;
use stream::Stream;
use table::Table;

pub(super) use reader::Reader;
pub(super) use stream::Audience;

/// The streams of this process.
#[derive(Debug)]
pub(super) struct Streams {
    table: Mutex<Table>,
    bounds: Bounds,
    /// Shares the streams of calls with other processes, if an event store is set.
    mirror: Option<Arc<Mirror>>,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    events: usize,
    stream_bytes: usize,
    streams: Bound,
    streams_per_session: usize,
    ended_time: Duration,
}

/// The writing end of a stream. Dropping it ends the stream and takes it out of the table.
#[derive(Debug)]
pub(super) struct Opened {
    streams: Arc<Streams>,
    session: SessionId,
    stream: Arc<Stream>,
}

/// The standalone stream of a session.
pub(super) enum Standalone {
    /// It did not exist before, and this is its first reader.
    New(Opened, Reader),
    /// It waits for its client, or another connection reads it.
    Existing(Arc<Stream>),
}

impl Streams {
    pub(super) fn new(config: &LegacyConfig, shared: Option<&Arc<dyn EventStore>>) -> Arc<Self> {
        let mirror = |store| Arc::new(Mirror::new(Arc::clone(store), config.store_timeout));
        Arc::new(Self {
            mirror: shared.map(mirror),
            table: Mutex::default(),
            bounds: Bounds {
                events: config.max_kept_events,
                stream_bytes: config.max_kept_bytes_per_stream,
                streams: config.kept_streams,
                streams_per_session: config.max_kept_streams_per_session,
                ended_time: config.keep_ended_streams,
            },
        })
    }

    /// Opens a stream for calls. `requests` are those that it answers, if other processes share it.
    pub(super) fn open(
        self: &Arc<Self>,
        session: &SessionId,
        client: &Client,
        requests: Vec<RequestId>,
    ) -> Opened {
        let stream = Arc::new(Stream::new(StreamName::of_calls(), client));
        stream.unwritten(|it, _| it.requests = requests);
        self.table.locked().insert(session, &stream);
        self.opened(session, stream)
    }

    /// The standalone stream of a session; there is one at a time.
    pub(super) fn standalone(
        self: &Arc<Self>,
        session: &SessionId,
        client: &Client,
    ) -> Result<Standalone, Refusal> {
        let mut table = self.table.locked();
        if let Some(stream) = table.standalone(session) {
            return Ok(Standalone::Existing(Arc::clone(stream)));
        }
        let stream = Arc::new(Stream::new(StreamName::standalone(), client));
        // Before others can find it: opening a stream may still fail, which ends it.
        let reader = Reader::take_up(Arc::clone(&stream))?;
        table.insert_standalone(session, &stream);
        Ok(Standalone::New(self.opened(session, stream), reader))
    }

    /// Notifies the standalone stream of a session, if there is one here, that the session has changed in the store.
    /// The change itself is not passed: of two concurrent changes, only the store knows which was the last.
    pub(super) fn session_changed(&self, session: &SessionId) {
        let stream = self.table.locked().standalone(session).cloned();
        if let Some(stream) = stream {
            stream.change_session();
        }
    }

    fn opened(self: &Arc<Self>, session: &SessionId, stream: Arc<Stream>) -> Opened {
        Opened { streams: Arc::clone(self), session: session.clone(), stream }
    }

    /// A stream of that session, if it is kept.
    pub(super) fn find(&self, session: &SessionId, name: StreamName) -> Option<Arc<Stream>> {
        self.table.locked().find(session, name).map(Arc::clone)
    }

    /// Ends every stream of a session.
    pub(super) fn end(&self, session: &SessionId) {
        let ended = self.table.locked().end(session);
        for stream in ended {
            stream.forget(true);
        }
    }

    /// Forgets all streams that are kept for clients that may reconnect.
    pub(super) fn forget_kept(&self) {
        loop {
            // The lock is not held while the stream is notified.
            let Some(oldest) = self.table.locked().forget_oldest() else {
                return;
            };
            oldest.forget(false);
        }
    }

    /// Leaves the streams to which clients may reconnect to other processes.
    pub(super) fn close(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.close();
        }
    }

    /// Waits until all events are written for other processes.
    pub(super) async fn written(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.written().await;
        }
    }

    /// Makes room while there is too little. The oldest streams of the client that have no reader are dropped first.
    fn make_room(&self, client: &Client, is_over: impl Fn() -> bool) {
        while is_over() {
            let Some(oldest) = self.table.locked().forget_oldest_of(client) else {
                return;
            };
            oldest.forget(false);
            oldest.empty();
        }
    }
}

impl Opened {
    /// Its first reader.
    pub(super) fn read(&self) -> Result<Reader, Refusal> {
        Reader::take_up(Arc::clone(&self.stream))
    }

    /// Appends an event and returns its number.
    pub(super) fn push(&self, event: impl FnOnce(EventId) -> Vec<u8>) -> u64 {
        let pushed = self.stream.push(event, &self.streams.bounds);
        if pushed.is_over {
            self.make_room();
        }
        self.note();
        pushed.number
    }

    /// The answer to a request is about to be sent.
    pub(super) fn answers(&self, request: &RequestId) {
        self.stream.unwritten(|it, _| it.requests.retain(|waiting| waiting != request));
    }

    /// There is something to write for other processes.
    fn note(&self) {
        if let Some(mirror) = self.mirror() {
            mirror.note(&self.session, &self.stream);
        }
    }

    fn mirror(&self) -> Option<&Arc<Mirror>> {
        let mirror = self.streams.mirror.as_ref();
        mirror.filter(|_| !self.stream.name().is_standalone())
    }

    /// Makes room for a large event by dropping streams without a reader, or returns the bound that it exceeds.
    pub(super) fn has_room(&self, event: usize) -> Result<(), Over> {
        let has_none = || self.stream.has_room(event).is_err();
        self.streams.make_room(&self.stream.client(), has_none);
        self.stream.has_room(event)
    }

    /// Forgets events beyond the bounds. Those that a connection has yet to read are kept until it has read them or is
    /// closed.
    pub(super) fn trim(&self) {
        if self.stream.trim(&self.streams.bounds) {
            self.make_room();
        }
    }

    /// Makes room for its events by dropping streams without a reader, or does not keep them.
    fn make_room(&self) {
        let is_over = || self.stream.is_over();
        self.streams.make_room(&self.stream.client(), is_over);
        if self.stream.is_over() {
            tracing::warn!(
                "the events of a stream are not kept: the memory for all of them is full"
            );
            self.stream.empty();
        }
    }

    /// Asks the client to reconnect for the rest, no sooner than after `retry`, and closes its connection.
    pub(super) fn release(&self, retry: Duration) {
        let number = self.push(|id| events::retry(id, retry));
        self.stream.release(number);
    }

    /// The state of its reader.
    pub(super) fn audience(&self) -> Audience {
        self.stream.audience(self.streams.bounds.events)
    }

    /// Gives the reader an id for reconnecting, if no event is kept that would carry one.
    pub(super) fn prime(&self) {
        if self.stream.wants_id() {
            self.push(events::priming);
        }
    }

    /// Adds it to the streams that are kept, of which the oldest are dropped for new ones.
    pub(super) fn keep(&self) {
        let bounds = &self.streams.bounds;
        let forgotten = self.streams.table.locked().keep(
            &self.session,
            &self.stream,
            bounds.streams,
            bounds.streams_per_session,
        );
        for stream in forgotten {
            stream.forget(false);
        }
    }

    /// Removes it from the streams that are kept.
    pub(super) fn unkeep(&self) {
        self.streams.table.locked().unkeep(&self.session, self.stream.name());
    }

    /// No more events will follow: keeps the stream for clients that reconnect, for the time configured.
    pub(super) async fn linger(self) {
        self.stream.complete();
        if self.stream.is_empty() {
            return;
        }
        self.note();
        self.keep();
        let forgotten = async {
            while self.audience() != Audience::Gone {
                self.changed().await;
                // The reader is gone, and the events kept for it are not needed any more.
                self.trim();
                self.note();
            }
        };
        // The only failure is that the time has passed.
        let _ = tokio::time::timeout(self.streams.bounds.ended_time, forgotten).await;
    }
}

impl Deref for Opened {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        &self.stream
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.stream.end();
        let removed = self.streams.table.locked().remove(&self.session, self.stream.name());
        drop(removed);
        if let Some(mirror) = self.mirror() {
            mirror.forget(&self.session, &self.stream);
        }
    }
}

//! The live state of sessions that several processes share: messages for the process that runs a call, and the events
//! of calls' streams. By default neither is shared.
//!
//! Two logs with a tail, not calls between processes: they know one store and not each other, so nothing has to be
//! opened, secured or found between them.

use std::fmt;
#[cfg(feature = "http")]
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::BoxStream;

use crate::legacy::session::SessionId;

/// Logs of sessions, in addition to a [`SessionStore`](crate::session::SessionStore) that several processes share. With
/// it any of them serves any session completely
/// ([`StreamableHttpService::with_stores`](crate::StreamableHttpService::with_stores)).
///
/// A session has two kinds of logs. Its *inbox* has messages of the client that reached a process where no call waits
/// for them: an answer, a cancellation. A *stream* has the events of calls that one process runs, for a client that
/// reconnects to another one (2025-03-26 to 2025-11-25, Streamable HTTP, "Resumability and Redelivery"). All texts are
/// opaque to the store.
///
/// A call that sends no messages does not use it. The time of every operation is bounded
/// ([`LegacyConfig::store_timeout`]). While the store is unavailable, calls continue, but other processes cannot find
/// them.
///
/// [`LegacyConfig::store_timeout`]: crate::http::LegacyConfig::store_timeout
pub trait EventStore: fmt::Debug + Send + Sync + 'static {
    /// Puts a message into the inbox of a session, for every process that reads it now. It may be dropped after a
    /// minute.
    fn send<'a>(
        &'a self,
        session: &'a SessionId,
        message: Bytes,
    ) -> BoxFuture<'a, Result<(), EventStoreError>>;

    /// The messages that other processes put into the inbox of a session from now on, each once, in order; ends when
    /// the session does. A process has one of these for each session that it runs calls of, even while they are idle,
    /// so it should query the store only when there may be a message.
    fn inbox(&self, session: &SessionId) -> BoxStream<'static, Bytes>;

    /// Writes the current state of this process's streams, in order. Only one process writes each stream. A write that
    /// failed, or whose outcome is unknown, is repeated; events that are already stored are ignored. A write for a
    /// session that has ended does nothing.
    fn write<'a>(&'a self, writes: &'a [StreamWrite])
    -> BoxFuture<'a, Result<(), EventStoreError>>;

    /// The events of a stream after this number, in order: first those that are kept, then new ones. `None` if the
    /// session has no such stream. Ends when the stream has ended or is no longer kept. Waits while the store is
    /// unavailable.
    fn tail<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<BoxStream<'static, Tailed>>, EventStoreError>>;

    /// Called when a client has ended its session: ends the inbox and the streams in all processes. Does nothing by
    /// default, which suits a store that learns this from its sessions.
    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), EventStoreError>> {
        // By default there is nothing to do.
        let _ = session;
        Box::pin(ready(Ok(())))
    }
}

/// The changes to a stream since its last write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamWrite {
    /// The session that it belongs to.
    pub session: SessionId,
    /// Its name, unique in the session: at most 32 visible ASCII characters.
    pub stream: String,
    /// The state of the stream after this write.
    pub fate: StreamFate,
    /// The data that another process needs to continue the stream when its writer has ended. Replaces the earlier data.
    pub about: Bytes,
    /// Events before this number are no longer needed.
    pub first: u64,
    /// The new events, at most 8 MiB or one event.
    pub events: Vec<StreamEvent>,
}

impl StreamWrite {
    /// A write without events that keeps all earlier ones, such as for testing a store.
    pub fn new(session: SessionId, stream: impl Into<String>, fate: StreamFate) -> Self {
        let stream = stream.into();
        Self { session, stream, fate, about: Bytes::new(), first: 0, events: Vec::new() }
    }

    /// A write that removes a stream.
    #[cfg(feature = "http")]
    pub(crate) fn forgotten(session: &SessionId, stream: String) -> Self {
        Self::new(session.clone(), stream, StreamFate::Forgotten)
    }
}

/// The state of a stream after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFate {
    /// More may come.
    Open,
    /// The stream is complete. It is kept for some minutes and then removed.
    Ended,
    /// It is no longer needed.
    Forgotten,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// Counted from 1 in its stream.
    pub number: u64,
    /// As it is sent, at most 4 MiB.
    pub text: Bytes,
}

/// An item of a stream that a process follows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tailed {
    /// The next events, a few at a time: at most 256 KiB or one event.
    Events(Vec<StreamEvent>),
    /// The process that wrote the stream ended before the stream did. Holds its [`StreamWrite::about`]. This is the
    /// last item.
    Abandoned(Bytes),
}

/// Why the store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventStoreError {
    /// It is unavailable now; the client gets 503, and a write is repeated.
    #[error("the event store is unavailable: {0}")]
    Unavailable(String),
    /// It has no capacity for this, or refuses it: the client gets 429, and a write is abandoned.
    #[error("the event store has no room")]
    Full,
}

/// The answer of a store, or an error if it takes too long.
#[cfg(feature = "http")]
pub(crate) async fn within<T>(
    limit: Duration,
    asked: BoxFuture<'_, Result<T, EventStoreError>>,
) -> Result<T, EventStoreError> {
    match tokio::time::timeout(limit, asked).await {
        Ok(answer) => answer,
        Err(_elapsed) => {
            let problem = "it did not answer in time".to_owned();
            Err(EventStoreError::Unavailable(problem))
        }
    }
}

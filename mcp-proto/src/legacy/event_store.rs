//! What several processes share of sessions that are at work: messages for the process that runs a call, and the events
//! of calls' streams. The default is to share neither.

use std::fmt;
#[cfg(feature = "http")]
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::BoxStream;

use crate::legacy::session::SessionId;

/// Logs of sessions, beside a [`SessionStore`](crate::SessionStore) that several processes share. With it any of them
/// serves any session completely ([`StreamableHttpService::with_stores`](crate::StreamableHttpService::with_stores)).
///
/// A session has two kinds of logs. Its *inbox* has messages of the client that reached a process where no call waits
/// for them: an answer, a cancellation. A *stream* has the events of calls that one process runs, for a client that
/// comes back to another one (2025-03-26 to 2025-11-25, Streamable HTTP, "Resumability and Redelivery"). All texts are
/// opaque to the store.
///
/// A quiet call does not use it. The store is asked in bounded time ([`LegacyConfig::store_timeout`]); without it calls
/// go on, and are only not to be found by other processes.
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
    /// the session does. A process has one of these for each session that it runs calls of, also while they are quiet:
    /// the store is to be asked only when there may be something.
    fn inbox(&self, session: &SessionId) -> BoxStream<'static, Bytes>;

    /// Brings streams of this process to their present state, in order. Each has one process that writes it. A write
    /// that failed, or whose outcome is not known, is made again; events that are there already are passed over. One of
    /// a session that has ended does nothing.
    fn write<'a>(&'a self, writes: &'a [StreamWrite])
    -> BoxFuture<'a, Result<(), EventStoreError>>;

    /// The events of a stream after the one of this number, first those that are kept, then those to come, in order;
    /// `None` when the session has no such stream. Ends when the stream has ended, or is not kept any more. While the
    /// store is away it waits.
    fn tail<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<BoxStream<'static, Tailed>>, EventStoreError>>;

    /// A session was ended by its client: its inbox and its streams end in all processes. By default nothing is done,
    /// for a store that knows of it by its sessions.
    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), EventStoreError>> {
        let _knows_by_itself = session;
        Box::pin(ready(Ok(())))
    }
}

/// What a stream has come to since it was written last.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StreamWrite {
    /// Whose it is.
    pub session: SessionId,
    /// Its name, unique in the session: at most 32 visible ASCII characters.
    pub stream: String,
    /// What becomes of it.
    pub fate: StreamFate,
    /// What a process needs that goes on with it when the one that writes it has ended; replaces what was there.
    pub about: Bytes,
    /// Events before the one of this number are not needed any more.
    pub first: u64,
    /// What was said, at most 8 MiB or one event.
    pub events: Vec<StreamEvent>,
}

impl StreamWrite {
    /// One that leaves nothing of a stream.
    #[cfg(feature = "http")]
    pub(crate) fn forgotten(session: &SessionId, stream: String) -> Self {
        Self {
            session: session.clone(),
            stream,
            fate: StreamFate::Forgotten,
            about: Bytes::new(),
            first: 0,
            events: Vec::new(),
        }
    }
}

/// What becomes of a stream that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFate {
    /// More may come.
    Open,
    /// This is all. It is kept for some minutes, until it is forgotten.
    Ended,
    /// It is not needed any more.
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

/// What comes of a stream that is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tailed {
    /// The next events, a few at a time: at most 256 KiB or one event.
    Events(Vec<StreamEvent>),
    /// The process that wrote the stream has ended before the stream did: what it was about ([`StreamWrite::about`]).
    /// Nothing comes after it.
    Abandoned(Bytes),
}

/// The store cannot do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventStoreError {
    /// It cannot answer now; the client gets 503, and a write is made again.
    #[error("the event store is unavailable: {0}")]
    Unavailable(String),
    /// It has no room for this, or does not take it: the client gets 429, and a write is given up.
    #[error("the event store has no room")]
    Full,
}

/// What a store answers, in time.
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

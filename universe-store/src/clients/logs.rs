//! State of running calls that nodes share: an inbox for each session, and the event streams of its calls. The store
//! does not read their texts. Both are deleted with their session.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::nodes::Unavailable;

/// The bounds of [`Logs`].
///
/// The nodes that write streams bound their size in the store: each node decides which events and streams are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogBounds {
    /// The most letters in the inbox of a session, 64 by default, and their most bytes, 8 MiB by default.
    pub of_session: LetterBound,
    /// The same for all sessions of one owner: 1,024 letters by default, and 32 MiB.
    pub of_owner: LetterBound,
    /// The most bytes of all letters, as of the last count: 256 MiB by default. Each node counts every 30 s, and adds
    /// its own letters between counts.
    pub bytes: usize,
    /// How long a letter is kept, give or take 30 s. A minute by default.
    pub keep_letters: Duration,
    /// How long a stream is kept after it has ended, or its node has. 5 minutes by default.
    pub keep_streams: Duration,
}

/// A bound on the letters kept at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LetterBound {
    /// The most letters.
    pub letters: usize,
    /// Their most bytes together.
    pub bytes: usize,
}

/// Why a letter or stream was not stored or found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The store does not answer, or takes no writes.
    #[error("the store is unavailable")]
    Unavailable,
    /// The limit on letters is reached.
    #[error("too many letters wait to be read")]
    Full,
}

/// One write to a stream.
#[derive(Debug, Clone)]
pub struct Write<'a> {
    /// The name of its session.
    pub session: &'a str,
    /// Its own name, unique in the session.
    pub stream: &'a str,
    /// Whether the stream continues, ends or is deleted.
    pub fate: Fate,
    /// A description of the stream, for readers that find it abandoned; replaces the previous one.
    pub about: &'a [u8],
    /// Events with lower numbers than this are deleted.
    pub first: u64,
    /// The new events, each with its number. An event that is stored already is not changed.
    pub events: Vec<(u64, &'a [u8])>,
}

/// What happens to a stream after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// More events may follow.
    Open,
    /// No more events follow.
    Ended,
    /// The stream is deleted at once.
    Forgotten,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number in the stream.
    pub number: u64,
    /// Its text.
    pub text: Bytes,
}

/// An item of a stream that is being read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tailed {
    /// The next events: at most 64, and at most 256 KiB or one larger event.
    Events(Vec<Event>),
    /// The node that wrote the stream ended before the stream did. Has the stream's description, and is the last item.
    Abandoned(Bytes),
}

/// The inboxes and streams of all nodes that use one store.
pub trait Logs: fmt::Debug + Send + Sync {
    /// Puts a letter into the inbox of a session. If the session does not exist, the letter is dropped.
    ///
    /// # Errors
    /// [`LogError`].
    fn send<'a>(
        &'a self,
        session: &'a str,
        letter: &'a [u8],
    ) -> BoxFuture<'a, Result<(), LogError>>;

    /// The letters that other nodes put into the inbox of a session from now on, in order. Ends when the session does.
    /// The store is queried only after a notification, or after it was unavailable.
    fn inbox(&self, session: &str) -> BoxStream<'static, Bytes>;

    /// Writes to streams of this node, with at most one write for each stream. May be repeated. A stream is skipped if
    /// its session does not exist, or if another node has ended it.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    fn write<'a>(&'a self, writes: &'a [Write<'a>]) -> BoxFuture<'a, Result<(), LogError>>;

    /// The events of a stream after the event of this number: first the stored ones, then new ones. `None` if the
    /// stream does not exist. Ends when the stream has ended or is no longer kept. Waits while the store is
    /// unavailable.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    fn tail<'a>(
        &'a self,
        session: &'a str,
        stream: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<BoxStream<'static, Tailed>>, LogError>>;
}

impl From<Unavailable> for LogError {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

impl Default for LogBounds {
    fn default() -> Self {
        Self {
            of_session: LetterBound { letters: 64, bytes: 8 << 20 },
            of_owner: LetterBound { letters: 1_024, bytes: 32 << 20 },
            bytes: 256 << 20,
            keep_letters: Duration::from_secs(60),
            keep_streams: Duration::from_secs(5 * 60),
        }
    }
}

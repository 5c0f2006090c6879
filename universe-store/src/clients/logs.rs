//! State of running calls that nodes share: an inbox for each session, and the event streams of its calls. The store
//! does not read their texts. Both are deleted with their session.

mod inbox;
mod tail;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use uuid::Uuid;

use self::inbox::Inbox;
use self::tail::Tail;
pub use self::tail::Tailed;
use super::nodes::Unavailable;
pub use super::records::{Event, Fate, Write};
use super::records::{Kind, Limit, Limits, New, Put, Records, Stream};
use crate::adapter::keys::{hash, session_key};

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

/// The inboxes and streams of all nodes that use one store.
#[derive(Debug, Clone)]
pub struct Logs {
    records: Arc<dyn Records>,
    bounds: LogBounds,
}

impl Logs {
    /// The inboxes and streams among these records.
    pub fn new(records: Arc<dyn Records>, bounds: LogBounds) -> Self {
        Self { records, bounds }
    }

    /// Puts a letter into the inbox of a session. If the session does not exist, the letter is dropped.
    ///
    /// # Errors
    /// [`LogError`].
    pub async fn send(&self, session: &str, letter: &[u8]) -> Result<(), LogError> {
        let LogBounds { of_session, of_owner, bytes, keep_letters, .. } = self.bounds;
        let most = |records: usize, bytes: usize| {
            let bytes = bytes.checked_sub(letter.len()).ok_or(LogError::Full)?;
            Ok::<_, LogError>(Limit { records, bytes })
        };
        let limits = Limits {
            share: most(of_owner.letters, of_owner.bytes)?,
            above: most(of_session.letters, of_session.bytes)?,
            all: most(usize::MAX, bytes)?,
        };
        let id = Kind::Letter.id(hash(&[Uuid::new_v4().as_bytes()]));
        let above = Some(session_key(session));
        let new = New { above, limits, ..New::of(id, keep_letters, letter) };
        match self.records.put(new).await? {
            Put::Stored(_) | Put::Missing => Ok(()),
            Put::Full { .. } => Err(LogError::Full),
        }
    }

    /// The letters that other nodes put into the inbox of a session from now on, in order. Ends when the session does.
    /// The store is queried only after a notification, or after it was unavailable.
    pub fn inbox(&self, session: &str) -> BoxStream<'static, Bytes> {
        let records = Arc::clone(&self.records);
        Inbox::open(records, session_key(session), self.bounds.keep_letters)
    }

    /// Writes to streams of this node, with at most one write for each stream. May be repeated. A stream is skipped if
    /// its session does not exist, or if another node has ended it.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    pub async fn write(&self, writes: &[Write<'_>]) -> Result<(), LogError> {
        Ok(self.records.write(writes, self.bounds.keep_streams).await?)
    }

    /// The events of a stream after the event of this number: first the stored ones, then new ones. `None` if the
    /// stream does not exist. Ends when the stream has ended or is no longer kept. Waits while the store is
    /// unavailable.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    pub async fn tail(
        &self,
        session: &str,
        stream: &str,
        after: u64,
    ) -> Result<Option<BoxStream<'static, Tailed>>, LogError> {
        let records = Arc::clone(&self.records);
        let stream = Stream { session: session_key(session), name: stream };
        Ok(Tail::open(records, stream, after).await?)
    }
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

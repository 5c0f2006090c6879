//! State of running calls that nodes share: an inbox for each session, and the event streams of its calls. The store
//! does not read their texts. Both are deleted with their session.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use uuid::Uuid;

use super::nodes::Unavailable;

/// The interval at which letters and streams that are too old are deleted, and the rest counted.
pub(crate) const LOOK: Duration = Duration::from_secs(30);

/// The most events of a stream in one read, and their most bytes; one event is always read, however large.
pub(crate) const PAGE: (usize, usize) = (64, 256 * 1024);

/// How far an inbox looks back before the moment it was opened: about the time a request takes to reach the store.
pub(crate) const SLACK: Duration = Duration::from_millis(500);

/// How long the writer of a stream sends notifications after a reader has recorded that it reads.
pub(crate) const WATCHED: Duration = Duration::from_secs(30);

/// The pause before a store that failed is asked again.
const PAUSE: Duration = Duration::from_secs(1);

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
    /// Whether the stream goes on, ends or is deleted.
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

/// Letters, each with its number.
pub(crate) type Numbered = Vec<(u64, Bytes)>;

/// An inbox in a store.
pub(crate) trait Letters: Send + Sync + 'static {
    /// The letters after this number, each with its own number; `None` if the session has ended.
    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Numbered>, Unavailable>>;
}

/// Reads an inbox whenever there may be a letter, or the session has changed or ended.
pub(crate) fn inbox(
    letters: impl Letters,
    hints: [BoxStream<'static, ()>; 2],
) -> BoxStream<'static, Bytes> {
    let inbox = Inbox {
        letters,
        hints: Box::pin(stream::select_all(hints)),
        last: 0,
        ready: VecDeque::new(),
    };
    Box::pin(stream::unfold(inbox, |mut inbox| async move {
        let letter = inbox.next().await?;
        Some((letter, inbox))
    }))
}

struct Inbox<L> {
    letters: L,
    hints: BoxStream<'static, ()>,
    /// The number of the last letter that was read.
    last: u64,
    ready: VecDeque<Bytes>,
}

impl<L: Letters> Inbox<L> {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(letter) = self.ready.pop_front() {
                return Some(letter);
            }
            self.hints.next().await?;
            loop {
                match self.letters.read(self.last).await {
                    Ok(Some(letters)) => {
                        for (number, letter) in letters {
                            self.last = number;
                            self.ready.push_back(letter);
                        }
                        break;
                    }
                    Ok(None) => return None,
                    Err(Unavailable) => tokio::time::sleep(PAUSE).await,
                }
            }
        }
    }
}

/// A stream in a store.
pub(crate) trait Events: Send + Sync + 'static {
    /// Asks the writer to send notifications for [`WATCHED`] from now on, if the store needs that.
    fn note(&self) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// The stream as it is, with its next events, at most one [`PAGE`]; `None` if the stream does not exist.
    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Found>, Unavailable>>;

    /// Whether a node is known to have ended.
    fn has_ended(&self, node: Uuid) -> BoxFuture<'_, bool>;
}

/// A stream as it was found.
pub(crate) struct Found {
    pub(crate) node: Uuid,
    pub(crate) about: Bytes,
    pub(crate) ended: bool,
    pub(crate) events: Vec<Event>,
}

/// Reads a stream after an event, at each hint and `quiet` after the last one; `None` if the stream does not exist.
pub(crate) async fn tail(
    events: Arc<dyn Events>,
    hints: BoxStream<'static, ()>,
    after: u64,
    quiet: Duration,
) -> Result<Option<BoxStream<'static, Tailed>>, LogError> {
    if events.read(after).await?.is_none() {
        return Ok(None);
    }
    let tail = Tail { events, after, hints, quiet, noted: None, over: false };
    Ok(Some(Box::pin(stream::unfold(tail, |mut tail| async move {
        let next = tail.next().await?;
        Some((next, tail))
    }))))
}

struct Tail {
    events: Arc<dyn Events>,
    /// The number of the last event that was read.
    after: u64,
    hints: BoxStream<'static, ()>,
    /// How long to wait without events before checking whether the stream's node has ended.
    quiet: Duration,
    /// When this reader last recorded that it reads.
    noted: Option<Instant>,
    over: bool,
}

impl Tail {
    async fn next(&mut self) -> Option<Tailed> {
        if self.over {
            return None;
        }
        loop {
            // Before the read, so that later writes cause a notification.
            let Ok(found) = self.look().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if let Some(next) = self.take(found?) {
                return next;
            }
            match tokio::time::timeout(self.quiet, self.hints.next()).await {
                Ok(hint) => hint?,
                Err(_elapsed) => {
                    if let Some(next) = self.look_after_writer().await {
                        return next;
                    }
                }
            }
        }
    }

    /// The item for the reader, if there is one.
    fn take(&mut self, found: Found) -> Option<Option<Tailed>> {
        if let Some(last) = found.events.last() {
            self.after = last.number;
            return Some(Some(Tailed::Events(found.events)));
        }
        self.over = found.ended;
        found.ended.then_some(None)
    }

    /// Checks whether the stream's node has ended, after a while without events.
    async fn look_after_writer(&mut self) -> Option<Option<Tailed>> {
        let Ok(Some(found)) = self.events.read(self.after).await else {
            return None;
        };
        if !self.events.has_ended(found.node).await {
            return None;
        }
        // The node's last write may have been stored after the first read.
        let Ok(found) = self.events.read(self.after).await else {
            return None;
        };
        let Some(found) = found else {
            return Some(None);
        };
        let about = found.about.clone();
        Some(self.take(found).unwrap_or_else(|| {
            self.over = true;
            Some(Tailed::Abandoned(about))
        }))
    }

    /// Asks the writer for notifications if necessary, and reads the stream.
    async fn look(&mut self) -> Result<Option<Found>, Unavailable> {
        let fresh = |noted: Instant| noted.elapsed() < WATCHED / 2;
        if !self.noted.is_some_and(fresh) {
            let noted = Instant::now();
            self.events.note().await?;
            self.noted = Some(noted);
        }
        self.events.read(self.after).await
    }
}

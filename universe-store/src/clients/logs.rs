//! What nodes share of sessions that are at work: an inbox for each, and the event streams of its calls. All texts are
//! opaque here. Both go with their session.

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

/// How often what is too old is taken away, and the rest counted.
pub(crate) const LOOK: Duration = Duration::from_secs(30);

/// The most events of a stream in one read, and their bytes, but always one event.
pub(crate) const PAGE: (usize, usize) = (64, 256 * 1024);

/// How much longer ago than it was opened an inbox looks back: about the time that a question takes to the store.
pub(crate) const SLACK: Duration = Duration::from_millis(500);

/// How long the writer of a stream notifies of what it writes, after a reader has noted that it reads.
pub(crate) const WATCHED: Duration = Duration::from_secs(30);

/// How long a store that failed is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// The bounds of [`Logs`].
///
/// What streams take in the store is bounded by the nodes that write them: each says which events are kept, and which
/// streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogBounds {
    /// The most letters in the inbox of a session, 64 by default, and their bytes, 8 MiB.
    pub of_session: LetterBound,
    /// The same for all sessions of one owner: 1,024 letters by default, and 32 MiB.
    pub of_owner: LetterBound,
    /// The most bytes of all letters, as of the last count: 256 MiB by default. Each node counts once in 30 s, and its
    /// own between.
    pub bytes: usize,
    /// How long a letter is kept, give or take 30 s. A minute by default.
    pub keep_letters: Duration,
    /// How long a stream is kept that has ended, or whose node has. 5 minutes by default.
    pub keep_streams: Duration,
}

/// A bound on letters that are kept at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LetterBound {
    /// How many.
    pub letters: usize,
    /// How large they are together.
    pub bytes: usize,
}

/// Why something was not kept or found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The store does not answer, or takes no writes.
    #[error("the store is unavailable")]
    Unavailable,
    /// There are as many letters as there may be.
    #[error("too many letters wait to be read")]
    Full,
}

/// What a stream has come to.
#[derive(Debug, Clone)]
pub struct Write<'a> {
    /// The name of its session.
    pub session: &'a str,
    /// Its own name, unique in the session.
    pub stream: &'a str,
    /// What becomes of it.
    pub fate: Fate,
    /// What it is about, for those who find it abandoned; replaces what was there.
    pub about: &'a [u8],
    /// Events before the one of this number go.
    pub first: u64,
    /// What is new, each with its number; one that is there already stays as it is.
    pub events: Vec<(u64, &'a [u8])>,
}

/// What becomes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// More may come.
    Open,
    /// This is all.
    Ended,
    /// It goes at once.
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

/// What comes of a stream that is read on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tailed {
    /// The next events: at most 64, and 256 KiB or one event.
    Events(Vec<Event>),
    /// The node that wrote the stream has ended before the stream did: what it was about. Nothing comes after it.
    Abandoned(Bytes),
}

/// The inboxes and streams of all nodes that use one store.
pub trait Logs: fmt::Debug + Send + Sync {
    /// Puts a letter into the inbox of a session; one of a session that there is not is dropped.
    ///
    /// # Errors
    /// [`LogError`].
    fn send<'a>(
        &'a self,
        session: &'a str,
        letter: &'a [u8],
    ) -> BoxFuture<'a, Result<(), LogError>>;

    /// The letters that other nodes put into the inbox of a session from now on, in order; ends when the session does.
    /// The store is asked only when it has notified of something, or had been away.
    fn inbox(&self, session: &str) -> BoxStream<'static, Bytes>;

    /// Brings streams of this node to what they have come to, at most one write of each. May be repeated. A stream of a
    /// session that there is not is passed over, and so is one that another node has ended.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    fn write<'a>(&'a self, writes: &'a [Write<'a>]) -> BoxFuture<'a, Result<(), LogError>>;

    /// The events of a stream after the one of this number, first those that are kept, then those to come; `None` when
    /// there is no such stream. Ends when the stream has ended, or is not kept any more. While the store is away it
    /// waits.
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
            of_session: LetterBound {
                letters: 64,
                bytes: 8 << 20,
            },
            of_owner: LetterBound {
                letters: 1_024,
                bytes: 32 << 20,
            },
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
    /// The letters after the one of this number, each with its own; `None` when the session has ended.
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
    /// Has the writer notify of what it writes for [`WATCHED`] from now on, where it has to be asked to.
    fn note(&self) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// The stream as it is, with its next events, a [`PAGE`] at the most; `None` when there is none.
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

/// Reads a stream on after an event, whenever there is a hint, and `quiet` after the last; `None` where there is none.
pub(crate) async fn tail(
    events: Arc<dyn Events>,
    hints: BoxStream<'static, ()>,
    after: u64,
    quiet: Duration,
) -> Result<Option<BoxStream<'static, Tailed>>, LogError> {
    if events.read(after).await?.is_none() {
        return Ok(None);
    }
    let tail = Tail {
        events,
        after,
        hints,
        quiet,
        noted: None,
        over: false,
    };
    Ok(Some(Box::pin(stream::unfold(
        tail,
        |mut tail| async move {
            let next = tail.next().await?;
            Some((next, tail))
        },
    ))))
}

struct Tail {
    events: Arc<dyn Events>,
    /// The number of the last event that was read.
    after: u64,
    hints: BoxStream<'static, ()>,
    /// How long nothing may come until it is looked whether its node has ended.
    quiet: Duration,
    /// When it was noted last that somebody reads.
    noted: Option<Instant>,
    over: bool,
}

impl Tail {
    async fn next(&mut self) -> Option<Tailed> {
        if self.over {
            return None;
        }
        loop {
            // Before the look, so that what is written after it is notified of.
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

    /// What was found, if it is anything to the reader.
    fn take(&mut self, found: Found) -> Option<Option<Tailed>> {
        if let Some(last) = found.events.last() {
            self.after = last.number;
            return Some(Some(Tailed::Events(found.events)));
        }
        self.over = found.ended;
        found.ended.then_some(None)
    }

    /// Nothing came for a while: whether its node has ended.
    async fn look_after_writer(&mut self) -> Option<Option<Tailed>> {
        let Ok(Some(found)) = self.events.read(self.after).await else {
            return None;
        };
        if !self.events.has_ended(found.node).await {
            return None;
        }
        // What it wrote last may have come after the first look.
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

    /// Has the writer notify of what it writes, and looks at what it wrote.
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

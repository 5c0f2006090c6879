//! Inboxes and event streams of calls, for adapters that read them from a store: when they read again, and when a
//! stream ends.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use uuid::Uuid;

use crate::clients::logs::{Event, LogError, Tailed};
use crate::clients::nodes::Unavailable;

/// The interval at which letters and streams that are too old are deleted, and the rest counted.
pub const LOOK: Duration = Duration::from_secs(30);

/// The most events of a stream in one read, and their most bytes; one event is always read, however large.
pub const PAGE: (usize, usize) = (64, 256 * 1024);

/// How far an inbox looks back before the moment it was opened: about the time a request takes to reach the store.
pub const SLACK: Duration = Duration::from_millis(500);

/// How long the writer of a stream sends notifications after a reader has recorded that it reads.
pub const WATCHED: Duration = Duration::from_secs(30);

/// The pause before a store that failed is asked again.
const PAUSE: Duration = Duration::from_secs(1);

/// Letters, each with its number.
pub type Numbered = Vec<(u64, Bytes)>;

/// An inbox in a store.
pub trait Letters: Send + Sync + 'static {
    /// The letters after this number, each with its own number; `None` if the session has ended.
    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Numbered>, Unavailable>>;
}

/// Reads an inbox whenever there may be a letter, or the session has changed or ended.
pub fn inbox(
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
pub trait Events: Send + Sync + 'static {
    /// Asks the writer to send notifications for [`WATCHED`] from now on, if the store needs that.
    fn note(&self) -> BoxFuture<'_, Result<(), Unavailable>>;

    /// The stream as it is, with its next events, at most one [`PAGE`]; `None` if the stream does not exist.
    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Found>, Unavailable>>;

    /// Whether a node is known to have ended.
    fn has_ended(&self, node: Uuid) -> BoxFuture<'_, bool>;
}

/// A stream as it was found.
#[derive(Debug)]
pub struct Found {
    /// The node that writes it.
    pub node: Uuid,
    /// Its description.
    pub about: Bytes,
    /// Whether no more events follow.
    pub ended: bool,
    /// Its next events.
    pub events: Vec<Event>,
}

/// Reads a stream after an event, at each hint and `quiet` after the last one; `None` if the stream does not exist.
pub async fn tail(
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

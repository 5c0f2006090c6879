//! The tail of a universe: first the entries in the log, then those that the writer passes on. A reader
//! that has missed some reads the log again.

use std::sync::Arc;
use std::vec;

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;

use super::live::{Hint, Live, Subscription};
use crate::{Answer, Entry, LogTail, Revision, TailError, UniverseId};

/// The log of an adapter, as a tail reads it.
pub trait History: Send + Sync + 'static {
    /// A universe's number and its head's revision.
    ///
    /// # Errors
    /// [`TailError::NotFound`] or [`TailError::Unavailable`].
    fn locate<'a>(&'a self, id: &'a UniverseId) -> Answer<'a, (i64, Revision), TailError>;

    /// Some entries after a revision; at least one if there is any.
    ///
    /// # Errors
    /// Why the tail ends.
    fn chunk(&self, uni: i64, after: Revision) -> Answer<'_, Chunk, TailError>;
}

/// Consecutive entries of a log.
#[derive(Debug)]
pub struct Chunk {
    /// Consecutive entries.
    pub entries: Vec<Entry>,
    /// Whether they reach the head.
    pub is_complete: bool,
}

/// A stream of the entries after `last`.
pub fn tail<H: History>(history: H, live: Arc<Live>, id: UniverseId, last: Revision) -> LogTail {
    let tail = Tail { history, live, id, last, position: None };
    stream::try_unfold(tail, async |mut tail| Ok(Some((tail.next().await?, tail)))).boxed()
}

struct Tail<H> {
    history: H,
    live: Arc<Live>,
    id: UniverseId,
    /// The last revision returned.
    last: Revision,
    /// `None` until first polled.
    position: Option<TailPosition>,
}

/// Where in a universe a tail is.
struct TailPosition {
    hints: Subscription,
    /// Entries read from the log and not yet returned.
    chunk: vec::IntoIter<Entry>,
    /// Whether the log may have more than `chunk`.
    behind: bool,
}

impl<H: History> Tail<H> {
    async fn next(&mut self) -> Result<Entry, TailError> {
        let position = match &mut self.position {
            Some(position) => position,
            None => {
                self.position.insert(start(&self.history, &self.live, &self.id, self.last).await?)
            }
        };
        let entry = loop {
            if let Some(entry) = position.chunk.next() {
                break entry;
            }
            if position.behind {
                position.read(&self.history, self.last).await?;
                continue;
            }
            match position.hints.next().await {
                Ok(Hint::Entry(entry)) if entry.revision == self.last.next() => break entry,
                Ok(Hint::Entry(Entry { revision, .. }) | Hint::At(revision)) => {
                    position.behind = revision > self.last;
                }
                Ok(Hint::Deleted) => return Err(TailError::Deleted),
                Err(RecvError::Lagged(_)) => position.behind = true,
                Err(RecvError::Closed) => return Err(TailError::Unavailable),
            }
        };
        self.last = entry.revision;
        Ok(entry)
    }
}

impl TailPosition {
    async fn read(&mut self, history: &impl History, after: Revision) -> Result<(), TailError> {
        let chunk = history.chunk(self.hints.uni, after).await?;
        self.chunk = chunk.entries.into_iter();
        self.behind = !chunk.is_complete;
        Ok(())
    }
}

async fn start(
    history: &impl History,
    live: &Arc<Live>,
    id: &UniverseId,
    after: Revision,
) -> Result<TailPosition, TailError> {
    let (uni, head) = history.locate(id).await?;
    if after > head {
        return Err(TailError::Ahead { head });
    }
    // Before the log is read, so that no entry is missed in between.
    let hints = live.subscribe(uni).ok_or(TailError::Unavailable)?;
    Ok(TailPosition { hints, chunk: Vec::new().into_iter(), behind: true })
}

//! The tail of a universe: first what the log has, then what the writer tells, then again the log
//! whenever the reader has missed something.

use std::sync::Arc;
use std::vec;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use tokio::sync::broadcast::error::RecvError;

use super::live::{Hint, Live, Subscription};
use super::reader::{self, Chunk};
use super::readers::Readers;
use crate::{Entry, ReadError, Revision, TailError, UniverseId};

/// A stream of the entries after `last`.
pub(super) fn tail(
    readers: Arc<Readers>,
    live: Arc<Live>,
    id: UniverseId,
    last: Revision,
) -> BoxStream<'static, Result<Entry, TailError>> {
    let tail = Tail {
        readers,
        live,
        id,
        last,
        place: None,
    };
    stream::unfold(Some(tail), |tail| async {
        let mut tail = tail?;
        match tail.next().await {
            Ok(entry) => Some((Ok(entry), Some(tail))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .boxed()
}

struct Tail {
    readers: Arc<Readers>,
    live: Arc<Live>,
    id: UniverseId,
    /// The last revision given.
    last: Revision,
    /// `None` until first polled.
    place: Option<Place>,
}

/// Where in a universe a tail is.
struct Place {
    hints: Subscription,
    /// Entries read from the log and not yet given.
    chunk: vec::IntoIter<Entry>,
    /// Whether the log may have more than `chunk`.
    behind: bool,
}

impl Tail {
    async fn next(&mut self) -> Result<Entry, TailError> {
        let place = match &mut self.place {
            Some(place) => place,
            None => self
                .place
                .insert(start(&self.readers, &self.live, &self.id, self.last).await?),
        };
        let entry = loop {
            if let Some(entry) = place.chunk.next() {
                break entry;
            }
            if place.behind {
                place.read(&self.readers, self.last).await?;
                continue;
            }
            match place.hints.next().await {
                Ok(Hint::Entry(entry)) if entry.revision == self.last.next() => break entry,
                Ok(Hint::Entry(Entry { revision, .. }) | Hint::At(revision)) => {
                    place.behind = revision > self.last;
                }
                Ok(Hint::Deleted) => return Err(TailError::Deleted),
                Err(RecvError::Lagged(_)) => place.behind = true,
                Err(RecvError::Closed) => return Err(TailError::Unavailable),
            }
        };
        self.last = entry.revision;
        Ok(entry)
    }
}

impl Place {
    async fn read(&mut self, readers: &Arc<Readers>, after: Revision) -> Result<(), TailError> {
        let uni = self.hints.uni;
        let chunk = readers
            .read(move |connection| reader::chunk(connection, uni, after))
            .await;
        let chunk = chunk
            .map_err(|_| TailError::Unavailable)?
            .ok_or(TailError::Deleted)?;
        match chunk {
            Chunk::Entries(entries, complete) => {
                self.chunk = entries.into_iter();
                self.behind = !complete;
                Ok(())
            }
            Chunk::Trimmed { oldest, head } => Err(TailError::Trimmed { oldest, head }),
            Chunk::Damaged { first, last } => Err(TailError::Damaged { first, last }),
        }
    }
}

async fn start(
    readers: &Arc<Readers>,
    live: &Arc<Live>,
    id: &UniverseId,
    after: Revision,
) -> Result<Place, TailError> {
    let id = id.clone();
    let found = readers
        .read(move |connection| reader::locate(connection, &id))
        .await;
    let (uni, head) = match found {
        Ok(found) => found.ok_or(TailError::NotFound)?,
        Err(ReadError::NotFound) => return Err(TailError::NotFound),
        Err(ReadError::Unavailable | ReadError::Damaged) => return Err(TailError::Unavailable),
    };
    if after > head {
        return Err(TailError::Ahead { head });
    }
    // Before the log is read, so that nothing falls between.
    let hints = live.subscribe(uni).ok_or(TailError::Unavailable)?;
    Ok(Place {
        hints,
        chunk: Vec::new().into_iter(),
        behind: true,
    })
}

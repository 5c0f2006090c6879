//! What is written. Of each log only the message counts that follows the one that its writer knew as the last.
//!
//! An append that loses waits for the one that won. While a message is on its way to disks, every other one for its log
//! is refused at once, and the leader has nothing newer to show. The feed brings the winner as soon as it counts; the
//! leader is asked if nothing comes for 100 ms. Only one message of a log is on its way at a time.
//!
//! A key is noted before its entry and believed only if the entry is there: a stream has no transaction over two
//! subjects.

mod trim;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::error::RecvError;
use universe_store::adapter::Admission;
use universe_store::adapter::failure::Failure;
use universe_store::adapter::live::Hint;
use universe_store::{
    Append, AppendError, Appended, Base, CreateError, DeleteError, MAX_WRITE, Meta, NewEntry,
    ReadError, Revision, Snapshot, SnapshotError, UniverseId,
};
use uuid::Uuid;

use super::bodies::{self, Kind};
use super::card::{self, Body, Card, SnapshotCard};
use super::engine::Engine;
use super::error::Refusal;
use super::index::Known;
use super::link::Stored;
use super::tidy;

/// The fewest bytes that a write counts for, so that at most 1,024 writes are in progress.
const MIN_SHARE: usize = MAX_WRITE / 1_024;

/// How often a write is tried when other writers are first, or when it fails for an unknown reason.
const TRIES: u32 = 8;

/// The pause before the first retry. It doubles with each try.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a failed append waits for the message that was first. That message may still be on its way to disks: asking
/// the leader before it is stored would find nothing new.
const NEWS: Duration = Duration::from_millis(100);

/// The number of keys that are written at a time.
const ABREAST: usize = 32;

/// The longest name of a universe in bytes. It is in the header of every message.
pub(super) const MAX_NAME: usize = 4 << 10;

/// A message that was stored in a log.
struct Put {
    known: Known,
    /// Whether this call stored it. Otherwise another server may have stored it with the same id.
    is_new: bool,
}

impl Engine {
    /// Waits for a permit to write this many bytes.
    async fn share(&self, size: usize) -> Result<OwnedSemaphorePermit, Failure> {
        let share = u32::try_from(size.clamp(MIN_SHARE, MAX_WRITE)).unwrap_or(u32::MAX);
        let share = Arc::clone(&self.budget).acquire_many_owned(share).await;
        share.map_err(|_| Failure::Unavailable)
    }

    /// Appends a message to a log if the message of the given sequence is the last.
    async fn put(
        &self,
        id: &UniverseId,
        card: &Card,
        body: Bytes,
        after: u64,
        message: Option<String>,
    ) -> Result<Put, Refusal> {
        let mut headers = card::write(card);
        if let Some(message) = message {
            headers.insert(async_nats::header::NATS_MESSAGE_ID, message);
        }
        let subject = self.names.log_of(id);
        let Stored { sequence, is_new } =
            self.link.put(&subject, headers, body, Some(after)).await?;
        let card = card.clone();
        let known = Known { card, sequence };
        if is_new {
            self.index.improve(id, &known);
        }
        Ok(Put { known, is_new })
    }

    pub(super) async fn create(&self, meta: &Meta, base: &Base) -> Result<(), CreateError> {
        let _share = self.share(base.body.len()).await?;
        // Positive, so that it is a plain number in a subject.
        let uni = i64::try_from(Uuid::new_v4().as_u128() >> 65).unwrap_or(i64::MAX);
        let mut body: Option<(Body, Bytes)> = None;
        for attempt in 0..TRIES {
            wait(attempt).await;
            let before = match self.look(&meta.id).await {
                Ok(Some(before)) if !before.card.deleted => {
                    drop_kept(self, uni, body.as_ref()).await;
                    return Err(CreateError::Exists);
                }
                Ok(before) => before.map_or(0, |before| before.sequence),
                Err(ReadError::Damaged | ReadError::NotFound | ReadError::Unavailable) => {
                    return Err(CreateError::Unavailable);
                }
            };
            let (place, inline) = match &body {
                Some(body) => body.clone(),
                None => {
                    let kind = (uni, Kind::Base(base.revision.0));
                    let kept = bodies::keep(&self.link, &self.names, kind, base.body.clone());
                    body.insert(kept.await?).clone()
                }
            };
            let card = Card {
                uni,
                from: base.revision.0,
                revision: base.revision.0,
                command: None,
                updated: base.at.as_millis(),
                created: meta.created_at.as_millis(),
                oldest: base.revision.0,
                oldest_at: base.at.as_millis(),
                base: 0,
                name: meta.name.clone(),
                deleted: false,
                body: place,
            };
            match self.put(&meta.id, &card, inline, before, None).await {
                Ok(_) => return Ok(()),
                Err(Refusal::WrongSequence(_)) => {}
                Err(Refusal::Failed(Failure::Unknown)) => return Err(CreateError::Unknown),
                Err(Refusal::Failed(failure)) => {
                    drop_kept(self, uni, body.as_ref()).await;
                    return Err(failure.into());
                }
            }
        }
        drop_kept(self, uni, body.as_ref()).await;
        Err(CreateError::Unavailable)
    }

    pub(super) async fn append(
        &self,
        id: &UniverseId,
        append: &Append,
        size: usize,
    ) -> Result<Appended, AppendError> {
        let _share = self.share(size).await?;
        let mut body: Option<(i64, Body, Bytes)> = None;
        let mut is_marked = None;
        let mut news = self.ready(id, append);
        for _ in 0..TRIES {
            let known = match news.take() {
                Some(known) => known,
                None => match self.find(id).await {
                    Ok(known) => known,
                    Err(problem) => {
                        self.forget(body.as_ref()).await;
                        return Err(match problem {
                            ReadError::NotFound => AppendError::NotFound,
                            ReadError::Damaged | ReadError::Unavailable => AppendError::Unavailable,
                        });
                    }
                },
            };
            let head = match known.card.head().admit(append) {
                Ok(Admission::Proceed(head)) => head,
                Ok(Admission::Landed) => {
                    self.forget(body.as_ref()).await;
                    return Ok(Appended { revision: Revision(known.card.revision), stored: false });
                }
                Err(conflict) => {
                    self.forget(body.as_ref()).await;
                    return Err(conflict);
                }
            };
            let uni = known.card.uni;
            if append.entries.is_empty() && append.name.is_none() {
                return Ok(Appended { revision: head.revision, stored: true });
            }
            if is_marked != Some(uni) {
                self.mark(uni, append).await?;
                is_marked = Some(uni);
            }
            let (place, inline) = match &body {
                Some((of, place, inline)) if *of == uni => (place.clone(), inline.clone()),
                _ => {
                    self.forget(body.as_ref()).await;
                    let kind = (uni, Kind::Entries(head.revision.0));
                    let framed = card::frame(&append.entries);
                    let kept = bodies::keep(&self.link, &self.names, kind, framed).await?;
                    body = Some((uni, kept.0.clone(), kept.1.clone()));
                    kept
                }
            };
            let mut card = known.card.following(known.sequence);
            card.revision = head.revision.0;
            card.command = head.last_command_id.map(|command| command.0);
            card.updated = head.updated_at.as_millis();
            card.body = place;
            if let Some(name) = &append.name {
                card.name.clone_from(name);
            }
            let last = append.entries.last();
            // The message id contains the universe and the revision, so a message that is sent twice is stored once.
            let message = last
                .map(|last| format!("{uni}.{}.{}", append.expected, last.command_id.0.simple()));
            match self.put(id, &card, inline, known.sequence, message).await {
                Ok(put) => {
                    // If the message was stored already, the feed delivers its actual content.
                    if put.is_new {
                        let channels = self.live.channels();
                        channels.appended(uni, append.expected, &append.entries);
                    }
                    return Ok(Appended { revision: head.revision, stored: put.is_new });
                }
                Err(Refusal::WrongSequence(last)) => news = self.overtaken(id, &known, last).await,
                Err(Refusal::Failed(failure)) => {
                    if failure != Failure::Unknown {
                        self.forget(body.as_ref()).await;
                    }
                    return Err(failure.into());
                }
            }
        }
        self.forget(body.as_ref()).await;
        Err(AppendError::Unavailable)
    }

    /// The known state that an append is to follow, if the append fits it.
    fn ready(&self, id: &UniverseId, append: &Append) -> Option<Known> {
        let is_write = !append.entries.is_empty() || append.name.is_some();
        let known = self.index.get(id).filter(|_| is_write)?;
        match known.card.head().admit(append) {
            Ok(Admission::Proceed(_)) => Some(known),
            Ok(Admission::Landed) | Err(_) => None,
        }
    }

    /// The state after the message that was stored instead of a refused one, as soon as the feed delivers it. It is at
    /// least as late as the sequence in the refusal. `None` if it does not arrive in time, or the universe was deleted.
    async fn overtaken(&self, id: &UniverseId, lost: &Known, named: u64) -> Option<Known> {
        let mut hints = self.live.subscribe(lost.card.uni)?;
        let least = named.max(lost.sequence.saturating_add(1));
        let news = async {
            loop {
                let known = self.index.get(id);
                if let Some(known) = known.filter(|known| known.sequence >= least) {
                    return Some(known);
                }
                match hints.next().await {
                    Ok(Hint::Entry(_) | Hint::At(_)) | Err(RecvError::Lagged(_)) => {}
                    Ok(Hint::Deleted) | Err(RecvError::Closed) => return None,
                }
            }
        };
        tokio::time::timeout(NEWS, news).await.ok().flatten()
    }

    /// Records the revisions that the keyed entries of an append are to get, before the append.
    async fn mark(&self, uni: i64, append: &Append) -> Result<(), Failure> {
        let keyed = (append.expected.0.saturating_add(1)..).zip(&append.entries);
        let keyed = keyed.filter(|(_, entry): &(u64, &NewEntry)| entry.keyed);
        let marks = keyed.map(|(revision, entry)| {
            let subject = self.names.key(uni, entry.command_id, Revision(revision));
            async move { self.link.put(&subject, HeaderMap::new(), Bytes::new(), None).await }
        });
        let marked = stream::iter(marks.collect::<Vec<_>>()).buffered(ABREAST);
        match marked.try_for_each(|_| ready(Ok(()))).await {
            Ok(()) => Ok(()),
            Err(Refusal::Failed(Failure::Full)) => Err(Failure::Full),
            // Nothing was appended, even if some keys were written.
            Err(_) => Err(Failure::Unavailable),
        }
    }

    /// Removes the pieces of an unused body.
    async fn forget(&self, body: Option<&(i64, Body, Bytes)>) {
        if let Some((uni, body, _)) = body {
            bodies::drop_body(&self.link, &self.names, *uni, body).await;
        }
    }

    pub(super) async fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> Result<(), DeleteError> {
        for attempt in 0..TRIES {
            wait(attempt).await;
            let known = self.find(id).await.map_err(|problem| match problem {
                ReadError::NotFound => DeleteError::NotFound,
                ReadError::Damaged | ReadError::Unavailable => DeleteError::Unavailable,
            })?;
            known.card.head().admit_delete(expected)?;
            let uni = known.card.uni;
            let mut card = known.card.following(known.sequence);
            card.deleted = true;
            card.name = String::new();
            match self.put(id, &card, Bytes::new(), known.sequence, None).await {
                Ok(end) => {
                    self.live.channels().deleted(uni);
                    if tidy::remove(self, id, uni, end.known.sequence).await.is_err() {
                        tracing::warn!(%id, "what the universe had is taken away later");
                    }
                    return Ok(());
                }
                Err(Refusal::WrongSequence(_)) => {}
                Err(Refusal::Failed(failure)) => return Err(failure.into()),
            }
        }
        Err(DeleteError::Unavailable)
    }

    pub(super) async fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: &Snapshot,
    ) -> Result<(), SnapshotError> {
        let _share = self.share(snapshot.body.len()).await?;
        let known = self.find(id).await.map_err(|problem| match problem {
            ReadError::NotFound => SnapshotError::NotFound,
            ReadError::Damaged | ReadError::Unavailable => SnapshotError::Unavailable,
        })?;
        let head = Revision(known.card.revision);
        if snapshot.revision > head {
            return Err(SnapshotError::Ahead { head });
        }
        if snapshot.revision.0 < known.card.oldest {
            return Ok(());
        }
        let (uni, revision) = (known.card.uni, snapshot.revision.0);
        let (stream, subject) = (self.names.bodies(), self.names.snapshot(uni));
        let mut kept = None;
        for attempt in 0..TRIES {
            wait(attempt).await;
            let before = self.link.last(&stream, &subject).await;
            let before = before.map_err(|_| SnapshotError::Unavailable)?;
            let old: Option<SnapshotCard> =
                before.as_ref().and_then(|before| card::read(&before.headers));
            if old.as_ref().is_some_and(|old| old.revision >= revision) {
                drop_kept(self, uni, kept.as_ref()).await;
                return Ok(());
            }
            let (body, inline) = match &kept {
                Some(kept) => Clone::clone(kept),
                None => {
                    let kind = (uni, Kind::Snapshot(revision));
                    let body = snapshot.body.clone();
                    let new = bodies::keep(&self.link, &self.names, kind, body).await?;
                    kept.insert(new).clone()
                }
            };
            let headers = card::write(&SnapshotCard { revision, body });
            let after = before.map_or(0, |before| before.sequence);
            match self.link.put(&subject, headers, inline, Some(after)).await {
                Ok(stored) => {
                    // Messages that remain are never taken for the newest, and are removed with the universe.
                    let below = Some(stored.sequence);
                    let _ = self.link.purge(&stream, &subject, below).await;
                    if let Some(old) = old {
                        bodies::drop_body(&self.link, &self.names, uni, &old.body).await;
                    }
                    return Ok(());
                }
                Err(Refusal::WrongSequence(_)) => {}
                Err(Refusal::Failed(failure)) => return Err(failure.into()),
            }
        }
        drop_kept(self, uni, kept.as_ref()).await;
        Err(SnapshotError::Unavailable)
    }
}

/// Waits before another try.
async fn wait(attempt: u32) {
    if attempt > 1 {
        tokio::time::sleep(PAUSE * 2_u32.saturating_pow(attempt - 1)).await;
    }
}

async fn drop_kept(engine: &Engine, uni: i64, kept: Option<&(Body, Bytes)>) {
    if let Some((body, _)) = kept {
        bodies::drop_body(&engine.link, &engine.names, uni, body).await;
    }
}

//! What is read.
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::message::StreamMessage;
use futures_util::future::BoxFuture;
use universe_store::adapter::tail::{Chunk, History};
use universe_store::{
    Base, CommandId, Entry, KEY_TIME, Page, ReadError, Record, Revision, Size, Snapshot, TailError,
    Timestamp, UniverseId,
};

use super::bodies;
use super::card::{self, Card, SnapshotCard};
use super::engine::Engine;
use super::error::Away;
use super::feed;
use super::names::Names;

/// The most messages that are read at once, and the bytes after which reading ends.
const STRETCH: (usize, usize) = (256, 1 << 20);

/// The most keys that are requested at once, and their bytes.
const KEYS: (usize, usize) = (1_000, 1 << 20);

/// The difference between the clocks of nodes and servers up to which no key is forgotten too early.
const SKEW: Duration = Duration::from_secs(60);

/// How often a read is repeated when the data was replaced meanwhile.
const TRIES: usize = 5;

impl Engine {
    pub(super) async fn record(&self, id: &UniverseId) -> Result<Record, ReadError> {
        Ok(self.find(id).await?.card.record(id))
    }

    pub(super) async fn list(&self, page: &Page) -> Result<Vec<Record>, ReadError> {
        feed::catch_up(self).await?;
        Ok(self.index.page(page))
    }

    pub(super) async fn count(&self) -> Result<u64, ReadError> {
        feed::catch_up(self).await?;
        Ok(self.index.count() as u64)
    }

    pub(super) async fn size(&self) -> Result<Size, ReadError> {
        let mut file = 0_u64;
        for (name, _) in self.names.subjects() {
            let stream = self.link.stream(&name).await?;
            let info = self.link.ask(|| stream.get_info()).await?;
            file = file.saturating_add(info.state.bytes);
        }
        // NATS does not report the free space in its files, which contain all streams.
        Ok(Size { file, free: 0, log: 0 })
    }

    pub(super) async fn base(&self, id: &UniverseId) -> Result<Base, ReadError> {
        for _ in 0..TRIES {
            let known = self.find(id).await?;
            let sequence = match known.card.base {
                0 => known.sequence,
                base => base,
            };
            // It may have been trimmed meanwhile.
            let Some(message) = self.link.get(&self.names.log(), sequence).await? else {
                continue;
            };
            let card: Card = card::read(&message.headers).ok_or(ReadError::Damaged)?;
            let body = match self.body(&card, message.payload).await {
                Ok(body) => body,
                Err(ReadError::Damaged) if self.find(id).await?.card.oldest > card.oldest => {
                    continue;
                }
                Err(problem) => return Err(problem),
            };
            return Ok(Base {
                revision: Revision(card.oldest),
                at: Timestamp::from_millis(card.oldest_at),
                body,
            });
        }
        Err(ReadError::Damaged)
    }

    pub(super) async fn snapshot(&self, id: &UniverseId) -> Result<Option<Snapshot>, ReadError> {
        let mut damaged = None;
        for _ in 0..TRIES {
            let known = self.find(id).await?;
            let subject = self.names.snapshot(known.card.uni);
            let Some(message) = self.link.last(&self.names.bodies(), &subject).await? else {
                return Ok(None);
            };
            let card: SnapshotCard = card::read(&message.headers).ok_or(ReadError::Damaged)?;
            if card.revision < known.card.oldest {
                return Ok(None);
            }
            // The same message was damaged twice, so it was not replaced during the read.
            if damaged == Some(message.sequence) {
                break;
            }
            let uni = known.card.uni;
            let place = (&card.body, message.payload);
            match bodies::load(&self.link, &self.names, uni, place).await {
                Err(ReadError::Damaged) => damaged = Some(message.sequence),
                body => {
                    let (revision, body) = (Revision(card.revision), body?);
                    return Ok(Some(Snapshot { revision, body }));
                }
            }
        }
        Err(ReadError::Damaged)
    }

    pub(super) async fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> Result<Option<Revision>, ReadError> {
        let known = self.find(id).await?;
        let subject = self.names.keys_of(known.card.uni, command);
        let (mut from, mut found) = (1, None);
        while let Some(message) = self.link.next(&self.names.keys(), &subject, from).await? {
            from = message.sequence.saturating_add(1);
            let revision = self.holds(id, &message).await?;
            found = found.max(revision);
        }
        Ok(found)
    }

    pub(super) async fn oldest_keyed(
        &self,
        id: &UniverseId,
    ) -> Result<Option<Revision>, ReadError> {
        let known = self.find(id).await?;
        let (stream, subject) = (self.names.keys(), self.names.keys_in(known.card.uni));
        let mut from = 1;
        loop {
            // The keys are in the order of their revisions.
            let mut series = self.link.series(&stream, &subject, from, KEYS).await;
            if series.is_empty() {
                // The replica is behind. The leader has it.
                series.extend(self.link.next(&stream, &subject, from).await?);
            }
            if series.is_empty() {
                return Ok(None);
            }
            for message in series {
                from = message.sequence.saturating_add(1);
                if let Some(revision) = self.holds(id, &message).await? {
                    return Ok(Some(revision));
                }
            }
        }
    }

    /// The revision of a key's entry, if the entry exists and is young enough to count. Keys are written before their
    /// entries, so an entry may be missing.
    async fn holds(
        &self,
        id: &UniverseId,
        key: &StreamMessage,
    ) -> Result<Option<Revision>, ReadError> {
        let old = Timestamp::now().before(KEY_TIME);
        let Some((command, revision)) = Names::read_key(&key.subject) else {
            return Ok(None);
        };
        // An entry's time is not after it was written, except if clocks differ.
        let written = Timestamp::from_millis(key.time.unix_timestamp().saturating_mul(1_000));
        if written < old.before(SKEW) {
            return Ok(None);
        }
        let entry = self.entry(id, revision).await?;
        let fits = |(entry, keyed): &(Entry, bool)| {
            *keyed && entry.command_id == command && entry.at >= old
        };
        Ok(entry.filter(fits).map(|_| revision))
    }

    /// The entry of a revision and whether it is keyed, if the log has it.
    pub(super) async fn entry(
        &self,
        id: &UniverseId,
        revision: Revision,
    ) -> Result<Option<(Entry, bool)>, ReadError> {
        let known = self.find(id).await?;
        if revision.0 <= known.card.oldest || revision.0 > known.card.revision {
            return Ok(None);
        }
        let (stream, subject) = (self.names.log(), self.names.log_of(id));
        let mut from = self.place(id, revision.0 - 1, &known).await?;
        while let Some(message) = self.link.next(&stream, &subject, from).await? {
            from = message.sequence.saturating_add(1);
            let card: Card = card::read(&message.headers).ok_or(ReadError::Damaged)?;
            if card.uni != known.card.uni || card.revision < revision.0 {
                continue;
            }
            if card.from >= revision.0 {
                return Ok(None);
            }
            let body = self.body(&card, message.payload).await?;
            let entries = card::unframe(&card, body).ok_or(ReadError::Damaged)?;
            let found = entries.into_iter().find(|(entry, _)| entry.revision == revision);
            return Ok(found);
        }
        Ok(None)
    }

    /// The id of the universe with a number.
    async fn id_of(&self, uni: i64) -> Result<UniverseId, TailError> {
        if let Some(id) = self.index.id_of(uni) {
            return Ok(id);
        }
        feed::catch_up(self).await?;
        self.index.id_of(uni).ok_or(TailError::Deleted)
    }

    async fn stretch(&self, uni: i64, after: Revision) -> Result<Chunk, TailError> {
        let id = self.id_of(uni).await?;
        let known = match self.find(&id).await {
            Ok(known) if known.card.uni == uni => known,
            Ok(_) | Err(ReadError::NotFound) => return Err(TailError::Deleted),
            Err(ReadError::Damaged | ReadError::Unavailable) => return Err(TailError::Unavailable),
        };
        let (oldest, head) = (Revision(known.card.oldest), Revision(known.card.revision));
        if after < oldest {
            return Err(TailError::Trimmed { oldest, head });
        }
        if after >= head {
            return Ok(Chunk { entries: Vec::new(), is_complete: true });
        }
        let (stream, subject) = (self.names.log(), self.names.log_of(&id));
        let mut from = self.place(&id, after.0, &known).await?;
        let mut read = Stretch::new(uni, after);
        let series = self.link.series(&stream, &subject, from, STRETCH).await;
        read.take(self, series).await?;
        // The replica is behind, or messages were lost on the way. The leader has them.
        while read.entries.is_empty() {
            let Some(message) = self.link.next(&stream, &subject, from).await? else {
                break;
            };
            from = message.sequence.saturating_add(1);
            read.take(self, vec![message]).await?;
            if read.gap.is_some() {
                break;
            }
        }
        if read.entries.is_empty() {
            return Err(self.missing(&id, uni, after, read.gap.unwrap_or(head)).await);
        }
        Ok(Chunk { is_complete: read.last >= head, entries: read.entries })
    }

    /// The reason why the entries after a revision and up to another one are missing.
    async fn missing(
        &self,
        id: &UniverseId,
        uni: i64,
        after: Revision,
        last: Revision,
    ) -> TailError {
        match self.find(id).await {
            Ok(known) if known.card.uni != uni => TailError::Deleted,
            Err(ReadError::NotFound) => TailError::Deleted,
            Ok(known) if known.card.oldest > after.0 => TailError::Trimmed {
                oldest: Revision(known.card.oldest),
                head: Revision(known.card.revision),
            },
            Ok(_) => {
                let first = after.next();
                tracing::error!(%id, %first, %last, "entries of a log are missing");
                TailError::Damaged { first, last }
            }
            Err(ReadError::Damaged | ReadError::Unavailable) => TailError::Unavailable,
        }
    }
}

/// A part of a log that was read.
struct Stretch {
    uni: i64,
    /// The last revision that was read.
    last: Revision,
    entries: Vec<Entry>,
    bytes: usize,
    /// The last missing revision, if later ones exist.
    gap: Option<Revision>,
}

impl Stretch {
    fn new(uni: i64, after: Revision) -> Self {
        Self { uni, last: after, entries: Vec::new(), bytes: 0, gap: None }
    }

    /// Adds the entries of messages, up to the first message that does not follow or cannot be read.
    async fn take(
        &mut self,
        engine: &Engine,
        messages: Vec<StreamMessage>,
    ) -> Result<(), TailError> {
        for message in messages {
            let Some(card) = card::read::<Card>(&message.headers) else {
                break;
            };
            if card.uni != self.uni || card.revision <= self.last.0 {
                continue;
            }
            if card.from > self.last.0 {
                self.gap = Some(Revision(card.from));
                break;
            }
            let body = match engine.body(&card, message.payload).await {
                Ok(body) => card::unframe(&card, body),
                Err(ReadError::Damaged | ReadError::NotFound) => None,
                Err(ReadError::Unavailable) => return Err(TailError::Unavailable),
            };
            let Some(entries) = body else {
                self.gap = Some(Revision(card.revision));
                break;
            };
            let news = entries.into_iter().map(|(entry, _)| entry);
            for entry in news.filter(|entry| entry.revision > self.last) {
                self.bytes = self.bytes.saturating_add(entry.body.len());
                self.entries.push(entry);
            }
            self.last = Revision(card.revision);
            let next = message.sequence.saturating_add(1);
            engine.note_place(self.uni, self.last.0, next);
            if self.bytes > STRETCH.1 {
                break;
            }
        }
        Ok(())
    }
}

/// The engine, as the log that a tail reads.
pub(super) struct Log(pub(super) Arc<Engine>);

impl History for Log {
    fn locate<'a>(
        &'a self,
        id: &'a UniverseId,
    ) -> BoxFuture<'a, Result<(i64, Revision), TailError>> {
        Box::pin(async move {
            match self.0.find(id).await {
                Ok(known) => Ok((known.card.uni, Revision(known.card.revision))),
                Err(ReadError::NotFound) => Err(TailError::NotFound),
                Err(ReadError::Damaged | ReadError::Unavailable) => Err(Away.into()),
            }
        })
    }

    fn chunk(&self, uni: i64, after: Revision) -> BoxFuture<'_, Result<Chunk, TailError>> {
        Box::pin(self.0.stretch(uni, after))
    }
}

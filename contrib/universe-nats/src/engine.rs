//! What reading and writing share, and finding one's way in a log.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::{Semaphore, watch};
use universe_store::adapter::live::Live;
use universe_store::{MAX_WRITE, ReadError, UniverseId};

use super::card::{self, Card};
use super::doomed::Doomed;
use super::error::Away;
use super::index::{Index, Known};
use super::link::Link;
use super::names::Names;

/// The most positions in logs that are remembered. When there are more, all are forgotten.
const MAX_PLACES: usize = 4_096;

/// How often a position is guessed from the revisions. After that, binary search is used.
const GUESSES: u32 = 4;

/// The streams as one node sees them.
pub(super) struct Engine {
    pub(super) link: Link,
    pub(super) names: Names,
    pub(super) index: Index,
    pub(super) live: Arc<Live>,
    /// The sequence of the log's stream up to which the index is complete.
    pub(super) known: watch::Sender<u64>,
    /// The data that is to be removed after a while.
    pub(super) doomed: Doomed,
    /// Limits the bytes that are being written at a time.
    pub(super) budget: Arc<Semaphore>,
    /// The sequence at which the entries after a revision of a universe begin.
    places: Mutex<HashMap<(i64, u64), u64>>,
}

impl Engine {
    pub(super) fn new(link: Link, names: Names) -> Self {
        Self {
            link,
            names,
            index: Index::default(),
            live: Arc::new(Live::default()),
            known: watch::Sender::new(0),
            doomed: Doomed::default(),
            budget: Arc::new(Semaphore::new(MAX_WRITE)),
            places: Mutex::default(),
        }
    }

    /// The last message of an id's log, of any kind, as the leader has it.
    pub(super) async fn look(&self, id: &UniverseId) -> Result<Option<Known>, ReadError> {
        let subject = self.names.log_of(id);
        let Some(message) = self.link.last(&self.names.log(), &subject).await? else {
            return Ok(None);
        };
        let card: Card = card::read(&message.headers).ok_or(ReadError::Damaged)?;
        let known = Known { card, sequence: message.sequence };
        self.index.improve(id, &known);
        Ok(Some(known))
    }

    /// The present universe with an id, as the leader has it.
    pub(super) async fn find(&self, id: &UniverseId) -> Result<Known, ReadError> {
        let known = self.look(id).await?;
        known.filter(|known| !known.card.deleted).ok_or(ReadError::NotFound)
    }

    /// A sequence from which to read the entries after a revision. The universe must be at a later revision.
    pub(super) async fn place(
        &self,
        id: &UniverseId,
        after: u64,
        head: &Known,
    ) -> Result<u64, Away> {
        let uni = head.card.uni;
        if head.card.from <= after {
            return Ok(head.sequence);
        }
        if let Some(place) = self.places().get(&(uni, after)) {
            return Ok(*place);
        }
        let (stream, subject) = (self.names.log(), self.names.log_of(id));
        // All messages before `low` are too early. The first message from `high` on is not.
        let (mut low, mut early) = (1, head.card.oldest);
        let (mut high, mut late) = (head.sequence, head.card.revision);
        let mut guesses = 0;
        while low < high {
            let span = high - low;
            let share = if guesses < GUESSES && late > early {
                let part = u128::from(span) * u128::from(after.saturating_sub(early));
                u64::try_from(part / u128::from(late - early)).unwrap_or(span)
            } else {
                span / 2
            };
            guesses += 1;
            let guess = low + share.min(span - 1);
            let Some(message) = self.link.next(&stream, &subject, guess).await? else {
                break;
            };
            let card: Option<Card> = card::read(&message.headers);
            match card {
                // It belongs to an earlier universe with this id, or cannot be read.
                None => low = message.sequence.saturating_add(1),
                Some(card) if card.uni != uni => low = message.sequence.saturating_add(1),
                Some(card) if card.revision <= after => {
                    (low, early) = (message.sequence.saturating_add(1), card.revision);
                }
                Some(card) if card.from <= after => return Ok(message.sequence),
                Some(card) => (high, late) = (guess, card.from),
            }
        }
        Ok(high)
    }

    /// Remembers where the entries after a revision begin.
    pub(super) fn note_place(&self, uni: i64, after: u64, sequence: u64) {
        let mut places = self.places();
        if places.len() >= MAX_PLACES {
            places.clear();
        }
        places.insert((uni, after), sequence);
    }

    fn places(&self) -> std::sync::MutexGuard<'_, HashMap<(i64, u64), u64>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the body of a message of a log.
    pub(super) async fn body(&self, card: &Card, inline: Bytes) -> Result<Bytes, ReadError> {
        super::bodies::load(&self.link, &self.names, card.uni, (&card.body, inline)).await
    }
}

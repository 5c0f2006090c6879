//! All universes as far as they are known here: their cards, by id and by age, but not their entries.
//!
//! What is here may be behind. A list waits for what had been acknowledged before it was asked for; an append says of
//! which message it believes that it is the last, and the server knows.
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use universe_store::{Page, Position, Record, Revision, UniverseId};

use super::card::Card;

/// The state of a universe after the message of a sequence.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) card: Card,
    pub(super) sequence: u64,
}

/// The universes. Each takes some hundred bytes.
#[derive(Default)]
pub(super) struct Index(Mutex<Tables>);

#[derive(Default)]
struct Tables {
    by_id: HashMap<UniverseId, Known>,
    by_age: BTreeSet<Position>,
    by_number: HashMap<i64, UniverseId>,
}

impl Index {
    pub(super) fn get(&self, id: &UniverseId) -> Option<Known> {
        self.tables().by_id.get(id).cloned()
    }

    /// The number and the revision of an id's universe, if the message of this sequence is between the base of its log
    /// and the last known message.
    pub(super) fn reached(&self, id: &UniverseId, sequence: u64) -> Option<(i64, Revision)> {
        let tables = self.tables();
        let Known { card, sequence: last } = tables.by_id.get(id)?;
        // From its base on, all messages of a log belong to the same universe, and none is its end.
        let first = if card.base == 0 { *last } else { card.base };
        let is_known = (first..=*last).contains(&sequence);
        is_known.then_some((card.uni, Revision(card.revision)))
    }

    /// The id of the universe with a number.
    pub(super) fn id_of(&self, uni: i64) -> Option<UniverseId> {
        self.tables().by_number.get(&uni).cloned()
    }

    /// Updates a universe with data that this node read or wrote. Universes are only added and removed in the order of
    /// the stream.
    pub(super) fn improve(&self, id: &UniverseId, known: &Known) {
        let mut tables = self.tables();
        if tables.by_id.contains_key(id) && !known.card.deleted {
            tables.put(id, known);
        }
    }

    /// Processes a message in the order of the stream.
    pub(super) fn take(&self, id: &UniverseId, known: &Known) {
        let mut tables = self.tables();
        if known.card.deleted {
            tables.remove_before(id, known.sequence)
        } else {
            tables.put(id, known)
        }
    }

    /// Removes the universes that are not in the set and not newer than a sequence. Returns their numbers.
    pub(super) fn retain(&self, there: &HashSet<UniverseId>, sequence: u64) -> Vec<i64> {
        let mut tables = self.tables();
        let gone = tables
            .by_id
            .iter()
            .filter(|(id, known)| !there.contains(*id) && known.sequence <= sequence);
        let gone: Vec<_> = gone.map(|(id, known)| (id.clone(), known.card.uni)).collect();
        gone.into_iter()
            .map(|(id, uni)| {
                tables.remove(&id);
                uni
            })
            .collect()
    }

    pub(super) fn page(&self, page: &Page) -> Vec<Record> {
        let tables = self.tables();
        let before = page.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let positions = tables.by_age.range((Bound::Unbounded, before)).rev();
        positions
            .filter_map(|position| {
                let known = tables.by_id.get(&position.id)?;
                Some(known.card.record(&position.id))
            })
            .take(page.limit.min(universe_store::MAX_PAGE))
            .collect()
    }

    pub(super) fn count(&self) -> usize {
        self.tables().by_id.len()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        // No code panics while it holds the lock of the tables.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn put(&mut self, id: &UniverseId, known: &Known) {
        let before = self.by_id.get(id);
        if before.is_some_and(|before| before.sequence >= known.sequence) {
            return;
        }
        if before.is_none_or(|before| before.card.uni != known.card.uni) {
            self.remove(id);
            self.by_age.insert(known.card.record(id).position());
            self.by_number.insert(known.card.uni, id.clone());
        }
        self.by_id.insert(id.clone(), known.clone());
    }

    fn remove_before(&mut self, id: &UniverseId, sequence: u64) {
        if self.by_id.get(id).is_some_and(|known| known.sequence < sequence) {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: &UniverseId) {
        if let Some(gone) = self.by_id.remove(id) {
            self.by_age.remove(&gone.card.record(id).position());
            self.by_number.remove(&gone.card.uni);
        }
    }
}

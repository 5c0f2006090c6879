//! The writers of the universes in memory: who has one, who makes room, who may begin.

use std::collections::HashMap;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::ServiceLimits;
use super::writer::Job;
use crate::store::UniverseId;

/// At most [`ServiceLimits::max_loaded`] that take jobs, and those that still end.
#[derive(Default)]
pub(super) struct Writers {
    by_universe: HashMap<UniverseId, Handle>,
    next_key: u64,
}

/// The way to a universe's writer.
struct Handle {
    /// Tells a writer from an earlier one of the same universe.
    key: u64,
    /// `None` once it was told to end; it still does what is waiting.
    jobs: Option<mpsc::Sender<Job>>,
    used: Instant,
    /// Resolves when the writer is gone.
    ended: oneshot::Receiver<()>,
}

/// What a new writer has of the table.
pub(super) struct Place {
    pub(super) key: u64,
    pub(super) queue: mpsc::Receiver<Job>,
    /// Resolves when the writer before is gone. Until then this one must not begin: there are never two.
    pub(super) predecessor: Option<oneshot::Receiver<()>>,
    /// Dropped with the writer, which lets the next one begin. Nothing is ever sent.
    _end: oneshot::Sender<()>,
}

impl Writers {
    /// The way to the writer of a universe, if there is one that takes jobs.
    pub(super) fn open(&mut self, id: &UniverseId) -> Option<mpsc::Sender<Job>> {
        let handle = self.by_universe.get_mut(id)?;
        let jobs = handle.jobs.as_ref().filter(|jobs| !jobs.is_closed())?;
        handle.used = Instant::now();
        Some(jobs.clone())
    }

    /// Makes a place for the new writer of a universe that has none which takes jobs.
    pub(super) fn place(
        &mut self,
        id: &UniverseId,
        limits: ServiceLimits,
    ) -> (mpsc::Sender<Job>, Place) {
        self.make_room(limits.max_loaded);
        let (jobs, queue) = mpsc::channel(limits.max_queue.max(1));
        let (end, ended) = oneshot::channel();
        let key = self.next_key;
        self.next_key = key.wrapping_add(1);
        let handle = Handle {
            key,
            jobs: Some(jobs.clone()),
            used: Instant::now(),
            ended,
        };
        let predecessor = self.by_universe.insert(id.clone(), handle);
        let place = Place {
            key,
            queue,
            predecessor: predecessor.map(|handle| handle.ended),
            _end: end,
        };
        (jobs, place)
    }

    /// Forgets a writer that has ended.
    pub(super) fn forget(&mut self, id: &UniverseId, key: u64) {
        if self
            .by_universe
            .get(id)
            .is_some_and(|handle| handle.key == key)
        {
            self.by_universe.remove(id);
        }
    }

    /// Lets the universe go that was unused longest, if there are `max`. Its queue closes, so its writer does what is
    /// waiting and ends.
    fn make_room(&mut self, max: usize) {
        let open = |handle: &&mut Handle| handle.jobs.is_some();
        if self.by_universe.values_mut().filter(open).count() < max.max(1) {
            return;
        }
        let open = self.by_universe.values_mut().filter(open);
        if let Some(oldest) = open.min_by_key(|handle| handle.used) {
            oldest.jobs = None;
        }
    }
}

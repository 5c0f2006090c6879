//! The writers of the universes in memory: at most one for each, and not too many.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, oneshot};

use super::job::Job;
use super::{ServiceLimits, Universe};
use crate::store::UniverseId;

/// The writers of the universes in memory.
#[derive(Default)]
pub(super) struct Writers {
    by_universe: HashMap<UniverseId, Handle>,
    /// The bytes of all universes in memory together.
    total: Arc<AtomicUsize>,
    next_key: u64,
    /// Counts the uses of all writers. It gives their order, which a clock may not distinguish.
    uses: u64,
    /// Whether new writers are refused.
    closed: bool,
}

/// A slot for a new writer, with what the caller needs to start it.
pub(super) struct Seat {
    /// The sender of the writer's queue.
    pub(super) jobs: mpsc::Sender<Job>,
    /// The writer's side.
    pub(super) slot: WriterSlot,
    /// Resolves when the writer before it has ended. The new one waits for that, so that there are never two.
    pub(super) predecessor: Option<oneshot::Receiver<()>>,
}

/// A writer's own side of its slot.
pub(super) struct WriterSlot {
    /// Distinguishes a writer from an earlier one of the same universe.
    pub(super) key: u64,
    pub(super) queue: mpsc::Receiver<Job>,
    pub(super) size: Arc<Size>,
    pub(super) latest: Latest,
    /// Dropped with the writer, so that the universe's next writer can begin.
    pub(super) _end: oneshot::Sender<()>,
}

/// The handle of a universe's writer.
struct Handle {
    key: u64,
    /// `None` once the writer was asked to end. It still completes the jobs in its queue.
    jobs: Option<mpsc::Sender<Job>>,
    /// The number of its last use.
    used: u64,
    size: Arc<Size>,
    latest: Latest,
    ended: oneshot::Receiver<()>,
}

/// The size of a universe in bytes of JSON, as far as its writer knows, and the size of all universes together.
pub(super) struct Size {
    own: AtomicUsize,
    total: Arc<AtomicUsize>,
}

/// The present universe, for readers, while its writer has no write in progress.
///
/// During a write it is empty and readers join the writer's queue: a client that has received an event of the feed must
/// not read the state before that event.
#[derive(Clone, Default)]
pub(super) struct Latest(Arc<Mutex<Option<Universe>>>);

impl Writers {
    /// The queue of a universe's writer, if there is one that takes jobs.
    pub(super) fn open(&mut self, id: &UniverseId) -> Option<mpsc::Sender<Job>> {
        self.uses += 1;
        let handle = self.by_universe.get_mut(id)?;
        let jobs = handle.jobs.as_ref().filter(|jobs| !jobs.is_closed())?;
        handle.used = self.uses;
        Some(jobs.clone())
    }

    /// The present universe, if it is in memory and no write is in progress.
    pub(super) fn latest(&mut self, id: &UniverseId) -> Option<Universe> {
        self.uses += 1;
        let handle = self.by_universe.get_mut(id)?;
        handle.jobs.as_ref().filter(|jobs| !jobs.is_closed())?;
        handle.used = self.uses;
        handle.latest.get()
    }

    /// Makes a slot for the writer of a universe that has none, and makes room for it. `None` once closed.
    pub(super) fn seat(&mut self, id: &UniverseId, limits: &ServiceLimits) -> Option<Seat> {
        if self.closed {
            return None;
        }
        self.make_room(limits.max_loaded.saturating_sub(1), limits.max_loaded_bytes);
        let (jobs, queue) = mpsc::channel(limits.max_queue.max(1));
        let (end, ended) = oneshot::channel();
        let key = self.next_key;
        self.next_key = key.wrapping_add(1);
        self.uses += 1;
        let size = Arc::new(Size { own: AtomicUsize::new(0), total: Arc::clone(&self.total) });
        let latest = Latest::default();
        let handle = Handle {
            key,
            jobs: Some(jobs.clone()),
            used: self.uses,
            size: Arc::clone(&size),
            latest: latest.clone(),
            ended,
        };
        let predecessor = self.by_universe.insert(id.clone(), handle);
        let slot = WriterSlot { key, queue, size, latest, _end: end };
        Some(Seat { jobs, slot, predecessor: predecessor.map(|handle| handle.ended) })
    }

    /// Asks every writer to end. The receivers that it returns resolve when the writers have ended.
    pub(super) fn close(&mut self) -> Vec<oneshot::Receiver<()>> {
        self.closed = true;
        let handles = std::mem::take(&mut self.by_universe);
        // Dropping the rest of a handle closes its writer's queue.
        handles.into_values().map(|handle| handle.ended).collect()
    }

    /// Forgets a writer that has ended.
    pub(super) fn forget(&mut self, id: &UniverseId, key: u64) {
        let handle = self.by_universe.get(id);
        if handle.is_some_and(|handle| handle.key == key) {
            self.by_universe.remove(id);
        }
    }

    /// Frees universes, the least recently used first, until both their number and their bytes are within the limits.
    /// The most recently used one stays if possible. Their queues close, so their writers complete the waiting jobs and
    /// end.
    pub(super) fn make_room(&mut self, max: usize, max_bytes: usize) {
        let is_open = |handle: &&mut Handle| handle.jobs.is_some();
        let mut open: Vec<_> = self.by_universe.values_mut().filter(is_open).collect();
        let mut bytes: usize = open.iter().map(|handle| handle.size.get()).sum();
        let mut count = open.len();
        if count <= max && bytes <= max_bytes {
            return;
        }
        open.sort_by_key(|handle| handle.used);
        for handle in open {
            if count <= max && (bytes <= max_bytes || count == 1) {
                break;
            }
            handle.jobs = None;
            count -= 1;
            bytes = bytes.saturating_sub(handle.size.get());
        }
    }
}

impl Size {
    /// Sets the size of the universe. Returns the bytes of all universes together.
    pub(super) fn set(&self, bytes: usize) -> usize {
        let before = self.own.swap(bytes, Ordering::Relaxed);
        // Both wrap around in the same way, so the sum is right.
        let change = bytes.wrapping_sub(before);
        let total = self.total.fetch_add(change, Ordering::Relaxed);
        total.wrapping_add(change)
    }

    fn get(&self) -> usize {
        self.own.load(Ordering::Relaxed)
    }
}

impl Drop for Size {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Latest {
    pub(super) fn set(&self, universe: Option<Universe>) {
        *self.lock() = universe;
    }

    fn get(&self) -> Option<Universe> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Universe>> {
        // No code panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

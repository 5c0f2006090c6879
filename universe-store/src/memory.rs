//! The adapter that forgets at exit: the port's rules in their plainest form, within fixed limits.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::vec;

use futures_util::future::{FutureExt, ready};
use futures_util::stream::{self, StreamExt};
use tokio::sync::watch;

use super::model::{Admission, ENTRY_OVERHEAD, within};
use super::{
    Answer, Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Entry, Head,
    KEY_TIME, LogTail, MAX_PAGE, Meta, Page, Position, ReadError, Record, Revision, Snapshot,
    SnapshotError, TailError, Timestamp, TrimError, UniverseId, UniverseLog,
};

/// The most entries that a tail reads at a time.
const TAIL_PAGE: usize = 64;

/// The limits of a [`MemoryStore`]. Writes beyond them fail with `Full`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryLimits {
    /// The most universes. Default 10,000.
    pub universes: usize,
    /// The most bytes of bodies and names together. Default 1 GiB.
    pub bytes: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self { universes: 10_000, bytes: 1 << 30 }
    }
}

/// Universes in memory. Writes are durable for the life of the store.
pub struct MemoryStore {
    shelf: Arc<Mutex<Shelf>>,
    limits: MemoryLimits,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(limits: MemoryLimits) -> Self {
        Self { shelf: Arc::default(), limits }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        lock(&self.shelf)
    }

    fn create_now(&self, meta: Meta, base: Base) -> Result<(), CreateError> {
        let size = base.body.len().saturating_add(meta.name.len());
        let size = within(size, |max| CreateError::TooLarge { max })?;
        let mut shelf = self.shelf();
        if shelf.universes.contains_key(&meta.id) {
            return Err(CreateError::Exists);
        }
        let room = self.limits.bytes.saturating_sub(shelf.bytes);
        if shelf.universes.len() >= self.limits.universes || size > room {
            return Err(CreateError::Full);
        }
        shelf.bytes += size;
        let record = Record { head: base.head(), oldest: base.revision, meta };
        let (changed, _) = watch::channel(());
        shelf.by_age.insert(record.position());
        shelf.universes.insert(
            record.meta.id.clone(),
            Universe {
                record,
                base,
                entries: Vec::new(),
                snapshot: None,
                keyed: HashMap::new(),
                size,
                changed,
            },
        );
        Ok(())
    }

    fn append_now(&self, id: &UniverseId, append: Append) -> Result<Appended, AppendError> {
        let size = append.checked_size()?;
        let mut shelf = self.shelf();
        let room = self.limits.bytes.saturating_sub(shelf.bytes);
        let universe = shelf.universes.get_mut(id).ok_or(AppendError::NotFound)?;
        let before = universe.record.head.revision;
        let Admission::Proceed(head) = universe.record.head.admit(&append)? else {
            return Ok(Appended { revision: before, stored: false });
        };
        if size > room {
            return Err(AppendError::Full);
        }
        let mut revision = before;
        for entry in &append.entries {
            revision = revision.next();
            universe.entries.push(entry.at_revision(revision));
            if entry.keyed {
                let old = entry.at.before(KEY_TIME);
                universe.keyed.retain(|_, (_, at)| *at >= old);
                universe.keyed.insert(entry.command_id, (revision, entry.at));
            }
        }
        universe.record.head = head;
        if let Some(name) = append.name {
            universe.record.meta.name = name;
        }
        universe.size += size;
        universe.changed.send_replace(());
        shelf.bytes += size;
        Ok(Appended { revision, stored: true })
    }

    fn delete_now(&self, id: &UniverseId, expected: Option<Revision>) -> Result<(), DeleteError> {
        let mut shelf = self.shelf();
        let universe = shelf.universes.get(id).ok_or(DeleteError::NotFound)?;
        universe.record.head.admit_delete(expected)?;
        if let Some(gone) = shelf.universes.remove(id) {
            shelf.by_age.remove(&gone.record.position());
            shelf.bytes -= gone.size;
        }
        Ok(())
    }

    fn list_now(&self, page: &Page) -> Vec<Record> {
        let shelf = self.shelf();
        let before = page.after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let positions = shelf.by_age.range((Bound::Unbounded, before)).rev();
        positions
            .filter_map(|position| shelf.universes.get(&position.id))
            .map(|universe| universe.record.clone())
            .take(page.limit.min(MAX_PAGE))
            .collect()
    }

    fn put_snapshot_now(&self, id: &UniverseId, offered: Snapshot) -> Result<(), SnapshotError> {
        let size = within(offered.body.len(), |max| SnapshotError::TooLarge { max })?;
        let mut shelf = self.shelf();
        let room = self.limits.bytes.saturating_sub(shelf.bytes);
        let universe = shelf.universes.get_mut(id).ok_or(SnapshotError::NotFound)?;
        let head = universe.record.head.revision;
        if offered.revision > head {
            return Err(SnapshotError::Ahead { head });
        }
        let kept = universe.snapshot.as_ref();
        let oldest = universe.record.oldest;
        if offered.revision < oldest || kept.is_some_and(|kept| kept.revision >= offered.revision) {
            return Ok(());
        }
        let freed = kept.map_or(0, |kept| kept.body.len());
        if size > room.saturating_add(freed) {
            return Err(SnapshotError::Unavailable);
        }
        universe.snapshot = Some(offered);
        universe.size = universe.size - freed + size;
        shelf.bytes = shelf.bytes - freed + size;
        Ok(())
    }

    fn trim_now(&self, id: &UniverseId, last: CommandId, base: Base) -> Result<(), TrimError> {
        let size = within(base.body.len(), |max| TrimError::TooLarge { max })?;
        let mut shelf = self.shelf();
        let room = self.limits.bytes.saturating_sub(shelf.bytes);
        let universe = shelf.universes.get_mut(id).ok_or(TrimError::NotFound)?;
        let Record { oldest, head, .. } = universe.record;
        if base.revision <= oldest {
            return Ok(());
        }
        let entry = universe.entry(base.revision);
        if base.revision >= head.revision || entry.is_none_or(|entry| entry.command_id != last) {
            return Err(TrimError::NotThere);
        }
        let gone = universe.place(base.revision).saturating_add(1);
        let snapshot = universe.snapshot.take_if(|kept| kept.revision <= base.revision);
        let freed = universe.base.body.len()
            + universe
                .entries
                .drain(..gone)
                .map(|entry| ENTRY_OVERHEAD + entry.body.len())
                .sum::<usize>()
            + snapshot.map_or(0, |kept| kept.body.len());
        if size > room.saturating_add(freed) {
            return Err(TrimError::Unavailable);
        }
        universe.record.oldest = base.revision;
        universe.base = base;
        universe.size = universe.size.saturating_sub(freed) + size;
        shelf.bytes = shelf.bytes.saturating_sub(freed) + size;
        Ok(())
    }

    fn read_now<T>(
        &self,
        id: &UniverseId,
        read: impl FnOnce(&Universe) -> T,
    ) -> Result<T, ReadError> {
        self.shelf().universes.get(id).map(read).ok_or(ReadError::NotFound)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(MemoryLimits::default())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl UniverseLog for MemoryStore {
    fn create_from(&self, meta: Meta, base: Base) -> Answer<'_, (), CreateError> {
        ready(self.create_now(meta, base)).boxed()
    }

    fn append(&self, id: &UniverseId, append: Append) -> Answer<'_, Appended, AppendError> {
        ready(self.append_now(id, append)).boxed()
    }

    fn delete(&self, id: &UniverseId, expected: Option<Revision>) -> Answer<'_, (), DeleteError> {
        ready(self.delete_now(id, expected)).boxed()
    }

    fn record(&self, id: &UniverseId) -> Answer<'_, Record> {
        ready(self.read_now(id, |universe| universe.record.clone())).boxed()
    }

    fn landed(&self, id: &UniverseId, command: CommandId) -> Answer<'_, Option<Revision>> {
        let found = self.read_now(id, |universe| {
            let old = Timestamp::now().before(KEY_TIME);
            let found = universe.keyed.get(&command).filter(|(_, at)| *at >= old);
            found.map(|(revision, _)| *revision)
        });
        ready(found).boxed()
    }

    fn list(&self, page: Page) -> Answer<'_, Vec<Record>> {
        ready(Ok(self.list_now(&page))).boxed()
    }

    fn count(&self) -> Answer<'_, u64> {
        ready(Ok(self.shelf().universes.len() as u64)).boxed()
    }

    fn base(&self, id: &UniverseId) -> Answer<'_, Base> {
        ready(self.read_now(id, |universe| universe.base.clone())).boxed()
    }

    fn trim(&self, id: &UniverseId, last: CommandId, base: Base) -> Answer<'_, (), TrimError> {
        ready(self.trim_now(id, last, base)).boxed()
    }

    fn oldest_keyed(&self, id: &UniverseId) -> Answer<'_, Option<Revision>> {
        let oldest = self.read_now(id, |universe| {
            let old = Timestamp::now().before(KEY_TIME);
            let young = universe.keyed.values().filter(|(_, at)| *at >= old);
            young.map(|(revision, _)| *revision).min()
        });
        ready(oldest).boxed()
    }

    fn snapshot(&self, id: &UniverseId) -> Answer<'_, Option<Snapshot>> {
        ready(self.read_now(id, |universe| universe.snapshot.clone())).boxed()
    }

    fn put_snapshot(&self, id: &UniverseId, snapshot: Snapshot) -> Answer<'_, (), SnapshotError> {
        ready(self.put_snapshot_now(id, snapshot)).boxed()
    }

    fn tail(&self, id: &UniverseId, after: Revision) -> LogTail {
        let tail = Tail {
            shelf: Arc::downgrade(&self.shelf),
            id: id.clone(),
            after,
            page: Vec::new().into_iter(),
            changed: None,
        };
        stream::try_unfold(tail, async |mut tail| Ok(Some((tail.next().await?, tail)))).boxed()
    }
}

#[derive(Default)]
struct Shelf {
    universes: HashMap<UniverseId, Universe>,
    by_age: BTreeSet<Position>,
    /// The sum of every universe's `size`.
    bytes: usize,
}

struct Universe {
    record: Record,
    base: Base,
    /// The entries after the base's revision.
    entries: Vec<Entry>,
    snapshot: Option<Snapshot>,
    /// The keyed entries of the last [`KEY_TIME`] by their command.
    keyed: HashMap<CommandId, (Revision, Timestamp)>,
    size: usize,
    /// Wakes tails to read again; closed when the universe is deleted or the store is dropped.
    changed: watch::Sender<()>,
}

impl Universe {
    /// Where the entry of a revision after the base is.
    fn place(&self, revision: Revision) -> usize {
        let place = revision.0.saturating_sub(self.base.revision.next().0);
        usize::try_from(place).unwrap_or(usize::MAX)
    }

    fn entry(&self, revision: Revision) -> Option<&Entry> {
        self.entries.get(self.place(revision))
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Tail {
    /// Weak, so that a forgotten tail does not keep the store.
    shelf: Weak<Mutex<Shelf>>,
    id: UniverseId,
    after: Revision,
    page: vec::IntoIter<Entry>,
    /// `None` until first polled.
    changed: Option<watch::Receiver<()>>,
}

impl Tail {
    async fn next(&mut self) -> Result<Entry, TailError> {
        loop {
            if let Some(entry) = self.page.next() {
                self.after = entry.revision;
                return Ok(entry);
            }
            self.turn_page()?;
            if self.page.len() == 0
                && let Some(changed) = &mut self.changed
            {
                // An error means closed: turning the page shows why.
                let _closed = changed.changed().await;
            }
        }
    }

    fn turn_page(&mut self) -> Result<(), TailError> {
        let shelf = self.shelf.upgrade().ok_or(TailError::Unavailable)?;
        let shelf = lock(&shelf);
        let universe = shelf.universes.get(&self.id);
        match &mut self.changed {
            None => {
                let universe = universe.ok_or(TailError::NotFound)?;
                let Head { revision: head, .. } = universe.record.head;
                if self.after > head {
                    return Err(TailError::Ahead { head });
                }
                self.changed = Some(universe.changed.subscribe());
            }
            // Another universe under the same id has another channel.
            Some(changed) if changed.has_changed().is_err() => return Err(TailError::Deleted),
            // What is read below is seen: only what comes later is a change.
            Some(changed) => changed.mark_unchanged(),
        }
        let Some(universe) = universe else {
            return Ok(());
        };
        let Record { oldest, head, .. } = universe.record;
        if self.after < oldest {
            let head = head.revision;
            return Err(TailError::Trimmed { oldest, head });
        }
        let start = universe.place(self.after.next());
        let entries = universe.entries.iter().skip(start).take(TAIL_PAGE);
        self.page = entries.cloned().collect::<Vec<_>>().into_iter();
        Ok(())
    }
}

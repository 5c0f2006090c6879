//! Finds changes by other writers of a shared store, and catches up with them.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

use super::{Change, Result, ServiceError, Writer};
use crate::commands::load::{self, Loaded};
use crate::commands::texts::TextPlace;
use crate::commands::{LogEntry, Universe};
use crate::store::{ReadError, Record, Revision, UniverseLog};

/// How often a batch is tried when others write too. Each failed try means that another writer's batch succeeded.
pub(super) const ATTEMPTS: usize = 64;

/// The pause before hints are requested again after they ended, for example because the store is unavailable.
const HINTS_PAUSE: Duration = Duration::from_secs(1);

/// The revisions that a universe reaches.
pub(super) type Hints = BoxStream<'static, Revision>;

/// The next hint. Never resolves if the store gives no hints.
pub(super) async fn next(hints: &mut Option<Hints>) -> Option<Revision> {
    match hints {
        Some(hints) => hints.next().await,
        None => std::future::pending().await,
    }
}

impl Writer {
    /// Listens for changes by other writers once the universe is in memory.
    pub(super) fn listen(&mut self) {
        let store = self.service.store();
        if self.hints.is_none() && self.loaded.is_some() && store.is_shared() {
            self.hints = Some(store.hints(&self.id));
        }
    }

    /// Waits until the other writer that was first gives way.
    pub(super) async fn lose_turn(&mut self) {
        self.listen();
        if let (Some(turns), Some(hints)) = (&mut self.turns, &mut self.hints)
            && !turns.lost(hints).await
        {
            self.refresh(None).await;
        }
    }

    /// Catches up if a hint shows a later revision than the one in memory.
    pub(super) async fn refresh(&mut self, hint: Option<Revision>) {
        let Some(revision) = hint else {
            let again = self.service.store().hints(&self.id);
            let pause = stream::once(tokio::time::sleep(HINTS_PAUSE));
            // The pause itself yields no revision.
            let pause = pause.filter_map(|()| std::future::ready(None));
            self.hints = Some(pause.chain(again).boxed());
            return;
        };
        let known = self.loaded.as_ref().map(|loaded| loaded.universe.revision);
        if known.is_none_or(|known| known >= revision) {
            return;
        }
        match self.catch_up().await {
            Ok(()) => {}
            Err(ServiceError::NotFound(_)) => self.slot.queue.close(),
            // The next job tries again and reports the error.
            Err(error) => {
                tracing::warn!(universe = %self.id, %error, "a universe was not followed")
            }
        }
    }

    /// Brings a universe in memory up to the head of the log. A universe that is not in memory is read when it is
    /// needed.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], or the store's failure.
    pub(super) async fn catch_up(&mut self) -> Result<()> {
        let Some(mut loaded) = self.loaded.take() else {
            return Ok(());
        };
        let record = match self.service.store().record(&self.id).await {
            Ok(record) => record,
            Err(error) => {
                match error {
                    ReadError::NotFound => {
                        self.service.0.watchers.notify(Change::Deleted(&self.id));
                    }
                    // The universe in memory is unchanged.
                    ReadError::Damaged | ReadError::Unavailable => self.loaded = Some(loaded),
                }
                return Err(ServiceError::reading(&self.id, &error));
            }
        };
        if is_current(&loaded.universe, &record) {
            self.loaded = Some(loaded);
            return Ok(());
        }
        self.slot.latest.set(None);
        let before = loaded.universe.clone();
        let followed = follow(self.service.store(), &mut loaded, &record).await;
        let (mut loaded, replaced) = match followed {
            Some(replaced) => (loaded, replaced),
            // The log was trimmed, or the id belongs to another universe: read it completely.
            None => (load::load(self.service.store(), &self.id).await?, true),
        };
        if replaced {
            loaded.universe.text = TextPlace::new(&self.service.0.texts);
        }
        self.slot.latest.set(Some(loaded.universe.clone()));
        self.service.0.watchers.notify(Change::Changed {
            before: &before,
            after: &loaded.universe,
            replaced,
        });
        self.loaded = Some(loaded);
        self.measure();
        Ok(())
    }
}

/// Applies the entries written since, and returns whether one of them replaced the state as a whole. `None` if the log
/// cannot be followed.
async fn follow(store: &dyn UniverseLog, loaded: &mut Loaded, record: &Record) -> Option<bool> {
    let from = loaded.universe.revision;
    let missing = record.head.revision.0.checked_sub(from.0)?;
    if record.meta.created_at != loaded.universe.created_at || from < record.oldest {
        return None;
    }
    let missing = usize::try_from(missing).ok()?;
    let mut entries = store.tail(&record.meta.id, from).take(missing);
    let mut replaced = false;
    while let Some(entry) = entries.next().await {
        let entry = entry.ok()?;
        replaced |= LogEntry::read(&entry.body).is_ok_and(|it| it.replaces());
        loaded.add(&entry).ok()?;
    }
    (loaded.universe.revision >= record.head.revision).then_some(replaced)
}

/// Whether a universe in memory matches the log.
pub(in crate::commands) fn is_current(universe: &Universe, record: &Record) -> bool {
    universe.revision == record.head.revision && universe.created_at == record.meta.created_at
}

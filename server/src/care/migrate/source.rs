//! Where universes come from: a store that this process has open, or a data directory that a server uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::StreamExt as _;
use universe_core::State;

use super::{CareError, Location, Result, failed};
use crate::care::{export, off, present};
use crate::commands::{CommandService, ServiceLimits};
use crate::store::sqlite::{Inspector, OpenError, Options, Stretch, View};
use crate::store::{
    Base, CommandId, Entry, Page, ReadError, Record, Revision, Snapshot, SqliteStore, TailError,
    UniverseId, UniverseLog,
};

/// The most entries that are read at once. The store may return fewer.
const SOME: usize = 256;

/// The store that is copied.
pub(super) enum Source {
    /// An open store. If it is a data directory, no other process can write into it.
    Open { log: Arc<dyn UniverseLog>, is_directory: bool },
    /// A data directory whose lock a server has.
    Used(PathBuf),
}

impl Source {
    pub(super) async fn open(location: &Location, authorities: Option<&Path>) -> Result<Self> {
        let Location::Directory(dir) = location else {
            let log = location.open(authorities).await?;
            let is_directory = false;
            return Ok(Self::Open { log, is_directory });
        };
        // A missing directory is not created.
        let looked = dir.clone();
        off(move || present(&Inspector::open(&looked)?)).await?;
        match Self::take(dir).await? {
            Some(taken) => Ok(taken),
            None => Ok(Self::Used(dir.clone())),
        }
    }

    /// Opens the directory and takes its lock, if no server holds it.
    async fn take(dir: &Path) -> Result<Option<Self>> {
        let dir = dir.to_owned();
        let opened = off(move || match SqliteStore::open(&dir, Options::default()) {
            Ok(store) => Ok(Some(store)),
            Err(OpenError::InUse { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        });
        let opened = opened.await?;
        Ok(opened.map(|store| Self::Open { log: Arc::new(store), is_directory: true }))
    }

    /// Takes the lock of the directory if it is free. Returns whether no other process can write into it any more.
    pub(super) async fn settle(&mut self) -> Result<bool> {
        if let Self::Used(dir) = self
            && let Some(taken) = Self::take(dir).await?
        {
            *self = taken;
        }
        Ok(!self.may_change())
    }

    /// Whether other processes may write into it.
    pub(super) fn may_change(&self) -> bool {
        !matches!(self, Self::Open { is_directory: true, .. })
    }

    pub(super) fn is_directory(&self) -> bool {
        !matches!(self, Self::Open { is_directory: false, .. })
    }

    pub(super) async fn list(&self, page: Page) -> Result<Vec<Record>> {
        match self {
            Self::Open { log, .. } => log.list(page).await.map_err(failed),
            Self::Used(dir) => look(dir, move |view| Ok(view.list(&page)?)).await,
        }
    }

    pub(super) async fn record(&self, id: &UniverseId) -> Result<Option<Record>> {
        match self {
            Self::Open { log, .. } => found(log.record(id).await),
            Self::Used(dir) => {
                let id = id.clone();
                look(dir, move |view| Ok(view.record(&id)?)).await
            }
        }
    }

    pub(super) async fn base(&self, id: &UniverseId) -> Result<Option<Base>> {
        match self {
            Self::Open { log, .. } => found(log.base(id).await),
            Self::Used(dir) => {
                let id = id.clone();
                look(dir, move |view| Ok(view.base(&id)?)).await
            }
        }
    }

    pub(super) async fn snapshot(&self, id: &UniverseId) -> Result<Option<Snapshot>> {
        match self {
            Self::Open { log, .. } => found(log.snapshot(id).await).map(Option::flatten),
            Self::Used(dir) => {
                let id = id.clone();
                look(dir, move |view| Ok(view.snapshot(&id)?)).await
            }
        }
    }

    /// The entries after a revision, up to another one, as many as are read at once. Empty if the universe was deleted.
    pub(super) async fn entries(
        &self,
        id: &UniverseId,
        after: Revision,
        until: Revision,
    ) -> Result<Vec<Entry>> {
        let most =
            usize::try_from(until.0.saturating_sub(after.0)).map_or(SOME, |most| most.min(SOME));
        match self {
            Self::Open { log, .. } => entries(&**log, id, after, most).await,
            Self::Used(dir) => {
                let id = id.clone();
                let read = look(dir, move |view| match view.after(&id, after)? {
                    Stretch::Entries(mut entries) => {
                        entries.truncate(most);
                        Ok(entries)
                    }
                    Stretch::Damaged(first, last) => Err(damaged(&id, first, last)),
                });
                read.await
            }
        }
    }

    /// For each of these entries, whether its command is found by its key.
    pub(super) async fn keyed(&self, id: &UniverseId, entries: &[Entry]) -> Result<Vec<bool>> {
        match self {
            Self::Open { log, .. } => keyed(&**log, id, entries).await,
            Self::Used(dir) => {
                let asked: Vec<(CommandId, Revision)> =
                    entries.iter().map(|it| (it.command_id, it.revision)).collect();
                let id = id.clone();
                let find = move |view: &View<'_>| {
                    let is_found = |(command, revision)| {
                        Ok(view.landed(&id, command)?.is_some_and(|found| found >= revision))
                    };
                    asked.into_iter().map(is_found).collect()
                };
                look(dir, find).await
            }
        }
    }

    /// The state at a revision.
    pub(super) async fn state(&self, id: &UniverseId, at: Revision) -> Result<State> {
        match self {
            Self::Open { log, .. } => state(log, id, at).await,
            Self::Used(dir) => {
                let id = id.clone();
                let read = look(dir, move |view| {
                    let record = view.record(&id)?;
                    let record = record
                        .ok_or_else(|| failed(format_args!("universe {id} no longer exists")))?;
                    Ok(export::state(view, &record, Some(at))?.0)
                });
                read.await
            }
        }
    }
}

/// The same for any open store.
pub(super) async fn entries(
    log: &dyn UniverseLog,
    id: &UniverseId,
    after: Revision,
    most: usize,
) -> Result<Vec<Entry>> {
    let mut read = Vec::with_capacity(most);
    let mut tail = log.tail(id, after).take(most);
    while let Some(entry) = tail.next().await {
        match entry {
            Ok(entry) => read.push(entry),
            Err(TailError::Deleted | TailError::NotFound) => return Ok(Vec::new()),
            Err(TailError::Damaged { first, last }) => return Err(damaged(id, first, last)),
            Err(error) => return Err(failed(format_args!("universe {id}: {error}"))),
        }
    }
    Ok(read)
}

/// The same for any open store.
pub(super) async fn keyed(
    log: &dyn UniverseLog,
    id: &UniverseId,
    entries: &[Entry],
) -> Result<Vec<bool>> {
    let oldest = found(log.oldest_keyed(id).await)?.flatten();
    let mut keyed = Vec::with_capacity(entries.len());
    for entry in entries {
        // Most entries are older than every key, so no key is looked up for them.
        let is_keyed = oldest.is_some_and(|oldest| oldest <= entry.revision)
            && found(log.landed(id, entry.command_id).await)?
                .flatten()
                .is_some_and(|revision| revision >= entry.revision);
        keyed.push(is_keyed);
    }
    Ok(keyed)
}

/// The same for any open store.
pub(super) async fn state(
    log: &Arc<dyn UniverseLog>,
    id: &UniverseId,
    at: Revision,
) -> Result<State> {
    let service = CommandService::new(Arc::clone(log), ServiceLimits::default());
    Ok(service.at(id, at).await?.state)
}

/// The result of a read. `None` if the universe was deleted.
pub(super) fn found<T>(read: Result<T, ReadError>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(ReadError::NotFound) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn damaged(id: &UniverseId, first: Revision, last: Revision) -> CareError {
    failed(format_args!(
        "universe {id} is damaged at the revisions {first} to {last}: `universe-server check` says more"
    ))
}

/// Reads the directory as of one moment, while its server runs.
async fn look<T: Send + 'static>(
    dir: &Path,
    read: impl FnOnce(&View<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let dir = dir.to_owned();
    off(move || {
        let inspector = Inspector::open(&dir)?;
        let view = inspector.view()?;
        read(&view)
    })
    .await
}

//! Copies universe by universe and entry by entry. Entries that were copied are not copied again, also not by another
//! run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::source::{Source, found};
use super::verify::{Verified, verify};
use super::{Result, failed};
use crate::store::{
    Append, AppendError, CreateError, DeleteError, Entry, NewEntry, Page, Record, Revision,
    UniverseId, UniverseLog,
};

/// The size in bytes at which a batch takes no further entry.
const BATCH_BYTES: usize = 8 << 20;

/// How often a write with an unknown outcome is retried, and the pause before each try.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// The state of a migration: what was copied and compared.
pub(super) struct Copying {
    from: Source,
    to: Arc<dyn UniverseLog>,
    verified: BTreeMap<UniverseId, Verified>,
}

impl Copying {
    /// Checks the universes in the target: each must also be in the source, with the same creation time.
    pub(super) async fn begin(from: Source, to: Arc<dyn UniverseLog>) -> Result<Self> {
        let mut next = Some(Page::FIRST);
        while let Some(page) = next {
            let records = to.list(page).await.map_err(failed)?;
            for there in &records {
                let id = &there.meta.id;
                let here = from.record(id).await?;
                if here.is_none_or(|here| here.meta.created_at != there.meta.created_at) {
                    return Err(failed(format_args!(
                        "the target has a universe {id} that is not the source's, so the copy cannot continue: delete it there, or name an empty target"
                    )));
                }
            }
            next = Page::following(&records);
        }
        let verified = BTreeMap::new();
        Ok(Self { from, to, verified })
    }

    pub(super) fn source(&self) -> &Source {
        &self.from
    }

    /// Whether no other process can write into the source any more.
    pub(super) async fn settle(&mut self) -> Result<bool> {
        self.from.settle().await
    }

    /// The number of universes and revisions that were compared and are equal.
    pub(super) fn verified(&self) -> (u64, u64) {
        let revisions = self.verified.values().map(Verified::revisions).sum();
        (self.verified.len() as u64, revisions)
    }

    /// Copies what the target does not have yet, and compares it.
    pub(super) async fn pass(&mut self) -> Result<()> {
        let (mut seen, mut next) = (BTreeSet::new(), Some(Page::FIRST));
        while let Some(page) = next {
            let records = self.from.list(page).await?;
            for record in &records {
                self.bring(record).await?;
                seen.insert(record.meta.id.clone());
            }
            next = Page::following(&records);
        }
        // Universes that were in the source and have been deleted there.
        let gone = self.verified.keys().filter(|id| !seen.contains(*id));
        for id in gone.cloned().collect::<Vec<_>>() {
            if self.from.record(&id).await?.is_none() {
                self.delete(&id).await?;
            }
        }
        Ok(())
    }

    /// Copies the entries of a universe up to the head of the source.
    async fn bring(&mut self, record: &Record) -> Result<()> {
        let id = &record.meta.id;
        let mut there = found(self.to.record(id).await)?;
        if there.as_ref().is_some_and(|there| there.meta.created_at != record.meta.created_at) {
            // It was deleted and created again during the migration.
            self.delete(id).await?;
            there = None;
        }
        let is_same = there
            .as_ref()
            .is_some_and(|there| there.head == record.head && there.meta == record.meta);
        if is_same && self.verified.get(id).is_some_and(|it| it.is_at(record.head.revision)) {
            return Ok(());
        }
        let mut at = match there {
            Some(there) => there.head.revision,
            None => match self.create(record).await? {
                Some(at) => at,
                None => return Ok(()),
            },
        };
        while at < record.head.revision {
            let entries = self.from.entries(id, at, record.head.revision).await?;
            if entries.is_empty() {
                // It was deleted.
                return Ok(());
            }
            at = self.append(id, at, entries, None).await?;
        }
        if found(self.to.record(id).await)?.is_some_and(|there| there.meta.name != record.meta.name)
        {
            self.append(id, at, Vec::new(), Some(record.meta.name.clone())).await?;
        }
        let before = self.verified.get(id);
        if let Some(verified) = verify(&self.from, &self.to, record, before).await? {
            self.verified.insert(id.clone(), verified);
        }
        Ok(())
    }

    /// Creates a universe in the target. Returns its first revision, or `None` if it was deleted in the source.
    async fn create(&self, record: &Record) -> Result<Option<Revision>> {
        let id = &record.meta.id;
        let Some(base) = self.from.base(id).await? else {
            return Ok(None);
        };
        let revision = base.revision;
        for _ in 0..TRIES {
            match self.to.create_from(record.meta.clone(), base.clone()).await {
                // An earlier try has created it, because no other process writes to the target.
                Ok(()) | Err(CreateError::Exists) => return Ok(Some(revision)),
                Err(CreateError::Unknown | CreateError::Unavailable) => {
                    tokio::time::sleep(PAUSE).await
                }
                Err(error) => return Err(failed(format_args!("universe {id}: {error}"))),
            }
        }
        Err(failed(format_args!("universe {id}: the target is unavailable")))
    }

    /// Appends entries unchanged, and returns the revision that they lead to.
    async fn append(
        &self,
        id: &UniverseId,
        mut expected: Revision,
        entries: Vec<Entry>,
        name: Option<String>,
    ) -> Result<Revision> {
        let keyed = self.from.keyed(id, &entries).await?;
        let new = entries.into_iter().zip(keyed).map(|(entry, keyed)| NewEntry {
            command_id: entry.command_id,
            at: entry.at,
            body: entry.body,
            keyed,
        });
        let (mut batch, mut bytes) = (Vec::new(), 0_usize);
        for entry in new {
            if bytes > 0 && bytes.saturating_add(entry.body.len()) > BATCH_BYTES {
                expected = self.send(id, expected, std::mem::take(&mut batch), None).await?;
                bytes = 0;
            }
            bytes = bytes.saturating_add(entry.body.len());
            batch.push(entry);
        }
        self.send(id, expected, batch, name).await
    }

    async fn send(
        &self,
        id: &UniverseId,
        expected: Revision,
        entries: Vec<NewEntry>,
        name: Option<String>,
    ) -> Result<Revision> {
        for _ in 0..TRIES {
            let append = Append { expected, entries: entries.clone(), name: name.clone() };
            match self.to.append(id, append).await {
                Ok(appended) => return Ok(appended.revision),
                // Repeating a write has no further effect.
                Err(AppendError::Unknown | AppendError::Unavailable) => {
                    tokio::time::sleep(PAUSE).await
                }
                Err(error @ AppendError::Conflict { .. }) => {
                    return Err(failed(format_args!(
                        "universe {id}: {error}; something else writes to the target"
                    )));
                }
                Err(error) => return Err(failed(format_args!("universe {id}: {error}"))),
            }
        }
        Err(failed(format_args!("universe {id}: the target is unavailable")))
    }

    /// Deletes a copy whose source was deleted.
    async fn delete(&mut self, id: &UniverseId) -> Result<()> {
        match self.to.delete(id, None).await {
            Ok(()) | Err(DeleteError::NotFound) => {
                self.verified.remove(id);
                Ok(())
            }
            Err(error) => Err(failed(format_args!("universe {id}: {error}"))),
        }
    }
}

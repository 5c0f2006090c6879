//! Compares a copy with its source: the base, each entry, the keys, the name, and the resulting state.

use std::sync::Arc;

use super::source::{self, Source, found};
use super::{Result, failed};
use crate::store::{Record, Revision, SnapshotError, UniverseId, UniverseLog};

/// The number of entries that are compared at once.
const SOME: usize = 256;

/// A range of a universe's log that is equal in both stores.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verified {
    from: Revision,
    to: Revision,
}

impl Verified {
    pub(super) fn is_at(&self, revision: Revision) -> bool {
        self.to == revision
    }

    /// The number of revisions in the range, including the first.
    pub(super) fn revisions(&self) -> u64 {
        self.to.0.saturating_sub(self.from.0) + 1
    }
}

/// Compares a universe up to the head in `record`, from the point that was compared before. `None` if it was deleted
/// meanwhile.
///
/// # Errors
/// When the two differ.
pub(super) async fn verify(
    from: &Source,
    to: &Arc<dyn UniverseLog>,
    record: &Record,
    before: Option<&Verified>,
) -> Result<Option<Verified>> {
    let id = &record.meta.id;
    let Some(there) = found(to.record(id).await)? else {
        return Ok(None);
    };
    let differs = |what: &str| {
        failed(format_args!(
            "universe {id} differs in its {what}: the target has another history, or was written to; delete it there"
        ))
    };
    let end = record.head.revision;
    if there.meta != record.meta {
        return Err(differs("name or time"));
    }
    if there.head.revision != end || (end > there.oldest && there.head != record.head) {
        return Err(differs("head"));
    }
    let (Some(here), Some(base)) = (from.base(id).await?, found(to.base(id).await)?) else {
        return Ok(None);
    };
    // The source may have been trimmed since. Entries that it no longer has are not compared.
    if here.revision == base.revision && here != base {
        return Err(differs("first state"));
    }
    if here.revision < base.revision {
        return Err(differs("first revision"));
    }
    let first = before.map_or(here.revision, |before| before.from);
    let mut at = before.map_or(here.revision, |before| before.to).max(here.revision);
    while at < end {
        let ours = from.entries(id, at, end).await?;
        if ours.is_empty() {
            return Ok(None);
        }
        let theirs = source::entries(&**to, id, at, ours.len().min(SOME)).await?;
        let differing = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
        if let Some((ours, _)) = differing {
            return Err(differs(&format!("revision {}", ours.revision)));
        }
        let both = known_range::items(&ours, ..theirs.len());
        let (wanted, kept) = (from.keyed(id, both).await?, source::keyed(&**to, id, both).await?);
        // A key that has just expired is in neither store.
        if wanted.iter().zip(&kept).any(|(wanted, kept)| *wanted && !kept) {
            return Err(differs("idempotency keys"));
        }
        let Some(last) = both.last() else {
            return Err(differs("length"));
        };
        at = last.revision;
    }
    if from.state(id, end).await? != source::state(to, id, end).await? {
        return Err(differs("state"));
    }
    keep_snapshot(from, &**to, id).await?;
    Ok(Some(Verified { from: first, to: end }))
}

/// Copies the snapshot. It only saves time, so a snapshot that does not fit is skipped.
async fn keep_snapshot(from: &Source, to: &dyn UniverseLog, id: &UniverseId) -> Result<()> {
    let Some(snapshot) = from.snapshot(id).await? else {
        return Ok(());
    };
    match to.put_snapshot(id, snapshot).await {
        Ok(())
        | Err(SnapshotError::Ahead { .. } | SnapshotError::NotFound | SnapshotError::Unavailable) => {
            Ok(())
        }
        Err(error) => Err(failed(format_args!("universe {id}: {error}"))),
    }
}

//! Makes a batch durable once, even if the store cannot tell whether a write succeeded.
//!
//! A write whose answer was lost may have succeeded. It is sent again unchanged: the id of its last command at the
//! head, or the entry at its place, shows it. So it is done once, or reported as unknown.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;

use super::ATTEMPTS;
use crate::commands::batch::Batch;
use crate::commands::job::Job;
use crate::commands::{Result, ServiceError};
use crate::store::{Append, AppendError, CommandId, Revision, TailError, UniverseId, UniverseLog};

/// The pause before a failed store is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Makes a batch durable. If the store cannot say whether the write succeeded, reads the log to find out.
pub(super) async fn append(
    store: &dyn UniverseLog,
    id: &UniverseId,
    batch: &Batch,
) -> Result<(), AppendError> {
    if batch.entries.is_empty() {
        return Ok(());
    }
    let expected = Revision(batch.universe.revision.0 - batch.entries.len() as u64);
    let mut may_have_landed = false;
    for _attempt in 1..ATTEMPTS {
        let append = Append { expected, entries: batch.entries.clone(), name: batch.name.clone() };
        let appended = match store.append(id, append).await {
            Ok(appended) if appended.stored => Ok(()),
            // The store recognizes a batch that has landed by its last command. If that command has a client's key,
            // another server may have written it: the same request after other commands, or a different request under
            // the same key.
            Ok(_) => is_there(store, id, expected, batch).await,
            // Either it landed and another writer followed, or another writer was first. The entries at its revisions
            // show which.
            Err(AppendError::Conflict { .. }) if may_have_landed => {
                is_there(store, id, expected, batch).await
            }
            Err(error) => Err(error),
        };
        match appended {
            // The store recognizes the same batch by its command ids, so trying again gives a definite answer.
            Err(AppendError::Unknown) => {
                may_have_landed = true;
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            // That this attempt did nothing does not say what the first attempt did.
            Err(AppendError::Unavailable | AppendError::Full) if may_have_landed => break,
            settled => return settled,
        }
    }
    Err(AppendError::Unknown)
}

/// Checks whether the log has exactly this batch at its revisions. Other entries there are a conflict.
async fn is_there(
    store: &dyn UniverseLog,
    id: &UniverseId,
    expected: Revision,
    batch: &Batch,
) -> Result<(), AppendError> {
    let mut written = store.tail(id, expected).take(batch.entries.len());
    for own in &batch.entries {
        match written.next().await {
            Some(Ok(entry))
                if (entry.command_id, entry.at) == (own.command_id, own.at)
                    && entry.body == own.body => {}
            Some(Ok(_)) => {
                let record = store.record(id).await;
                let head = record.map_err(|_| AppendError::Unknown)?.head;
                return Err(AppendError::Conflict { head });
            }
            Some(Err(TailError::Deleted | TailError::NotFound)) => {
                return Err(AppendError::NotFound);
            }
            Some(Err(_)) | None => return Err(AppendError::Unknown),
        }
    }
    Ok(())
}

/// The keys of these jobs that were used before, with the last revision of that request.
pub(super) async fn landed(
    store: &dyn UniverseLog,
    id: &UniverseId,
    jobs: &[Job],
) -> Result<HashMap<CommandId, Revision>> {
    let keys = jobs.iter().filter_map(|job| match job {
        Job::Process { request, .. } => request.key,
        _ => None,
    });
    let mut landed = HashMap::new();
    for key in keys.collect::<Vec<_>>() {
        let found = store.landed(id, key).await;
        if let Some(revision) = found.map_err(|error| ServiceError::reading(id, &error))? {
            landed.insert(key, revision);
        }
    }
    Ok(landed)
}

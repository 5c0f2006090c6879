//! Makes a batch durable once, even if the store cannot tell whether a write succeeded.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;

use super::ATTEMPTS;
use super::job::Job;
use crate::commands::ServiceError;
use crate::commands::batch::Batch;
use crate::store::{Append, AppendError, CommandId, Revision, TailError, UniverseId, UniverseLog};

/// How long to wait before a store that failed is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Makes a batch durable, and finds out whether it was where the store cannot say.
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
        let append = Append {
            expected,
            entries: batch.entries.clone(),
            name: batch.name.clone(),
        };
        let appended = match store.append(id, append).await {
            Ok(appended) if appended.stored => Ok(()),
            // The store knows a batch that has landed by its last command. Where that is a client's key, another server
            // may have written it: the same request that was tried there first, after others, or another one under the
            // same key.
            Ok(_) => is_there(store, id, expected, batch).await,
            // It landed and somebody wrote after it, or they were first: the entries at its place tell.
            Err(AppendError::Conflict { .. }) if may_have_landed => {
                is_there(store, id, expected, batch).await
            }
            Err(error) => Err(error),
        };
        match appended {
            // The same batch again is recognised by its command ids, so asking once more settles it.
            Err(AppendError::Unknown) => {
                may_have_landed = true;
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            // That this attempt did nothing does not tell what the first one did.
            Err(AppendError::Unavailable | AppendError::Full) if may_have_landed => break,
            settled => return settled,
        }
    }
    Err(AppendError::Unknown)
}

/// Whether the log has just this batch at its place. If it has something else there, that is a conflict.
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

/// The keys of these jobs under which something was done before, with its last revision.
pub(super) async fn landed(
    store: &dyn UniverseLog,
    id: &UniverseId,
    jobs: &[Job],
) -> Result<HashMap<CommandId, Revision>, ServiceError> {
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

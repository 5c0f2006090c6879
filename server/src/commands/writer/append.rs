//! Making a batch durable once, whatever the store can say of it.

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
    let Some(first) = batch.entries.first() else {
        return Ok(());
    };
    let expected = Revision(batch.universe.revision.0 - batch.entries.len() as u64);
    let mut may_have_landed = false;
    for _attempt in 1..ATTEMPTS {
        let append = Append {
            expected,
            entries: batch.entries.clone(),
            name: batch.name.clone(),
        };
        match store.append(id, append).await {
            // The same batch again is recognised by its command ids, so asking once more settles it.
            Err(AppendError::Unknown) => {
                may_have_landed = true;
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            // It landed and somebody wrote after it, or they were first: the entry at its place tells.
            Err(conflict @ AppendError::Conflict { .. }) if may_have_landed => {
                let mut written = store.tail(id, expected);
                return match written.next().await {
                    Some(Ok(entry)) if entry.command_id == first.command_id => Ok(()),
                    Some(Ok(_)) => Err(conflict),
                    Some(Err(TailError::Deleted | TailError::NotFound)) => {
                        Err(AppendError::NotFound)
                    }
                    Some(Err(_)) | None => Err(AppendError::Unknown),
                };
            }
            // That this attempt did nothing does not tell what the first one did.
            Err(AppendError::Unavailable | AppendError::Full) if may_have_landed => break,
            settled => return settled.map(drop),
        }
    }
    Err(AppendError::Unknown)
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

//! Tasks that several servers share through records in a [`TaskStore`]: read, changed, and followed by a server that
//! does not run them.
//!
//! A record holds the whole state of a task. So a change to a task that runs elsewhere is made to the state that was
//! read, by the same transitions as for local tasks, and written if nothing else was written meanwhile.
//!
//! A log of events or a queue of requests beside the record would be a second form of the same state.

mod record;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde_json::Value;
use serde_json::value::RawValue;

use super::entry::{Entry, Home, Open, Stage, State};
use super::owner::Owner;
use super::port::{NewTaskRecord, TaskRecord, TaskStore, TaskStoreError};
use crate::json::json_size;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::version::Era;
use record::{owner_key, read};

pub(super) use record::{LoadedTask, body};

/// How often requests that wait for a task of another server read its record, even if the store reports no change.
const LOOK: Duration = Duration::from_secs(5);
/// The number of records that a list reads at a time.
const STEP: usize = 8;
/// The number of attempts for a change that conflicts with another one.
const TRIES: usize = 16;

/// The tasks of all servers that use a store.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(super) store: Arc<dyn TaskStore>,
    /// [`TasksConfig::max_task_bytes`](super::TasksConfig::max_task_bytes).
    pub(super) max_task_bytes: usize,
}

impl Shared {
    /// Stores a new task that runs here.
    pub(super) async fn insert(
        &self,
        entry: &Entry,
        client: Option<Arc<str>>,
        kept: usize,
    ) -> Result<()> {
        let task = NewTaskRecord {
            id: Arc::clone(&entry.id),
            owner: owner_key(&entry.owner, entry.version.era()),
            client,
            ttl: entry.ttl,
            body: body(entry, kept)?,
        };
        self.store.insert(task).await.map(drop).map_err(|error| refused(&error))
    }

    /// The task of that name, if it belongs to the owner and the era.
    pub(super) async fn find(
        &self,
        id: &str,
        owner: &Owner,
        era: Era,
    ) -> Result<Option<LoadedTask>> {
        let key = owner_key(owner, era);
        for _ in 0..TRIES {
            let loaded = self.store.load(id, key.as_deref()).await;
            let Some(record) = loaded.map_err(|error| refused(&error))? else {
                return Ok(None);
            };
            let Some(read) = self.read(record, owner).await? else {
                continue;
            };
            return Ok(read.filter(|found| found.entry.version.era() == era));
        }
        Err(busy())
    }

    /// At most `max` tasks of an owner and an era after that number, the oldest first, with the parts that a list
    /// shows.
    pub(super) async fn list(
        &self,
        owner: &Owner,
        era: Era,
        mut after: u64,
        max: usize,
    ) -> Result<Vec<Entry>> {
        let mut listed = Vec::new();
        let Some(key) = owner_key(owner, era) else {
            return Ok(listed);
        };
        // A few at a time: the records are larger than the parts that a list shows.
        while listed.len() < max {
            let step = STEP.min(max - listed.len());
            let records = self.store.list(&key, after, step).await;
            let records = records.map_err(|error| refused(&error))?;
            let is_last = records.len() < step;
            for record in records {
                after = record.number;
                let id = Arc::clone(&record.id);
                let found = match self.read(record, owner).await? {
                    Some(found) => found,
                    None => self.find(&id, owner, era).await?,
                };
                listed.extend(found.map(|found| {
                    found.entry.state.send_modify(State::shorten);
                    found.entry
                }));
            }
            if is_last {
                break;
            }
        }
        Ok(listed)
    }

    /// Changes the record of a task, unless `change` makes no change, and adopts the resulting state. Returns whether
    /// there was a change.
    pub(super) async fn change(
        &self,
        entry: &Entry,
        change: impl Fn(&mut LoadedTask) -> Result<bool>,
    ) -> Result<bool> {
        for _ in 0..TRIES {
            let Some(mut found) = self.again(entry).await? else {
                entry.expire();
                return Ok(false);
            };
            let changed = change(&mut found)?;
            if !changed && entry.home != Home::Elsewhere {
                // Its keeper has newer state than the record.
                return Ok(false);
            }
            if !changed || self.replace(&mut found).await.map_err(|error| refused(&error))? {
                entry.adopt(found.state());
                return Ok(changed);
            }
        }
        Err(busy())
    }

    /// Takes the answers to open questions of a task, wherever it runs.
    pub(super) async fn answer(&self, entry: &Entry, answers: &[(String, Value)]) -> Result<()> {
        let answered = self.change(entry, |found| {
            let fitting = fitting(&found.entry, answers.to_vec());
            let Some((answers, bytes)) = fitting else {
                return Ok(false);
            };
            found.kept = within(found.kept, bytes, self.max_task_bytes)?;
            found.entry.answer(answers.into_iter());
            Ok(true)
        });
        answered.await.map(drop)
    }

    /// A copy of a task that has completed elsewhere, with its result.
    pub(super) async fn with_result(&self, entry: &Entry) -> Result<Entry> {
        let result = self.store.result(&entry.id).await;
        let result = result.map_err(|error| refused(&error))?;
        let result = result.and_then(|text| {
            let text: &RawValue = serde_json::from_slice(&text).ok()?;
            Payload::of(&text).ok()
        });
        let result = result.ok_or_else(|| {
            ErrorObject::invalid_params("the time of the task is over, and its result is not kept")
        })?;
        let copy = entry.to_keep();
        copy.state.send_modify(|state| state.stage.set_result(result));
        Ok(copy)
    }

    /// Keeps a copy of a task that runs elsewhere up to date with the store, without its result, until it has ended.
    pub(super) fn follow(&self, entry: Arc<Entry>) -> BoxFuture<'static, ()> {
        let shared = self.clone();
        Box::pin(async move {
            let mut hints = shared.store.hints(&entry.id);
            loop {
                match shared.again(&entry).await {
                    Ok(Some(found)) => entry.adopt(found.state()),
                    Ok(None) => entry.expire(),
                    // The requests that wait for it continue to wait.
                    Err(error) => tracing::debug!(error = error.message, "a task was not found"),
                }
                if entry.state().stage.is_over() {
                    return;
                }
                tokio::select! {
                    () = next(&mut hints) => {}
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
        })
    }

    /// The task as the store has it now.
    pub(super) async fn again(&self, entry: &Entry) -> Result<Option<LoadedTask>> {
        let era = entry.version.era();
        self.find(&entry.id, &entry.owner, era).await
    }

    /// Writes a task, unless something else was written since it was read. Returns whether it was written.
    async fn replace(&self, found: &mut LoadedTask) -> Result<bool, TaskStoreError> {
        let body = record::body(&found.entry, found.kept);
        let body = body.map_err(|error| TaskStoreError::Unavailable(error.message))?;
        let done = self.put(&found.entry, found.version, &body).await?;
        found.version += u64::from(done);
        Ok(done)
    }

    /// The same for a body that is serialized already. Adds the result of the task.
    pub(super) async fn put(
        &self,
        entry: &Entry,
        version: u64,
        body: &[u8],
    ) -> Result<bool, TaskStoreError> {
        let result = entry.state().stage.result().cloned();
        let result = result.as_ref().map(Payload::as_bytes);
        self.store.replace(&entry.id, version, body, result).await
    }

    /// The task of a record; `Some(None)` if it cannot be read. A task whose server has ended is made to fail, once.
    /// `None` if something else was written meanwhile, so that it must be loaded again.
    async fn read(&self, record: TaskRecord, owner: &Owner) -> Result<Option<Option<LoadedTask>>> {
        let is_orphaned = record.is_orphaned;
        let Some(mut found) = read(record, owner) else {
            return Ok(Some(None));
        };
        if is_orphaned && !found.entry.state().stage.is_over() {
            let ended = "the server that ran this task has ended";
            let ended = ErrorObject::new(ErrorObject::INTERNAL, ended);
            found.entry.end(Stage::Failed(ended));
            if !self.replace(&mut found).await.map_err(|error| refused(&error))? {
                return Ok(None);
            }
        }
        Ok(Some(Some(found)))
    }
}

/// The answers to open questions, and their bytes; `None` if there is no such answer.
pub(super) fn fitting(
    entry: &Entry,
    mut answers: Vec<(String, Value)>,
) -> Option<(Vec<(String, Value)>, usize)> {
    let open: Vec<Open> = entry.open(answers.iter().map(|(key, _)| key));
    answers.retain(|(key, _)| open.iter().any(|open| open.key == *key));
    let bytes = answers.iter().map(json_size).fold(0, usize::saturating_add);
    (!answers.is_empty()).then_some((answers, bytes))
}

/// The kept size with this many more bytes, if that is not too much for one task.
pub(super) fn within(kept: usize, more: usize, max: usize) -> Result<usize> {
    let wanted = kept.saturating_add(more);
    if wanted > max {
        return Err(ErrorObject::invalid_params(format!(
            "with these answers the task has {wanted} bytes; at most {max} are kept"
        )));
    }
    Ok(wanted)
}

/// The next hint; never resolves if there are no more.
pub(super) async fn next(hints: &mut BoxStream<'static, ()>) {
    if hints.next().await.is_none() {
        std::future::pending().await
    }
}

/// The error for the client when a store operation fails.
pub(super) fn refused(error: &TaskStoreError) -> ErrorObject {
    let message = match error {
        TaskStoreError::Unavailable(problem) => {
            tracing::warn!(%problem, "the store of tasks is unavailable");
            "the store of tasks is unavailable: try again later".to_owned()
        }
        error => error.to_string(),
    };
    ErrorObject::new(ErrorObject::INTERNAL, message)
}

fn busy() -> ErrorObject {
    let problem = "the task is changed all the time: try again later";
    ErrorObject::new(ErrorObject::INTERNAL, problem)
}

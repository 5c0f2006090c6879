//! The one writer of a universe: a task that owns its state and makes what is waiting durable in one go.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use universe_core::{Command, State};

use super::load::{Loaded, load};
use super::{CommandService, Processed, Replacement, ServiceError, Universe, entry};
use crate::store::{
    Append, AppendError, CommandId, NewEntry, Revision, Snapshot, Timestamp, UniverseId,
    UniverseLog,
};

/// The fewest entries after which a snapshot is worth its writing.
const SNAPSHOT_ENTRIES: u64 = 64;
/// The bytes after which a batch takes no more entries.
const BATCH_BYTES: usize = 16 << 20;
/// How often a batch is tried when the log moved on under it, or the store cannot say whether it landed.
const ATTEMPTS: usize = 5;
/// How long to wait before a store that failed is asked again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

type Reply<T> = oneshot::Sender<Result<T, ServiceError>>;

/// Something for the writer to do.
pub(super) enum Job {
    Read {
        reply: Reply<Universe>,
    },
    Process {
        command: Box<Command>,
        expected: Option<Revision>,
        reply: Reply<Processed>,
    },
    Replace {
        replacement: Box<Replacement>,
        expected: Option<Revision>,
        reply: Reply<Universe>,
    },
    Delete {
        expected: Option<Revision>,
        reply: Reply<()>,
    },
}

/// How a job went, until it is durable and may be told.
enum Outcome {
    Read,
    Processed(Processed),
    Replaced(Universe),
    Failed(ServiceError),
}

/// Jobs worked through, not durable yet.
struct Batch {
    outcomes: Vec<Outcome>,
    entries: Vec<NewEntry>,
    bytes: usize,
    name: Option<String>,
    universe: Universe,
}

pub(super) struct Writer {
    service: CommandService,
    id: UniverseId,
    key: u64,
    queue: mpsc::Receiver<Job>,
    loaded: Option<Loaded>,
    snapshot: Option<JoinHandle<Option<usize>>>,
}

impl Writer {
    pub(super) fn new(
        service: CommandService,
        id: UniverseId,
        key: u64,
        queue: mpsc::Receiver<Job>,
    ) -> Self {
        Self {
            service,
            id,
            key,
            queue,
            loaded: None,
            snapshot: None,
        }
    }

    /// Works until its queue is closed and empty.
    pub(super) async fn run(mut self) {
        let limits = self.service.0.limits;
        let mut jobs = Vec::new();
        loop {
            let received = self.queue.recv_many(&mut jobs, limits.max_batch.max(1));
            match tokio::time::timeout(limits.max_idle, received).await {
                Ok(0) => return,
                Ok(_) => {}
                Err(_idle) => {
                    self.retire();
                    continue;
                }
            }
            while !jobs.is_empty() {
                if matches!(jobs.first(), Some(Job::Delete { .. })) {
                    self.delete(jobs.remove(0)).await;
                } else {
                    self.work(&mut jobs).await;
                }
            }
        }
    }

    /// Takes no more jobs; those that were queued meanwhile are still done.
    fn retire(&mut self) {
        self.service.retire(&self.id, self.key);
        self.queue.close();
    }

    /// Deletes the universe. It goes through the writer so that nothing of the old universe can be written into a new
    /// one of the same id.
    async fn delete(&mut self, job: Job) {
        let Job::Delete { expected, reply } = job else {
            return;
        };
        self.loaded = None;
        let deleted = self.service.store().delete(&self.id, expected).await;
        // An asker that is gone does not take its answer.
        drop(reply.send(deleted.map_err(|error| ServiceError::deleting(&self.id, &error))));
        self.retire();
    }

    /// Does as many of the jobs as fit into one write and answers them.
    async fn work(&mut self, jobs: &mut Vec<Job>) {
        for _attempt in 0..ATTEMPTS {
            let loaded = match self.loaded().await {
                Ok(loaded) => loaded,
                Err(error) => {
                    if matches!(error, ServiceError::NotFound(_)) {
                        // Asking for what does not exist must not push out what does.
                        self.retire();
                    }
                    return answer_all(jobs.drain(..), &error);
                }
            };
            let batch = reduce(loaded.universe.clone(), jobs, self.service.0.reducer);
            match self.append(&batch).await {
                Ok(()) => return self.commit(jobs.drain(..batch.outcomes.len()).collect(), batch),
                // Somebody else wrote: read what, and judge the jobs anew.
                Err(AppendError::Conflict { .. }) => self.loaded = None,
                Err(error) => {
                    self.loaded = None;
                    let error = ServiceError::appending(&self.id, &error);
                    tracing::warn!(universe = %self.id, %error, "a write failed");
                    return answer_all(jobs.drain(..batch.outcomes.len()), &error);
                }
            }
        }
        tracing::warn!(universe = %self.id, "the log moved on under every attempt to write");
        answer_all(jobs.drain(..), &ServiceError::Unavailable);
    }

    async fn loaded(&mut self) -> Result<&Loaded, ServiceError> {
        if self.loaded.is_none() {
            self.loaded = Some(load(self.service.store(), &self.id).await?);
        }
        self.loaded.as_ref().ok_or(ServiceError::Internal)
    }

    async fn append(&self, batch: &Batch) -> Result<(), AppendError> {
        if batch.entries.is_empty() {
            return Ok(());
        }
        let expected = Revision(batch.universe.revision.0 - batch.entries.len() as u64);
        for _attempt in 1..ATTEMPTS {
            let append = Append {
                expected,
                entries: batch.entries.clone(),
                name: batch.name.clone(),
            };
            match self.service.store().append(&self.id, append).await {
                // The same batch again is recognised by its command ids, so asking once more settles it.
                Err(AppendError::Unknown) => tokio::time::sleep(RETRY_PAUSE).await,
                settled => return settled.map(drop),
            }
        }
        Err(AppendError::Unknown)
    }

    /// The batch is durable: the universe moves on and every job gets its answer.
    fn commit(&mut self, jobs: Vec<Job>, batch: Batch) {
        if let Some(loaded) = &mut self.loaded {
            loaded.universe = batch.universe.clone();
            loaded.entries += batch.entries.len() as u64;
            loaded.entry_bytes += batch.bytes;
        }
        for (job, outcome) in jobs.into_iter().zip(batch.outcomes) {
            // An asker that is gone does not take its answer; what it asked for stays done.
            match (job, outcome) {
                (Job::Read { reply }, Outcome::Read) => {
                    drop(reply.send(Ok(batch.universe.clone())))
                }
                (Job::Process { reply, .. }, Outcome::Processed(processed)) => {
                    drop(reply.send(Ok(processed)))
                }
                (Job::Replace { reply, .. }, Outcome::Replaced(universe)) => {
                    drop(reply.send(Ok(universe)))
                }
                (job, Outcome::Failed(error)) => job.fail(error),
                (job, _) => job.fail(ServiceError::Internal),
            }
        }
        self.keep_snapshot();
    }

    /// Keeps a snapshot in the background once the log since the last one outweighs the state.
    fn keep_snapshot(&mut self) {
        let Some(loaded) = &mut self.loaded else {
            return;
        };
        if self
            .snapshot
            .as_ref()
            .is_some_and(|running| !running.is_finished())
        {
            return;
        }
        if loaded.entries < SNAPSHOT_ENTRIES || loaded.entry_bytes <= loaded.base_bytes {
            return;
        }
        // Counted as kept already: should it fail, the next one is due after as much log again.
        (loaded.entries, loaded.entry_bytes) = (0, 0);
        let (revision, state) = (loaded.universe.revision, loaded.universe.state.clone());
        let (store, id) = (Arc::clone(&self.service.0.store), self.id.clone());
        self.snapshot = Some(tokio::spawn(snapshot(store, id, revision, state)));
    }
}

async fn snapshot(
    store: Arc<dyn UniverseLog>,
    id: UniverseId,
    revision: Revision,
    state: State,
) -> Option<usize> {
    let body = tokio::task::spawn_blocking(move || serde_json::to_vec(&state))
        .await
        .ok()?
        .ok()?;
    let bytes = body.len();
    match store
        .put_snapshot(
            &id,
            Snapshot {
                revision,
                body: Bytes::from(body),
            },
        )
        .await
    {
        Ok(()) => Some(bytes),
        Err(error) => {
            tracing::warn!(universe = %id, %error, "a snapshot was not kept; loading will take longer");
            None
        }
    }
}

/// Works through jobs until the batch is full, each on the state that the ones before it left.
fn reduce(universe: Universe, jobs: &[Job], reducer: super::Reducer) -> Batch {
    let mut batch = Batch {
        outcomes: Vec::new(),
        entries: Vec::new(),
        bytes: 0,
        name: None,
        universe,
    };
    for job in jobs {
        if batch.bytes >= BATCH_BYTES {
            break;
        }
        let outcome = match job {
            Job::Delete { .. } => break,
            Job::Read { .. } => Ok(Outcome::Read),
            Job::Process {
                command, expected, ..
            } => batch.process(command, *expected, reducer),
            Job::Replace {
                replacement,
                expected,
                ..
            } => batch.replace(replacement, *expected),
        };
        batch.outcomes.push(outcome.unwrap_or_else(Outcome::Failed));
    }
    batch
}

impl Batch {
    fn process(
        &mut self,
        command: &Command,
        expected: Option<Revision>,
        reducer: super::Reducer,
    ) -> Result<Outcome, ServiceError> {
        self.expect(expected)?;
        let applied = catch_unwind(AssertUnwindSafe(|| reducer(&self.universe.state, command)));
        let applied = applied.map_err(|_panic| {
            tracing::error!(universe = %self.universe.id, command = command.kind().name(), "the reducer panicked");
            ServiceError::Internal
        })?;
        let applied = applied.map_err(|refusal| ServiceError::Refused {
            id: self.universe.id.clone(),
            refusal,
        })?;
        self.record(entry::of_command(command, &applied.events)?);
        self.universe.state = applied.state.clone();
        let revision = self.universe.revision;
        Ok(Outcome::Processed(Processed {
            revision,
            state: applied.state,
            events: applied.events,
        }))
    }

    fn replace(
        &mut self,
        replacement: &Replacement,
        expected: Option<Revision>,
    ) -> Result<Outcome, ServiceError> {
        self.expect(expected)?;
        self.record(entry::of_replacement(replacement)?);
        if let Some(name) = &replacement.name {
            self.universe.name.clone_from(name);
            self.name = Some(name.clone());
        }
        if let Some(state) = &replacement.state {
            self.universe.state = state.clone();
        }
        Ok(Outcome::Replaced(self.universe.clone()))
    }

    fn expect(&self, expected: Option<Revision>) -> Result<(), ServiceError> {
        let revision = self.universe.revision;
        if expected.is_some_and(|expected| expected != revision) {
            return Err(ServiceError::Conflict {
                id: self.universe.id.clone(),
                revision,
            });
        }
        Ok(())
    }

    fn record(&mut self, body: Bytes) {
        let at = Timestamp::now();
        self.bytes += body.len();
        self.entries.push(NewEntry {
            command_id: CommandId::random(),
            at,
            body,
        });
        self.universe.revision = Revision(self.universe.revision.0 + 1);
        self.universe.updated_at = at;
    }
}

impl Job {
    fn fail(self, error: ServiceError) {
        // An asker that is gone does not take its answer.
        match self {
            Self::Read { reply } | Self::Replace { reply, .. } => drop(reply.send(Err(error))),
            Self::Process { reply, .. } => drop(reply.send(Err(error))),
            Self::Delete { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

fn answer_all(jobs: impl Iterator<Item = Job>, error: &ServiceError) {
    jobs.for_each(|job| job.fail(error.clone()));
}

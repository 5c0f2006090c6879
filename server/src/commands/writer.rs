//! The one writer of a universe in this process: a task that owns its state and makes what is waiting durable in one go.
//!
//! Where the store is shared, others write, too. An append that succeeds proves that the state was the present one; what
//! appends nothing is answered from a state that was looked up after it was asked for.

mod refresh;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use universe_core::State;

use self::refresh::Hints;
pub(super) use self::refresh::is_current;
use super::batch::{Batch, Outcome, Rules, reduce};
use super::load::{Loaded, load};
use super::writers::Place;
use super::{Change, CommandService, Processed, Replacement, Request, ServiceError, Universe};
use crate::metrics;
use crate::offload;
use crate::store::{
    Append, AppendError, CommandId, DeleteError, Revision, Snapshot, TailError, UniverseId,
    UniverseLog,
};

/// The fewest entries after which a snapshot is worth its writing.
const SNAPSHOT_ENTRIES: u64 = 64;
/// The bytes of entries after which a snapshot is due however large the universe is.
const SNAPSHOT_BYTES: usize = 8 << 20;
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
        request: Arc<Request>,
        reply: Reply<Done>,
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

/// How a request was processed.
pub(super) enum Done {
    Now(Box<Processed>),
    /// Under the same key before, up to this revision.
    Before(Revision),
}

pub(super) struct Writer {
    service: CommandService,
    id: UniverseId,
    place: Place,
    loaded: Option<Loaded>,
    /// The snapshot that is being kept; gives its bytes.
    snapshot: Option<oneshot::Receiver<usize>>,
    /// How far others come, where the store is shared.
    hints: Option<Hints>,
}

impl Writer {
    pub(super) fn new(service: CommandService, id: UniverseId, place: Place) -> Self {
        Self {
            service,
            id,
            place,
            loaded: None,
            snapshot: None,
            hints: None,
        }
    }

    /// Works until its queue is closed and empty.
    pub(super) async fn run(mut self) {
        let limits = self.service.0.limits;
        let mut jobs = Vec::new();
        let mut patience = limits.max_idle;
        loop {
            self.listen();
            let queue = &mut self.place.queue;
            let received = queue.recv_many(&mut jobs, limits.max_batch.max(1));
            let received = tokio::select! {
                received = tokio::time::timeout(patience, received) => received,
                hint = refresh::next(&mut self.hints) => {
                    self.hear(hint).await;
                    continue;
                }
            };
            match received {
                Ok(0) => return self.settle_snapshot().await,
                Ok(_) => patience = limits.max_idle,
                // Who subscribed is to hear of what others do: it leaves when its room is needed.
                Err(_idle) if self.hints.is_some() => continue,
                Err(_idle) => {
                    // Readers do not come through the queue.
                    match self.still_used(limits.max_idle) {
                        Some(rest) => patience = rest,
                        None => self.place.queue.close(),
                    }
                    continue;
                }
            }
            while !jobs.is_empty() {
                self.work(&mut jobs).await;
            }
        }
    }

    /// For how long the universe still counts as used, if it does.
    fn still_used(&self, max_idle: Duration) -> Option<Duration> {
        let used = self.service.writers().used(&self.id, self.place.key)?;
        let rest = max_idle.checked_sub(used.elapsed())?;
        (!rest.is_zero()).then_some(rest)
    }

    /// Does as many of the jobs as fit into one write and answers them.
    async fn work(&mut self, jobs: &mut Vec<Job>) {
        if let Some(&Job::Delete { expected, .. }) = jobs.first() {
            return self.delete(jobs.remove(0), expected).await;
        }
        let (reducer, max_bytes) = (
            self.service.0.reducer,
            self.service.0.limits.max_universe_bytes,
        );
        let mut at_once = jobs.len();
        let is_shared = self.service.store().is_shared();
        let mut is_present = !is_shared || self.loaded.is_none();
        let attempts = if is_shared {
            refresh::ATTEMPTS
        } else {
            ATTEMPTS
        };
        for attempt in 0..attempts {
            let full = match self.full(max_bytes).await {
                Ok(full) => full,
                Err(error) => return self.give_up(jobs, &error),
            };
            let Some(universe) = self.loaded.as_ref().map(|loaded| loaded.universe.clone()) else {
                continue;
            };
            let some = jobs.get(..at_once.min(jobs.len())).unwrap_or_default();
            let landed = match landed(self.service.store(), &self.id, some).await {
                Ok(landed) => landed,
                Err(error) => return answer_all(jobs.drain(..), &error),
            };
            let rules = Rules {
                reducer,
                full,
                landed,
            };
            let batch = reduce(universe, some, rules);
            match batch.entries.is_empty() {
                true if !is_present => match self.catch_up().await {
                    Ok(()) => {
                        is_present = true;
                        continue;
                    }
                    Err(error) => return self.give_up(jobs, &error),
                },
                true => {}
                false => self.place.latest.set(None),
            }
            let start = Instant::now();
            let appended = append(self.service.store(), &self.id, &batch).await;
            if !batch.entries.is_empty() {
                metrics::appended(start.elapsed());
            }
            match appended {
                Ok(()) => return self.commit(jobs.drain(..batch.outcomes.len()).collect(), batch),
                // Another process wrote: read what, and judge the jobs by that.
                Err(AppendError::Conflict { .. }) if is_shared => {
                    refresh::pause(attempt).await;
                    if let Err(error) = self.catch_up().await {
                        return self.give_up(jobs, &error);
                    }
                    is_present = true;
                }
                Err(AppendError::Conflict { .. }) => self.loaded = None,
                // One of them is too large; it must not keep the others out.
                Err(AppendError::TooLarge { .. }) if batch.entries.len() > 1 => at_once = 1,
                Err(error) => return self.refuse(jobs, &batch, &error),
            }
        }
        tracing::warn!(universe = %self.id, "the log moved on under every attempt to write");
        answer_all(jobs.drain(..), &ServiceError::Unavailable);
    }

    /// The universe is gone or cannot be read.
    fn give_up(&mut self, jobs: &mut Vec<Job>, error: &ServiceError) {
        if matches!(error, ServiceError::NotFound(_)) {
            self.place.queue.close();
        }
        answer_all(jobs.drain(..), error);
    }

    /// The batch was not written: what would have changed something fails, and the rest is judged anew on what there is.
    fn refuse(&mut self, jobs: &mut Vec<Job>, batch: &Batch, error: &AppendError) {
        let is_shared = self.service.store().is_shared();
        match error {
            AppendError::NotFound => self.loaded = None,
            // Where the store is shared, what is in memory is caught up with anyway.
            AppendError::Unknown if !is_shared => self.loaded = None,
            _ => {}
        }
        let error = ServiceError::appending(&self.id, error);
        tracing::warn!(universe = %self.id, %error, "a write failed");
        let tried: Vec<_> = jobs.drain(..batch.outcomes.len()).collect();
        let mut rest = Vec::new();
        for (job, outcome) in tried.into_iter().zip(&batch.outcomes) {
            match outcome {
                Outcome::Processed(_) | Outcome::Replaced(_) => job.fail(error.clone()),
                Outcome::Read | Outcome::Landed(_) | Outcome::Failed(_) => rest.push(job),
            }
        }
        jobs.splice(..0, rest);
    }

    async fn loaded(&mut self) -> Result<&Loaded, ServiceError> {
        if self.loaded.is_none() {
            let loaded = load(self.service.store(), &self.id).await?;
            self.place.size.store(loaded.bytes(), Ordering::Relaxed);
            self.loaded = Some(loaded);
        }
        self.loaded.as_ref().ok_or(ServiceError::Internal)
    }

    /// `max` if the universe, which is loaded by this, is larger than that in bytes of JSON.
    async fn full(&mut self, max: usize) -> Result<Option<usize>, ServiceError> {
        if self.loaded().await?.bytes() <= max {
            return Ok(None);
        }
        // It may be no larger: a snapshot tells, or else what is in it.
        self.settle_snapshot().await;
        let loaded = self.loaded().await?;
        let is_larger = match (loaded.bytes() > max, loaded.entry_bytes) {
            (false, _) => false,
            (true, 0) => true,
            (true, _) => {
                let state = loaded.universe.state.clone();
                let within = offload::run(false, move || state.is_within(max)).await;
                !within.unwrap_or(false)
            }
        };
        Ok(is_larger.then_some(max))
    }

    /// Deletes the universe. Done here so that it has its place among the jobs, and is done to its end even if the asker
    /// goes away: nothing is kept in memory of what is gone.
    async fn delete(&mut self, job: Job, expected: Option<Revision>) {
        // It must not land in another universe that gets this id later on.
        self.settle_snapshot().await;
        self.place.latest.set(None);
        let deleted = self.service.store().delete(&self.id, expected).await;
        if !matches!(deleted, Err(DeleteError::Conflict { .. })) {
            self.loaded = None;
            self.place.queue.close();
        }
        match (job, deleted) {
            (Job::Delete { reply, .. }, Ok(())) => {
                self.service.0.watchers.tell(Change::Deleted(&self.id));
                drop(reply.send(Ok(())));
            }
            (job, Err(error)) => job.fail(ServiceError::deleting(&self.id, &error)),
            (job, Ok(())) => job.fail(ServiceError::Internal),
        }
    }

    /// The batch is durable: the universe moves on and every job gets its answer.
    fn commit(&mut self, jobs: Vec<Job>, batch: Batch) {
        if let Some(loaded) = &mut self.loaded {
            let before = std::mem::replace(&mut loaded.universe, batch.universe.clone());
            loaded.entries += batch.entries.len() as u64;
            loaded.entry_bytes += batch.bytes;
            self.place.size.store(loaded.bytes(), Ordering::Relaxed);
            self.place.latest.set(Some(batch.universe.clone()));
            if !batch.entries.is_empty() {
                self.service.0.watchers.tell(Change::Changed {
                    before: &before,
                    after: &batch.universe,
                    replaced: batch.replaced,
                });
            }
        }
        for (job, outcome) in jobs.into_iter().zip(batch.outcomes) {
            // An asker that is gone does not take its answer; what it asked for stays done.
            match (job, outcome) {
                (Job::Read { reply }, Outcome::Read) => {
                    drop(reply.send(Ok(batch.universe.clone())))
                }
                (Job::Process { reply, request }, Outcome::Processed(processed)) => {
                    metrics::commands("done", request.commands.len());
                    drop(reply.send(Ok(Done::Now(Box::new(processed)))))
                }
                (Job::Process { reply, .. }, Outcome::Landed(revision)) => {
                    drop(reply.send(Ok(Done::Before(revision))))
                }
                (Job::Replace { reply, .. }, Outcome::Replaced(universe)) => {
                    drop(reply.send(Ok(universe)))
                }
                (job, Outcome::Failed(error)) => {
                    if let Job::Process { request, .. } = &job {
                        metrics::commands("refused", request.commands.len());
                    }
                    job.fail(error);
                }
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
        match self.snapshot.as_mut().map(oneshot::Receiver::try_recv) {
            Some(Err(TryRecvError::Empty)) => return,
            Some(Ok(bytes)) => loaded.base_bytes = bytes,
            // There was none, or it was not kept.
            Some(Err(TryRecvError::Closed)) | None => {}
        }
        self.snapshot = None;
        let due = loaded.entries >= SNAPSHOT_ENTRIES && loaded.entry_bytes > loaded.base_bytes;
        // Large changes are measured soon: only a snapshot tells how large the universe is by now.
        if !due && loaded.entry_bytes <= SNAPSHOT_BYTES {
            return;
        }
        let expected = loaded.bytes();
        // Counted as kept already: should it fail, the next one is due after as much log again. Until it is kept, the
        // universe counts as large as it may be.
        loaded.base_bytes = expected;
        (loaded.entries, loaded.entry_bytes) = (0, 0);
        let (revision, state) = (loaded.universe.revision, loaded.universe.state.clone());
        let (store, id) = (Arc::clone(&self.service.0.store), self.id.clone());
        let (kept, snapshot) = oneshot::channel();
        self.snapshot = Some(snapshot);
        tokio::spawn(async move {
            if let Some(bytes) = keep(store, id, revision, state, expected).await {
                // A writer that is gone does not need to know.
                let _untold = kept.send(bytes);
            }
        });
    }

    /// Waits for a snapshot that is being kept, and counts what it tells of the universe's size.
    async fn settle_snapshot(&mut self) {
        if let Some(running) = self.snapshot.take() {
            let kept = running.await.ok();
            if let (Some(loaded), Some(bytes)) = (&mut self.loaded, kept) {
                loaded.base_bytes = bytes;
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.service.forget(&self.id, self.place.key);
    }
}

/// Makes a batch durable, and finds out whether it was where the store cannot say.
async fn append(
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
async fn landed(
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

/// Keeps a snapshot, which has hardly more bytes than expected, and gives how many.
async fn keep(
    store: Arc<dyn UniverseLog>,
    id: UniverseId,
    revision: Revision,
    state: State,
    expected: usize,
) -> Option<usize> {
    let write = move || {
        // A text that grows while it is written is in memory twice at times.
        let mut body = Vec::with_capacity(expected);
        serde_json::to_writer(&mut body, &state).map(|()| body)
    };
    let body = tokio::task::spawn_blocking(write).await.ok()?.ok()?;
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

//! The one writer of a universe in this process: a task that owns its state and makes what is waiting durable in one
//! go.
//!
//! In a shared store, others write, too. An append that succeeds proves that the state was current. A request that
//! appends nothing is answered from a state that was checked after the request arrived.
//!
//! A writer that has answered many jobs lets those clients ask again before it goes to the disk with the first of them.
//! Otherwise one commit in two would be nearly empty, and all would wait for it.

mod append;
mod refresh;
mod snapshots;

use std::time::Instant;

use tokio::sync::oneshot;

use self::append::{append, landed};
use self::refresh::Hints;
pub(super) use self::refresh::is_current;
use super::batch::{Batch, Outcome, Rules, reduce};
use super::job::{Done, Job, answer_all};
use super::load::{Loaded, load};
use super::texts::TextPlace;
use super::writers::WriterSlot;
use super::{Change, CommandService, Result, ServiceError};
use crate::metrics;
use crate::store::{AppendError, DeleteError, Revision, Turns, UniverseId};

/// How often a batch is tried when another writer extended the log, or the store cannot say whether the batch landed.
const ATTEMPTS: usize = 5;

pub(super) struct Writer {
    service: CommandService,
    id: UniverseId,
    slot: WriterSlot,
    loaded: Option<Loaded>,
    /// Reports the size in bytes of the snapshot that is being written.
    snapshot: Option<oneshot::Receiver<usize>>,
    /// The revisions that other writers reach, if the store is shared.
    hints: Option<Hints>,
    /// The turns with other writers, if the store is shared.
    turns: Option<Turns>,
    /// The number of jobs in the last batch.
    answered: usize,
}

impl Writer {
    pub(super) fn new(service: CommandService, id: UniverseId, slot: WriterSlot) -> Self {
        let is_shared = service.store().is_shared();
        Self {
            service,
            id,
            slot,
            loaded: None,
            snapshot: None,
            hints: None,
            turns: is_shared.then(Turns::default),
            answered: 0,
        }
    }

    /// Works until its queue is closed and empty.
    pub(super) async fn run(mut self) {
        let limits = self.service.0.limits;
        let mut jobs = Vec::new();
        loop {
            self.listen();
            let queue = &mut self.slot.queue;
            let received = queue.recv_many(&mut jobs, limits.max_batch.max(1));
            let received = tokio::select! {
                biased;
                received = received => received,
                hint = refresh::next(&mut self.hints) => {
                    self.refresh(hint).await;
                    continue;
                }
            };
            if received == 0 {
                return self.settle_snapshot().await;
            }
            self.gather(&mut jobs, limits.max_batch).await;
            while !jobs.is_empty() {
                self.work(&mut jobs).await;
            }
        }
    }

    /// Takes further jobs as long as they arrive at once. The clients that were just answered send their next requests
    /// now: without a wait for these, the first job is written to disk alone and all others wait for it.
    async fn gather(&mut self, jobs: &mut Vec<Job>, max: usize) {
        let mut before = 0;
        while before < jobs.len() && jobs.len() < self.answered.min(max) {
            before = jobs.len();
            tokio::task::yield_now().await;
            while jobs.len() < max
                && let Ok(job) = self.slot.queue.try_recv()
            {
                jobs.push(job);
            }
        }
    }

    /// Records the size of the universe. Others are removed from memory when all together are too large.
    fn measure(&self) {
        let limits = self.service.0.limits;
        let bytes = self.loaded.as_ref().map_or(0, Loaded::bytes);
        if self.slot.size.set(bytes) > limits.max_loaded_bytes {
            let mut writers = self.service.writers();
            writers.make_room(limits.max_loaded, limits.max_loaded_bytes);
        }
    }

    /// Processes as many of the jobs as fit into one write, and answers them.
    async fn work(&mut self, jobs: &mut Vec<Job>) {
        if let Some(&Job::Delete { expected, .. }) = jobs.first() {
            return self.delete(jobs.remove(0), expected).await;
        }
        let (reducer, max_bytes) =
            (self.service.0.reducer, self.service.0.limits.max_universe_bytes);
        let mut at_once = jobs.len();
        let is_shared = self.service.store().is_shared();
        let mut is_present = !is_shared || self.loaded.is_none();
        let attempts = if is_shared { refresh::ATTEMPTS } else { ATTEMPTS };
        for _ in 0..attempts {
            if let Some(turns) = &mut self.turns {
                turns.begin().await;
            }
            let full = match self.full(max_bytes).await {
                Ok(full) => full,
                Err(error) => return self.give_up(jobs, &error),
            };
            let Some(universe) = self.loaded.as_ref().map(|loaded| loaded.universe.clone()) else {
                continue;
            };
            let some = known_range::items(jobs, ..at_once.min(jobs.len()));
            let landed = match landed(self.service.store(), &self.id, some).await {
                Ok(landed) => landed,
                Err(error) => return answer_all(jobs.drain(..), &error),
            };
            let rules = Rules { reducer, full, landed };
            let batch = reduce(universe, some, rules);
            if !batch.entries.is_empty() {
                self.slot.latest.set(None);
            } else if !is_present {
                if let Err(error) = self.catch_up().await {
                    return self.give_up(jobs, &error);
                }
                is_present = true;
                continue;
            }
            let start = Instant::now();
            let appended = append(self.service.store(), &self.id, &batch).await;
            if !batch.entries.is_empty() {
                metrics::appended(start.elapsed());
            }
            match appended {
                Ok(()) => {
                    if let Some(turns) = self.turns.as_mut().filter(|_| !batch.entries.is_empty()) {
                        turns.won();
                    }
                    return self.commit(jobs.drain(..batch.outcomes.len()).collect(), batch);
                }
                // Another process wrote: read the new entries and process the jobs again on the new state.
                Err(AppendError::Conflict { .. }) if is_shared => {
                    self.lose_turn().await;
                    if let Err(error) = self.catch_up().await {
                        return self.give_up(jobs, &error);
                    }
                    is_present = true;
                }
                Err(AppendError::Conflict { .. }) => self.loaded = None,
                // One of the entries is too large. It must not block the others.
                Err(AppendError::TooLarge { .. }) if batch.entries.len() > 1 => at_once = 1,
                Err(error) => return self.refuse(jobs, &batch, &error),
            }
        }
        tracing::warn!(universe = %self.id, "the log moved on under every attempt to write");
        answer_all(jobs.drain(..), &ServiceError::Unavailable);
    }

    /// Answers all jobs with an error, because the universe does not exist or cannot be read.
    fn give_up(&mut self, jobs: &mut Vec<Job>, error: &ServiceError) {
        if matches!(error, ServiceError::NotFound(_)) {
            self.slot.queue.close();
        }
        answer_all(jobs.drain(..), error);
    }

    /// The batch was not written. Jobs with changes fail, and the others are processed again on the stored state.
    fn refuse(&mut self, jobs: &mut Vec<Job>, batch: &Batch, error: &AppendError) {
        let is_shared = self.service.store().is_shared();
        match error {
            AppendError::NotFound => self.loaded = None,
            // In a shared store, the state in memory is updated before each batch anyway.
            AppendError::Unknown if !is_shared => self.loaded = None,
            _ => {}
        }
        let error = ServiceError::appending(&self.id, error);
        match error {
            ServiceError::Full => self.service.0.room.missed(),
            _ => tracing::warn!(universe = %self.id, %error, "a write failed"),
        }
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

    async fn loaded(&mut self) -> Result<&Loaded> {
        if self.loaded.is_none() {
            let mut loaded = load(self.service.store(), &self.id).await?;
            loaded.universe.text = TextPlace::new(&self.service.0.texts);
            self.loaded = Some(loaded);
            self.measure();
        }
        self.loaded.as_ref().ok_or(ServiceError::Internal)
    }

    /// Deletes the universe. The writer does this so that the deletion is in order with the other jobs and completes
    /// even if the client disconnects. Nothing of a deleted universe stays in memory.
    async fn delete(&mut self, job: Job, expected: Option<Revision>) {
        // The snapshot must not be written into a later universe with the same id.
        self.settle_snapshot().await;
        self.slot.latest.set(None);
        let deleted = self.service.store().delete(&self.id, expected).await;
        if !matches!(deleted, Err(DeleteError::Conflict { .. })) {
            self.loaded = None;
            self.slot.queue.close();
        }
        match (job, deleted) {
            (Job::Delete { reply, .. }, Ok(())) => {
                self.service.0.watchers.notify(Change::Deleted(&self.id));
                drop(reply.send(Ok(())));
            }
            (job, Err(error)) => {
                let error = ServiceError::deleting(&self.id, &error);
                if error == ServiceError::Full {
                    self.service.0.room.missed();
                }
                job.fail(error);
            }
            (job, Ok(())) => job.fail(ServiceError::Internal),
        }
    }

    /// The batch is durable: updates the universe in memory and answers every job.
    fn commit(&mut self, jobs: Vec<Job>, mut batch: Batch) {
        if batch.replaced {
            // The new state shares nothing with the text of the state before.
            batch.universe.text = TextPlace::new(&self.service.0.texts);
        }
        if let Some(loaded) = &mut self.loaded {
            let before = std::mem::replace(&mut loaded.universe, batch.universe.clone());
            loaded.entries += batch.entries.len() as u64;
            loaded.entry_bytes += batch.bytes;
            self.slot.latest.set(Some(batch.universe.clone()));
            if !batch.entries.is_empty() {
                self.service.0.room.found();
                self.service.0.watchers.notify(Change::Changed {
                    before: &before,
                    after: &batch.universe,
                    replaced: batch.replaced,
                });
            }
        }
        self.measure();
        self.answered = jobs.len();
        for (job, outcome) in jobs.into_iter().zip(batch.outcomes) {
            // A client that disconnected does not receive its answer, but its change stays.
            match (job, outcome) {
                (Job::Read { reply }, Outcome::Read) => {
                    drop(reply.send(Ok(batch.universe.clone())))
                }
                (Job::Process { reply, request }, Outcome::Processed(processed)) => {
                    metrics::commands("done", request.commands.len());
                    drop(reply.send(Ok(Done::Now(processed))))
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
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.service.forget(&self.id, self.slot.key);
    }
}

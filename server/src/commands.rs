//! [`CommandService`]: the one way to read and change universes, used by REST and MCP alike.
//!
//! Each universe in use has one writer, a task that owns its state. A command is applied, made durable together with
//! other waiting commands, and only then acknowledged and shown to readers. Acknowledgements, the log and its tails
//! all have the same order: that of the revisions.
//!
//! A state is persistent, so the one before a batch is kept until the batch is durable. A client can name a request by
//! a key, which is the command id of the request's last entry: a retry is answered by applying the commands again to
//! the state before them, and nothing but the key is kept for it.
//!
//! Deleting goes through the writer, so that nothing of a deleted universe can be written into a new one with the same
//! id.

mod batch;
mod entry;
mod error;
mod job;
mod load;
mod meant;
mod model;
mod retention;
mod room;
mod texts;
mod watch;
mod writer;
mod writers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::{mpsc, oneshot};
use universe_core::{State, Strictness};

use crate::access::{Access, Reach};
use crate::offload;
use crate::store::{
    CommandId, Meta, Page, Position, ReadError, Record, Revision, Timestamp, UniverseId,
    UniverseLog,
};
use job::{Done, Job};
use room::Room;
use texts::Texts;
use watch::Watchers;
use writer::Writer;
use writers::Writers;

pub use entry::LogEntry;
use error::Result;
pub use error::ServiceError;
pub(crate) use load::{read_state, replay};
pub use model::{MAX_COMMANDS, Processed, Reducer, Replacement, Request, ServiceLimits, Universe};
pub use retention::{InvalidKeep, Keep, TRIMMED_AT_ONCE};
pub(crate) use texts::TextPlace;
pub use watch::Change;

/// How long closing waits for the writers.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// Reads and changes universes. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct CommandService(Arc<Inner>, Option<Arc<Reach>>);

struct Inner {
    store: Arc<dyn UniverseLog>,
    reducer: Reducer,
    limits: ServiceLimits,
    writers: Mutex<Writers>,
    watchers: Watchers,
    texts: Arc<Texts>,
    room: Room,
}

impl CommandService {
    /// A service over a store.
    pub fn new(store: Arc<dyn UniverseLog>, limits: ServiceLimits) -> Self {
        Self::with_reducer(store, limits, State::apply)
    }

    /// A service whose domain step is `reducer`.
    pub fn with_reducer(
        store: Arc<dyn UniverseLog>,
        limits: ServiceLimits,
        reducer: Reducer,
    ) -> Self {
        let inner = Inner {
            store,
            reducer,
            limits,
            writers: Mutex::default(),
            watchers: Watchers::default(),
            texts: Arc::new(Texts::new(limits.max_loaded_bytes / 4)),
            room: Room::default(),
        };
        Self(Arc::new(inner), None)
    }

    /// The same service for a caller. Universes that the caller may not read are not listed, and are not found.
    pub(crate) fn within(&self, reach: Reach) -> Self {
        let limited = !reach.is_everywhere(Access::Read);
        Self(Arc::clone(&self.0), limited.then(|| Arc::new(reach)))
    }

    fn is_seen(&self, id: &UniverseId) -> Result<()> {
        let may_read = |reach: &Arc<Reach>| reach.allows(Access::Read, id.as_str());
        if self.1.as_ref().is_none_or(may_read) {
            Ok(())
        } else {
            Err(ServiceError::NotFound(id.clone()))
        }
    }

    /// Where the universes are kept, for reading their feeds.
    pub fn store(&self) -> &dyn UniverseLog {
        &*self.0.store
    }

    /// Whether what is odd about commands and states is refused: both dialects read them by this.
    pub fn strictness(&self) -> Strictness {
        self.0.limits.strictness
    }

    /// The largest state in bytes of JSON that a model is answered with unasked.
    pub(crate) fn max_unasked_bytes(&self) -> usize {
        self.0.limits.max_unasked_bytes
    }

    /// Notifies `watcher` of every change made through this service from now on, for the life of the service.
    ///
    /// The watcher is called where the change is made, so it must be quick and must not panic. Changes by other writers
    /// to a shared store are reported when this service reads them.
    pub fn watch(&self, watcher: impl Fn(Change<'_>) + Send + Sync + 'static) {
        self.0.watchers.add(watcher);
    }

    /// Creates a universe under an id.
    ///
    /// # Errors
    /// [`ServiceError::Exists`] if the id is taken, or the store's failure.
    pub async fn create(&self, id: UniverseId, name: String, state: State) -> Result<Universe> {
        let created_at = Timestamp::now();
        let small = offload::is_small(&state);
        let written = state.clone();
        let genesis = offload::run(small, None, move || written.to_stored_json(0)).await;
        let Ok(Ok(genesis)) = genesis else {
            return Err(ServiceError::Internal);
        };
        let meta = Meta { id: id.clone(), name: name.clone(), created_at };
        let created = self.0.store.create(meta, Bytes::from(genesis)).await;
        self.note_room(created.map_err(|error| ServiceError::creating(&id, &error)))?;
        self.0.watchers.notify(Change::Created(&id));
        Ok(Universe {
            id,
            name,
            created_at,
            updated_at: created_at,
            revision: Revision::GENESIS,
            state,
            text: TextPlace::default(),
        })
    }

    /// Creates a universe under an id derived from the key. If it was created before with the same state, it is
    /// returned as it was created.
    ///
    /// # Errors
    /// [`ServiceError::KeyReused`] if that one had another state, or has another name and no history yet. Otherwise as
    /// for [`CommandService::create`].
    pub async fn create_once(
        &self,
        key: CommandId,
        name: String,
        state: State,
    ) -> Result<Universe> {
        let id = UniverseId::of_command(key);
        let created = self.create(id.clone(), name.clone(), state.clone()).await;
        if !matches!(created, Err(ServiceError::Exists(_))) {
            return created;
        }
        let first = load::load_until(self.store(), &id, Some(Revision::GENESIS));
        let first = first.await?.universe;
        let record = self.store().record(&id).await;
        let head = record.map_err(|error| ServiceError::reading(&id, &error))?.head;
        let is_renamed = head.revision == Revision::GENESIS && first.name != name;
        if first.state != state || is_renamed {
            return Err(ServiceError::KeyReused(id));
        }
        Ok(Universe { name, updated_at: first.created_at, ..first })
    }

    /// A universe as it is now.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], or the store's failure.
    pub async fn get(&self, id: &UniverseId) -> Result<Universe> {
        self.is_seen(id)?;
        let latest = self.writers().latest(id);
        if let Some(universe) = latest {
            match self.is_current(&universe).await {
                Ok(true) => return Ok(universe),
                // Its writer catches up, and reports that.
                Ok(false) | Err(ServiceError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.ask(id, |reply| Job::Read { reply }).await
    }

    /// Makes watchers receive the changes that others make to a universe in a shared store, as long as it fits in
    /// memory. The universes that were requested least recently are dropped first, and their changes not reported.
    ///
    /// # Errors
    /// As for [`CommandService::get`].
    pub async fn follow(&self, id: &UniverseId) -> Result<()> {
        if self.store().is_shared() {
            return self.get(id).await.map(drop);
        }
        let record = self.store().record(id).await;
        record.map(drop).map_err(|error| ServiceError::reading(id, &error))
    }

    /// The number of copies that the store keeps, if it is known.
    pub fn copies(&self) -> Option<usize> {
        self.store().copies()
    }

    /// Whether the last write found room in the store.
    pub fn has_room(&self) -> bool {
        self.0.room.is_there()
    }

    /// Notes whether a write has found room.
    fn note_room<T>(&self, written: Result<T>) -> Result<T> {
        match &written {
            Ok(_) => self.0.room.found(),
            Err(ServiceError::Full) => self.0.room.missed(),
            Err(_) => {}
        }
        written
    }

    /// Whether a universe in memory is as it is now: where the store is shared, it may have been changed elsewhere.
    async fn is_current(&self, universe: &Universe) -> Result<bool> {
        if !self.store().is_shared() {
            return Ok(true);
        }
        let record = self.store().record(&universe.id).await;
        let record = record.map_err(|error| ServiceError::reading(&universe.id, &error))?;
        Ok(writer::is_current(universe, &record))
    }

    /// A universe as it was at a revision, under its current name. Replays the log from the newest snapshot before it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::NoRevision`], or the store's failure.
    pub async fn at(&self, id: &UniverseId, revision: Revision) -> Result<Universe> {
        self.is_seen(id)?;
        let loaded = load::load_until(self.store(), id, Some(revision)).await?;
        Ok(loaded.universe)
    }

    /// A universe as it was at a revision, or as it is.
    ///
    /// # Errors
    /// As for [`CommandService::at`] and [`CommandService::get`].
    pub async fn read(&self, id: &UniverseId, revision: Option<Revision>) -> Result<Universe> {
        match revision {
            Some(revision) => self.at(id, revision).await,
            None => self.get(id).await,
        }
    }

    /// Sets the state to what it was at a revision, as a new change: the history is kept in full.
    ///
    /// # Errors
    /// As for [`CommandService::at`] and [`CommandService::replace`].
    pub async fn undo(
        &self,
        id: &UniverseId,
        to: Revision,
        expected: Option<Revision>,
    ) -> Result<Universe> {
        let state = Some(self.at(id, to).await?.state);
        let replacement = Replacement { name: None, state };
        self.replace(id, replacement, expected).await
    }

    /// One page of what is known of all universes, without their states; the newest created first.
    ///
    /// # Errors
    /// The store's failure.
    pub async fn list(&self, page: Page) -> Result<Vec<Record>> {
        let listed = match &self.1 {
            None => self.0.store.list(page).await,
            Some(reach) => return self.list_seen(page, reach).await,
        };
        listed.map_err(|_| ServiceError::Unavailable)
    }

    /// The list of a caller who may read single universes: one look at each.
    async fn list_seen(&self, page: Page, reach: &Reach) -> Result<Vec<Record>> {
        let mut seen = Vec::new();
        for id in reach.single() {
            match self.0.store.record(&id).await {
                Ok(record) => seen.push((record.position(), record)),
                Err(ReadError::Unavailable) => return Err(ServiceError::Unavailable),
                Err(ReadError::NotFound | ReadError::Damaged) => {}
            }
        }
        // The newest first.
        seen.sort_by(|(one, _), (other, _)| other.cmp(one));
        let is_after = |at: &Position| page.after.as_ref().is_none_or(|after| at < after);
        let rest = seen.into_iter().filter(|(at, _)| is_after(at));
        Ok(rest.take(page.limit).map(|(_, record)| record).collect())
    }

    /// Applies commands: reads the universe, reduces, makes it durable, notifies subscribers, answers. Of several
    /// commands all are applied or none, and each gets a revision. Once asked for, it is done even if the future is
    /// dropped.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Refused`] when this universe does not allow the command,
    /// [`ServiceError::Conflict`] at another revision, [`ServiceError::KeyReused`], or the store's failure. In all of
    /// them nothing has changed, but for [`ServiceError::Uncertain`].
    pub async fn process(&self, id: &UniverseId, request: impl Into<Request>) -> Result<Processed> {
        let request = Arc::new(request.into());
        let asked = Arc::clone(&request);
        let done = self.ask(id, |reply| Job::Process { request: asked, reply });
        let done = match done.await {
            Ok(done) => done,
            Err(mut error) => {
                if let ServiceError::Refused {
                    id, refusal, hint, ..
                } = &mut error
                    // Here and not by the writer, for which others wait.
                    && let Ok(now) = self.get(id).await
                {
                    *hint = meant::hint(refusal, &now.state);
                }
                return Err(error);
            }
        };
        match done {
            Done::Now(processed) => Ok(*processed),
            Done::Before(revision) => {
                load::again(self.store(), id, revision, &request.commands).await
            }
        }
    }

    /// Sets the name or the state of a universe. Even without either its time of change moves.
    ///
    /// # Errors
    /// As for [`CommandService::process`].
    pub async fn replace(
        &self,
        id: &UniverseId,
        replacement: Replacement,
        expected: Option<Revision>,
    ) -> Result<Universe> {
        self.ask(id, |reply| Job::Replace { replacement: Box::new(replacement), expected, reply })
            .await
    }

    /// Deletes a universe and its history, after all that was asked of it before; its subscribers are notified.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Conflict`], or the store's failure.
    pub async fn delete(&self, id: &UniverseId, expected: Option<Revision>) -> Result<()> {
        self.ask(id, |reply| Job::Delete { expected, reply }).await
    }

    /// Lets every writer finish its queued jobs, and refuses later ones as unavailable.
    ///
    /// Waits at most five seconds for the writers. A write that is still running then continues in the background.
    pub async fn close(&self) {
        let ends = self.writers().close();
        if tokio::time::timeout(CLOSE_TIME, join_all(ends)).await.is_err() {
            tracing::error!("universes are still being written and are left to end by themselves");
        }
    }

    /// Sends a job to the universe's writer, starting one if there is none, and waits for the answer.
    async fn ask<T>(
        &self,
        id: &UniverseId,
        job: impl FnOnce(oneshot::Sender<Result<T>>) -> Job,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let mut job = job(reply);
        loop {
            let open = self.writers().open(id);
            let writer = match open {
                Some(writer) => writer,
                None => {
                    // Asking for what does not exist must not push out what does.
                    let record = self.0.store.record(id).await;
                    record.map_err(|error| ServiceError::reading(id, &error))?;
                    self.start_writer(id).ok_or(ServiceError::Unavailable)?
                }
            };
            // A writer that retires between being found and being asked gives the job back.
            match writer.send(job).await {
                Ok(()) => break,
                Err(returned) => job = returned.0,
            }
        }
        // A writer that dies without an answer has panicked, which it never should.
        answer.await.unwrap_or(Err(ServiceError::Internal))
    }

    /// A universe as it is now, without taking it into memory if it is not there: for those who look at many.
    ///
    /// # Errors
    /// As for [`CommandService::get`].
    pub async fn peek(&self, id: &UniverseId) -> Result<Universe> {
        self.is_seen(id)?;
        let open = self.writers().open(id);
        match open {
            Some(_) => self.get(id).await,
            None => Ok(load::load(self.store(), id).await?.universe),
        }
    }

    /// Starts the writer of a universe, unless somebody else was quicker. `None` once closed.
    fn start_writer(&self, id: &UniverseId) -> Option<mpsc::Sender<Job>> {
        let mut writers = self.writers();
        if let Some(jobs) = writers.open(id) {
            return Some(jobs);
        }
        let seat = writers.seat(id, &self.0.limits)?;
        drop(writers);
        let jobs = seat.jobs;
        let writer = Writer::new(self.clone(), id.clone(), seat.slot);
        tokio::spawn(async move {
            if let Some(predecessor) = seat.predecessor {
                // It sends nothing: it is dropped when it ends.
                let _ = predecessor.await;
            }
            writer.run().await;
        });
        Some(jobs)
    }

    /// Forgets a writer that has ended.
    fn forget(&self, id: &UniverseId, key: u64) {
        self.writers().forget(id, key);
    }

    fn writers(&self) -> MutexGuard<'_, Writers> {
        // Nothing panics while it holds the table.
        self.0.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for CommandService {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CommandService")
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

//! [`CommandService`]: the one way to read and change universes, used by REST and MCP alike.
//!
//! Each universe in use has one writer, a task that owns its state. A command is applied, made durable together with
//! whatever else is waiting, and only then acknowledged and seen by readers. Order of acknowledgement, of the log and
//! of its tails are the same order: that of the revisions.

mod batch;
mod entry;
mod error;
mod load;
mod writer;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use universe_core::{Applied, Command, Event, Refusal, State};

use crate::store::{Meta, Page, Record, Revision, Timestamp, UniverseId, UniverseLog};
use writer::{Job, Writer};

pub use entry::LogEntry;
pub use error::ServiceError;

/// How long closing waits for the writers.
const CLOSE_TIME: Duration = Duration::from_secs(5);

/// The domain's step. A service can be given another one, to see how it copes with one that fails.
pub type Reducer = fn(&State, &Command) -> Result<Applied, Refusal>;

/// Bounds of a [`CommandService`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceLimits {
    /// The most universes kept in memory; the one unused longest makes room. 256 by default.
    pub max_loaded: usize,
    /// How long an unused universe stays in memory. 5 minutes by default.
    pub max_idle: Duration,
    /// The most jobs waiting for the writer of one universe; further ones wait to be queued. 1,024 by default.
    pub max_queue: usize,
    /// The most jobs made durable together. 512 by default.
    pub max_batch: usize,
}

/// A universe as it was at a revision.
#[derive(Debug, Clone)]
pub struct Universe {
    /// Its id.
    pub id: UniverseId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// How many changes it has had.
    pub revision: Revision,
    /// Its state. Cheap to clone.
    pub state: State,
}

/// What an accepted command did.
#[derive(Debug, Clone)]
pub struct Processed {
    /// The command's place in the universe's history.
    pub revision: Revision,
    /// The state after it. Cheap to clone.
    pub state: State,
    /// What happened.
    pub events: Vec<Event>,
}

/// [`Processed`] as both dialects tell it: `{"nextState": …, "events": […]}`. Borrowed, since the state may be large.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult<'a> {
    /// The state after the command; absent when it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_state: Option<&'a State>,
    /// What happened.
    pub events: &'a [Event],
}

/// What `PUT` sets; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct Replacement {
    /// The new name.
    pub name: Option<String>,
    /// The new state.
    pub state: Option<State>,
}

/// Reads and changes universes. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct CommandService(Arc<Inner>);

struct Inner {
    store: Arc<dyn UniverseLog>,
    reducer: Reducer,
    limits: ServiceLimits,
    writers: Mutex<Writers>,
}

/// The writers of the universes in memory.
#[derive(Default)]
struct Writers {
    by_universe: HashMap<UniverseId, Handle>,
    next_key: u64,
    /// No further writer is started.
    closed: bool,
}

/// The way to a universe's writer.
struct Handle {
    /// Tells a writer from an earlier one of the same universe.
    key: u64,
    /// `None` once it was told to end; it still does what is waiting.
    jobs: Option<mpsc::Sender<Job>>,
    used: Instant,
    /// Resolves when the writer is gone. The next one waits for that, so that there are never two.
    ended: oneshot::Receiver<()>,
}

impl CommandService {
    /// A service over a store.
    #[must_use]
    pub fn new(store: Arc<dyn UniverseLog>, limits: ServiceLimits) -> Self {
        Self::with_reducer(store, limits, State::apply)
    }

    /// A service whose domain step is `reducer`.
    #[must_use]
    pub fn with_reducer(
        store: Arc<dyn UniverseLog>,
        limits: ServiceLimits,
        reducer: Reducer,
    ) -> Self {
        Self(Arc::new(Inner {
            store,
            reducer,
            limits,
            writers: Mutex::default(),
        }))
    }

    /// Where the universes are kept, for reading their feeds.
    #[must_use]
    pub fn store(&self) -> &dyn UniverseLog {
        &*self.0.store
    }

    /// Creates a universe under an id.
    ///
    /// # Errors
    /// [`ServiceError::Exists`] if the id is taken, or the store's failure.
    pub async fn create(
        &self,
        id: UniverseId,
        name: String,
        state: State,
    ) -> Result<Universe, ServiceError> {
        let created_at = Timestamp::now();
        let genesis = serde_json::to_vec(&state).map_err(|_| ServiceError::Internal)?;
        let meta = Meta {
            id: id.clone(),
            name: name.clone(),
            created_at,
        };
        self.0
            .store
            .create(meta, Bytes::from(genesis))
            .await
            .map_err(|error| ServiceError::creating(&id, &error))?;
        Ok(Universe {
            id,
            name,
            created_at,
            updated_at: created_at,
            revision: Revision::GENESIS,
            state,
        })
    }

    /// A universe as it is now.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], or the store's failure.
    pub async fn get(&self, id: &UniverseId) -> Result<Universe, ServiceError> {
        self.ask(id, |reply| Job::Read { reply }).await
    }

    /// One page of what is known of all universes, without their states; the newest created first.
    ///
    /// # Errors
    /// The store's failure.
    pub async fn list(&self, page: Page) -> Result<Vec<Record>, ServiceError> {
        self.0
            .store
            .list(page)
            .await
            .map_err(|_| ServiceError::Unavailable)
    }

    /// Applies a command: reads the universe, reduces, makes it durable, tells subscribers, answers.
    ///
    /// With `expected` only if the universe is at that revision.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Refused`] when this universe does not allow the command,
    /// [`ServiceError::Conflict`] at another revision, or the store's failure. In all of them nothing has changed, but
    /// for [`ServiceError::Uncertain`].
    pub async fn process(
        &self,
        id: &UniverseId,
        command: Command,
        expected: Option<Revision>,
    ) -> Result<Processed, ServiceError> {
        self.ask(id, |reply| Job::Process {
            command: Box::new(command),
            expected,
            reply,
        })
        .await
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
    ) -> Result<Universe, ServiceError> {
        self.ask(id, |reply| Job::Replace {
            replacement: Box::new(replacement),
            expected,
            reply,
        })
        .await
    }

    /// Deletes a universe and its history; its subscribers are told.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`], [`ServiceError::Conflict`], or the store's failure.
    pub async fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> Result<(), ServiceError> {
        self.ask(id, |reply| Job::Delete { expected, reply }).await
    }

    /// Lets every writer do what is waiting for it, and refuses what comes later as unavailable.
    ///
    /// Waits at most five seconds for them; a write under way after that goes on by itself.
    pub async fn close(&self) {
        let handles = {
            let mut writers = self.writers();
            writers.closed = true;
            std::mem::take(&mut writers.by_universe)
        };
        let ends = handles.into_values().map(|handle| {
            drop(handle.jobs);
            handle.ended
        });
        let all = join_all(ends.collect::<Vec<_>>());
        if tokio::time::timeout(CLOSE_TIME, all).await.is_err() {
            tracing::error!("universes are still being written and are left to end by themselves");
        }
    }

    /// Sends a job to the universe's writer, starting one if there is none, and waits for the answer.
    async fn ask<T>(
        &self,
        id: &UniverseId,
        job: impl FnOnce(oneshot::Sender<Result<T, ServiceError>>) -> Job,
    ) -> Result<T, ServiceError> {
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

    /// Starts the writer of a universe, unless somebody else was quicker. `None` once closed.
    fn start_writer(&self, id: &UniverseId) -> Option<mpsc::Sender<Job>> {
        let mut writers = self.writers();
        if writers.closed {
            return None;
        }
        if let Some(jobs) = writers.open(id) {
            return Some(jobs);
        }
        writers.make_room(self.0.limits.max_loaded);
        let (jobs, queue) = mpsc::channel(self.0.limits.max_queue.max(1));
        let (end, ended) = oneshot::channel();
        let key = writers.next_key;
        writers.next_key = key.wrapping_add(1);
        let handle = Handle {
            key,
            jobs: Some(jobs.clone()),
            used: Instant::now(),
            ended,
        };
        let predecessor = writers.by_universe.insert(id.clone(), handle);
        drop(writers);
        let writer = Writer::new(self.clone(), id.clone(), key, queue, end);
        tokio::spawn(async move {
            if let Some(predecessor) = predecessor {
                // It sends nothing: it is dropped when it ends.
                let _gone = predecessor.ended.await;
            }
            writer.run().await;
        });
        Some(jobs)
    }

    /// Forgets a writer that has ended.
    fn forget(&self, id: &UniverseId, key: u64) {
        let mut writers = self.writers();
        if writers
            .by_universe
            .get(id)
            .is_some_and(|handle| handle.key == key)
        {
            writers.by_universe.remove(id);
        }
    }

    fn writers(&self) -> MutexGuard<'_, Writers> {
        // Nothing panics while it holds the table.
        self.0
            .writers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writers {
    /// The way to the writer of a universe, if there is one that takes jobs.
    fn open(&mut self, id: &UniverseId) -> Option<mpsc::Sender<Job>> {
        let handle = self.by_universe.get_mut(id)?;
        let jobs = handle.jobs.as_ref().filter(|jobs| !jobs.is_closed())?;
        handle.used = Instant::now();
        Some(jobs.clone())
    }

    /// Lets the universe go that was unused longest, if there are `max`. Its queue closes, so its writer does what is
    /// waiting and ends.
    fn make_room(&mut self, max: usize) {
        let open = || {
            self.by_universe
                .values()
                .filter(|handle| handle.jobs.is_some())
        };
        if open().count() < max.max(1) {
            return;
        }
        let open = self
            .by_universe
            .values_mut()
            .filter(|handle| handle.jobs.is_some());
        if let Some(oldest) = open.min_by_key(|handle| handle.used) {
            oldest.jobs = None;
        }
    }
}

impl<'a> CommandResult<'a> {
    /// All of it.
    #[must_use]
    pub fn of(processed: &'a Processed) -> Self {
        Self {
            next_state: Some(&processed.state),
            events: &processed.events,
        }
    }

    /// Without the state.
    #[must_use]
    pub fn events_of(processed: &'a Processed) -> Self {
        Self {
            next_state: None,
            events: &processed.events,
        }
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

impl Default for ServiceLimits {
    fn default() -> Self {
        Self {
            max_loaded: 256,
            max_idle: Duration::from_secs(300),
            max_queue: 1_024,
            max_batch: 512,
        }
    }
}

//! Keeps the record of a task that runs here: it writes the changes of the task, and reads the answers and
//! cancellations from clients of other servers.
//! The end of such a task is proposed by its handler and takes effect once the store has it, so that no two servers
//! report different ends.

use std::hash::BuildHasher as _;
use std::sync::{Arc, Weak};
use std::time::Duration;

use foldhash::quality::FixedState;
use futures_util::stream::BoxStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::entry::{Entry, Stage};
use super::port::TaskStoreError;
use super::shared::{self, Shared, next, refused};
use super::store::Tasks;
use crate::jsonrpc::{ErrorObject, Result};

/// How often the record is read, even if the store reports no change.
const LOOK: Duration = Duration::from_secs(30);
/// The least time between two writes of a task's status message.
const MESSAGES: Duration = Duration::from_secs(1);
/// The pause after the store was unavailable: the first and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// How often the last write is tried once the server is closed.
const LAST_TRIES: usize = 3;

/// See the module. Counts as running, so that a server that closes waits for the last write.
pub(crate) struct Keeper {
    /// Not the tasks themselves: a task must not keep its server.
    tasks: Weak<Tasks>,
    shared: Shared,
    entry: Arc<Entry>,
    closed: watch::Receiver<bool>,
    hints: BoxStream<'static, ()>,
    version: u64,
    /// The digest of the record's content, if known.
    written: Option<u64>,
    last_tries: usize,
}

/// The outcome of writing.
enum WriteOutcome {
    /// The record matches the task.
    All,
    /// There is nothing more to write.
    Last,
}

impl Keeper {
    /// For a task whose record is not written yet.
    pub(crate) fn new(tasks: &Arc<Tasks>, shared: Shared, entry: Arc<Entry>) -> Self {
        tasks.count(true);
        Self {
            tasks: Arc::downgrade(tasks),
            // Before other code knows the name and could change the record.
            hints: shared.store.hints(&entry.id),
            shared,
            entry,
            closed: tasks.closing().0,
            version: 0,
            written: None,
            last_tries: LAST_TRIES,
        }
    }

    /// Writes the record for the first time.
    pub(crate) async fn insert(&mut self, client: Option<Arc<str>>) -> Result<()> {
        let kept = self.kept();
        self.shared.insert(&self.entry, client, kept).await?;
        self.written = Some(digest(&shared::body(&self.entry, kept)?));
        Ok(())
    }

    /// Removes the task, and its record, which may have been written.
    pub(crate) async fn discard(self) {
        if let Some(tasks) = self.tasks.upgrade() {
            tasks.expire(&self.entry);
        }
        // Otherwise it is removed when it expires.
        let _ = self.shared.store.remove(&self.entry.id).await;
    }

    /// Keeps the record until the task has ended or expired.
    pub(crate) async fn keep(mut self) {
        let expires = self.entry.expires;
        tokio::select! {
            () = self.follow() => {}
            () = sleep_until(expires) => {
                if let Some(tasks) = self.tasks.upgrade() {
                    tasks.expire(&self.entry);
                }
            }
        }
    }

    async fn follow(&mut self) {
        let entry = Arc::clone(&self.entry);
        let (mut state, mut look, mut begun) = (entry.subscribe(), false, Instant::now());
        loop {
            let stage = state.borrow_and_update().step();
            if matches!(self.write(look).await, WriteOutcome::Last) {
                return;
            }
            look = tokio::select! {
                // Its sender is in the entry.
                _ = state.changed() => false,
                () = next(&mut self.hints) => true,
                () = sleep(LOOK) => true,
                () = gone(&mut self.closed) => {
                    let problem = "the server closed before the task was done";
                    entry.propose(Stage::Failed(ErrorObject::new(ErrorObject::INTERNAL, problem)));
                    false
                }
            };
            if !look {
                // Each write is a commit, and a notification to all servers.
                look = tokio::select! {
                    biased;
                    _other = state.wait_for(|state| state.step() != stage) => false,
                    () = next(&mut self.hints) => true,
                    () = sleep_until(begun + MESSAGES) => false,
                };
            }
            begun = Instant::now();
        }
    }

    /// Writes the unwritten changes, after reading the record if `look` is set.
    async fn write(&mut self, mut look: bool) -> WriteOutcome {
        let [mut pause, longest] = PAUSES;
        let mut is_logged = false;
        loop {
            let problem = match self.step(look).await {
                Ok(Some(written)) => return written,
                Ok(None) => {
                    look = true;
                    continue;
                }
                Err(problem) => problem,
            };
            if *self.closed.borrow() || self.tasks.strong_count() == 0 {
                self.last_tries = self.last_tries.saturating_sub(1);
                if self.last_tries == 0 {
                    return WriteOutcome::Last;
                }
            }
            // Logged once: the write is tried many times.
            if !is_logged {
                tracing::warn!(
                    problem = problem.message,
                    "a task continues, but its record could not be written yet"
                );
                is_logged = true;
            }
            sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// One attempt; `None` if something else was written since the last read.
    async fn step(&mut self, look: bool) -> Result<Option<WriteOutcome>> {
        if look && self.look().await? {
            return Ok(Some(WriteOutcome::Last));
        }
        let copy = self.entry.to_keep();
        let is_over = copy.state().stage.is_over();
        let body = shared::body(&copy, self.kept())?;
        if self.written == Some(digest(&body)) && !is_over {
            return Ok(Some(WriteOutcome::All));
        }
        match self.shared.put(&copy, self.version, &body).await {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(TaskStoreError::TooLarge { max }) => {
                let problem =
                    format!("the task has {} bytes, and its store takes {max}", body.len());
                tracing::warn!(task = ?self.entry, problem);
                let failed = Stage::Failed(ErrorObject::new(ErrorObject::INTERNAL, problem));
                self.entry.propose_instead(failed);
                return Ok(None);
            }
            Err(error) => return Err(refused(&error)),
        }
        self.version += 1;
        self.written = Some(digest(&body));
        if !is_over {
            return Ok(Some(WriteOutcome::All));
        }
        let mut state = copy.state().clone();
        state.record = self.version.saturating_add(1);
        self.entry.adopt(state);
        Ok(Some(WriteOutcome::Last))
    }

    /// Adopts the changes that others have written. Returns whether they ended the task.
    async fn look(&mut self) -> Result<bool> {
        let (entry, tasks) = (&self.entry, self.tasks.upgrade());
        let Some(found) = self.shared.again(entry).await? else {
            match tasks {
                Some(tasks) => tasks.expire(entry),
                None => entry.expire(),
            }
            return Ok(true);
        };
        if found.version != self.version {
            self.version = found.version;
            self.written = None;
        }
        let mut state = found.state();
        if state.stage.is_over() {
            if state.stage.result().is_some() {
                // Written by this server, although the write was not confirmed. The result is here.
                let record = state.record;
                state = entry.to_keep().state().clone();
                state.record = record;
            }
            entry.adopt(state);
            if let Some(tasks) = tasks {
                tasks.ended_elsewhere(entry);
            }
            return Ok(true);
        }
        match entry.answered_elsewhere(&state) {
            Ok(answers) => {
                let taken = tasks.map(|tasks| tasks.answer_here(entry, answers));
                if let Some(Err(error)) = taken {
                    let round = entry.state().round;
                    entry.give_up(round, ("CLIENT_ANSWER_INVALID".into(), error.message));
                }
            }
            Err((round, problem)) => {
                entry.give_up(round, problem);
            }
        }
        Ok(false)
    }

    fn kept(&self) -> usize {
        let tasks = self.tasks.upgrade();
        tasks.map_or(0, |tasks| tasks.kept(&self.entry.id))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(tasks) = self.tasks.upgrade() {
            tasks.count(false);
        }
    }
}

/// The digest of a written body. Only a few of one task are compared.
fn digest(body: &[u8]) -> u64 {
    FixedState::default().hash_one(body)
}

/// Waits until the server's tasks are dropped.
async fn gone(closed: &mut watch::Receiver<bool>) {
    while closed.changed().await.is_ok() {}
}

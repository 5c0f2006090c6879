//! The tasks of a server, in memory and within bounds. Nothing runs in the background: each use of the store removes a
//! few expired tasks. `store/together.rs` adds the tasks of other servers.

mod table;
mod together;

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::future::{AbortHandle, AbortRegistration};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::entry::{Entry, Home, Stage, State};
use super::port::TaskStore;
use super::shared::{Shared, fitting, within};
use super::{Owner, TasksConfig};
use crate::budget::{Budget, ClientName, Kind, Over};
use crate::json::json_size;
use crate::jsonrpc::{ErrorObject, Result};
use crate::locked::Locked as _;
use crate::version::{Era, ProtocolVersion};
use table::Table;

/// The least time that a task is kept.
const MIN_TTL: Duration = Duration::from_secs(1);
/// The longest time that a task is kept, whatever is configured: a hundred years, which every clock can represent.
const MAX_TTL: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
/// The number of expired tasks that one use of the store removes.
const SWEEP: usize = 8;

/// The tasks of a server. Dropping it drops the handlers that run.
pub(crate) struct Tasks {
    config: TasksConfig,
    budget: Budget,
    table: Mutex<Table>,
    running: watch::Sender<usize>,
    closed: watch::Sender<bool>,
    /// The store in which other servers find them, too.
    shared: Option<Shared>,
}

/// A task to be created.
pub(crate) struct NewTask {
    pub(crate) owner: Owner,
    /// The client whose share it uses.
    pub(crate) client: ClientName,
    pub(crate) version: ProtocolVersion,
    /// The time that the client asked for.
    pub(crate) ttl: Option<Duration>,
    /// Its kept size from the beginning.
    pub(crate) bytes: usize,
}

impl Tasks {
    pub(crate) fn new(config: TasksConfig, store: Option<Arc<dyn TaskStore>>) -> Self {
        Self {
            shared: store.map(|store| Shared { store, max_task_bytes: config.max_task_bytes }),
            budget: Budget::new(&[(Kind::Tasks, config.tasks), (Kind::TaskBytes, config.bytes)]),
            config,
            table: Mutex::default(),
            running: watch::channel(0).0,
            closed: watch::channel(false).0,
        }
    }

    /// Creates a task, which can be found from now on. Its handler runs under the returned registration.
    pub(crate) fn create(&self, new: NewTask) -> Result<(Arc<Entry>, AbortRegistration)> {
        let config = &self.config;
        if *self.closed.borrow() {
            let problem = "the server is closing and starts no more tasks";
            return Err(ErrorObject::new(ErrorObject::INTERNAL, problem));
        }
        if new.bytes > config.max_task_bytes {
            return Err(ErrorObject::invalid_params(format!(
                "the arguments have {} bytes; at most {} are kept for a task",
                new.bytes, config.max_task_bytes
            )));
        }
        let id = random_id()?;
        let (now, created) = (Instant::now(), SystemTime::now());
        let longest = config.max_ttl.clamp(MIN_TTL, MAX_TTL);
        let ttl = new.ttl.unwrap_or(config.ttl).clamp(MIN_TTL, longest);
        let expires = now.checked_add(ttl).ok_or_else(ErrorObject::internal)?;
        // First, since removing expired tasks makes room.
        put_out(self.table.locked().take_expired(now, usize::MAX));
        let client = self.budget.client(new.client);
        let place = client.hold(Kind::Tasks, 1).map_err(busy)?;
        let bytes = client.hold(Kind::TaskBytes, new.bytes).map_err(busy)?;
        let mut table = self.table.locked();
        let (abort, registration) = AbortHandle::new_pair();
        let entry = Arc::new(Entry {
            id,
            number: table.number(),
            owner: new.owner,
            version: new.version,
            created,
            ttl,
            poll_interval: config.poll_interval.max(Duration::from_millis(1)),
            expires,
            home: match self.shared {
                Some(_) => Home::Shared,
                None => Home::Here,
            },
            state: watch::channel(State::new(created)).0,
            abort,
        });
        table.insert(&entry, place, bytes);
        drop(table);
        Ok((entry, registration))
    }

    /// The task of that name, if it is kept here and belongs to the owner and the era.
    fn find_here(&self, id: &str, owner: &Owner, era: Era) -> Option<Arc<Entry>> {
        let now = Instant::now();
        let mut table = self.table.locked();
        let gone = table.take_expired(now, SWEEP);
        let found = table.tasks.get(id).map(|filed| Arc::clone(&filed.entry));
        drop(table);
        put_out(gone);
        found.filter(|entry| {
            entry.owner == *owner && entry.version.era() == era && entry.expires > now
        })
    }

    /// At most `max` tasks of an owner and an era kept here with numbers greater than `after`, the oldest first, and
    /// whether there are more.
    fn list_here(
        &self,
        owner: &Owner,
        era: Era,
        after: u64,
        max: usize,
    ) -> (Vec<Arc<Entry>>, bool) {
        let now = Instant::now();
        let mut table = self.table.locked();
        let gone = table.take_expired(now, SWEEP);
        let owned = table.owned.get(owner).into_iter();
        let later = owned.flat_map(|owned| owned.range(after.saturating_add(1)..));
        let mut listed = later
            .map(|(_, entry)| entry)
            .filter(|entry| entry.version.era() == era && entry.expires > now);
        let page: Vec<_> = listed.by_ref().take(max).cloned().collect();
        let more = listed.next().is_some();
        drop(table);
        put_out(gone);
        (page, more)
    }

    /// Takes the answers to open questions of a task, or returns the bound that they exceed. Other answers are ignored,
    /// and so are all answers once the task has ended.
    pub(super) fn answer_here(&self, entry: &Entry, answers: Vec<(String, Value)>) -> Result<()> {
        // Two answers to one question may arrive at once, or an answer and the end. The lock keeps the count equal to
        // what is kept.
        let mut table = self.table.locked();
        let Some((answers, bytes)) = fitting(entry, answers) else {
            return Ok(());
        };
        let wanted = within(table.kept(&entry.id), bytes, self.config.max_task_bytes)?;
        table.charge(&entry.id, wanted).map_err(busy)?;
        entry.answer(answers.into_iter());
        Ok(())
    }

    /// Ends a task, once. Returns whether this call ended it. Its result is kept if there is room for it.
    pub(crate) fn end(&self, entry: &Entry, mut stage: Stage) -> bool {
        let max = self.config.max_task_bytes;
        let bytes = stage.size();
        // Two ends may come at once: the first one is kept and counted.
        let mut table = self.table.locked();
        if entry.state().has_end() {
            return false;
        }
        let problem = match table.charge(&entry.id, bytes) {
            _ if bytes > max => Some(format!("a task keeps at most {max} bytes")),
            charged => charged.err().map(|over| over.to_string()),
        };
        if let Some(problem) = problem {
            tracing::warn!(task = ?entry, bytes, "the result of a task is too large to be kept");
            stage = Stage::Failed(ErrorObject::new(
                ErrorObject::INTERNAL,
                format!("the result has {bytes} bytes, for which there is no room: {problem}"),
            ));
            table.empty(&entry.id);
        }
        match entry.home {
            Home::Shared => entry.propose(stage),
            Home::Here | Home::Elsewhere => entry.end(stage),
        }
    }

    /// Frees the kept bytes of a task that another server's change has ended.
    pub(super) fn ended_elsewhere(&self, entry: &Entry) {
        self.table.locked().empty(&entry.id);
    }

    /// The kept size of a task, in bytes.
    pub(super) fn kept(&self, id: &str) -> usize {
        self.table.locked().kept(id)
    }

    /// Removes a task that has expired.
    pub(crate) fn expire(&self, entry: &Entry) {
        self.table.locked().remove(entry);
        entry.expire();
    }

    /// Counts a handler that starts, or one that has ended.
    pub(crate) fn count(&self, started: bool) {
        self.running.send_modify(|running| {
            *running = if started { running.saturating_add(1) } else { running.saturating_sub(1) };
        });
    }

    /// Creates no more tasks from now on.
    pub(crate) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// A receiver that reports closing, and how long tasks may continue after that.
    pub(crate) fn closing(&self) -> (watch::Receiver<bool>, Duration) {
        (self.closed.subscribe(), self.config.max_time_after_close)
    }

    /// Waits until no handler of a task runs.
    pub(crate) async fn ended(&self) {
        // The sender is in `self`.
        drop(self.running.subscribe().wait_for(|running| *running == 0).await);
    }
}

/// Outside of the table's lock, since it notifies the requests that wait for a task.
fn put_out(gone: Vec<Arc<Entry>>) {
    for entry in gone {
        entry.expire();
    }
}

impl Stage {
    /// Its kept size, in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Completed(result) | Self::ToolFailed(result) => result.size(),
            Self::Failed(error) => json_size(error),
            Self::Working | Self::InputRequired(_) | Self::Cancelled | Self::Expired => 0,
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for filed in self.table.locked().tasks.values() {
            filed.entry.abort.abort();
        }
    }
}

/// 128 random bits.
fn random_id() -> Result<Arc<str>> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| {
        tracing::error!(%error, "the operating system gives no random bytes");
        ErrorObject::internal()
    })?;
    Ok(data_encoding::HEXLOWER.encode(&bits).into())
}

fn busy(over: Over) -> ErrorObject {
    ErrorObject::new(ErrorObject::INTERNAL, over.to_string())
}

#[cfg(test)]
mod tests;

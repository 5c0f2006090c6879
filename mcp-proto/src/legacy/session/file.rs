//! Sessions in a file, so that they outlive the process.
//!
//! They are served from memory, by the rules of [`MemorySessions`]. What changes is appended to a journal before it is
//! acknowledged, and written to an SQLite database in the background. It reaches the operating system, but not
//! necessarily the disk: a session survives the death of the process, not always a loss of power. A flush for each
//! session would cost more than the session itself.
//!
//! The file has hashes of the ids. So a session that was read from the file has a stand-in for its id, until its client
//! sends the id itself.

mod database;
mod journal;
mod key;
mod writer;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use futures_util::future::{BoxFuture, ready};
use tokio::time::Instant;

use super::table::MemorySessionsConfig;
use super::{MemorySessions, Session, SessionChange, SessionId, SessionStore, SessionStoreError};
use crate::locked::Locked as _;
use database::Database;
use journal::Journal;
use key::{key_of, stand_in};
use writer::{Thread, Writer};

pub use database::FileSessionsError;

/// A store in a file: sessions outlive the process that opened them. It has the bounds of [`MemorySessions`], and the
/// idle time of a session goes on while no process runs.
///
/// The file belongs to its owner alone (mode 0600), and has no session id, only hashes. One process at a time may use
/// it. While it cannot be written, as on a full disk, sessions continue in memory, and the log says so: those that were
/// opened or changed then do not survive. A DELETE is refused then, although its session ends: the session could come
/// back with the next process.
#[derive(Debug)]
pub struct FileSessions {
    memory: Arc<MemorySessions>,
    journal: Arc<Journal>,
    thread: Thread,
    /// The sessions of an earlier process that were used here, until a GET stream is opened for them. No more than
    /// there were in the file.
    resumed: Mutex<HashSet<SessionId>>,
}

impl FileSessions {
    /// Opens the file, or makes it, with default bounds.
    ///
    /// It reads the file, which takes less than a second, and starts a thread that writes.
    ///
    /// # Errors
    /// [`FileSessionsError`]: the file is in use, damaged or unusable.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FileSessionsError> {
        Self::with_config(path, MemorySessionsConfig::default())
    }

    /// [`open`](Self::open) with these bounds. Of the sessions in the file, those used last are kept.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn with_config(
        path: impl AsRef<Path>,
        config: MemorySessionsConfig,
    ) -> Result<Self, FileSessionsError> {
        let path = path.as_ref();
        let mut database = Database::open(path)?;
        let failed = |error| database::refused(path, &error);
        let unusable = |error: io::Error| FileSessionsError::Unusable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        database.apply(&journal::left(path).map_err(unusable)?).map_err(failed)?;
        let stored = database.read(&config).map_err(failed)?;
        journal::forget(path).map_err(unusable)?;
        let memory = Arc::new(MemorySessions::new(config));
        let mut table = memory.table.locked();
        for stored in stored {
            // They are in the order of their numbers.
            table.newest = stored.number - 1;
            table.insert(stored.session, stored.at, stored.is_used.then_some(stored.at));
        }
        table.gone = Some(Vec::new());
        drop(table);
        let (wake, woken) = sync_channel(1);
        let journal = Arc::new(Journal::new(path, wake).map_err(unusable)?);
        let writer = Writer {
            database,
            path: path.to_owned(),
            memory: Arc::clone(&memory),
            journal: Arc::clone(&journal),
            noted: Instant::now(),
            has_failed: false,
        };
        let thread = Thread::start(writer, woken).map_err(unusable)?;
        Ok(Self { memory, journal, thread, resumed: Mutex::default() })
    }

    /// How many sessions are kept, including expired ones that were not yet removed.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether no session is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes what waits, and releases the file for another process: after at most 5 seconds, during which it blocks.
    /// Sessions continue in memory. Dropping the store does the same.
    pub fn close(&self) {
        self.journal.still().let_go();
        self.thread.wait();
    }

    /// Gives a session from the file its id. False if no session has that id, or if this one has it already.
    fn wake(&self, id: &SessionId) -> bool {
        if self.memory.table.locked().sessions.contains_key(id) {
            return false;
        }
        let is_woken = self.memory.table.locked().rename(&stand_in(&key_of(id)), id);
        if is_woken {
            self.resumed.locked().insert(id.clone());
        }
        is_woken
    }

    /// Notes a session that has changed, if it is still there.
    fn note(&self, id: &SessionId) {
        let number = self.memory.table.locked().sessions.get(id).map(|entry| entry.number);
        if let Some(number) = number {
            self.journal.note(&self.memory, number, id);
        }
    }
}

impl SessionStore for FileSessions {
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>> {
        let id = session.id.clone();
        // A client is better served by a session in memory than by none.
        let noted = |number| _ = self.journal.note(&self.memory, number, &id);
        Box::pin(ready(self.memory.add(session).map(noted)))
    }

    fn load<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        Box::pin(ready(Ok(self.load_now(id).flatten())))
    }

    fn load_now(&self, id: &SessionId) -> Option<Option<Arc<Session>>> {
        match self.memory.load_now(id) {
            Some(None) if self.wake(id) => self.memory.load_now(id),
            found => found,
        }
    }

    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        Box::pin(async move {
            self.wake(id);
            let changed = self.memory.change(id, change).await?;
            if changed.is_some() {
                self.note(id);
            }
            Ok(changed)
        })
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>> {
        let remove = || self.memory.table.locked().remove(id);
        let number = remove().or_else(|| self.wake(id).then(remove).flatten());
        self.resumed.locked().remove(id);
        let is_noted = |number| self.journal.note(&self.memory, number, id);
        let reason = "the session has ended here, but its file cannot be written";
        Box::pin(ready(match number {
            Some(number) if !is_noted(number) => {
                Err(SessionStoreError::Unavailable(reason.to_owned()))
            }
            number => Ok(number.is_some()),
        }))
    }

    fn take_missed(&self, id: &SessionId) -> bool {
        self.resumed.locked().remove(id)
    }
}

impl Drop for FileSessions {
    fn drop(&mut self) {
        self.close();
    }
}

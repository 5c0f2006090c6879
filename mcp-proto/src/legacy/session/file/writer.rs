//! The thread that writes sessions to their file: changes at once, last uses now and then.
//!
//! A change names its session, not its new state. What is written is the state in memory when the batch begins, so
//! that the order in which changes are noted does not matter.

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::database::{Database, Row};
use super::key::key_of;
use crate::legacy::session::table::SessionEntry;
use crate::legacy::session::{MemorySessions, SessionId};

/// A change that is to be written.
pub(super) struct Note {
    /// The session that has changed. The table knows those that were removed.
    pub(super) changed: Option<SessionId>,
    /// Receives whether it is written.
    pub(super) written: oneshot::Sender<bool>,
}

/// The state of the thread.
pub(super) struct Writer {
    database: Database,
    path: PathBuf,
    memory: Arc<MemorySessions>,
    /// Uses until then are written.
    noted: Instant,
    /// When it was last tried to write the file, if that failed. All sessions must be written again then.
    failed: Option<Instant>,
}

/// The running thread.
#[derive(Debug)]
pub(super) struct Thread {
    closing: Arc<Notify>,
    /// Fails once the thread has ended.
    ended: Mutex<Receiver<Infallible>>,
}

/// How often last uses are written, of the sessions that were used meanwhile.
const USES: Duration = Duration::from_secs(15);

/// The most rows of one transaction, for which other changes wait.
const BATCH: usize = 512;

/// How long a file that could not be written is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the end of the thread is waited for.
const CLOSE_TIME: Duration = Duration::from_secs(5);

impl Thread {
    pub(super) fn start(writer: Writer, notes: mpsc::Receiver<Note>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let (ending, ended) = channel();
        let closing = Arc::new(Notify::new());
        let closed = Arc::clone(&closing);
        let run = move || {
            runtime.block_on(writer.run(notes, &closed));
            drop(ending);
        };
        thread::Builder::new().name("sessions".to_owned()).spawn(run)?;
        Ok(Self { closing, ended: Mutex::new(ended) })
    }

    /// Ends the thread, and waits for that in bounded time.
    pub(super) fn end(&self) {
        self.closing.notify_one();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(CLOSE_TIME) == Err(RecvTimeoutError::Timeout) {
            tracing::error!("the file of sessions was not closed in time");
        }
    }
}

impl Writer {
    pub(super) fn new(database: Database, path: &Path, memory: Arc<MemorySessions>) -> Self {
        Self { database, path: path.to_owned(), memory, noted: Instant::now(), failed: None }
    }

    /// Writes until it is closed, and what waits then.
    async fn run(mut self, mut notes: mpsc::Receiver<Note>, closing: &Notify) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            let received = timeout_at(self.noted + USES, notes.recv_many(&mut batch, BATCH));
            let is_open = tokio::select! {
                received = received => received != Ok(0),
                () = closing.notified() => {
                    notes.close();
                    true
                }
            };
            if !batch.is_empty() {
                let written = self.write(batch.iter().filter_map(|note| note.changed.as_ref()));
                for note in batch.drain(..) {
                    // Its request may not wait any more.
                    let _ = note.written.send(written);
                }
            }
            if !is_open || self.noted.elapsed() >= USES {
                self.note_uses();
            }
            if !is_open {
                return;
            }
        }
    }

    /// Writes these sessions, and removes those that were removed. False if they are not in the file.
    fn write<'n>(&mut self, changed: impl Iterator<Item = &'n SessionId>) -> bool {
        let mut table = self.memory.table();
        let gone = table.gone.as_mut().map(std::mem::take).unwrap_or_default();
        if self.failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
            return false;
        }
        let is_whole = self.failed.is_some() || gone.is_over;
        let rows: Vec<_> = if is_whole {
            table.sessions.values().map(row).collect()
        } else {
            changed.filter_map(|id| table.sessions.get(id)).map(row).collect()
        };
        drop(table);
        let written = if is_whole {
            self.database.rewrite(&rows)
        } else {
            self.database.write(&rows, &gone.numbers)
        };
        self.judge(&written)
    }

    /// Writes the last uses of the sessions that were used since that was done last.
    fn note_uses(&mut self) {
        let noted = std::mem::replace(&mut self.noted, Instant::now());
        if !self.write(std::iter::empty()) {
            return;
        }
        let used = |entry: &SessionEntry| {
            let used = entry.used.filter(|used| *used >= noted)?;
            Some((entry.number, used))
        };
        let uses: Vec<_> = self.memory.table().sessions.values().filter_map(used).collect();
        for uses in uses.chunks(BATCH) {
            let written = self.database.note_uses(uses);
            if !self.judge(&written) {
                return;
            }
        }
    }

    /// Logs when the file cannot be written, and when it can again.
    fn judge(&mut self, written: &rusqlite::Result<()>) -> bool {
        let path = self.path.display();
        match written {
            Ok(()) if self.failed.take().is_some() => {
                tracing::info!(%path, "sessions are written to their file again");
            }
            Err(error) if self.failed.replace(Instant::now()).is_none() => {
                tracing::error!(
                    %path,
                    %error,
                    "sessions cannot be written to their file: they go on, but changes do not survive this process"
                );
            }
            _ => {}
        }
        written.is_ok()
    }
}

fn row(entry: &SessionEntry) -> Row {
    Row {
        number: entry.number,
        key: key_of(&entry.session.id),
        session: Arc::clone(&entry.session),
        at: entry.used.unwrap_or(entry.filed),
        is_used: entry.used.is_some(),
    }
}

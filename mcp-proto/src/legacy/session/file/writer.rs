//! The thread that writes sessions to their database: what has changed, and now and then the last uses.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

use super::database::{Database, Row};
use super::journal::{self, Journal};
use crate::legacy::session::MemorySessions;
use crate::legacy::session::table::SessionEntry;
use crate::locked::Locked as _;

/// The state of the thread.
pub(super) struct Writer {
    pub(super) database: Database,
    pub(super) path: PathBuf,
    pub(super) memory: Arc<MemorySessions>,
    pub(super) journal: Arc<Journal>,
    /// Uses until then are written.
    pub(super) noted: Instant,
    /// Whether something could not be written last time.
    pub(super) has_failed: bool,
}

/// The running thread.
#[derive(Debug)]
pub(super) struct Thread {
    /// Fails once the thread has ended.
    ended: Mutex<Receiver<Infallible>>,
}

/// How often changes and last uses are written.
const INTERVAL: Duration = Duration::from_secs(15);

/// How long a file that could not be written is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// How long the end of the thread is waited for.
const CLOSE_TIME: Duration = Duration::from_secs(5);

impl Thread {
    pub(super) fn start(writer: Writer, woken: Receiver<()>) -> io::Result<Self> {
        let (ending, ended) = channel();
        let run = move || {
            writer.run(&woken);
            drop(ending);
        };
        thread::Builder::new().name("sessions".to_owned()).spawn(run)?;
        Ok(Self { ended: Mutex::new(ended) })
    }

    /// Waits for the end of the thread in bounded time.
    pub(super) fn wait(&self) {
        let ended = self.ended.locked();
        if ended.recv_timeout(CLOSE_TIME) == Err(RecvTimeoutError::Timeout) {
            tracing::error!("the file of sessions was not closed in time");
        }
    }
}

impl Writer {
    /// Writes until the journal lets it go, and what there is then.
    fn run(mut self, woken: &Receiver<()>) {
        while woken.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Disconnected) {
            let is_whole = self.journal.has_failed();
            self.has_failed |= is_whole;
            let written = self.write(is_whole);
            if !self.judge(&written) || is_whole {
                thread::sleep(PAUSE);
            }
        }
        self.journal.still().close();
        let written = self.write_last();
        self.judge(&written);
    }

    /// Writes what has changed since the last time, or else all sessions.
    fn write(&mut self, is_whole: bool) -> rusqlite::Result<()> {
        let mut journal = self.journal.still();
        let turned = journal.turn(&self.path, is_whole);
        if is_whole {
            journal.set_failed(false);
        }
        // Whatever changes later is noted in the journal that begins here.
        let all = is_whole.then(|| self.rows());
        drop(journal);
        let written = turned.map_err(failed).and_then(|()| match all {
            Some(all) => self.database.rewrite(&all),
            None => self.database.apply(&journal::put_aside(&self.path).map_err(failed)?),
        });
        let written = written.and_then(|()| journal::forget(&self.path).map_err(failed));
        if written.is_err() && is_whole {
            self.journal.still().set_failed(true);
        }
        written.and_then(|()| self.note_uses())
    }

    /// Writes all there is, after the journal was closed.
    fn write_last(&mut self) -> rusqlite::Result<()> {
        if self.journal.has_failed() {
            self.database.rewrite(&self.rows())?;
        } else {
            self.database.apply(&journal::left(&self.path).map_err(failed)?)?;
        }
        journal::forget_all(&self.path).map_err(failed)?;
        self.note_uses()
    }

    fn note_uses(&mut self) -> rusqlite::Result<()> {
        let noted = std::mem::replace(&mut self.noted, Instant::now());
        let used = |entry: &SessionEntry| {
            let used = entry.used.filter(|used| *used >= noted)?;
            Some((entry.number, used))
        };
        let uses: Vec<_> = self.memory.table.locked().sessions.values().filter_map(used).collect();
        self.database.note_uses(&uses)
    }

    fn rows(&self) -> Vec<Row> {
        self.memory.table.locked().sessions.values().map(Row::of).collect()
    }

    /// Logs when the file cannot be written, and when it can again.
    fn judge(&mut self, written: &rusqlite::Result<()>) -> bool {
        let (path, had_failed) = (self.path.display(), self.has_failed);
        match written {
            Ok(()) if had_failed => {
                tracing::info!(%path, "sessions are written to their file again")
            }
            Err(error) if !had_failed => {
                tracing::error!(%path, %error, "the file of sessions cannot be written");
            }
            _ => {}
        }
        self.has_failed = written.is_err();
        written.is_ok()
    }
}

/// An error of the journal as one of the database.
fn failed(error: io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

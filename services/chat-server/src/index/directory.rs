//! The data directory: who may write in it, and whether its files are ours and of a known format.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::error::IndexError;
use super::schema;

const DATABASE: &str = "chats.db";
const LOCK: &str = "chats.lock";

/// Files are private to their owner, in any directory. SQLite makes the files next to the database with its mode.
const MODE: u32 = 0o600;

/// How long a process that only reads waits for the writer to create or migrate the tables, and how often it checks.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// Holds the right to write until dropped.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process that is just being started may still share the file, and so the lock.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock of the data directory could not be released");
        }
    }
}

/// A data directory that can be used.
#[derive(Debug)]
pub(super) struct Directory {
    dir: PathBuf,
}

impl Directory {
    /// Opens a directory, created if missing, for its owner alone.
    pub(super) fn open(dir: &Path) -> Result<Self, IndexError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(dir).map_err(|error| unusable(dir, &error))?;
        Ok(Self { dir: dir.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.dir
    }

    pub(super) fn database(&self) -> PathBuf {
        self.dir.join(DATABASE)
    }

    /// The right to write, unless another process has it.
    pub(super) fn lock(&self) -> Result<Option<Lock>, IndexError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(MODE);
        let file = options.open(self.dir.join(LOCK));
        let file = file.map_err(|error| self.unusable(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.unusable(&error)),
        }
    }

    /// The writer's connection, for the holder of the lock. A file of an older format is migrated to the newest; the
    /// file of another program is not changed.
    pub(super) fn open_writer(&self, _lock: &Lock) -> Result<Connection, IndexError> {
        let database = self.database();
        own(&database).map_err(|error| self.unusable(&format_args!("{DATABASE}: {error}")))?;
        let connection = schema::connect(&database).map_err(|error| self.foreign(&error))?;
        let format = self.judge(&connection)?;
        if format < schema::FORMAT {
            schema::migrate(&connection, format).map_err(|error| self.unusable(&error))?;
        }
        schema::prepare_writer(&connection).map_err(|error| self.unusable(&error))?;
        Ok(connection)
    }

    /// Waits until a writer in another process has created the tables.
    pub(super) fn await_writer(&self) -> Result<(), IndexError> {
        let end = Instant::now() + PATIENCE;
        loop {
            let ready = match schema::connect_reader(&self.database()) {
                Ok(connection) => self.judge(&connection)? == schema::FORMAT,
                Err(_not_yet) => false,
            };
            if ready {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(
                    self.unusable(&"another process has locked it but has not created its tables")
                );
            }
            thread::sleep(LOOK);
        }
    }

    /// The format, if the file is ours. It is read through SQLite, never from the file itself: closing another handle
    /// to the file would release the locks that SQLite has on it in this process (POSIX advisory locks).
    fn judge(&self, connection: &Connection) -> Result<i32, IndexError> {
        let (application, found) =
            schema::header(connection).map_err(|error| self.foreign(&error))?;
        if application == 0 && found == 0 {
            let empty = schema::is_empty(connection).map_err(|error| self.foreign(&error))?;
            return if empty { Ok(0) } else { Err(self.not_ours()) };
        }
        if application != schema::APPLICATION_ID || found < 1 {
            return Err(self.not_ours());
        }
        if found > schema::FORMAT {
            return Err(IndexError::NewerFormat {
                dir: self.dir.clone(),
                found,
                supported: schema::FORMAT,
            });
        }
        Ok(found)
    }

    fn not_ours(&self) -> IndexError {
        self.unusable(&format_args!("{DATABASE} is not an index of chats"))
    }

    fn foreign(&self, error: &rusqlite::Error) -> IndexError {
        if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
            return self.not_ours();
        }
        self.unusable(error)
    }

    pub(super) fn unusable(&self, reason: &impl ToString) -> IndexError {
        unusable(&self.dir, reason)
    }
}

fn unusable(dir: &Path, reason: &impl ToString) -> IndexError {
    IndexError::Unusable { dir: dir.to_owned(), reason: reason.to_string() }
}

/// Creates the file if it is missing, before SQLite creates it with its default mode.
fn own(database: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(MODE);
    match options.open(database) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

//! The data directory: its lock, and whether its files are ours and of a known format.
//!
//! A directory is checked before anything in it is changed.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};

use super::ledger::Ledger;
use super::{Durability, chain, schema, upgrade};

pub(super) const DATABASE: &str = "universes.db";
const LOCK: &str = "universes.lock";

/// Files are their owner's alone, whatever the directory they lie in. SQLite makes those beside the
/// database with its mode.
const MODE: u32 = 0o600;

/// The beginning of every SQLite file (SQLite, "Database File Format", section 1.3).
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Why a data directory was refused, in a sentence for the operator. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another server uses it.
    #[error("the data directory {} is in use by another server", dir.display())]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// A newer server wrote it.
    #[error(
        "the data directory {} has format {found}, but this server knows formats up to {supported}: \
         use a newer server or another directory",
        dir.display()
    )]
    NewerFormat {
        /// The directory.
        dir: PathBuf,
        /// The format found.
        found: i32,
        /// The newest format known here.
        supported: i32,
    },
    /// Its content is not that of a sound store.
    #[error("the data directory {} cannot be used: {reason}{advice}", dir.display())]
    Damaged {
        /// The directory.
        dir: PathBuf,
        /// What is wrong.
        reason: String,
        /// How to fix it, behind a semicolon; empty where that is not known.
        advice: &'static str,
    },
    /// Nothing can be written in it.
    #[error(
        "the data directory {} cannot be written ({reason}): what only reads works there, and `--read-only` serves it",
        dir.display()
    )]
    Unwritable {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        reason: String,
    },
    /// It cannot be read or written.
    #[error("the data directory {} cannot be used: {reason}", dir.display())]
    Unreadable {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        reason: String,
    },
}

/// Holds a directory until dropped. Every connection has one, so that the directory is free again
/// only when all are closed.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process that is just being started may still share the file, and so the lock.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the data directory's lock could not be released");
        }
    }
}

/// A directory that passed the checks.
pub(super) struct Directory {
    pub(super) database: PathBuf,
    pub(super) lock: Arc<Lock>,
    pub(super) ledger: Ledger,
}

impl Directory {
    /// Locks the directory and opens the database in it. Both are created if they are missing.
    pub(super) fn open(dir: &Path, durability: Durability) -> Result<Self, OpenError> {
        make(dir).map_err(|error| unreadable(dir, &error))?;
        let mut traces = Traces::default();
        traces.expect(dir, &[LOCK]);
        let lock = Arc::new(lock(dir)?);
        // Under the lock, no other process creates them.
        traces.expect(dir, &[DATABASE, "universes.db-wal", "universes.db-shm"]);
        match Self::open_locked(dir, &lock, durability) {
            Ok(directory) => Ok(directory),
            Err(refused) => {
                traces.remove();
                Err(refused)
            }
        }
    }

    /// The lock comes before any look at the database file: closing that file would take away the
    /// locks which SQLite has on it if this very process had it open (POSIX advisory locks).
    fn open_locked(
        dir: &Path,
        lock: &Arc<Lock>,
        durability: Durability,
    ) -> Result<Self, OpenError> {
        let database = dir.join(DATABASE);
        judge_header(dir, &database)?;
        own(&database).map_err(|error| unreadable(dir, &format_args!("{DATABASE}: {error}")))?;
        let failed = |error: rusqlite::Error| damaged(dir, &error);
        let connection = schema::connect(&database).map_err(failed)?;
        let found = schema::format(&connection).map_err(failed)?;
        // The header of the file is older than what its write-ahead log says.
        known(dir, found)?;
        let ledger = open_database(connection, found, durability).map_err(failed)?;
        Ok(Self { database, lock: Arc::clone(lock), ledger })
    }
}

pub(super) fn unreadable(dir: &Path, reason: &impl ToString) -> OpenError {
    OpenError::Unreadable { dir: dir.to_owned(), reason: reason.to_string() }
}

/// Says which command helps where the file is damaged.
pub(super) fn damaged(dir: &Path, error: &rusqlite::Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => OpenError::Damaged {
            dir: dir.to_owned(),
            reason: error.to_string(),
            advice: "; `universe-server check` says what is damaged, `universe-server export` saves what can be read, \
                     and `universe-server restore` goes back to a backup",
        },
        _ => unreadable(dir, error),
    }
}

pub(super) fn make(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(dir)
}

pub(super) fn lock(dir: &Path) -> Result<Lock, OpenError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(MODE).open(dir.join(LOCK));
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            OpenError::Unwritable { dir: dir.to_owned(), reason: error.to_string() }
        }
        _ => unreadable(dir, &error),
    })?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(unreadable(dir, &error)),
    }
}

/// Reads the file's header as bytes. A missing or empty file is a new one.
pub(super) fn judge_header(dir: &Path, database: &Path) -> Result<(), OpenError> {
    let name = database.file_name().unwrap_or_default();
    let mut header = Vec::with_capacity(100);
    match File::open(database) {
        Ok(file) => file
            .take(100)
            .read_to_end(&mut header)
            .map_err(|error| unreadable(dir, &format_args!("{DATABASE}: {error}")))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(dir, &format_args!("{DATABASE}: {error}"))),
    };
    if header.is_empty() {
        return Ok(());
    }
    // Offsets: "Database File Format", section 1.3.
    let (found, application) = (be_i32(&header, 60), be_i32(&header, 68));
    if !header.starts_with(MAGIC) || application != Some(schema::APPLICATION_ID) {
        let advice = if database == dir.join(DATABASE) {
            "; if it was one, `universe-server restore FILE --replace` puts a backup in its place"
        } else {
            ""
        };
        return Err(OpenError::Damaged {
            dir: dir.to_owned(),
            reason: format!("{} is not a store of universes", name.to_string_lossy()),
            advice,
        });
    }
    match found {
        Some(found) if found > 0 => known(dir, found),
        _ => Err(OpenError::Damaged {
            dir: dir.to_owned(),
            reason: format!("{} has no known format", name.to_string_lossy()),
            advice: "",
        }),
    }
}

/// Makes the file, if it is missing, before SQLite would with a mode of its own.
fn own(database: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    match options.write(true).create_new(true).mode(MODE).open(database) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn be_i32(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk().map(|chunk| i32::from_be_bytes(*chunk))
}

fn open_database(
    connection: Connection,
    found: i32,
    durability: Durability,
) -> rusqlite::Result<Ledger> {
    match found {
        0 => schema::create(&connection)?,
        found => upgrade::upgrade(&connection, found)?,
    }
    for uni in chain::report(&connection)? {
        // So that nobody reads or writes on from there.
        connection.execute("UPDATE head SET sum = 0 WHERE uni = ?1", [uni])?;
    }
    Ledger::open(connection, durability)
}

fn known(dir: &Path, found: i32) -> Result<(), OpenError> {
    if found > schema::FORMAT {
        let supported = schema::FORMAT;
        return Err(OpenError::NewerFormat { dir: dir.to_owned(), found, supported });
    }
    Ok(())
}

/// The database of a directory in which nothing can be written, a lock that other readers may have as well, and the
/// universes whose heads are not to be trusted.
pub(super) fn open_read_only(dir: &Path) -> Result<(PathBuf, Lock, Vec<i64>), OpenError> {
    // A directory can be locked like a file.
    let file = File::open(dir.join(LOCK)).or_else(|_| File::open(dir));
    let file = file.map_err(|error| unreadable(dir, &error))?;
    match file.try_lock_shared() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => return Err(unreadable(dir, &error)),
    }
    let database = dir.join(DATABASE);
    let connection = open_reader(dir, &database)?;
    let behind = chain::report(&connection).map_err(|error| damaged(dir, &error))?;
    Ok((database, Lock(file), behind))
}

/// A connection that reads a file which must exist.
pub(super) fn open_reader(dir: &Path, file: &Path) -> Result<Connection, OpenError> {
    let failed = |reason: String| unreadable(dir, &format_args!("{}: {reason}", file.display()));
    let is_empty = std::fs::metadata(file).map(|found| found.len() == 0);
    let unseen = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound if file == dir.join(DATABASE) => failed(format!(
            "{error}; where universes are elsewhere, name that directory with --data-dir"
        )),
        _ => failed(error.to_string()),
    };
    if is_empty.map_err(unseen)? {
        let reason = format!("{} is empty", file.display());
        return Err(OpenError::Damaged { dir: dir.to_owned(), reason, advice: "" });
    }
    judge_header(dir, file)?;
    let connection = match schema::connect_reader(file) {
        Err(error) if schema::is_unwritable(&error) && schema::has_log(file) => {
            return Err(failed(
                "what was written last is in the write-ahead log beside it, which cannot be read where nothing can be \
                 written: copy the directory to where it can, and name that one with --data-dir"
                    .to_owned(),
            ));
        }
        opened => opened.map_err(|error| damaged(dir, &error))?,
    };
    let found = schema::format(&connection).map_err(|error| damaged(dir, &error))?;
    known(dir, found)?;
    Ok(connection)
}

/// The files that opening may create and that did not exist before.
#[derive(Default)]
struct Traces(Vec<PathBuf>);

impl Traces {
    fn expect(&mut self, dir: &Path, names: &[&str]) {
        let paths = names.iter().map(|name| dir.join(name));
        self.0.extend(paths.filter(|path| !path.exists()));
    }

    fn remove(&self) {
        for path in &self.0 {
            // Missing is as good as removed.
            let _gone = std::fs::remove_file(path);
        }
    }
}

//! The database of a file of sessions: its lock, its format, its rows.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags, params};
use tokio::time::Instant;

use super::key::{Key, key_of, stand_in};
use crate::legacy::session::table::SessionEntry;
use crate::legacy::session::{MemorySessionsConfig, Session, SessionId};

/// Why a file of sessions was not opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileSessionsError {
    /// Another process uses it, or this one does already.
    #[error("the sessions in {} are in use by another server", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this library wrote it.
    #[error(
        "the sessions in {} have format {found}, but this server knows formats up to {supported}: use a newer server, \
         or move the file away to begin without sessions",
        path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// The format found.
        found: i32,
        /// The newest format known here.
        supported: i32,
    },
    /// It is damaged, or another program's.
    #[error(
        "{} is not a sound file of sessions ({reason}): move it away to begin without sessions",
        path.display()
    )]
    Unsound {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// It cannot be read or written.
    #[error("the sessions in {} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

/// Written at the head of the file: "MCPs".
const APPLICATION_ID: i32 = 0x4d43_5073;

/// The format that is written. Whatever an older version would misread raises it.
const FORMAT: i32 = 1;

/// `n` counts the sessions, so that a new one is appended, and each is found without an index.
const TABLES: &str = "
CREATE TABLE session (
    n INTEGER PRIMARY KEY,
    key BLOB NOT NULL,       -- the SHA-256 of the id
    at INTEGER NOT NULL,     -- when it was last used, or else opened: milliseconds since 1970
    used INTEGER NOT NULL,   -- whether it was used since it was opened
    body TEXT NOT NULL       -- the session without its id, as JSON
) STRICT;
";

const INSERT: &str =
    "INSERT OR REPLACE INTO session (n, key, at, used, body) VALUES (?, ?, ?, ?, ?)";

/// Written in a record in place of the session's id.
const NAMELESS: &str = "-";

/// How long to wait for the lock of a process that is just ending.
const BUSY: Duration = Duration::from_secs(1);

/// An open file. No other process can open it meanwhile.
pub(super) struct Database {
    connection: Connection,
    /// The greatest number of a session that it had.
    newest: u64,
}

/// A session in the file. Its id is a stand-in.
pub(super) struct Stored {
    pub(super) number: u64,
    pub(super) session: Session,
    /// When it was last used, or else opened.
    pub(super) at: Instant,
    pub(super) is_used: bool,
}

/// A session to be written.
pub(super) struct Row {
    pub(super) number: u64,
    /// When it was last used, or else opened, in milliseconds since 1970.
    pub(super) at: i64,
    pub(super) is_used: bool,
    session: Arc<Session>,
}

/// The state of a session: key, time, whether it was used, and body.
pub(super) type State = (Key, i64, bool, String);

/// The states of sessions by their numbers. `None` for one that was removed.
pub(super) type Changes = BTreeMap<u64, Option<State>>;

/// The present on both clocks: instants of this process become times that another one understands.
struct Now {
    instant: Instant,
    millis: i64,
}

impl Database {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path) -> Result<Self, FileSessionsError> {
        let failed = |error| refused(path, &error);
        own(path).map_err(|error| FileSessionsError::Unusable {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let mut opened = Self::lock(path).map_err(failed)?;
        match opened.format().map_err(failed)? {
            (0, 0, true) => opened.create().map_err(failed)?,
            (APPLICATION_ID, FORMAT, _) => {}
            (APPLICATION_ID, found, _) if found > FORMAT => {
                let path = path.to_owned();
                return Err(FileSessionsError::NewerFormat { path, found, supported: FORMAT });
            }
            _ => {
                let reason = "another program made it".to_owned();
                return Err(FileSessionsError::Unsound { path: path.to_owned(), reason });
            }
        }
        opened.prepare().map_err(failed)?;
        let newest = "SELECT coalesce(max(n), 0) FROM session";
        let newest = opened.connection.query_row(newest, [], |row| row.get::<_, i64>(0));
        opened.newest = newest.map_err(failed)?.unsigned_abs();
        Ok(opened)
    }

    /// Opens the file for this process alone: SQLite keeps the lock that the transaction takes.
    fn lock(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;")?;
        Ok(Self { connection, newest: 0 })
    }

    /// The id of its program, its format, and whether it is empty.
    fn format(&self) -> rusqlite::Result<(i32, i32, bool)> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
        let tables = "SELECT count(*) = 0 FROM sqlite_schema";
        let is_empty = self.connection.query_row(tables, [], |row| row.get(0))?;
        Ok((number("application_id")?, number("user_version")?, is_empty))
    }

    fn create(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch(&format!(
            "BEGIN; {TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; COMMIT;"
        ))
    }

    /// With `NORMAL` no commit is flushed, only checkpoints are: after a loss of power the file is sound, but old.
    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000; \
             PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY;",
        )
    }

    /// The sessions that continue, in the order of their numbers. Others are removed.
    pub(super) fn read(&mut self, config: &MemorySessionsConfig) -> rusqlite::Result<Vec<Stored>> {
        let now = Now::new();
        let transaction = self.connection.transaction()?;
        let expired = now.millis.saturating_sub(millis(config.max_idle));
        transaction.execute("DELETE FROM session WHERE at <= ?", [expired])?;
        transaction.execute(
            "DELETE FROM session WHERE n NOT IN (SELECT n FROM session ORDER BY at DESC LIMIT ?)",
            [i64::try_from(config.max_sessions.max(1)).unwrap_or(i64::MAX)],
        )?;
        let (mut stored, mut unreadable) = (Vec::new(), Vec::new());
        {
            let all = "SELECT n, key, at, used, body FROM session ORDER BY n";
            let mut all = transaction.prepare(all)?;
            let mut rows = all.query([])?;
            while let Some(row) = rows.next()? {
                match Stored::read(row, &now) {
                    Some(session) => stored.push(session),
                    None => unreadable.push(row.get::<_, i64>(0)?),
                }
            }
        }
        for number in &unreadable {
            transaction.execute("DELETE FROM session WHERE n = ?", [number])?;
        }
        transaction.commit()?;
        if !unreadable.is_empty() {
            tracing::warn!(count = unreadable.len(), "stored sessions cannot be read, and end");
        }
        Ok(stored)
    }

    /// Writes what has changed: all or nothing.
    pub(super) fn apply(&mut self, changes: &Changes) -> rusqlite::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let transaction = self.connection.transaction()?;
        {
            let mut delete = transaction.prepare_cached("DELETE FROM session WHERE n = ?")?;
            let mut insert = transaction.prepare_cached(INSERT)?;
            for (number, state) in changes {
                match state {
                    Some((key, at, used, body)) => {
                        insert.execute(params![number.cast_signed(), key, at, used, body])?;
                    }
                    // Most sessions that end now have begun since the last time.
                    None if *number > self.newest => {}
                    None => {
                        delete.execute([number.cast_signed()])?;
                    }
                }
            }
        }
        transaction.commit()?;
        let newest = changes.last_key_value().map_or(0, |(number, _)| *number);
        self.newest = self.newest.max(newest);
        Ok(())
    }

    /// Writes all sessions in place of those in the file.
    pub(super) fn rewrite(&mut self, rows: &[Row]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        transaction.execute("DELETE FROM session", [])?;
        {
            let mut insert = transaction.prepare_cached(INSERT)?;
            for row in rows {
                let failed = |error: Box<_>| rusqlite::Error::ToSqlConversionFailure(error);
                let mut body = Vec::new();
                row.write_body(&mut body).map_err(|error| failed(error.into()))?;
                let body = String::from_utf8(body).map_err(|error| failed(error.into()))?;
                let number = row.number.cast_signed();
                insert.execute(params![number, row.key(), row.at, row.is_used, body])?;
            }
        }
        transaction.commit()?;
        let newest = rows.iter().map(|row| row.number).max().unwrap_or_default();
        self.newest = self.newest.max(newest);
        Ok(())
    }

    /// Writes when sessions were last used.
    pub(super) fn note_uses(&mut self, uses: &[(u64, Instant)]) -> rusqlite::Result<()> {
        if uses.is_empty() {
            return Ok(());
        }
        let now = Now::new();
        let transaction = self.connection.transaction()?;
        {
            let update = "UPDATE session SET at = ?, used = 1 WHERE n = ?";
            let mut update = transaction.prepare_cached(update)?;
            for (number, at) in uses {
                update.execute([now.millis_of(*at), number.cast_signed()])?;
            }
        }
        transaction.commit()
    }
}

impl Stored {
    /// `None` if it cannot be read.
    fn read(row: &rusqlite::Row<'_>, now: &Now) -> Option<Self> {
        let number = u64::try_from(row.get::<_, i64>(0).ok()?).ok().filter(|number| *number > 0)?;
        let key: Key = row.get(1).ok()?;
        let mut session: Session =
            serde_json::from_str(row.get_ref(4).ok()?.as_str().ok()?).ok()?;
        session.id = stand_in(&key);
        let at = now.instant_of(row.get(2).ok()?);
        Some(Self { number, session, at, is_used: row.get(3).ok()? })
    }
}

impl Row {
    pub(super) fn of(entry: &SessionEntry) -> Self {
        Self {
            number: entry.number,
            at: Now::new().millis_of(entry.used.unwrap_or(entry.filed)),
            is_used: entry.used.is_some(),
            session: Arc::clone(&entry.session),
        }
    }

    pub(super) fn key(&self) -> Key {
        key_of(&self.session.id)
    }

    /// Appends the session without its id, as JSON in one line.
    pub(super) fn write_body(&self, line: &mut Vec<u8>) -> serde_json::Result<()> {
        let mut session = Session::clone(&self.session);
        session.id = SessionId::from_header(NAMELESS);
        serde_json::to_writer(line, &session)
    }
}

impl Now {
    fn new() -> Self {
        // A clock before 1970 stands for 1970.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { instant: Instant::now(), millis: millis(since) }
    }

    fn millis_of(&self, at: Instant) -> i64 {
        self.millis.saturating_sub(millis(self.instant.saturating_duration_since(at)))
    }

    /// A time in the future, which a clock that was set back leaves, stands for now.
    fn instant_of(&self, at: i64) -> Instant {
        let ago = u64::try_from(self.millis.saturating_sub(at)).unwrap_or_default();
        self.instant.checked_sub(Duration::from_millis(ago)).unwrap_or(self.instant)
    }
}

/// Why SQLite refused, in a sentence for the operator.
pub(super) fn refused(path: &Path, error: &rusqlite::Error) -> FileSessionsError {
    let (path, reason) = (path.to_owned(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            FileSessionsError::InUse { path }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            FileSessionsError::Unsound { path, reason }
        }
        _ => FileSessionsError::Unusable { path, reason },
    }
}

/// Makes the file, if it is missing, before SQLite would with a mode of its own. SQLite's log gets the same.
pub(super) fn own(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

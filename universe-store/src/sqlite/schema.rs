//! The tables, and how a connection to them is set up.
//!
//! All universes share one `log`, in the order of commits: however many are busy, a commit writes
//! to the end of one B-tree. An entry points to the one before of the same universe (`prev`), and
//! every
//! [`MARK`]th is in `mark`, so that any stretch of a universe is found by walking back less than
//! [`MARK`] steps.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::Durability;
use crate::Size;

/// "Univ", in the file's header: the file is ours.
pub(super) const APPLICATION_ID: i32 = 0x556e_6976;

/// The format of the tables below, in the file's header as `user_version`.
pub(super) const FORMAT: i32 = 3;

/// The oldest format that can be read as it lies there.
pub(super) const OLDEST_READ: i32 = 2;

/// Every entry whose revision is a multiple of this is in `mark`.
pub(super) const MARK: u64 = 256;

/// How long to wait for a foreign connection, such as a backup, to let go of the file.
const BUSY: Duration = Duration::from_secs(5);

/// Unix milliseconds in `at` and `created_at`. A `seq` of 0 is none. `uni` is never used twice, so
/// it names one universe even if its `id` is taken again. `genesis` has the body that the log begins
/// with, at the revision `rev`, which is `oldest` in `head`. `doomed` has where the chains begin that are still to be
/// removed, each to its end or to a gap, where another one was removed before. `identity` has once more what `universe`
/// has, to compare it with. A `sum` is the CRC-32 of the numbers and the content of its row; format 1 had none, and in
/// format 2 it was that of `command` and `body` alone, which rows of that time keep.
const TABLES: &str = "
CREATE TABLE universe (
    uni INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX universe_by_age ON universe (created_at, id);
CREATE TABLE head (
    uni INTEGER PRIMARY KEY,
    rev INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    command BLOB,
    at INTEGER NOT NULL,
    oldest INTEGER NOT NULL DEFAULT 0,
    sum INTEGER
) STRICT;
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    uni INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    prev INTEGER NOT NULL,
    at INTEGER NOT NULL,
    command BLOB NOT NULL,
    body BLOB NOT NULL,
    sum INTEGER
) STRICT;
CREATE TABLE mark (
    uni INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (uni, rev)
) STRICT, WITHOUT ROWID;
CREATE TABLE genesis (
    uni INTEGER PRIMARY KEY,
    body BLOB NOT NULL,
    rev INTEGER NOT NULL DEFAULT 0,
    at INTEGER,
    sum INTEGER
) STRICT;
CREATE TABLE snap (
    uni INTEGER PRIMARY KEY,
    rev INTEGER NOT NULL,
    body BLOB NOT NULL,
    sum INTEGER
) STRICT;
CREATE TABLE doomed (seq INTEGER PRIMARY KEY, uni INTEGER NOT NULL) STRICT;
";

/// The table that format 2 did not have.
pub(super) const IDENTITY: &str = "
CREATE TABLE identity (
    uni INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sum INTEGER NOT NULL
) STRICT;
";

/// Lets a file of format 2 be read as one of the present format, with nothing changed in it.
const READ_2: &str = "
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW head AS SELECT *, NULL AS sum FROM main.head;
CREATE TEMP VIEW identity AS SELECT uni, id, name, created_at, NULL AS sum FROM main.universe;
";

/// Keyed entries of the last day by their command. Made when it is missing: servers that do not know it are not
/// harmed by it, so it is not part of the format.
const KEYED: &str = "
CREATE TABLE IF NOT EXISTS keyed (
    uni INTEGER NOT NULL,
    command BLOB NOT NULL,
    rev INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (uni, command)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS keyed_by_age ON keyed (at);
";

/// Opens the file for writing, with nothing changed in it, neither now nor by closing.
pub(super) fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// The format of the file, 0 for a new one.
pub(super) fn format(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Makes the tables in a new file, all or nothing.
///
/// This comes before the write-ahead log, so that application id and format are in the header of
/// the file itself, where they can be judged without opening it as a database.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE; {TABLES} {IDENTITY} \
         PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; COMMIT;"
    ))
}

/// The file's size, what of it is free, and the length of its write-ahead log.
pub(super) fn sizes(connection: &Connection) -> rusqlite::Result<Size> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let page = number("page_size")?;
    let bytes = |pages: i64| pages.saturating_mul(page).cast_unsigned();
    // There is none before the first write, and none where a server was stopped.
    let log = connection.path().and_then(|file| std::fs::metadata(format!("{file}-wal")).ok());
    Ok(Size {
        file: bytes(number("page_count")?),
        free: bytes(number("freelist_count")?),
        log: log.map_or(0, |log| log.len()),
    })
}

/// Whether the file can shrink in steps.
pub(super) fn can_shrink(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: i64 = connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0))?;
    Ok(mode == 2)
}

/// Writes the whole file afresh, without gaps and so that it can shrink from now on. Takes as much room again while it
/// lasts.
pub(super) fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;")
}

/// Makes a connection the writer. Memory-mapped reads stay off: a fault there kills the process.
pub(super) fn prepare_writer(
    connection: &Connection,
    durability: Durability,
) -> rusqlite::Result<()> {
    let synchronous = match durability {
        Durability::Fsync => "FULL",
        Durability::Os => "NORMAL",
    };
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; \
         PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; \
         PRAGMA cache_size = -4096; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
    ))?;
    connection.execute_batch(KEYED)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Opens the file for reading beside the writer. Where nothing can be written, a file without a write-ahead log is read
/// as one that nobody changes.
pub(super) fn connect_reader(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    let looked = format(&connection);
    if looked.as_ref().is_err_and(is_unwritable) && !has_log(file) {
        let name = percent_encoding(file);
        connection = Connection::open_with_flags(
            format!("file:{name}?immutable=1"),
            flags | OpenFlags::SQLITE_OPEN_URI,
        )?;
    }
    connection.execute_batch("PRAGMA cache_size = -2048; PRAGMA mmap_size = 0;")?;
    if format(&connection)? == OLDEST_READ {
        connection.execute_batch(READ_2)?;
    }
    Ok(connection)
}

/// Lets the heads of these universes be taken for damaged by this connection, with nothing changed in the file.
pub(super) fn distrust(connection: &Connection, universes: &[i64]) -> rusqlite::Result<()> {
    if universes.is_empty() {
        return Ok(());
    }
    let numbers = universes.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let sum = if format(connection)? == OLDEST_READ { "NULL" } else { "sum" };
    // No sum of a head is 0.
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; DROP VIEW IF EXISTS temp.head; \
         CREATE TEMP VIEW head AS SELECT uni, rev, seq, command, at, oldest, \
           CASE WHEN uni IN ({numbers}) THEN 0 ELSE {sum} END AS sum FROM main.head;"
    ))
}

/// Whether SQLite could not make the files that it needs beside the database.
pub(super) fn is_unwritable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

/// Whether the file has a write-ahead log, with content that is not in the file itself.
pub(super) fn has_log(file: &Path) -> bool {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// The file in the form of a URI: only these bytes have a meaning there.
fn percent_encoding(file: &Path) -> String {
    let text = file.to_string_lossy();
    text.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

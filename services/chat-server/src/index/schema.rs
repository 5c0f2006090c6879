//! The tables, their migrations, and how a connection to them is set up.
//!
//! Times are Unix microseconds. `msg` numbers messages in the order of commits over all sources; `seq` does so within
//! one source, without gaps. Nothing is ever removed from `message`: a deleted message stays as a row without words.
//! A chat is hidden (1) if it is a copy of one that a list leaves out, or (2) until it is known whether it is.
//! `word` has no text itself, only the positions of words; `term` has each word once, for parts of words. A source
//! whose configuration names another export keeps its rows under an id with an `@` in it, which is never served.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// "Chat", in the file's header: the file is ours.
pub(super) const APPLICATION_ID: i32 = 0x4368_6174;

/// The format of the tables below, in the file's header as `user_version`: how many of [`STEPS`] were taken.
#[expect(clippy::cast_possible_truncation, reason = "there are few steps")]
pub(super) const FORMAT: i32 = STEPS.len() as i32;

/// How long to wait for a foreign connection, such as a backup, to release the file.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// The migrations from each format to the next, beginning with an empty file. A released step never changes: a change
/// is another step.
const STEPS: &[&str] = &["
CREATE TABLE secret (key BLOB NOT NULL) STRICT;
INSERT INTO secret VALUES (randomblob(32));
CREATE TABLE source (
    src INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    mark TEXT,
    last INTEGER NOT NULL
) STRICT;
CREATE TABLE chat (
    chat INTEGER PRIMARY KEY,
    src INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    participants INTEGER,
    messages INTEGER NOT NULL,
    UNIQUE (src, id)
) STRICT;
CREATE TABLE person (
    person INTEGER PRIMARY KEY,
    src INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    username TEXT,
    phone TEXT,
    is_me INTEGER NOT NULL,
    UNIQUE (src, id)
) STRICT;
CREATE TABLE member (
    chat INTEGER NOT NULL,
    person INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (chat, person)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_person ON member (person, messages);
CREATE TABLE message (
    msg INTEGER PRIMARY KEY,
    src INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    person INTEGER,
    kinds INTEGER NOT NULL,
    edited INTEGER,
    deleted INTEGER NOT NULL,
    text TEXT NOT NULL,
    detail TEXT
) STRICT;
CREATE UNIQUE INDEX message_by_id ON message (chat, id);
CREATE UNIQUE INDEX message_by_sequence ON message (src, seq);
CREATE INDEX message_by_source ON message (src, at, msg, person, chat, kinds);
CREATE INDEX message_by_chat ON message (chat, at, msg, person, kinds);
CREATE INDEX message_by_person ON message (person, at, msg, chat, kinds);
CREATE VIRTUAL TABLE word USING fts5 (
    text, content = '', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE gram USING fts5 (
    text, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1'
);
INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
INSERT INTO gram (gram, rank) VALUES ('secure-delete', 1);
","
ALTER TABLE source ADD COLUMN report TEXT;
ALTER TABLE message ADD COLUMN topic TEXT;
ALTER TABLE message ADD COLUMN expires INTEGER;
CREATE INDEX message_by_expiry ON message (expires) WHERE expires IS NOT NULL AND deleted = 0;
UPDATE message SET kinds = kinds | 2048
    WHERE kinds & 512 AND detail -> '$.body.service' ->> 'action' IN ('call', 'missed_call', 'phone_call', 'group_call');
DROP TABLE gram;
DROP TABLE word;
CREATE VIRTUAL TABLE word USING fts5 (
    text, content = '', columnsize = 0,
    tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* M* Co So'\"
);
INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
","
UPDATE message SET detail = replace(detail, '\"body\":\"unknown\"', '\"body\":{\"unknown\":\"\"}') WHERE kinds & 1024;
","
ALTER TABLE source ADD COLUMN owner TEXT;
ALTER TABLE chat ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN names TEXT;
UPDATE message SET names = (SELECT group_concat(value ->> '$.name', char(10)) FROM json_each(detail, '$.attachments'))
    WHERE json_array_length(detail, '$.attachments') > 0;
UPDATE message SET kinds = kinds | 4096 WHERE text LIKE '%://%' OR text LIKE '%www.%';
CREATE TABLE term (n INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO word (word) VALUES ('delete-all');
"];

/// The step after which all messages have to be indexed again: the names of their files are searched, too.
const RELEARN: i32 = 4;

/// Opens the file for writing. Neither opening nor closing changes the file.
pub(super) fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise the bundled SQLite, which is built with STAT4, plans a statement again for every new value, which takes
    // ten times as long as carrying it out.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Whether the file is empty.
pub(super) fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// The application id and the format of the file, 0 and 0 for a new one.
pub(super) fn header(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let application = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let format = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, format))
}

/// Takes the steps from `format` to [`FORMAT`], each all or nothing.
pub(super) fn migrate(connection: &Connection, format: i32) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    let done = usize::try_from(format).unwrap_or(0);
    for (step, next) in STEPS.iter().zip(1..).skip(done) {
        connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {step} PRAGMA application_id = {APPLICATION_ID}; \
             PRAGMA user_version = {next};"
        ))?;
        if next == RELEARN {
            super::keep::relearn_all(connection)?;
        }
        connection.execute_batch("COMMIT;")?;
    }
    Ok(())
}

/// Makes a connection the writer. Deleted data is overwritten, so that deleted words do not remain in the file.
/// Memory-mapped reads stay off: a fault there kills the process.
pub(super) fn prepare_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; \
         PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; \
         PRAGMA cache_size = -65536; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// Opens the file for reading in parallel to a writer. Not as a read-only file: then the log of a killed writer could
/// not be read.
pub(super) fn connect_reader(file: &Path) -> rusqlite::Result<Connection> {
    let connection = connect(file)?;
    connection.execute_batch(
        "PRAGMA query_only = ON; PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

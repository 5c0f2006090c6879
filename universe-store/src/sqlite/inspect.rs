//! Reads a data directory while a server may be using it. Nothing is locked and nothing is changed.

use std::path::Path;

use rusqlite::{Connection, Transaction};

use super::directory::{self, DATABASE, OpenError};
use super::frame::Frame;
use super::reader::{self, Chunk};
use super::{chain, schema};
use crate::{Base, CommandId, Entry, Finding, Page, Record, Revision, Size, Snapshot, UniverseId};

/// The most findings of SQLite's own check that are reported.
const MAX_FINDINGS: usize = 20;

/// A data directory that is open for reading.
#[derive(Debug)]
pub struct Inspector {
    connection: Connection,
}

/// A read failed; has the database's message.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Unreadable(#[from] rusqlite::Error);

impl Unreadable {
    /// Whether there was no room for a file that was to be written.
    pub fn is_full(&self) -> bool {
        self.0.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
    }
}

/// The content of the directory at one moment.
#[derive(Debug)]
pub struct View<'i>(Transaction<'i>);

/// The entries after a revision in a log.
#[derive(Debug)]
pub enum Stretch {
    /// Entries, at least one unless the revision was the head.
    Entries(Vec<Entry>),
    /// The entries from the first to the last of these revisions cannot be read.
    Damaged(Revision, Revision),
}

impl Unreadable {
    /// Whether one universe is damaged, and not the file.
    pub fn is_of_one(&self) -> bool {
        matches!(self.0, rusqlite::Error::FromSqlConversionFailure(..))
    }
}

impl Inspector {
    /// Opens the directory for reading.
    ///
    /// # Errors
    /// [`OpenError`], if the directory does not have a store of a format that this program knows.
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        Self::open_file(dir, &dir.join(DATABASE))
    }

    /// Opens a file that is a store by itself, such as a backup; `dir` is named in errors.
    ///
    /// # Errors
    /// As for [`Inspector::open`].
    pub fn open_file(dir: &Path, file: &Path) -> Result<Self, OpenError> {
        Ok(Self { connection: directory::open_reader(dir, file)? })
    }

    /// The format that the directory has.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn format(&self) -> Result<i32, Unreadable> {
        Ok(schema::format(&self.connection)?)
    }

    /// The oldest format that can be read without being brought to the present one.
    pub const fn oldest_format() -> i32 {
        schema::OLDEST_READ
    }

    /// The size of the store.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn size(&self) -> Result<Size, Unreadable> {
        Ok(schema::sizes(&self.connection)?)
    }

    /// Writes the current content into a missing or empty file, without unused space.
    ///
    /// # Errors
    /// [`Unreadable`], also if the file cannot be written.
    pub fn copy_to(&self, file: &str) -> Result<(), Unreadable> {
        self.connection.execute("VACUUM INTO ?1", [file])?;
        Ok(())
    }

    /// The problems that SQLite finds in the file; empty if it is sound.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn integrity(&self) -> Result<Vec<String>, Unreadable> {
        let sql = format!("PRAGMA integrity_check({MAX_FINDINGS})");
        let mut statement = self.connection.prepare(&sql)?;
        let found: Result<Vec<String>, _> = statement.query_map([], |row| row.get(0))?.collect();
        let mut found = found?;
        found.retain(|finding| finding != "ok");
        Ok(found)
    }

    /// The number of universes.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn universes(&self) -> Result<u64, Unreadable> {
        Ok(reader::count(&self.connection)?)
    }

    /// The content at this moment, for as long as the view is kept. Meanwhile the server's write-ahead log grows.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn view(&self) -> Result<View<'_>, Unreadable> {
        Ok(View(self.connection.unchecked_transaction()?))
    }
}

impl View<'_> {
    /// What does not fit together: the records, heads and beginnings of the universes, and the log that all share.
    /// Reads the whole log.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn findings(&self) -> Result<Vec<Finding>, Unreadable> {
        Ok(chain::findings(&self.0)?)
    }

    /// What does not fit in the records, heads and beginnings of the universes, and heads that are before the end of
    /// their logs, without reading the whole log.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn problems(&self) -> Result<Vec<Finding>, Unreadable> {
        Ok(chain::look(&self.0)?.0)
    }

    /// Why nothing of a universe is to be read, if so.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn problem(&self, id: &UniverseId) -> Result<Option<String>, Unreadable> {
        let Some(frame) = Frame::find(&self.0, id.as_str())? else {
            return Ok(None);
        };
        match frame.problem(&self.0)? {
            Some(fault) => Ok(Some(fault.to_string())),
            None => Ok(chain::behind(&self.0)?.remove(&frame.uni)),
        }
    }

    /// One page of the universes.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn list(&self, page: &Page) -> Result<Vec<Record>, Unreadable> {
        Ok(reader::list(&self.0, page)?)
    }

    /// The record of a universe, if it exists.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn record(&self, id: &UniverseId) -> Result<Option<Record>, Unreadable> {
        Ok(reader::record(&self.0, id)?)
    }

    /// The body that its log begins with.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn base(&self, id: &UniverseId) -> Result<Option<Base>, Unreadable> {
        Ok(reader::base(&self.0, id)?)
    }

    /// Its snapshot, if there is one.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn snapshot(&self, id: &UniverseId) -> Result<Option<Snapshot>, Unreadable> {
        Ok(reader::snapshot(&self.0, id)?.flatten())
    }

    /// Some of the entries after a revision.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn after(&self, id: &UniverseId, revision: Revision) -> Result<Stretch, Unreadable> {
        let Some((uni, _)) = reader::locate(&self.0, id)? else {
            return Ok(Stretch::Entries(Vec::new()));
        };
        Ok(match reader::stretch(&self.0, uni, revision)? {
            Some(Chunk::Entries(entries, _)) => Stretch::Entries(entries),
            Some(Chunk::Damaged { first, last }) => Stretch::Damaged(first, last),
            // A view does not change.
            Some(Chunk::Trimmed { .. }) | None => Stretch::Entries(Vec::new()),
        })
    }

    /// As [`UniverseLog::landed`](crate::UniverseLog::landed); `None` if the universe does not exist.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> Result<Option<Revision>, Unreadable> {
        Ok(reader::landed(&self.0, id, command)?.flatten())
    }
}

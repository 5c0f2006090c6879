//! The values that are written to a store and read from it.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use super::{
    AppendError, CommandId, DeleteError, MAX_PAGE, MAX_WRITE, Revision, Timestamp, UniverseId,
};

/// The properties that a universe is created with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Its id.
    pub id: UniverseId,
    /// Its current name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The end of a universe's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last entry's revision.
    pub revision: Revision,
    /// The last entry's command, `None` at genesis.
    pub last_command_id: Option<CommandId>,
    /// The last entry's time; at genesis, that of creation.
    pub updated_at: Timestamp,
}

/// The data of a universe without its bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The properties that it was created with, and its current name.
    pub meta: Meta,
    /// Where its log ends.
    pub head: Head,
    /// Where its log begins: the oldest revision whose state can be read. Genesis until it is trimmed.
    pub oldest: Revision,
}

/// The body that a log begins with: the genesis, or the state at the revision that the log was trimmed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The revision it is at.
    pub revision: Revision,
    /// The time of that revision's entry; at genesis, that of creation.
    pub at: Timestamp,
    /// The state; opaque to the store.
    pub body: Bytes,
}

/// An entry to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The command it records.
    pub command_id: CommandId,
    /// When the command was accepted.
    pub at: Timestamp,
    /// What it says; opaque to the store.
    pub body: Bytes,
    /// Whether [`UniverseLog::landed`](super::UniverseLog::landed) finds it.
    pub keyed: bool,
}

/// A batch to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The revision the head must have.
    pub expected: Revision,
    /// The entries, in order.
    pub entries: Vec<NewEntry>,
    /// The universe's new name, if these entries change it; kept together with them.
    pub name: Option<String>,
}

/// The result of an append that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The head's revision.
    pub revision: Revision,
    /// Whether this call stored the batch; false if the last command was at the head before. An adapter that sends a
    /// batch twice and cannot know which of the two was stored returns false. An empty batch that fits counts as
    /// stored.
    pub stored: bool,
}

/// An entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the universe's log.
    pub revision: Revision,
    /// When its command was accepted.
    pub at: Timestamp,
    /// The command it records.
    pub command_id: CommandId,
    /// What it says; opaque to the store.
    pub body: Bytes,
}

/// A universe's state at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The revision of the last entry it includes.
    pub revision: Revision,
    /// The state; opaque to the store.
    pub body: Bytes,
}

/// The part of the list to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Only records after this position; `None` is the beginning.
    pub after: Option<Position>,
    /// The most records; at most [`MAX_PAGE`](super::MAX_PAGE).
    pub limit: usize,
}

/// A position in the list. It stays valid when universes are created or deleted.
///
/// Its text form can be sent to clients and read back. Clients must treat it as opaque.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub(super) created_at: Timestamp,
    /// The universe at this position.
    pub id: UniverseId,
}

/// The text is not a [`Position`] from a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a position in the list of universes")]
pub struct InvalidPosition;

impl Page {
    /// The first page, with as many records as one may have.
    pub const FIRST: Self = Self { after: None, limit: MAX_PAGE };

    /// The page after one of as many records, unless it was the last.
    pub fn following(records: &[Record]) -> Option<Self> {
        let last = records.last().filter(|_| records.len() == MAX_PAGE)?;
        Some(Self { after: Some(last.position()), ..Self::FIRST })
    }
}

impl Record {
    /// Its position in the list: a page after it begins with the next record.
    pub fn position(&self) -> Position {
        Position { created_at: self.meta.created_at, id: self.meta.id.clone() }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~{}", self.created_at.as_millis(), self.id)
    }
}

impl FromStr for Position {
    type Err = InvalidPosition;

    fn from_str(text: &str) -> Result<Self, InvalidPosition> {
        let (millis, id) = text.split_once('~').ok_or(InvalidPosition)?;
        let created_at = Timestamp::from_millis(millis.parse().map_err(|_| InvalidPosition)?);
        Ok(Self { created_at, id: UniverseId::new(id).map_err(|_| InvalidPosition)? })
    }
}

impl Base {
    /// The head of a log that has nothing but this.
    pub fn head(&self) -> Head {
        Head { revision: self.revision, last_command_id: None, updated_at: self.at }
    }
}

impl NewEntry {
    pub(super) fn at_revision(&self, revision: Revision) -> Entry {
        Entry { revision, at: self.at, command_id: self.command_id, body: self.body.clone() }
    }
}

/// What to do with an append, judged by the head alone.
#[derive(Debug)]
pub enum Admission {
    /// Append it; this will be the head.
    Proceed(Head),
    /// There is nothing to do.
    Landed,
}

impl Head {
    /// The one rule of appending, for every adapter: whether a batch may be appended after this head.
    ///
    /// # Errors
    /// [`AppendError::Conflict`].
    pub fn admit(&self, append: &Append) -> Result<Admission, AppendError> {
        let last = append.entries.last();
        if last.is_some_and(|last| self.last_command_id == Some(last.command_id)) {
            return Ok(Admission::Landed);
        }
        if self.revision != append.expected {
            return Err(AppendError::Conflict { head: *self });
        }
        let Some(last) = last else {
            return Ok(Admission::Proceed(*self));
        };
        Ok(Admission::Proceed(Self {
            revision: Revision(self.revision.0.saturating_add(append.entries.len() as u64)),
            last_command_id: Some(last.command_id),
            updated_at: last.at,
        }))
    }

    /// The same for deleting a universe.
    ///
    /// # Errors
    /// [`DeleteError::Conflict`].
    pub fn admit_delete(&self, expected: Option<Revision>) -> Result<(), DeleteError> {
        match expected {
            Some(expected) if expected != self.revision => {
                Err(DeleteError::Conflict { head: *self })
            }
            _ => Ok(()),
        }
    }
}

/// Something in a store that does not fit together, or is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The universe's id, or `number` and its number in the store if that is all that is known.
    pub universe: String,
    /// What is wrong, as a fragment that can follow "universe sol: ".
    pub problem: String,
}

/// The most findings that are logged when a store is opened.
const MAX_LOGGED: usize = 20;

impl Finding {
    /// Logs what was found when a store was opened.
    pub(crate) fn log(findings: &[Self]) {
        for Self { universe, problem } in findings.iter().take(MAX_LOGGED) {
            tracing::error!(%universe, %problem, "a universe is damaged: `universe-server check` says what to do");
        }
        if findings.len() > MAX_LOGGED {
            tracing::error!(found = findings.len(), "more of the universes are damaged");
        }
    }
}

/// The disk space that the universes use, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The size of the database file, without data that is still only in the write-ahead log.
    pub file: u64,
    /// The unused part of the file.
    pub free: u64,
    /// The size of the write-ahead log beside the file.
    pub log: u64,
}

impl Append {
    /// The size of the batch, in bytes.
    fn size(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        self.entries
            .iter()
            .fold(name, |sum, entry| sum.saturating_add(ENTRY_OVERHEAD + entry.body.len()))
    }

    /// The size of the batch, in bytes: its bodies, its name, and a little for each entry.
    ///
    /// # Errors
    /// [`AppendError::TooLarge`] beyond [`MAX_WRITE`].
    pub fn checked_size(&self) -> Result<usize, AppendError> {
        within(self.size(), |max| AppendError::TooLarge { max })
    }
}

/// The size of a write, unless it is beyond [`MAX_WRITE`].
pub(super) fn within<E>(size: usize, too_large: impl FnOnce(usize) -> E) -> Result<usize, E> {
    if size > MAX_WRITE { Err(too_large(MAX_WRITE)) } else { Ok(size) }
}

/// What an entry costs besides its body, in bytes: it bounds how many fit into [`MAX_WRITE`].
pub(super) const ENTRY_OVERHEAD: usize = 64;

//! What goes into a store and what comes out.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use super::{AppendError, CommandId, DeleteError, MAX_WRITE, Revision, Timestamp, UniverseId};

/// What a universe is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Its id.
    pub id: UniverseId,
    /// Its present name.
    pub name: String,
    /// When it was made.
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

/// All that is known of a universe without its bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What it was made with, under its present name.
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

/// One thing to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// The command it records.
    pub command_id: CommandId,
    /// When that was accepted.
    pub at: Timestamp,
    /// What it says; opaque to the store.
    pub body: Bytes,
    /// Whether [`UniverseLog::landed`](super::UniverseLog::landed) is to find it.
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

/// What came of a batch that is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The head's revision.
    pub revision: Revision,
    /// Whether this call stored the batch; false if the last command was at the head before. An adapter that sends a
    /// batch twice, and cannot know which of the two was stored, gives false. An empty batch that fits is stored.
    pub stored: bool,
}

/// One thing that was appended.
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

/// Which part of the list to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Only what comes after this; `None` is the beginning.
    pub after: Option<Position>,
    /// How many at most; at most [`MAX_PAGE`](super::MAX_PAGE).
    pub limit: usize,
}

/// A place in the list, which stays valid whatever is created or deleted.
///
/// Its text form is meant to be handed out and given back; readers must not look into it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub(super) created_at: Timestamp,
    pub(super) id: UniverseId,
}

/// A text is no [`Position`] that a store has given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a position in the list of universes")]
pub struct InvalidPosition;

impl Record {
    /// Its place in the list: a page after it begins with the next one.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            created_at: self.meta.created_at,
            id: self.meta.id.clone(),
        }
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
        Ok(Self {
            created_at,
            id: UniverseId::new(id).map_err(|_| InvalidPosition)?,
        })
    }
}

impl Base {
    /// The head of a log that has nothing but this.
    pub(super) fn head(&self) -> Head {
        Head {
            revision: self.revision,
            last_command_id: None,
            updated_at: self.at,
        }
    }
}

impl NewEntry {
    pub(super) fn at_revision(&self, revision: Revision) -> Entry {
        Entry {
            revision,
            at: self.at,
            command_id: self.command_id,
            body: self.body.clone(),
        }
    }
}

/// What an append comes to, judged by the head alone.
#[derive(Debug)]
pub(super) enum Admission {
    /// Append it; this will be the head.
    Proceed(Head),
    /// There is nothing to do.
    Landed,
}

impl Head {
    /// The one rule of appending, for every adapter.
    pub(super) fn admit(&self, append: &Append) -> Result<Admission, AppendError> {
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

    pub(super) fn admit_delete(&self, expected: Option<Revision>) -> Result<(), DeleteError> {
        match expected {
            Some(expected) if expected != self.revision => {
                Err(DeleteError::Conflict { head: *self })
            }
            _ => Ok(()),
        }
    }
}

/// How much room the universes take on the disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The file that has all of them, without what is in its write-ahead log alone.
    pub file: u64,
    /// What of the file nothing is in.
    pub free: u64,
    /// The write-ahead log beside the file.
    pub log: u64,
}

impl Append {
    /// What the batch weighs, in bytes.
    pub(super) fn size(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        self.entries.iter().fold(name, |sum, entry| {
            sum.saturating_add(ENTRY_OVERHEAD + entry.body.len())
        })
    }

    pub(super) fn checked_size(&self) -> Result<usize, AppendError> {
        let size = self.size();
        if size > MAX_WRITE {
            Err(AppendError::TooLarge { max: MAX_WRITE })
        } else {
            Ok(size)
        }
    }
}

/// What an entry costs besides its body, in bytes: it bounds how many fit into [`MAX_WRITE`].
pub(super) const ENTRY_OVERHEAD: usize = 64;

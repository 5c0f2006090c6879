//! The values of columns: revisions, heads and checksums as SQLite has them.

use rusqlite::Row;
use uuid::Uuid;

use crate::{CommandId, Head, Revision, Timestamp};

/// Bodies of entries beyond this many bytes are written into their place and read from it, not through the values of a
/// row, which the database holds twice.
pub(super) const LARGE: usize = 1 << 20;

/// What is kept with a body, to recognise it by.
pub(super) fn sum(command: &[u8], body: &[u8]) -> i64 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(command);
    sum.update(body);
    i64::from(sum.finalize())
}

/// A head from three columns, beginning at `first`: revision, command, time.
pub(super) fn head(row: &Row<'_>, first: usize) -> rusqlite::Result<Head> {
    let command: Option<[u8; 16]> = row.get(first + 1)?;
    Ok(Head {
        revision: revision(row.get(first)?),
        last_command_id: command.map(|bytes| CommandId(Uuid::from_bytes(bytes))),
        updated_at: Timestamp::from_millis(row.get(first + 2)?),
    })
}

/// A revision as SQLite has it. None is beyond [`Revision::MAX`] but one that a reader made up.
pub(super) fn integer(revision: Revision) -> i64 {
    i64::try_from(revision.0).unwrap_or(i64::MAX)
}

/// A revision from SQLite.
pub(super) fn revision(integer: i64) -> Revision {
    Revision(integer.cast_unsigned())
}

//! The values of columns: revisions and checksums as SQLite has them.

use crate::Revision;

/// Bodies of entries beyond this many bytes are written into their place and read from it, not through the values of a
/// row, which the database holds twice.
pub(super) const LARGE: usize = 1 << 20;

/// The bit that tells sums over a place from those of format 2, which were over the content alone.
const PLACED: i64 = 1 << 32;

/// What is kept with a row, to recognise it by: over its numbers, which say where it belongs, and its content.
pub(super) fn sum(place: &[i64], parts: &[&[u8]]) -> i64 {
    let mut sum = crc32fast::Hasher::new();
    for number in place {
        sum.update(&number.to_le_bytes());
    }
    for part in parts {
        sum.update(part);
    }
    PLACED | i64::from(sum.finalize())
}

/// Whether a row is what was written, by the sum that it has.
pub(super) fn is_sum(kept: i64, place: &[i64], parts: &[&[u8]]) -> bool {
    let place = if kept & PLACED == 0 { &[] } else { place };
    kept | PLACED == sum(place, parts)
}

/// The sum of a head: universe, revision, place of the entry, time, oldest revision; command.
pub(super) fn head_sum(numbers: [i64; 5], command: Option<&[u8]>) -> i64 {
    sum(&numbers, &[command.unwrap_or_default()])
}

/// The sum of an identity. The length separates the texts.
pub(super) fn identity_sum(uni: i64, id: &str, name: &str, created_at: i64) -> i64 {
    let length = i64::try_from(id.len()).unwrap_or(i64::MAX);
    sum(&[uni, created_at, length], &[id.as_bytes(), name.as_bytes()])
}

/// A revision as SQLite has it. None is beyond [`Revision::MAX`] but one that a reader made up.
pub(super) fn integer(revision: Revision) -> i64 {
    i64::try_from(revision.0).unwrap_or(i64::MAX)
}

/// A revision from SQLite.
pub(super) fn revision(integer: i64) -> Revision {
    Revision(integer.cast_unsigned())
}

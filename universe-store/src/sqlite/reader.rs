//! Reads from the tables.

use std::io::Read as _;

use bytes::Bytes;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};
use uuid::Uuid;

use super::columns::{LARGE, integer, is_sum, revision};
use super::frame::{Frame, HeadRow, Identity};
use super::schema::MARK;
use crate::{
    Base, CommandId, Entry, Head, KEY_TIME, MAX_PAGE, Meta, Page, Record, Revision, Snapshot,
    Timestamp, UniverseId,
};

/// A stretch of a log is read until its bodies exceed this many bytes.
const CHUNK_BYTES: i64 = 1 << 20;

/// What is found after a revision of a universe.
pub(super) enum Chunk {
    /// Consecutive entries, and whether they reach the head.
    Entries(Vec<Entry>, bool),
    /// The log begins later.
    Trimmed { oldest: Revision, head: Revision },
    /// The next entries, from the first to the last of these revisions, cannot be read.
    Damaged { first: Revision, last: Revision },
}

/// A universe's number and its head's revision.
pub(super) fn locate(
    connection: &Connection,
    id: &UniverseId,
) -> rusqlite::Result<Option<(i64, Revision)>> {
    let sql = "SELECT uni, rev FROM universe JOIN head USING (uni) WHERE id = ?1";
    let found = |row: &Row<'_>| Ok((row.get(0)?, revision(row.get(1)?)));
    connection.prepare_cached(sql)?.query_row([id.as_str()], found).optional()
}

/// An error if what is known of it does not fit together.
pub(super) fn record(connection: &Connection, id: &UniverseId) -> rusqlite::Result<Option<Record>> {
    Ok(find(connection, id)?.map(|(.., record)| record))
}

/// The same with the universe's number and the place of its last entry before it.
pub(super) fn find(
    connection: &Connection,
    id: &UniverseId,
) -> rusqlite::Result<Option<(i64, i64, Record)>> {
    let Some(frame) = Frame::find(connection, id.as_str())? else {
        return Ok(None);
    };
    if let Some(fault) = frame.problem(connection)? {
        return Err(damage(0, &format!("universe {id}: {fault}")));
    }
    let Frame { uni, record: Some(record), head: Some(head), .. } = frame else {
        return Ok(None);
    };
    Ok(Some((uni, head.seq, to_record(record, &head)?)))
}

/// The outer `None` is for no such universe.
pub(super) fn landed(
    connection: &Connection,
    id: &UniverseId,
    command: CommandId,
) -> rusqlite::Result<Option<Option<Revision>>> {
    let sql = "SELECT keyed.rev FROM universe LEFT JOIN keyed \
               ON keyed.uni = universe.uni AND command = ?2 AND at >= ?3 WHERE id = ?1";
    let old = Timestamp::now().before(KEY_TIME).as_millis();
    let found = |row: &Row<'_>| Ok(row.get::<_, Option<i64>>(0)?.map(revision));
    connection
        .prepare_cached(sql)?
        .query_row(params![id.as_str(), command.0.as_bytes(), old], found)
        .optional()
}

pub(super) fn count(connection: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM universe";
    let count: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    Ok(count.cast_unsigned())
}

pub(super) fn list(connection: &Connection, page: &Page) -> rusqlite::Result<Vec<Record>> {
    let limit = i64::try_from(page.limit.min(MAX_PAGE)).unwrap_or(i64::MAX);
    // Nothing compares higher than a blob, so this is before every universe.
    let (millis, id) = page.after.as_ref().map_or((i64::MAX, None), |position| {
        (position.created_at.as_millis(), Some(position.id.as_str()))
    });
    let sql = "SELECT id, name, created_at, rev, seq, command, at, oldest, sum FROM universe JOIN head USING (uni) \
               WHERE (created_at, id) < (?1, coalesce(?2, x'')) \
               ORDER BY created_at DESC, id DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![millis, id, limit], |row| {
        to_record(Identity::of_row(row, 0)?, &HeadRow::of_row(row, 3)?)
    })?;
    // One whose id is none is reported otherwise, and keeps no other from the list.
    let is_listed = |row: &rusqlite::Result<_>| !row.as_ref().is_err_and(is_damage);
    rows.filter(is_listed).collect()
}

pub(super) fn base(connection: &Connection, id: &UniverseId) -> rusqlite::Result<Option<Base>> {
    let sql = "SELECT rev, coalesce(at, created_at), uni, sum, at \
               FROM universe JOIN genesis USING (uni) WHERE id = ?1";
    let found = |row: &Row<'_>| {
        let place = [row.get(2)?, row.get(0)?, row.get::<_, Option<i64>>(4)?.unwrap_or_default()];
        Ok(Base {
            revision: revision(row.get(0)?),
            at: Timestamp::from_millis(row.get(1)?),
            body: state(connection, "genesis", row, 2, &place, &[])?,
        })
    };
    connection.prepare_cached(sql)?.query_row([id.as_str()], found).optional()
}

/// The outer `None` is for no such universe.
pub(super) fn oldest_keyed(
    connection: &Connection,
    id: &UniverseId,
) -> rusqlite::Result<Option<Option<Revision>>> {
    let sql = "SELECT (SELECT min(rev) FROM keyed WHERE keyed.uni = universe.uni AND at >= ?2) \
               FROM universe WHERE id = ?1";
    let old = Timestamp::now().before(KEY_TIME).as_millis();
    let found = |row: &Row<'_>| Ok(row.get::<_, Option<i64>>(0)?.map(revision));
    connection.prepare_cached(sql)?.query_row(params![id.as_str(), old], found).optional()
}

/// The outer `None` is for no such universe.
pub(super) fn snapshot(
    connection: &Connection,
    id: &UniverseId,
) -> rusqlite::Result<Option<Option<Snapshot>>> {
    let sql = "SELECT rev, snap.uni, sum FROM universe LEFT JOIN snap USING (uni) WHERE id = ?1";
    let found = |row: &Row<'_>| {
        let Some(rev) = row.get::<_, Option<i64>>(0)? else {
            return Ok(None);
        };
        let body = state(connection, "snap", row, 1, &[row.get(1)?, rev], &[])?;
        Ok(Some(Snapshot { revision: revision(rev), body }))
    };
    connection.prepare_cached(sql)?.query_row([id.as_str()], found).optional()
}

/// The entries after a revision, up to the next mark, the head or [`CHUNK_BYTES`], but at least one
/// if there is any. `None` if the universe was deleted.
pub(super) fn chunk(
    connection: &Connection,
    uni: i64,
    after: Revision,
) -> rusqlite::Result<Option<Chunk>> {
    // One view of the tables for all that follows.
    let view = connection.unchecked_transaction()?;
    stretch(&view, uni, after)
}

/// [`chunk`], of tables that do not change meanwhile.
pub(super) fn stretch(
    view: &Connection,
    uni: i64,
    after: Revision,
) -> rusqlite::Result<Option<Chunk>> {
    let Some(found) = HeadRow::read(view, uni)? else {
        return Ok(None);
    };
    if !found.is_right(view, uni)? {
        return Err(damage(0, "a head is not what was written"));
    }
    let (head, last, oldest) = (revision(found.rev), found.seq, revision(found.oldest));
    if after < oldest {
        return Ok(Some(Chunk::Trimmed { oldest, head }));
    }
    let end = next_mark(after).min(head);
    let seqs = match walk(view, uni, after, end, head, last) {
        Err(error) if is_damage(&error) => scan(view, uni, after, end),
        walked => walked?,
    };
    let mut entries = Vec::with_capacity(seqs.len());
    let (mut bytes, mut filled) = (0, false);
    let sql = "SELECT rev, at, command, body, sum, prev FROM log WHERE seq = ?1";
    let mut statement = view.prepare_cached(sql)?;
    let sql = "SELECT rev, at, command, seq, sum, prev FROM log WHERE seq = ?1";
    let mut apart = view.prepare_cached(sql)?;
    let mut expected = after.next();
    for (found, seq, length) in seqs.iter().copied().rev() {
        if found != expected {
            break;
        }
        let is_large = usize::try_from(length).is_ok_and(|length| length > LARGE);
        filled |= is_large;
        let read = if is_large {
            apart.query_row([seq], |row| {
                to_entry(row, uni, seq, |place, command| state(view, "log", row, 3, place, command))
            })
        } else {
            statement.query_row([seq], |row| {
                to_entry(row, uni, seq, |place, command| body(row, 3, place, command))
            })
        };
        match read {
            Ok(entry) => entries.push(entry),
            Err(error) if is_damage(&error) => break,
            Err(error) => return Err(error),
        }
        expected = expected.next();
        bytes += length;
        if bytes > CHUNK_BYTES {
            break;
        }
    }
    if entries.is_empty() && after < end {
        let first = after.next();
        let beyond = seqs.iter().map(|(found, ..)| *found);
        let beyond = beyond.filter(|found| *found > first).min();
        let last = beyond.map_or(end, |beyond| Revision(beyond.0.saturating_sub(1)));
        tracing::error!(uni, %first, %last, "entries of a log cannot be read");
        return Ok(Some(Chunk::Damaged { first, last }));
    }
    if filled {
        // Their pages are of no further use.
        let _released = view.release_memory();
    }
    let complete = entries.last().map_or(after, |entry| entry.revision) >= head;
    Ok(Some(Chunk::Entries(entries, complete)))
}

/// Where the entry of a revision is, and its command.
pub(super) fn place(
    view: &Connection,
    uni: i64,
    at: Revision,
    head: Revision,
    last: i64,
) -> rusqlite::Result<(i64, CommandId)> {
    let before = Revision(at.0.saturating_sub(1));
    let end = next_mark(before).min(head);
    let walked = walk(view, uni, before, end, head, last)?;
    let (_, seq, _) = walked.last().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let sql = "SELECT command FROM log WHERE seq = ?1";
    let command = view
        .prepare_cached(sql)?
        .query_row([seq], |row| Ok(CommandId(Uuid::from_bytes(row.get(0)?))))?;
    Ok((*seq, command))
}

/// Whether the stored data is damaged, and not the access to it.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::QueryReturnedNoRows
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..) => true,
        error => error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt),
    }
}

fn next_mark(after: Revision) -> Revision {
    Revision((after.0 / MARK + 1) * MARK)
}

/// Where the entries after a revision are, up to `end`, which is the next mark or the head, the last first: its
/// revision, its place, the length of its body. An entry that is not where it belongs is an error, never a gap.
fn walk(
    view: &Connection,
    uni: i64,
    after: Revision,
    end: Revision,
    head: Revision,
    last: i64,
) -> rusqlite::Result<Vec<(Revision, i64, i64)>> {
    let (mut at, mut seq) = (end, last);
    if end < head {
        seq = mark(view, uni, end)?;
    }
    let mut seqs = Vec::new();
    let sql = "SELECT prev, length(body) FROM log WHERE seq = ?1 AND uni = ?2 AND rev = ?3";
    let mut step = view.prepare_cached(sql)?;
    while at > after {
        let (prev, length) =
            step.query_row([seq, uni, integer(at)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        seqs.push((at, seq, length));
        seq = prev;
        at = Revision(at.0 - 1);
    }
    Ok(seqs)
}

/// What [`walk`] gives, with gaps, of a log that is damaged: looked for among the entries of all universes, from the
/// mark before on. Ends where it cannot read on.
fn scan(view: &Connection, uni: i64, after: Revision, end: Revision) -> Vec<(Revision, i64, i64)> {
    let from = mark(view, uni, Revision(after.0 / MARK * MARK)).unwrap_or(0);
    let sql = "SELECT rev, seq, length(body) FROM log WHERE seq >= ?1 AND uni = ?2 AND rev > ?3 AND rev <= ?4 \
               ORDER BY seq LIMIT ?5";
    let Ok(mut statement) = view.prepare_cached(sql) else {
        return Vec::new();
    };
    let limit = MARK.cast_signed();
    let bounds = [from, uni, integer(after), integer(end), limit];
    let rows =
        statement.query_map(bounds, |row| Ok((revision(row.get(0)?), row.get(1)?, row.get(2)?)));
    let mut found: Vec<_> =
        rows.map_or_else(|_| Vec::new(), |rows| rows.map_while(Result::ok).collect());
    found.reverse();
    found
}

fn mark(view: &Connection, uni: i64, at: Revision) -> rusqlite::Result<i64> {
    let sql = "SELECT seq FROM mark WHERE uni = ?1 AND rev = ?2";
    view.prepare_cached(sql)?.query_row([uni, integer(at)], |row| row.get(0))
}

fn to_record(record: Identity, head: &HeadRow) -> rusqlite::Result<Record> {
    let id = UniverseId::new(record.id).map_err(|error| damage(0, &error.to_string()))?;
    let command = head.command.as_deref().map(Uuid::from_slice).transpose();
    let command = command.map_err(|error| damage(0, &error.to_string()))?;
    let created_at = Timestamp::from_millis(record.created_at);
    Ok(Record {
        meta: Meta { id, name: record.name, created_at },
        head: Head {
            revision: revision(head.rev),
            last_command_id: command.map(CommandId),
            updated_at: Timestamp::from_millis(head.at),
        },
        oldest: revision(head.oldest),
    })
}

/// An entry in a row: revision, time, command, body, sum, the place of the one before.
fn to_entry(
    row: &Row<'_>,
    uni: i64,
    seq: i64,
    body: impl FnOnce(&[i64], &[u8]) -> rusqlite::Result<Bytes>,
) -> rusqlite::Result<Entry> {
    let (rev, at): (i64, i64) = (row.get(0)?, row.get(1)?);
    let command: [u8; 16] = row.get(2)?;
    Ok(Entry {
        revision: revision(rev),
        at: Timestamp::from_millis(at),
        command_id: CommandId(Uuid::from_bytes(command)),
        body: body(&[uni, rev, seq, row.get(5)?, at], &command)?,
    })
}

/// The `body` of a table at the place that a column has, with its sum in the column after it. Large ones are not in
/// memory twice, as a row's are. The row that is being read keeps the view of the tables as it is.
fn state(
    connection: &Connection,
    table: &str,
    row: &Row<'_>,
    column: usize,
    place: &[i64],
    command: &[u8],
) -> rusqlite::Result<Bytes> {
    let mut blob = connection.blob_open("main", table, "body", row.get(column)?, true)?;
    let mut body = vec![0; blob.len()];
    blob.read_exact(&mut body).map_err(|_| {
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        rusqlite::Error::SqliteFailure(corrupt, None)
    })?;
    intact(body.into(), row, column, place, command)
}

/// A body and its sum, in the column after it.
fn body(row: &Row<'_>, column: usize, place: &[i64], command: &[u8]) -> rusqlite::Result<Bytes> {
    intact(row.get::<_, Vec<u8>>(column)?.into(), row, column, place, command)
}

/// A body, if its sum in the column after it is right.
fn intact(
    body: Bytes,
    row: &Row<'_>,
    column: usize,
    place: &[i64],
    command: &[u8],
) -> rusqlite::Result<Bytes> {
    let kept: Option<i64> = row.get(column + 1)?;
    if kept.is_some_and(|kept| !is_sum(kept, place, &[command, &body])) {
        return Err(damage(column, "it is not what was written"));
    }
    Ok(body)
}

fn damage(column: usize, problem: &str) -> rusqlite::Error {
    let blob = rusqlite::types::Type::Blob;
    rusqlite::Error::FromSqlConversionFailure(column, blob, problem.into())
}

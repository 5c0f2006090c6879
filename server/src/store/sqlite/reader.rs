//! What is read from the tables.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::ledger::{head, integer, revision};
use super::schema::MARK;
use crate::store::{
    CommandId, Entry, KEY_TIME, MAX_PAGE, Meta, Page, Record, Revision, Snapshot, Timestamp,
    UniverseId,
};

/// A stretch of a log is read until its bodies exceed this many bytes.
const CHUNK_BYTES: i64 = 1 << 20;

/// Consecutive entries of a universe.
pub(super) struct Chunk {
    pub(super) entries: Vec<Entry>,
    /// Whether they reach the head.
    pub(super) complete: bool,
}

/// A universe's number and its head's revision.
pub(super) fn locate(
    connection: &Connection,
    id: &UniverseId,
) -> rusqlite::Result<Option<(i64, Revision)>> {
    let sql = "SELECT uni, rev FROM universe JOIN head USING (uni) WHERE id = ?1";
    let found = |row: &Row<'_>| Ok((row.get(0)?, revision(row.get(1)?)));
    connection
        .prepare_cached(sql)?
        .query_row([id.as_str()], found)
        .optional()
}

pub(super) fn record(connection: &Connection, id: &UniverseId) -> rusqlite::Result<Option<Record>> {
    let sql = "SELECT id, name, created_at, rev, command, at \
               FROM universe JOIN head USING (uni) WHERE id = ?1";
    connection
        .prepare_cached(sql)?
        .query_row([id.as_str()], to_record)
        .optional()
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

pub(super) fn list(connection: &Connection, page: &Page) -> rusqlite::Result<Vec<Record>> {
    let limit = i64::try_from(page.limit.min(MAX_PAGE)).unwrap_or(i64::MAX);
    // Nothing compares higher than a blob, so this is before every universe.
    let (millis, id) = page.after.as_ref().map_or((i64::MAX, None), |position| {
        (position.created_at.as_millis(), Some(position.id.as_str()))
    });
    let sql = "SELECT id, name, created_at, rev, command, at FROM universe JOIN head USING (uni) \
               WHERE (created_at, id) < (?1, coalesce(?2, x'')) \
               ORDER BY created_at DESC, id DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![millis, id, limit], to_record)?;
    rows.collect()
}

pub(super) fn genesis(connection: &Connection, id: &UniverseId) -> rusqlite::Result<Option<Bytes>> {
    let sql = "SELECT body FROM universe JOIN genesis USING (uni) WHERE id = ?1";
    let body = |row: &Row<'_>| row.get::<_, Vec<u8>>(0);
    let found = connection
        .prepare_cached(sql)?
        .query_row([id.as_str()], body)
        .optional()?;
    Ok(found.map(Bytes::from))
}

/// The outer `None` is for no such universe.
pub(super) fn snapshot(
    connection: &Connection,
    id: &UniverseId,
) -> rusqlite::Result<Option<Option<Snapshot>>> {
    let sql = "SELECT rev, body FROM universe LEFT JOIN snap USING (uni) WHERE id = ?1";
    let found = |row: &Row<'_>| {
        let Some(rev) = row.get::<_, Option<i64>>(0)? else {
            return Ok(None);
        };
        let body = Bytes::from(row.get::<_, Vec<u8>>(1)?);
        Ok(Some(Snapshot {
            revision: revision(rev),
            body,
        }))
    };
    connection
        .prepare_cached(sql)?
        .query_row([id.as_str()], found)
        .optional()
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
    let sql = "SELECT rev, seq FROM head WHERE uni = ?1";
    let head = |row: &Row<'_>| Ok((revision(row.get(0)?), row.get(1)?));
    let found = view
        .prepare_cached(sql)?
        .query_row([uni], head)
        .optional()?;
    let Some((head, last)) = found else {
        return Ok(None);
    };
    let seqs = walk(&view, uni, after, head, last)?;
    let mut entries = Vec::with_capacity(seqs.len());
    let mut bytes = 0;
    let sql = "SELECT rev, at, command, body FROM log WHERE seq = ?1";
    let mut statement = view.prepare_cached(sql)?;
    for (seq, length) in seqs.into_iter().rev() {
        entries.push(statement.query_row([seq], to_entry)?);
        bytes += length;
        if bytes > CHUNK_BYTES {
            break;
        }
    }
    let complete = entries.last().map_or(after, |entry| entry.revision) >= head;
    Ok(Some(Chunk { entries, complete }))
}

/// Where the entries after a revision are, up to the next mark or the head, the last first, each
/// with the length of its body. An entry that is not where it belongs is an error, never a gap.
fn walk(
    view: &Connection,
    uni: i64,
    after: Revision,
    head: Revision,
    last: i64,
) -> rusqlite::Result<Vec<(i64, i64)>> {
    let mark = Revision((after.0 / MARK + 1) * MARK);
    let (mut at, mut seq) = (head, last);
    if mark < head {
        let sql = "SELECT seq FROM mark WHERE uni = ?1 AND rev = ?2";
        seq = view
            .prepare_cached(sql)?
            .query_row([uni, integer(mark)], |row| row.get(0))?;
        at = mark;
    }
    let mut seqs = Vec::new();
    let sql = "SELECT prev, length(body) FROM log WHERE seq = ?1 AND uni = ?2 AND rev = ?3";
    let mut step = view.prepare_cached(sql)?;
    while at > after {
        let (prev, length) = step.query_row([seq, uni, integer(at)], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        seqs.push((seq, length));
        seq = prev;
        at = Revision(at.0 - 1);
    }
    Ok(seqs)
}

fn to_record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let id: String = row.get(0)?;
    let id = UniverseId::new(id).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })?;
    let created_at = Timestamp::from_millis(row.get(2)?);
    Ok(Record {
        meta: Meta {
            id,
            name: row.get(1)?,
            created_at,
        },
        head: head(row, 3)?,
    })
}

fn to_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        revision: revision(row.get(0)?),
        at: Timestamp::from_millis(row.get(1)?),
        command_id: CommandId(Uuid::from_bytes(row.get(2)?)),
        body: Bytes::from(row.get::<_, Vec<u8>>(3)?),
    })
}

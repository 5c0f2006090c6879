//! Reads from the tables.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::connect::Link;
use super::error::causes;
use super::frame::{self, LAST, PROBLEM};
use crate::adapter::tail::{Chunk, History};
use crate::{
    Answer, Base, CommandId, Entry, Finding, Head, KEY_TIME, MAX_PAGE, MAX_WRITE, Meta, Page,
    ReadError, Record, Revision, Size, Snapshot, TailError, Timestamp, UniverseId,
};

/// A stretch of a log is read until its bodies exceed this many bytes.
const CHUNK_BYTES: i64 = 1 << 20;

/// The most entries of a stretch.
const CHUNK_ENTRIES: i64 = 256;

const RECORD: &str = "id, name, created_at, rev, command, updated_at, oldest";

/// The connections that read, used in turn. Each answers any number of questions at once.
pub(super) struct Reader {
    links: Vec<Link>,
    turn: AtomicUsize,
}

type Parameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

impl Reader {
    pub(super) fn new(links: Vec<Link>) -> Self {
        Self { links, turn: AtomicUsize::new(0) }
    }

    async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, ReadError> {
        self.query_bytes(0, sql, parameters).await
    }

    /// The same for an answer of up to so many bytes.
    async fn query_bytes(
        &self,
        bytes: usize,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, ReadError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let link = turn.checked_rem(self.links.len()).and_then(|at| self.links.get(at));
        let link = link.ok_or(ReadError::Unavailable)?;
        let client = link.client().await.ok_or(ReadError::Unavailable)?;
        let rows = link.within(bytes, client.query_typed(sql, parameters)).await;
        rows.ok_or(ReadError::Unavailable)?.map_err(unavailable)
    }

    /// The one row that a universe has.
    async fn find(&self, sql: &str, parameters: Parameters<'_>) -> Result<Row, ReadError> {
        let rows = self.query(sql, parameters).await?;
        rows.into_iter().next().ok_or(ReadError::NotFound)
    }

    /// The one row that a universe has, with a body.
    async fn find_body(&self, sql: &str, parameters: Parameters<'_>) -> Result<Row, ReadError> {
        let rows = self.query_bytes(MAX_WRITE, sql, parameters).await?;
        rows.into_iter().next().ok_or(ReadError::NotFound)
    }

    pub(super) async fn record(&self, id: &UniverseId) -> Result<Record, ReadError> {
        let sql = format!("SELECT {RECORD} FROM universe WHERE id = $1");
        let row = self.find(&sql, &[(&id.as_str(), Type::TEXT)]).await?;
        record(&row).map_err(unavailable)?.ok_or(ReadError::Damaged)
    }

    pub(super) async fn list(&self, page: &Page) -> Result<Vec<Record>, ReadError> {
        let after = page.after.as_ref();
        let millis = after.map(|position| position.created_at.as_millis());
        let id = after.map(|position| position.id.as_str());
        let limit = i64::try_from(page.limit.min(MAX_PAGE)).unwrap_or(0);
        let sql = format!(
            "SELECT {RECORD} FROM universe WHERE $1 IS NULL OR (created_at, id) < ($1, $2) \
             ORDER BY created_at DESC, id DESC LIMIT $3"
        );
        let parameters: Parameters<'_> =
            &[(&millis, Type::INT8), (&id, Type::TEXT), (&limit, Type::INT8)];
        let rows = self.query(&sql, parameters).await?;
        let records: Result<Option<Vec<Record>>, _> = rows.iter().map(record).collect();
        records.map_err(unavailable)?.ok_or(ReadError::Damaged)
    }

    pub(super) async fn count(&self) -> Result<u64, ReadError> {
        let row = self.find("SELECT count(*) FROM universe", &[]).await?;
        let count: i64 = row.try_get(0).map_err(unavailable)?;
        Ok(count.cast_unsigned())
    }

    pub(super) async fn size(&self) -> Result<Size, ReadError> {
        let sql = "SELECT sum(pg_total_relation_size(name::regclass))::int8 \
                   FROM unnest(ARRAY['universe', 'base', 'snap', 'log', 'doomed']) AS t(name)";
        let row = self.find(sql, &[]).await?;
        let file: i64 = row.try_get(0).map_err(unavailable)?;
        let file = file.cast_unsigned();
        Ok(Size {
            file,
            // The engine's own, and of all its databases.
            log: 0,
            free: 0,
        })
    }

    pub(super) async fn base(&self, id: &UniverseId) -> Result<Base, ReadError> {
        let sql = format!(
            "SELECT {PROBLEM}, b.rev, b.at, b.body, b.sum FROM universe u LEFT JOIN base b USING (uni) {LAST} WHERE id = $1"
        );
        let row = self.find_body(&sql, &[(&id.as_str(), Type::TEXT)]).await?;
        may_serve(id, &row)?;
        let base = || {
            let at: i64 = row.try_get(2)?;
            let base = Base {
                revision: revision(&row, 1)?,
                at: Timestamp::from_millis(at),
                body: body(&row, 3)?,
            };
            let sum = frame::sum(id.as_str(), base.revision.0.cast_signed(), at, None, &base.body);
            Ok((frame::is_intact(row.try_get(4)?, sum), base))
        };
        match base().map_err(unavailable)? {
            (true, base) => Ok(base),
            (false, _) => Err(ReadError::Damaged),
        }
    }

    pub(super) async fn snapshot(&self, id: &UniverseId) -> Result<Option<Snapshot>, ReadError> {
        let sql = format!(
            "SELECT {PROBLEM}, s.rev, s.body, s.sum FROM universe u LEFT JOIN base b USING (uni) \
             LEFT JOIN snap s USING (uni) {LAST} WHERE id = $1"
        );
        let row = self.find_body(&sql, &[(&id.as_str(), Type::TEXT)]).await?;
        may_serve(id, &row)?;
        let snapshot = || {
            let Some(kept) = row.try_get(1)? else {
                return Ok(None);
            };
            let snapshot = Snapshot { revision: revision(&row, 1)?, body: body(&row, 2)? };
            let sum = frame::sum(id.as_str(), kept, 0, None, &snapshot.body);
            // A snapshot only saves time: the log has the same data.
            Ok(frame::is_intact(row.try_get(3)?, sum).then_some(snapshot))
        };
        snapshot().map_err(unavailable)
    }

    pub(super) async fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> Result<Option<Revision>, ReadError> {
        let sql = "SELECT log.rev FROM universe LEFT JOIN log ON log.uni = universe.uni AND keyed \
                   AND log.command = $2 AND at >= $3 AND log.rev > oldest WHERE id = $1 \
                   ORDER BY log.rev DESC NULLS LAST LIMIT 1";
        self.keyed(
            sql,
            &[(&id.as_str(), Type::TEXT), (&command.0, Type::UUID), (&old(), Type::INT8)],
        )
        .await
    }

    pub(super) async fn oldest_keyed(
        &self,
        id: &UniverseId,
    ) -> Result<Option<Revision>, ReadError> {
        let sql = "SELECT (SELECT min(log.rev) FROM log WHERE log.uni = universe.uni AND keyed AND at >= $2 \
                     AND log.rev > oldest) \
                   FROM universe WHERE id = $1";
        self.keyed(sql, &[(&id.as_str(), Type::TEXT), (&old(), Type::INT8)]).await
    }

    async fn keyed(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<Revision>, ReadError> {
        let row = self.find(sql, parameters).await?;
        let found: Option<i64> = row.try_get(0).map_err(unavailable)?;
        Ok(found.map(|rev| Revision(rev.cast_unsigned())))
    }

    /// The heads of those of these universes that exist.
    pub(super) async fn heads(&self, unis: &[i64]) -> Result<HashMap<i64, Revision>, ReadError> {
        let sql = "SELECT uni, rev FROM universe WHERE uni = ANY($1)";
        let rows = self.query(sql, &[(&unis, Type::INT8_ARRAY)]).await?;
        let head = |row: &Row| Ok((row.try_get(0)?, revision(row, 1)?));
        rows.iter().map(head).collect::<Result<_, _>>().map_err(unavailable)
    }

    pub(super) async fn findings(&self) -> Result<Vec<Finding>, ReadError> {
        let link = self.links.first().ok_or(ReadError::Unavailable)?;
        let client = link.client().await.ok_or(ReadError::Unavailable)?;
        let found = link.within(MAX_WRITE, frame::findings(&client)).await;
        found.ok_or(ReadError::Unavailable)?.map_err(unavailable)
    }

    async fn stretch(&self, uni: i64, after: Revision) -> Result<Chunk, TailError> {
        // One statement: one view of head and log. The length of a body is known without reading it.
        let sql = "SELECT u.rev, u.oldest, l.rev, l.at, l.command, l.body, l.sum, u.id FROM universe u LEFT JOIN LATERAL ( \
                     SELECT rev, at, command, body, sum FROM ( \
                       SELECT *, sum(octet_length(body)) OVER (ORDER BY rev) - octet_length(body) AS before FROM ( \
                         SELECT * FROM log WHERE log.uni = u.uni AND log.rev > $2 ORDER BY rev LIMIT $3) page) sized \
                     WHERE before <= $4) l ON true \
                   WHERE u.uni = $1 ORDER BY l.rev";
        let from = after.0.cast_signed();
        let parameters: Parameters<'_> = &[
            (&uni, Type::INT8),
            (&from, Type::INT8),
            (&CHUNK_ENTRIES, Type::INT8),
            (&CHUNK_BYTES, Type::INT8),
        ];
        let rows = self.query_bytes(MAX_WRITE, sql, parameters).await;
        let rows = rows.map_err(|_| TailError::Unavailable)?;
        let first = rows.first().ok_or(TailError::Deleted)?;
        let ends = || Ok::<_, tokio_postgres::Error>((revision(first, 0)?, revision(first, 1)?));
        let (head, oldest) = ends().map_err(|_| TailError::Unavailable)?;
        if after < oldest {
            return Err(TailError::Trimmed { oldest, head });
        }
        let mut entries = Vec::with_capacity(rows.len());
        let mut expected = after.next();
        for row in &rows {
            match entry(row).map_err(|_| TailError::Unavailable)? {
                Some((entry, true)) if entry.revision == expected => entries.push(entry),
                Some((entry, false)) if entries.is_empty() && entry.revision == expected => {
                    let (first, last) = (expected, expected);
                    tracing::error!(uni, %first, "an entry of a log is not what was written");
                    return Err(TailError::Damaged { first, last });
                }
                Some((entry, _)) if entries.is_empty() => {
                    let last = Revision(entry.revision.0.saturating_sub(1));
                    let first = expected;
                    tracing::error!(uni, %first, %last, "entries of a log are missing");
                    return Err(TailError::Damaged { first, last });
                }
                _ => break,
            }
            expected = expected.next();
        }
        if entries.is_empty() && after < head {
            let (first, last) = (after.next(), head);
            return Err(TailError::Damaged { first, last });
        }
        let is_complete = entries.last().map_or(after, |entry| entry.revision) >= head;
        Ok(Chunk { entries, is_complete })
    }
}

impl History for std::sync::Arc<Reader> {
    fn locate<'a>(&'a self, id: &'a UniverseId) -> Answer<'a, (i64, Revision), TailError> {
        Box::pin(async move {
            let sql = "SELECT uni, rev FROM universe WHERE id = $1";
            let row = self.find(sql, &[(&id.as_str(), Type::TEXT)]).await;
            let row = row.map_err(|error| match error {
                ReadError::NotFound => TailError::NotFound,
                ReadError::Damaged | ReadError::Unavailable => TailError::Unavailable,
            })?;
            let found = || Ok::<_, tokio_postgres::Error>((row.try_get(0)?, revision(&row, 1)?));
            found().map_err(|_| TailError::Unavailable)
        })
    }

    fn chunk(&self, uni: i64, after: Revision) -> Answer<'_, Chunk, TailError> {
        Box::pin(self.stretch(uni, after))
    }
}

/// The head in four columns: revision, command, time.
pub(super) fn head(row: &Row, column: usize) -> Result<Head, tokio_postgres::Error> {
    Ok(Head {
        revision: revision(row, column)?,
        last_command_id: row.try_get::<_, Option<uuid::Uuid>>(column + 1)?.map(CommandId),
        updated_at: Timestamp::from_millis(row.try_get(column + 2)?),
    })
}

pub(super) fn revision(row: &Row, column: usize) -> Result<Revision, tokio_postgres::Error> {
    let rev: i64 = row.try_get(column)?;
    Ok(Revision(rev.cast_unsigned()))
}

/// `None` for what no universe has: an id that cannot be one, a name that is not text.
fn record(row: &Row) -> Result<Option<Record>, tokio_postgres::Error> {
    let (id, name): (&str, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
    let (Ok(id), Ok(name)) = (UniverseId::new(id), std::str::from_utf8(name)) else {
        return Ok(None);
    };
    let created_at = Timestamp::from_millis(row.try_get(2)?);
    let name = name.to_owned();
    let meta = Meta { id, name, created_at };
    Ok(Some(Record { meta, head: head(row, 3)?, oldest: revision(row, 6)? }))
}

/// The entry in a row of a stretch, and whether it is what was written; `None` where the log has nothing more.
fn entry(row: &Row) -> Result<Option<(Entry, bool)>, tokio_postgres::Error> {
    if row.try_get::<_, Option<i64>>(2)?.is_none() {
        return Ok(None);
    }
    let at: i64 = row.try_get(3)?;
    let entry = Entry {
        revision: revision(row, 2)?,
        at: Timestamp::from_millis(at),
        command_id: CommandId(row.try_get(4)?),
        body: body(row, 5)?,
    };
    let (rev, command) = (entry.revision.0.cast_signed(), Some(entry.command_id.0));
    let sum = frame::sum(row.try_get(7)?, rev, at, command, &entry.body);
    let kept: Option<i64> = row.try_get(6)?;
    Ok(Some((entry, kept.is_none_or(|kept| kept == sum))))
}

/// Whether what is known of a universe fits together, by the first column.
fn may_serve(id: &UniverseId, row: &Row) -> Result<(), ReadError> {
    match row.try_get::<_, Option<&str>>(0).map_err(unavailable)? {
        None => Ok(()),
        Some(problem) => {
            tracing::error!(universe = %id, problem, "a universe is damaged");
            Err(ReadError::Damaged)
        }
    }
}

fn body(row: &Row, column: usize) -> Result<Bytes, tokio_postgres::Error> {
    Ok(row.try_get::<_, Vec<u8>>(column)?.into())
}

/// When an entry was appended that is just young enough to be found by its key.
fn old() -> i64 {
    Timestamp::now().before(KEY_TIME).as_millis()
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn unavailable(error: tokio_postgres::Error) -> ReadError {
    tracing::error!(error = causes(&error), "reading the database failed");
    ReadError::Unavailable
}

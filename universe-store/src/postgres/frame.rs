//! Whether what the tables say of a universe fits together: its record with its head, its beginning, its log; and the
//! sums of bodies.
//!
//! A sum has the revision in its upper half: the row of a beginning or a snapshot that a program without sums has
//! written over is recognised by that, and is not damaged.

use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::Finding;

/// The last entry of a universe `u`, as `l`.
pub(super) const LAST: &str = "LEFT JOIN LATERAL (SELECT rev, command, at FROM log WHERE log.uni = u.uni \
                               ORDER BY log.rev DESC LIMIT 1) l ON true";

/// Why nothing of a universe `u` with the beginning `b` and the last entry `l` may be served; null if it may.
pub(super) const PROBLEM: &str = "CASE \
    WHEN b.uni IS NULL THEN 'the state at its beginning is missing' \
    WHEN b.rev <> u.oldest THEN 'the state at its beginning is said to be that of revision ' || b.rev \
      || ', and its history begins at ' || u.oldest \
    WHEN coalesce(l.rev, 0) > u.rev THEN 'its head is at revision ' || u.rev || ', and its log ends at ' || l.rev \
    WHEN l.rev = u.rev AND u.rev > u.oldest AND (l.command IS DISTINCT FROM u.command OR l.at <> u.updated_at) \
      THEN 'its head, at revision ' || u.rev || ', is not what was written' \
    END";

/// Of the universes that entries belong to, each once.
const OWNERS: &str = "WITH RECURSIVE owner(uni) AS (SELECT min(uni) FROM log UNION ALL \
                      SELECT (SELECT min(uni) FROM log WHERE uni > owner.uni) FROM owner WHERE uni IS NOT NULL)";

/// What does not fit.
pub(super) async fn findings(client: &Client) -> Result<Vec<Finding>, tokio_postgres::Error> {
    let sql = format!(
        "{OWNERS} SELECT id, problem FROM (SELECT u.id, coalesce({PROBLEM}, CASE WHEN u.rev > coalesce(l.rev, u.oldest) \
           THEN 'its head is at revision ' || u.rev || ', and its log ends at ' || coalesce(l.rev, u.oldest) END) AS problem \
           FROM universe u LEFT JOIN base b USING (uni) {LAST}) all_of_them WHERE problem IS NOT NULL \
         UNION ALL SELECT 'number ' || uni, 'its entries are there, and nothing else of it' FROM owner \
           WHERE uni IS NOT NULL AND NOT EXISTS (SELECT 1 FROM universe WHERE universe.uni = owner.uni) \
             AND NOT EXISTS (SELECT 1 FROM doomed WHERE doomed.uni = owner.uni)"
    );
    let rows = client.query_typed(&sql, &[]).await?;
    let finding = |row: &Row| Ok(Finding { universe: row.try_get(0)?, problem: row.try_get(1)? });
    rows.iter().map(finding).collect()
}

/// Puts right what the log and the beginnings prove. Gives a line for each universe.
pub(super) async fn repair(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let mut done = Vec::new();
    let odd = "SELECT u.id, u.uni, u.oldest, b.rev, b.at, b.body, b.sum FROM universe u JOIN base b USING (uni) \
               WHERE b.rev <> u.oldest";
    for row in client.query_typed(odd, &[]).await? {
        let (id, uni): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        let (oldest, rev, at): (i64, i64, i64) =
            (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        let (body, sum): (Vec<u8>, Option<i64>) = (row.try_get(5)?, row.try_get(6)?);
        let is_of = |rev| sum == Some(self::sum(&id, rev, at, None, &body));
        let (sql, right) = if is_of(oldest) {
            ("UPDATE base SET rev = $2 WHERE uni = $1", oldest)
        } else if is_of(rev) {
            ("UPDATE universe SET oldest = $2 WHERE uni = $1", rev)
        } else {
            continue;
        };
        client.execute(sql, &[&uni, &right]).await?;
        done.push(format!("universe {id}: its history begins at revision {right}"));
    }
    let heads = format!(
        "UPDATE universe SET rev = l.rev, command = l.command, updated_at = l.at \
         FROM universe u JOIN base b USING (uni) {LAST} \
         WHERE universe.uni = u.uni AND b.rev = u.oldest AND l.rev > u.oldest AND {PROBLEM} IS NOT NULL \
         RETURNING u.id, l.rev"
    );
    for row in client.query_typed(&heads, &[]).await? {
        let (id, rev): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        done.push(format!("universe {id}: its head is at revision {rev}, the end of its log"));
    }
    Ok(done)
}

/// The sum of a row: over the universe's id, the revision, the time, the command of an entry, the body.
pub(super) fn sum(id: &str, rev: i64, at: i64, command: Option<Uuid>, body: &[u8]) -> i64 {
    let mut sum = crc32fast::Hasher::new();
    let length = i64::try_from(id.len()).unwrap_or(i64::MAX);
    for number in [length, rev, at] {
        sum.update(&number.to_le_bytes());
    }
    sum.update(id.as_bytes());
    sum.update(command.unwrap_or_default().as_bytes());
    sum.update(body);
    rev << 32 | i64::from(sum.finalize())
}

/// Whether the row of a beginning or a snapshot is what was written.
pub(super) fn is_intact(kept: Option<i64>, sum: i64) -> bool {
    kept.is_none_or(|kept| kept >> 32 != sum >> 32 || kept == sum)
}

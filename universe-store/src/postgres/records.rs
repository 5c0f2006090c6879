//! Records of clients, beside the universes: one table, and one statement for each method of the port.
//!
//! What belongs to sessions at work has a connection of its own, since what goes over it may be large.

mod streams;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::BoxStream;
use tokio::task::JoinSet;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use self::streams::stream_key;
use super::PostgresOptions;
use super::connect::{Connector, Link};
use super::nodes::{CHANNEL, NOW, Nodes, Parameters, get, query};
use crate::adapter::keys::{Key, hash};
use crate::clients::nodes::{self, Result, Unavailable};
use crate::clients::records::{
    self as port, Answer, Change, Events, Found, Id, Kind, LOOK, New, Put, Stream, Write,
};

/// How many go with one statement.
const STEP: i64 = 500;

/// How many records there are of each kind, and their bytes, as of the last count.
type Counts = Mutex<HashMap<String, (usize, usize)>>;

/// The records and streams of all nodes that use one database.
pub(super) struct Records {
    nodes: Arc<Nodes>,
    /// For letters and streams.
    wide: Link,
    counts: Arc<Counts>,
    _tasks: JoinSet<()>,
}

/// What every record is read by. Whether the node of a task has ended can be known before the time $1.
fn columns(kind: Kind) -> String {
    let is_orphaned = match kind {
        Kind::Session | Kind::Letter => "false".to_owned(),
        Kind::Task => format!(
            "$1 > {NOW} AND NOT EXISTS ( \
               SELECT 1 FROM universe_node n WHERE n.id = r.node AND n.alive_until > now())"
        ),
    };
    format!(
        "r.number, r.version, r.owner, r.name, r.node, \
         greatest(extract(epoch FROM r.ends - now()), 0)::float8, {is_orphaned}, r.body"
    )
}

impl Records {
    pub(super) fn start(connector: &Arc<Connector>, options: &PostgresOptions) -> Self {
        let nodes = Arc::new(Nodes::start(connector, options));
        let mut tasks = JoinSet::new();
        let wide = Link::start(connector, options, None, &mut tasks);
        let counts = Arc::new(Counts::default());
        tasks.spawn(look(Arc::clone(&nodes), Arc::clone(&counts)));
        Self { nodes, wide, counts, _tasks: tasks }
    }

    fn link(&self, kind: Kind) -> &Link {
        match kind {
            Kind::Session | Kind::Task => self.nodes.link(),
            Kind::Letter => &self.wide,
        }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, (usize, usize)>> {
        // Nothing panics while it holds this.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl port::Records for Records {
    fn put<'a>(&'a self, new: New<'a>) -> Answer<'a, Put> {
        Box::pin(async move {
            let sql = put_sql(new.above.is_some(), new.replaces.is_some());
            let (id, kind, limits) = (new.id, new.id.kind.name(), new.limits);
            let is_full = {
                let counts = self.counts();
                let (records, bytes) = counts.get(kind).copied().unwrap_or_default();
                limits.all.is_reached(records, bytes)
            };
            let above = new.above.as_ref().map(|above| &above[..]);
            let note = new.above.map(|above| self.nodes.note(&watched(id.kind.id(above))));
            let parameters: Parameters<'_> = &[
                (&kind, Type::TEXT),
                (&&id.key[..], Type::BYTEA),
                (&above, Type::BYTEA),
                (&new.share, Type::TEXT),
                (&new.owner, Type::TEXT),
                (&new.name, Type::TEXT),
                (&self.nodes.id(), Type::UUID),
                (&whole(limits.share.records), Type::INT8),
                (&whole(limits.share.bytes), Type::INT8),
                (&whole(limits.above.records), Type::INT8),
                (&whole(limits.above.bytes), Type::INT8),
                (&is_full, Type::BOOL),
                (&new.replaces.map(|within| within.as_secs_f64()), Type::FLOAT8),
                (&new.lives.as_secs_f64(), Type::FLOAT8),
                (&new.body, Type::BYTEA),
                (&CHANNEL, Type::TEXT),
                (&note, Type::TEXT),
            ];
            let rows = query(self.link(id.kind), &sql, parameters).await?;
            let Some(row) = rows.first() else {
                return Ok(Put::Missing);
            };
            let (number, is_share, replaced): (Option<i64>, bool, bool) =
                (get(row, 0)?, get(row, 1)?, get(row, 2)?);
            let Some(number) = number else {
                return Ok(Put::Full { is_share });
            };
            let mut counts = self.counts();
            let (records, bytes) = counts.entry(kind.to_owned()).or_default();
            *records += usize::from(!replaced);
            *bytes = bytes.saturating_add(new.body.len());
            Ok(Put::Stored(unsigned(number)?))
        })
    }

    fn read(&self, id: Id) -> Answer<'_, Option<Found>> {
        Box::pin(async move {
            let columns = columns(id.kind);
            let sql =
                format!("SELECT {columns} FROM client_record r WHERE key = $2 AND ends > now()");
            let parameters: Parameters<'_> =
                &[(&self.nodes.judges_until(), Type::INT8), (&&id.key[..], Type::BYTEA)];
            let rows = query(self.link(id.kind), &sql, parameters).await?;
            rows.first().map(Found::of).transpose()
        })
    }

    fn result(&self, id: Id) -> Answer<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let sql = "SELECT result FROM client_record WHERE key = $1 AND ends > now()";
            let rows = query(self.link(id.kind), sql, &[(&&id.key[..], Type::BYTEA)]).await?;
            rows.first().map_or(Ok(None), |row| get(row, 0))
        })
    }

    fn replace<'a>(&'a self, id: Id, change: Change<'a>) -> Answer<'a, bool> {
        Box::pin(async move {
            let sql = "WITH moved AS ( \
                         UPDATE client_record SET body = $2, result = $3, version = version + 1, \
                           bytes = octet_length($2) + coalesce(octet_length($3), 0), \
                           ends = coalesce(now() + make_interval(secs => $4), ends) \
                         WHERE key = $1 AND version = $5 AND ends > now() RETURNING 1) \
                       SELECT pg_notify($6, $7)::text FROM moved";
            let parameters: Parameters<'_> = &[
                (&&id.key[..], Type::BYTEA),
                (&change.body, Type::BYTEA),
                (&change.result, Type::BYTEA),
                (&change.lives.map(|lives| lives.as_secs_f64()), Type::FLOAT8),
                (&change.version.cast_signed(), Type::INT8),
                (&CHANNEL, Type::TEXT),
                (&self.nodes.note(&watched(id)), Type::TEXT),
            ];
            Ok(!query(self.link(id.kind), sql, parameters).await?.is_empty())
        })
    }

    fn extend(&self, id: Id, lives: Duration) -> Answer<'_, ()> {
        Box::pin(async move {
            let sql =
                "UPDATE client_record SET ends = now() + make_interval(secs => $2) WHERE key = $1";
            let parameters: Parameters<'_> =
                &[(&&id.key[..], Type::BYTEA), (&lives.as_secs_f64(), Type::FLOAT8)];
            query(self.link(id.kind), sql, parameters).await.map(drop)
        })
    }

    fn remove(&self, id: Id) -> Answer<'_, bool> {
        Box::pin(async move {
            let sql = "WITH gone AS (DELETE FROM client_record WHERE key = $1 RETURNING ends) \
                       SELECT ends > now(), pg_notify($2, $3)::text FROM gone";
            let parameters: Parameters<'_> = &[
                (&&id.key[..], Type::BYTEA),
                (&CHANNEL, Type::TEXT),
                (&self.nodes.note(&watched(id)), Type::TEXT),
            ];
            let rows = query(self.link(id.kind), sql, parameters).await?;
            rows.first().map_or(Ok(false), |row| get(row, 0))
        })
    }

    fn owned<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<Found>> {
        Box::pin(async move {
            let columns = columns(Kind::Task);
            let sql = format!(
                "SELECT {columns} FROM client_record r \
                 WHERE owner = $2 AND kind = $3 AND number > $4 AND ends > now() ORDER BY number LIMIT $5"
            );
            let parameters: Parameters<'_> = &[
                (&self.nodes.judges_until(), Type::INT8),
                (&owner, Type::TEXT),
                (&Kind::Task.name(), Type::TEXT),
                (&i64::try_from(after).unwrap_or(i64::MAX), Type::INT8),
                (&whole(max), Type::INT8),
            ];
            let rows = query(self.nodes.link(), &sql, parameters).await?;
            rows.iter().map(Found::of).collect()
        })
    }

    fn below(&self, session: Key, after: u64) -> Answer<'_, Option<Vec<Found>>> {
        Box::pin(async move {
            let columns = columns(Kind::Letter);
            let sql = format!(
                "SELECT {columns} FROM client_record s LEFT JOIN client_record r \
                   ON r.above = s.key AND r.kind = $3 AND r.number > $4 AND r.ends > now() \
                 WHERE s.key = $2 AND s.ends > now() ORDER BY r.number"
            );
            let parameters: Parameters<'_> = &[
                (&self.nodes.judges_until(), Type::INT8),
                (&&session[..], Type::BYTEA),
                (&Kind::Letter.name(), Type::TEXT),
                (&i64::try_from(after).unwrap_or(i64::MAX), Type::INT8),
            ];
            let rows = query(&self.wide, &sql, parameters).await?;
            if rows.is_empty() {
                return Ok(None);
            }
            // A session without any has a row, too.
            let there = rows.iter().filter(|row| get::<Option<i64>>(row, 0) != Ok(None));
            there.map(Found::of).collect::<Result<_, _>>().map(Some)
        })
    }

    fn count(&self) -> usize {
        self.counts().get(Kind::Session.name()).map_or(0, |(records, _)| *records)
    }

    fn hints(&self, id: Id) -> BoxStream<'static, ()> {
        self.nodes.hints(watched(id))
    }

    fn stream_hints(&self, stream: Stream<'_>) -> BoxStream<'static, ()> {
        self.nodes.hints(stream_key(stream))
    }

    fn write<'a>(&'a self, writes: &'a [Write<'a>], keep: Duration) -> Answer<'a, ()> {
        Box::pin(streams::write(self, writes, keep))
    }

    fn events<'a>(&'a self, stream: Stream<'a>, after: u64) -> Answer<'a, Option<Events>> {
        Box::pin(streams::read(&self.wide, stream, after))
    }

    fn watch<'a>(&'a self, stream: Stream<'a>) -> Answer<'a, ()> {
        Box::pin(streams::watch(&self.wide, stream))
    }
}

impl nodes::Nodes for Records {
    fn id(&self) -> Uuid {
        self.nodes.id()
    }

    fn lease(&self) -> Duration {
        self.nodes.lease()
    }

    fn alive<'a>(&'a self, nodes: &'a [Uuid]) -> Answer<'a, Vec<Uuid>> {
        Box::pin(self.nodes.alive(nodes))
    }

    fn end(&self) -> Answer<'_, ()> {
        Box::pin(self.nodes.end())
    }
}

impl Found {
    fn of(row: &Row) -> Result<Self> {
        let seconds: f64 = get(row, 5)?;
        Ok(Self {
            number: unsigned(get(row, 0)?)?,
            version: unsigned(get(row, 1)?)?,
            owner: get(row, 2)?,
            name: get(row, 3)?,
            node: get(row, 4)?,
            ttl: Duration::try_from_secs_f64(seconds).map_err(|_| Unavailable)?,
            is_orphaned: get(row, 6)?,
            body: get(row, 7)?,
        })
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("node", &self.nodes.id()).finish_non_exhaustive()
    }
}

/// The statement of [`put`](port::Records::put), for a record that is below a session or not, and to which another may
/// give way or not. What is not needed is left out: planning it would take longer than the rest.
fn put_sql(is_below: bool, gives_way: bool) -> String {
    let part = |is_needed: bool, sql: &'static str| if is_needed { sql } else { "" };
    // What is below a session is stored under its lock, so that it is seen in the order of its numbers.
    let session = part(
        is_below,
        "above AS MATERIALIZED ( \
           SELECT coalesce(share, '') AS share FROM client_record \
           WHERE key = $3 AND ends > now() FOR NO KEY UPDATE), ",
    );
    let (share, from) =
        if is_below { ("(SELECT share FROM above)", "above, room") } else { ("$4", "room") };
    let near = part(
        is_below,
        "OR (SELECT count(*) >= $10 OR coalesce(sum(bytes), 0) > $11 FROM client_record \
          WHERE above = $3 AND kind = $1 AND ends > now())",
    );
    let gone = if gives_way {
        format!(
            "gone AS (DELETE FROM client_record WHERE (SELECT is_share OR is_full FROM room) AND key IN ( \
               SELECT key FROM client_record WHERE kind = $1 AND ends < now() + make_interval(secs => $13) \
                 AND (share = {share} OR NOT (SELECT is_share FROM room)) \
               ORDER BY ends LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING 1), "
        )
    } else {
        String::new()
    };
    let replaced = if gives_way { "EXISTS (SELECT 1 FROM gone)" } else { "false" };
    let notified = part(is_below, ", (SELECT pg_notify($16, $17)::text FROM made)");
    format!(
        "WITH {session}own AS (SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM ( \
           SELECT bytes FROM client_record \
           WHERE share = {share} AND kind = $1 AND ends > now() LIMIT $8) held), \
         room AS MATERIALIZED ( \
           SELECT n >= $8 OR bytes > $9 AS is_share, $12 {near} AS is_full FROM own), {gone}\
         made AS ( \
           INSERT INTO client_record (key, kind, above, share, owner, name, node, ends, bytes, body) \
           SELECT $2, $1, $3, {share}, $5, $6, $7, clock_timestamp() + make_interval(secs => $14), \
             octet_length($15), $15 FROM {from} \
           WHERE NOT (is_share OR is_full) OR {replaced} RETURNING number) \
         SELECT (SELECT number FROM made), is_share, {replaced}{notified} FROM {from}"
    )
}

/// What nodes are notified of when a record changes: a letter is a change of its session's inbox.
fn watched(id: Id) -> Key {
    match id.kind {
        Kind::Session | Kind::Task => id.key,
        Kind::Letter => hash(&[b"letters", &id.key]),
    }
}

/// A number for the database.
fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Unavailable)
}

/// Deletes what is over, and counts the rest, at intervals.
async fn look(nodes: Arc<Nodes>, counts: Arc<Counts>) {
    loop {
        // What fails is done by another node, or later.
        if let Ok(counted) = sweep(&nodes).await {
            *counts.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn sweep(nodes: &Nodes) -> Result<HashMap<String, (usize, usize)>> {
    let records = "WITH gone AS (DELETE FROM client_record WHERE key IN ( \
                     SELECT key FROM client_record WHERE ends < now() \
                     ORDER BY ends LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1) \
                   SELECT count(*) FROM gone";
    // After the database was away no lease may hold for a while.
    let streams = format!(
        "WITH gone AS (DELETE FROM session_stream WHERE id IN ( \
           SELECT id FROM session_stream s WHERE ends < now() \
             AND (ended OR $2 > {NOW} AND NOT EXISTS ( \
               SELECT 1 FROM universe_node n WHERE n.id = s.node AND n.alive_until > now())) \
           ORDER BY ends LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1) \
         SELECT count(*) FROM gone"
    );
    steps(nodes.link(), records, &[(&STEP, Type::INT8)]).await?;
    let until = (&nodes.judges_until() as _, Type::INT8);
    steps(nodes.link(), &streams, &[(&STEP, Type::INT8), until]).await?;
    let count =
        "SELECT kind, count(*), coalesce(sum(bytes), 0)::int8 FROM client_record GROUP BY kind";
    let rows = query(nodes.link(), count, &[]).await?;
    let counted = rows.iter().map(|row| {
        let number = |column| get(row, column).map(|n: i64| usize::try_from(n).unwrap_or(0));
        Ok((get(row, 0)?, (number(1)?, number(2)?)))
    });
    counted.collect()
}

/// Repeats a statement that deletes rows and counts them, until no rows are left.
async fn steps(link: &Link, sql: &str, parameters: Parameters<'_>) -> Result<()> {
    loop {
        let rows = query(link, sql, parameters).await?;
        let gone: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
        if gone < STEP {
            return Ok(());
        }
    }
}

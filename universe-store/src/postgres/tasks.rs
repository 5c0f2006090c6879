//! Tasks of the nodes' clients, beside the universes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::Task;
use super::connect::Link;
use super::nodes::{CHANNEL, NOW, Nodes, Parameters, get, query};
use crate::adapter::keys::task_key;
use crate::clients::nodes::Unavailable;
use crate::clients::tasks;

use crate::clients::tasks::{Found, TaskBounds, TaskError};

/// The interval at which expired tasks are deleted.
const LOOK: Duration = Duration::from_secs(30);

/// How many go with one statement.
const STEP: i64 = 500;

/// What every record is read by: its name, number and version, what is left of its time in seconds, whether its node
/// has ended, which can be known before the time $1, and what is in it.
fn columns() -> String {
    format!(
        "task.name, task.number, task.version, \
         greatest(extract(epoch FROM task.expires - now()), 0)::float8, \
         $1 > {NOW} AND NOT EXISTS ( \
           SELECT 1 FROM universe_node WHERE id = task.node AND alive_until > now()), task.body"
    )
}

/// The tasks of all nodes that use one database.
pub(super) struct Tasks {
    nodes: Arc<Nodes>,
    bounds: TaskBounds,
    _looking: Task,
}

impl Tasks {
    pub(super) fn start(nodes: Arc<Nodes>, bounds: TaskBounds) -> Self {
        let looking = look(Arc::clone(nodes.link()));
        Self { nodes, bounds, _looking: looking.into() }
    }

    async fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        client: Option<&str>,
        ttl: Duration,
        body: &[u8],
    ) -> Result<u64, TaskError> {
        self.bounds.check(body.len())?;
        let size = number(body.len());
        let TaskBounds { tasks_per_client: tasks, bytes_per_client: bytes, .. } = self.bounds;
        // One more begins a share's last task, and goes over its bytes by one task at most.
        let sql = "WITH own AS (SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM \
                     (SELECT bytes FROM task WHERE client = $4 AND expires > now() LIMIT $8) held) \
                   INSERT INTO task (key, name, owner, client, node, expires, bytes, body) \
                   SELECT $1, $2, $3, $4, $5, now() + make_interval(secs => $6), $10, $7 \
                   FROM own WHERE own.n < $8 AND own.bytes < $9 RETURNING number";
        let parameters: Parameters<'_> = &[
            (&&task_key(name)[..], Type::BYTEA),
            (&owner.map(|_| name), Type::TEXT),
            (&hash(owner), Type::BYTEA),
            (&hash(client), Type::BYTEA),
            (&self.nodes.id(), Type::UUID),
            (&ttl.as_secs_f64(), Type::FLOAT8),
            (&body, Type::BYTEA),
            (&number(tasks), Type::INT8),
            (&number(bytes), Type::INT8),
            (&size, Type::INT8),
        ];
        let rows = self.nodes.query(sql, parameters).await?;
        let row = rows.first().ok_or(TaskError::Full { tasks, bytes })?;
        let number: i64 = get(row, 0)?;
        u64::try_from(number).map_err(|_| TaskError::Unavailable)
    }

    async fn load(&self, name: &str, owner: Option<&str>) -> Result<Option<Found>, TaskError> {
        let sql = format!(
            "SELECT {} FROM task \
             WHERE key = $2 AND owner IS NOT DISTINCT FROM $3 AND expires > now()",
            columns()
        );
        let parameters: Parameters<'_> = &[
            (&self.nodes.judges_until(), Type::INT8),
            (&&task_key(name)[..], Type::BYTEA),
            (&hash(owner), Type::BYTEA),
        ];
        let rows = self.nodes.query(&sql, parameters).await?;
        Ok(rows.first().map(Found::of).transpose()?)
    }

    async fn result(&self, name: &str) -> Result<Option<Vec<u8>>, TaskError> {
        let sql = "SELECT result FROM task WHERE key = $1 AND expires > now()";
        let parameters: Parameters<'_> = &[(&&task_key(name)[..], Type::BYTEA)];
        let rows = self.nodes.query(sql, parameters).await?;
        Ok(rows.first().map_or(Ok(None), |row| get(row, 0))?)
    }

    async fn list(&self, owner: &str, after: u64, max: usize) -> Result<Vec<Found>, TaskError> {
        let sql = format!(
            "SELECT {} FROM task \
             WHERE owner = $2 AND number > $3 AND expires > now() ORDER BY number LIMIT $4",
            columns()
        );
        let parameters: Parameters<'_> = &[
            (&self.nodes.judges_until(), Type::INT8),
            (&hash(Some(owner)), Type::BYTEA),
            (&i64::try_from(after).unwrap_or(i64::MAX), Type::INT8),
            (&number(max), Type::INT8),
        ];
        let rows = self.nodes.query(&sql, parameters).await?;
        let found = rows.iter().map(Found::of);
        Ok(found.collect::<Result<_, _>>()?)
    }

    async fn replace(
        &self,
        name: &str,
        version: u64,
        body: &[u8],
        result: Option<&[u8]>,
    ) -> Result<bool, TaskError> {
        let bytes = body.len().saturating_add(result.map_or(0, <[u8]>::len));
        self.bounds.check(bytes)?;
        let bytes = number(bytes);
        let key = task_key(name);
        let sql = "WITH moved AS (UPDATE task SET body = $2, result = $6, bytes = $7, version = version + 1 \
                     WHERE key = $1 AND version = $3 AND expires > now() RETURNING 1) \
                   SELECT pg_notify($4, $5)::text FROM moved";
        let parameters: Parameters<'_> = &[
            (&&key[..], Type::BYTEA),
            (&body, Type::BYTEA),
            (&i64::try_from(version).unwrap_or(i64::MAX), Type::INT8),
            (&CHANNEL, Type::TEXT),
            (&self.nodes.note(&key), Type::TEXT),
            (&result, Type::BYTEA),
            (&bytes, Type::INT8),
        ];
        Ok(!self.nodes.query(sql, parameters).await?.is_empty())
    }

    async fn remove(&self, name: &str) -> Result<(), TaskError> {
        let sql = "DELETE FROM task WHERE key = $1";
        let parameters: Parameters<'_> = &[(&&task_key(name)[..], Type::BYTEA)];
        self.nodes.query(sql, parameters).await?;
        Ok(())
    }
}

impl Found {
    fn of(row: &Row) -> Result<Self, Unavailable> {
        let number = |column| {
            let number: i64 = get(row, column)?;
            u64::try_from(number).map_err(|_| Unavailable)
        };
        let seconds: f64 = get(row, 3)?;
        Ok(Self {
            name: get(row, 0)?,
            number: number(1)?,
            version: number(2)?,
            ttl: Duration::try_from_secs_f64(seconds).map_err(|_| Unavailable)?,
            is_orphaned: get(row, 4)?,
            body: get(row, 5)?,
        })
    }
}

impl tasks::Tasks for Tasks {
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        client: Option<&'a str>,
        ttl: Duration,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<u64, TaskError>> {
        Box::pin(self.insert(name, owner, client, ttl, body))
    }

    fn load<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Found>, TaskError>> {
        Box::pin(self.load(name, owner))
    }

    fn result<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, TaskError>> {
        Box::pin(self.result(name))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: u64,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<Found>, TaskError>> {
        Box::pin(self.list(owner, after, max))
    }

    fn replace<'a>(
        &'a self,
        name: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> BoxFuture<'a, Result<bool, TaskError>> {
        Box::pin(self.replace(name, version, body, result))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), TaskError>> {
        Box::pin(self.remove(name))
    }

    fn hints(&self, name: &str) -> BoxStream<'static, ()> {
        self.nodes.hints(task_key(name))
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

fn hash(text: Option<&str>) -> Option<Vec<u8>> {
    text.map(|text| Sha256::digest(text).to_vec())
}

fn number(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Deletes expired tasks at intervals.
fn look(link: Arc<Link>) -> JoinHandle<()> {
    let sql = "WITH gone AS (DELETE FROM task WHERE key IN ( \
                 SELECT key FROM task WHERE expires < now() ORDER BY expires LIMIT $1 FOR UPDATE SKIP LOCKED) RETURNING 1) \
               SELECT count(*) FROM gone";
    tokio::spawn(async move {
        loop {
            // What fails is done by another, or later.
            while let Ok(rows) = query(&link, sql, &[(&STEP, Type::INT8)]).await
                && rows.first().is_some_and(|row| get(row, 0) == Ok(STEP))
            {}
            tokio::time::sleep(LOOK).await;
        }
    })
}

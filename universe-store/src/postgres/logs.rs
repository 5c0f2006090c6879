//! State of running calls that nodes share: an inbox for each session, and the event streams of its calls.
//!
//! They have a connection of their own, since what goes over it may be large. Its other end knows a session by the hash
//! of its name alone.

mod inbox;
mod streams;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;

use self::streams::Streams;
use super::connect::{Connector, Link};
use super::nodes::{NOW, Nodes, Parameters, get, query};
use super::{PostgresOptions, Task};
use crate::adapter::logs::LOOK;
use crate::clients::logs;
use crate::clients::nodes::Unavailable;

use crate::clients::logs::{Fate, LogBounds, LogError, Tailed, Write};

/// How many go with one statement.
const STEP: i64 = 1_000;

/// The inboxes and streams of all nodes that use one database.
pub(super) struct Logs {
    nodes: Arc<Nodes>,
    link: Arc<Link>,
    bounds: LogBounds,
    /// The bytes of all letters, as of the last count.
    bytes: Arc<AtomicUsize>,
    streams: Arc<Streams>,
    _tasks: [Task; 2],
}

impl Logs {
    pub(super) fn start(
        nodes: Arc<Nodes>,
        connector: &Arc<Connector>,
        options: &PostgresOptions,
        bounds: LogBounds,
    ) -> Self {
        let (link, linking) = Link::start(Arc::clone(connector), options);
        let (link, bytes) = (Arc::new(link), Arc::new(AtomicUsize::new(0)));
        let (looking, counted) = (Arc::clone(&nodes), Arc::clone(&bytes));
        let looking = look(Arc::clone(&link), looking, counted, bounds);
        let streams =
            Streams { nodes: Arc::clone(&nodes), link: Arc::clone(&link), lease: options.lease };
        Self {
            nodes,
            link,
            bounds,
            bytes,
            streams: Arc::new(streams),
            _tasks: [linking.into(), looking.into()],
        }
    }
}

impl logs::Logs for Logs {
    fn send<'a>(
        &'a self,
        session: &'a str,
        letter: &'a [u8],
    ) -> BoxFuture<'a, Result<(), LogError>> {
        Box::pin(self.send(session, letter))
    }

    fn inbox(&self, session: &str) -> BoxStream<'static, Bytes> {
        self.inbox(session)
    }

    fn write<'a>(&'a self, writes: &'a [Write<'a>]) -> BoxFuture<'a, Result<(), LogError>> {
        Box::pin(self.write(writes))
    }

    fn tail<'a>(
        &'a self,
        session: &'a str,
        stream: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<BoxStream<'static, Tailed>>, LogError>> {
        Box::pin(self.tail(session, stream, after))
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").finish_non_exhaustive()
    }
}

/// Deletes old letters and streams, and counts the letters, at intervals.
fn look(
    link: Arc<Link>,
    nodes: Arc<Nodes>,
    bytes: Arc<AtomicUsize>,
    bounds: LogBounds,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            // What fails is done by another node, or later.
            if let Ok(counted) = sweep(&link, &nodes, bounds).await {
                bytes.store(counted, Ordering::Relaxed);
            }
            tokio::time::sleep(LOOK).await;
        }
    })
}

async fn sweep(link: &Link, nodes: &Nodes, bounds: LogBounds) -> Result<usize, Unavailable> {
    let letters = "WITH gone AS (DELETE FROM session_letter WHERE n IN ( \
                     SELECT n FROM session_letter WHERE at < now() - make_interval(secs => $1) \
                     ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) \
                   SELECT count(*) FROM gone";
    // After the database was away no lease may hold for a while.
    let streams = format!(
        "WITH gone AS (DELETE FROM session_stream WHERE id IN ( \
           SELECT id FROM session_stream s WHERE touched < now() - make_interval(secs => $1) \
             AND (ended OR $3 > {NOW} AND NOT EXISTS ( \
               SELECT 1 FROM universe_node n WHERE n.id = s.node AND n.alive_until > now())) \
           ORDER BY touched LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) \
         SELECT count(*) FROM gone"
    );
    let age = (&bounds.keep_letters.as_secs_f64() as _, Type::FLOAT8);
    steps(link, letters, &[age, (&STEP, Type::INT8)]).await?;
    let until = (&nodes.judges_until() as _, Type::INT8);
    let age = (&bounds.keep_streams.as_secs_f64() as _, Type::FLOAT8);
    steps(link, &streams, &[age, (&STEP, Type::INT8), until]).await?;
    let count = "SELECT coalesce(sum(octet_length(body)), 0)::int8 FROM session_letter";
    let rows = query(link, count, &[]).await?;
    let counted: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
    Ok(usize::try_from(counted).unwrap_or(0))
}

/// Repeats a statement that deletes rows and counts them, until no rows are left.
async fn steps(link: &Link, sql: &str, parameters: Parameters<'_>) -> Result<(), Unavailable> {
    loop {
        let rows = query(link, sql, parameters).await?;
        let gone: i64 = rows.first().map_or(Ok(0), |row| get(row, 0))?;
        if gone < STEP {
            return Ok(());
        }
    }
}

/// A number for the database.
fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

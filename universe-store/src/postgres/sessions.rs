//! Sessions of clients, beside the universes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::task::JoinHandle;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::Task;
use super::connect::Link;
use super::nodes::{CHANNEL, Nodes, Parameters, get};
use crate::adapter::keys::{Key, session_key};
use crate::clients::sessions::{self, Change, LOOK, NOTED, TRIES};

use crate::clients::sessions::{SessionBounds, SessionError};

/// How many go with one statement.
const STEP: i64 = 1_000;

/// The sessions of all nodes that use one database.
pub(super) struct Sessions {
    nodes: Arc<Nodes>,
    bounds: SessionBounds,
    count: Arc<AtomicUsize>,
    _looking: Task,
}

impl Sessions {
    pub(super) fn start(nodes: Arc<Nodes>, bounds: SessionBounds) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        let looking = look(Arc::clone(nodes.link()), Arc::clone(&count), bounds.max_idle);
        Self { nodes, bounds, count, _looking: looking.into() }
    }

    async fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        body: &[u8],
    ) -> Result<(), SessionError> {
        let sql = "WITH own AS (SELECT count(*) AS n FROM \
                     (SELECT 1 FROM session WHERE owner = $2 LIMIT $4) held), \
                   gone AS (DELETE FROM session WHERE key IN ( \
                       SELECT key FROM session WHERE used < now() - make_interval(secs => $5) \
                         AND (owner = $2 OR $6 AND (SELECT n FROM own) < $4) \
                       ORDER BY used LIMIT 1 FOR UPDATE SKIP LOCKED) \
                     AND ($6 OR (SELECT n FROM own) >= $4) RETURNING 1), \
                   made AS (INSERT INTO session (key, owner, body, used) SELECT $1, $2, $3, now() \
                     WHERE NOT $6 AND (SELECT n FROM own) < $4 OR EXISTS (SELECT 1 FROM gone) RETURNING 1) \
                   SELECT EXISTS (SELECT 1 FROM made), (SELECT n FROM own) >= $4, EXISTS (SELECT 1 FROM gone)";
        let share = self.bounds.sessions_per_owner.max(1);
        let limit = i64::try_from(share).unwrap_or(i64::MAX);
        let is_full = self.count.load(Ordering::Relaxed) >= self.bounds.sessions.max(1);
        let parameters: Parameters<'_> = &[
            (&&session_key(name)[..], Type::BYTEA),
            (&owner, Type::TEXT),
            (&body, Type::BYTEA),
            (&limit, Type::INT8),
            (&self.bounds.in_use.as_secs_f64(), Type::FLOAT8),
            (&is_full, Type::BOOL),
        ];
        let rows = self.nodes.query(sql, parameters).await?;
        let row = rows.first().ok_or(SessionError::Unavailable)?;
        let (made, is_share, replaced): (bool, bool, bool) =
            (get(row, 0)?, get(row, 1)?, get(row, 2)?);
        if made {
            self.count.fetch_add(usize::from(!replaced), Ordering::Relaxed);
            return Ok(());
        }
        let max = if is_share { share } else { self.bounds.sessions };
        Err(SessionError::Full { is_share, max })
    }

    async fn load(&self, name: &str) -> Result<Option<Vec<u8>>, SessionError> {
        let key = session_key(name);
        let Some((body, _, is_due)) = self.read(&key).await? else {
            return Ok(None);
        };
        if is_due {
            let sql = "UPDATE session SET used = now() WHERE key = $1";
            // A database that takes no writes still lets sessions continue.
            let noted = self.nodes.query(sql, &[(&&key[..], Type::BYTEA)]).await;
            if noted.is_err() {
                tracing::warn!("the use of a session was not noted");
            }
        }
        Ok(Some(body))
    }

    async fn change(
        &self,
        name: &str,
        change: &Change<'_>,
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let key = session_key(name);
        let sql = "WITH moved AS (UPDATE session SET body = $2, version = version + 1, used = now() \
                     WHERE key = $1 AND version = $3 RETURNING 1) \
                   SELECT pg_notify($4, $5)::text FROM moved";
        for _ in 0..TRIES {
            let Some((body, version, _)) = self.read(&key).await? else {
                return Ok(None);
            };
            let Some(changed) = change(&body) else {
                return Ok(None);
            };
            let parameters: Parameters<'_> = &[
                (&&key[..], Type::BYTEA),
                (&changed, Type::BYTEA),
                (&version, Type::INT8),
                (&CHANNEL, Type::TEXT),
                (&self.nodes.note(&key), Type::TEXT),
            ];
            if !self.nodes.query(sql, parameters).await?.is_empty() {
                return Ok(Some(changed));
            }
        }
        Err(SessionError::Unavailable)
    }

    async fn remove(&self, name: &str) -> Result<bool, SessionError> {
        let key = session_key(name);
        let sql = "WITH gone AS (DELETE FROM session WHERE key = $1 RETURNING used) \
                   SELECT used > now() - make_interval(secs => $2), pg_notify($3, $4)::text FROM gone";
        let parameters: Parameters<'_> = &[
            (&&key[..], Type::BYTEA),
            (&self.bounds.max_idle.as_secs_f64(), Type::FLOAT8),
            (&CHANNEL, Type::TEXT),
            (&self.nodes.note(&key), Type::TEXT),
        ];
        let rows = self.nodes.query(sql, parameters).await?;
        Ok(rows.first().map_or(Ok(false), |row| get(row, 0))?)
    }

    /// What is in a session that lives, its version, and whether its use is to be noted.
    async fn read(&self, key: &Key) -> Result<Option<(Vec<u8>, i64, bool)>, SessionError> {
        let sql = "SELECT body, version, used < now() - make_interval(secs => $3) FROM session \
                   WHERE key = $1 AND used > now() - make_interval(secs => $2)";
        let parameters: Parameters<'_> = &[
            (&&key[..], Type::BYTEA),
            (&self.bounds.max_idle.as_secs_f64(), Type::FLOAT8),
            (&NOTED.min(self.bounds.max_idle / 4).as_secs_f64(), Type::FLOAT8),
        ];
        let rows = self.nodes.query(sql, parameters).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        Ok(Some((get(row, 0)?, get(row, 1)?, get(row, 2)?)))
    }
}

impl sessions::Sessions for Sessions {
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<(), SessionError>> {
        Box::pin(self.insert(name, owner, body))
    }

    fn load<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>> {
        Box::pin(self.load(name))
    }

    fn change<'a>(
        &'a self,
        name: &'a str,
        change: &'a Change<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>> {
        Box::pin(self.change(name, change))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(self.remove(name))
    }

    fn hints(&self, name: &str) -> BoxStream<'static, ()> {
        self.nodes.hints(session_key(name))
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

/// Takes sessions away that have ended, and counts the others, from time to time.
fn look(link: Arc<Link>, count: Arc<AtomicUsize>, max_idle: Duration) -> JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            if let Some(client) = link.client().await
                && let Some(Ok(counted)) = link.within(0, sweep(&client, max_idle)).await
            {
                count.store(usize::try_from(counted).unwrap_or(0), Ordering::Relaxed);
            }
            tokio::time::sleep(LOOK.min(max_idle)).await;
        }
    })
}

async fn sweep(client: &Client, max_idle: Duration) -> Result<i64, tokio_postgres::Error> {
    let sql = "WITH gone AS (DELETE FROM session WHERE key IN ( \
                 SELECT key FROM session WHERE used < now() - make_interval(secs => $1) \
                 ORDER BY used LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1) \
               SELECT count(*) FROM gone";
    let parameters: Parameters<'_> =
        &[(&max_idle.as_secs_f64(), Type::FLOAT8), (&STEP, Type::INT8)];
    loop {
        let rows = client.query_typed(sql, parameters).await?;
        let gone: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        if gone < STEP {
            break;
        }
    }
    let rows = client.query_typed("SELECT count(*) FROM session", &[]).await?;
    rows.first().map_or(Ok(0), |row| row.try_get(0))
}

//! The nodes that use one database. Each has a name and a lease, and is notified when others change records that it
//! watches.
//!
//! A node whose lease has expired has ended, or is cut off from the database. Times are those of the database's clock.
//! After the database itself was unavailable, all leases may have expired. So a node judges others only after its own
//! lease has held for its whole length without a gap, and only until there may be a gap. Statements that judge compare
//! that limit with the database's time themselves, because a statement may take long to arrive.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use futures_util::stream::BoxStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};
use uuid::Uuid;

use super::PostgresOptions;
use super::connect::{Connector, Link, NotificationHandler};
use super::error::{causes, is_conflict};
use crate::adapter::keys::Key;
use crate::adapter::lease::{Lease, REFRESHES};
use crate::adapter::watched::Watched;
use crate::clients::nodes::{Result, Unavailable};

/// The channel of all nodes: which node has changed or ended which record. The first such records were sessions.
pub(super) const CHANNEL: &str = "universe_session";

/// A node is deleted this many lease lengths after its lease has ended.
const FORGOTTEN: u32 = 20;

/// How many times a statement is tried when another one conflicts with it.
const TRIES: usize = 16;

/// The time of the database, in milliseconds.
pub(super) const NOW: &str = "(extract(epoch FROM now()) * 1000)::int8";

pub(super) type Parameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// This node among the nodes that use one database. It has one connection, which also serves the shared state of
/// clients.
///
/// When it is dropped, its lease expires on its own; [`end`](Self::end) ends the lease at once.
pub(super) struct Nodes {
    id: Uuid,
    link: Arc<Link>,
    watched: Arc<Watched>,
    lease: Arc<Lease>,
    keeping: AbortHandle,
    _tasks: JoinSet<()>,
}

impl Nodes {
    pub(super) fn start(connector: &Arc<Connector>, options: &PostgresOptions) -> Self {
        let (watched, id) = (Arc::new(Watched::default()), Uuid::new_v4());
        let (receiving, joined) = (Arc::clone(&watched), Arc::clone(&watched));
        let handler = NotificationHandler {
            channel: CHANNEL,
            received: Box::new(move |payload| {
                if let Some(key) = changed(payload, id) {
                    receiving.notify(&key);
                }
            }),
            joined: Box::new(move || joined.notify_all()),
        };
        let mut tasks = JoinSet::new();
        let link = Arc::new(Link::start(connector, options, Some(handler), &mut tasks));
        let lease = Arc::new(Lease::new(options.lease));
        let keeping = tasks.spawn(keep(Arc::clone(&link), Arc::clone(&lease), id));
        Self { id, link, watched, lease, keeping, _tasks: tasks }
    }

    pub(super) fn id(&self) -> Uuid {
        self.id
    }

    pub(super) fn lease(&self) -> Duration {
        self.lease.length
    }

    pub(super) async fn alive(&self, nodes: &[Uuid]) -> Result<Vec<Uuid>> {
        let judges_until = self.judges_until();
        if judges_until == i64::MIN {
            return Ok(nodes.to_vec());
        }
        let sql = format!(
            "SELECT id FROM unnest($1) AS asked(id) WHERE $2 <= {NOW} OR EXISTS ( \
               SELECT 1 FROM universe_node n WHERE n.id = asked.id AND alive_until > now())"
        );
        let parameters: Parameters<'_> = &[(&nodes, Type::UUID_ARRAY), (&judges_until, Type::INT8)];
        let rows = self.query(&sql, parameters).await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    pub(super) async fn end(&self) -> Result<()> {
        self.keeping.abort();
        let sql = "DELETE FROM universe_node WHERE id = $1";
        self.query(sql, &[(&self.id, Type::UUID)]).await.map(drop)
    }

    /// The time until which this node can judge whether others have ended, in the unit of [`NOW`].
    pub(super) fn judges_until(&self) -> i64 {
        self.lease.judges_until()
    }

    /// Reports whenever another node may have changed or ended a record: a hint only, and always one after this node
    /// had no connection for a while. Ends with this.
    pub(super) fn hints(&self, key: Key) -> BoxStream<'static, ()> {
        Watched::hints(&self.watched, key)
    }

    /// The payload that is sent to other nodes over [`CHANNEL`] when a record changes.
    pub(super) fn note(&self, key: &Key) -> String {
        format!("{} {}", self.id.simple(), HEXLOWER.encode(key))
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    pub(super) async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>> {
        query(&self.link, sql, parameters).await
    }
}

/// The record that another node has changed, from the payload of its notification.
fn changed(payload: &str, node: Uuid) -> Option<Key> {
    let (sender, key) = payload.split_once(' ')?;
    let key = HEXLOWER.decode(key.as_bytes()).ok()?;
    let is_own = sender == node.simple().to_string();
    Key::try_from(key).ok().filter(|_| !is_own)
}

/// The rows that a statement gives.
pub(super) async fn query(link: &Link, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>> {
    let client = link.client().await.ok_or(Unavailable)?;
    for _ in 0..TRIES {
        let rows = link.within(0, client.query_typed(sql, parameters)).await;
        match rows.ok_or(Unavailable)? {
            Ok(rows) => return Ok(rows),
            Err(error) if is_conflict(&error) => {}
            Err(error) => {
                tracing::error!(error = causes(&error), "the database refused a statement");
                return Err(Unavailable);
            }
        }
    }
    Err(Unavailable)
}

/// A value of a row.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T> {
    row.try_get(column).map_err(|_| Unavailable)
}

/// Renews the lease at intervals, and deletes nodes that ended long ago.
async fn keep(link: Arc<Link>, lease: Arc<Lease>, id: Uuid) {
    // It does not wait for a standby, whose absence would otherwise end the lease of every node.
    let sql = format!(
        "INSERT INTO universe_node (id, alive_until) VALUES ($1, now() + make_interval(secs => $2)) \
             ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until \
             RETURNING {NOW}, set_config('synchronous_commit', 'off', true)"
    );
    // Not at once: while the database was away, nodes could not make their leases longer.
    let forget = "DELETE FROM universe_node WHERE id IN ( \
                        SELECT id FROM universe_node WHERE alive_until < now() - make_interval(secs => $1) \
                        LIMIT 100 FOR UPDATE SKIP LOCKED)";
    let length = lease.length.as_secs_f64();
    let forgotten = (lease.length * FORGOTTEN).as_secs_f64();
    let mut steps: u32 = 0;
    loop {
        let parameters: Parameters<'_> = &[(&id, Type::UUID), (&length, Type::FLOAT8)];
        if let Ok(rows) = query(&link, &sql, parameters).await
            && let Some(now) = rows.first().and_then(|row| get(row, 0).ok())
        {
            lease.refreshed(now);
        }
        steps = steps.wrapping_add(1);
        if steps.is_multiple_of(FORGOTTEN) {
            // What fails is done by another, or later.
            let _ = query(&link, forget, &[(&forgotten, Type::FLOAT8)]).await;
        }
        tokio::time::sleep(lease.length / REFRESHES).await;
    }
}

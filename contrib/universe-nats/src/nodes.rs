//! The nodes that use the same streams: each has a record, whose time is its lease.
//!
//! A lease holds once its own message has come back, so a node whose view is late judges none.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::task::{AbortHandle, JoinSet};
use universe_store::adapter::lease::{REFRESHES, millis};
use universe_store::adapter::table::Table;
use universe_store::clients::nodes::{self, Unavailable};
use uuid::Uuid;

use super::engine::Engine;
use super::feed;
use super::records::{Label, Records, Row};
use super::sweep;

/// The number of lease durations after its last renewal at which the servers remove the record of a node. It is not
/// removed earlier, because nodes could not renew their leases while the servers were unavailable.
const FORGOTTEN: i64 = 20;

/// This node and its knowledge of the other nodes that use the same streams, over the connection of its store.
///
/// If it is dropped, its lease expires later; [`end`](nodes::Nodes::end) ends the lease at once.
pub(super) struct Node {
    pub(super) records: Arc<Records>,
    keeping: AbortHandle,
    _tasks: JoinSet<()>,
}

impl Node {
    pub(super) fn start(engine: Arc<Engine>, lease: Duration) -> Self {
        let records = Arc::new(Records::new(engine, lease));
        let mut tasks = JoinSet::new();
        tasks.spawn(feed::run(Arc::clone(&records)));
        tasks.spawn(sweep::run(Arc::clone(&records)));
        let keeping = tasks.spawn(keep(Arc::clone(&records)));
        Self { records, keeping, _tasks: tasks }
    }
}

impl nodes::Nodes for Node {
    fn id(&self) -> Uuid {
        self.records.id
    }

    fn lease(&self) -> Duration {
        self.records.lease.length
    }

    fn alive<'a>(&'a self, nodes: &'a [Uuid]) -> BoxFuture<'a, Result<Vec<Uuid>, Unavailable>> {
        let alive = nodes.iter().filter(|node| !self.records.has_ended(**node));
        Box::pin(std::future::ready(Ok(alive.copied().collect())))
    }

    fn end(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        Box::pin(async {
            self.keeping.abort();
            let path = path(self.records.id);
            while let Some(got) = self.records.living(&path).await? {
                if self.records.end(&path, &got.row).await? {
                    break;
                }
            }
            Ok(())
        })
    }
}

impl Records {
    /// Whether a node is known to have ended.
    pub(super) fn has_ended(&self, node: Uuid) -> bool {
        self.has_ended_in(&self.table(), node)
    }

    /// The same with the table of records, which the caller has locked.
    pub(super) fn has_ended_in(&self, table: &Table<Row>, node: Uuid) -> bool {
        let now = self.now();
        // Then the local data is not older than the lease of this node.
        if self.lease.judges_until() <= now {
            return false;
        }
        let row = table.get(&path(node));
        row.is_none_or(|row| row.label.until <= now)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("id", &self.records.id).finish_non_exhaustive()
    }
}

fn path(node: Uuid) -> String {
    format!("node.{}", node.simple())
}

/// Renews the lease regularly.
async fn keep(records: Arc<Records>) {
    let (path, length) = (path(records.id), records.lease.length);
    let until = millis(length);
    for number in 1.. {
        let label = Label { version: number, until, ..records.label() };
        records.sending(number);
        let left = Some(until.saturating_mul(FORGOTTEN));
        // A failed renewal is tried again in time.
        let _ = records.store(&path, &label, Bytes::new(), None, left).await;
        tokio::time::sleep(length / REFRESHES).await;
    }
}

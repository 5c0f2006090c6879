//! What servers share of MCP in a store that they have in common: sessions, their running calls, and tasks.

mod events;
mod sessions;
mod tasks;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use self::events::SharedEvents;
use self::sessions::SharedSessions;
pub use self::tasks::SharedTasks;
use super::{Opened, Shared};
use crate::metrics;
use crate::store::UniverseLog;
use crate::store::clients::logs::Logs;
use crate::store::clients::nodes::Nodes;
use crate::store::clients::sessions::Sessions;

/// A store for a server, with what it shares.
pub(super) fn opened(
    store: Arc<dyn UniverseLog>,
    node: Arc<dyn Nodes>,
    sessions: Arc<dyn Sessions>,
    logs: Box<dyn Logs>,
) -> Opened {
    let counted = Arc::clone(&sessions);
    metrics::count_sessions(move || counted.count());
    let leave: BoxFuture<'static, ()> = Box::pin(async move {
        if node.end().await.is_err() {
            tracing::warn!("the lease of this server ends by itself: the store is unavailable");
        }
    });
    Opened {
        store,
        shared: Some(Shared {
            sessions: Arc::new(SharedSessions(sessions)),
            events: Arc::new(SharedEvents(logs)),
        }),
        leave: Some(leave),
    }
}

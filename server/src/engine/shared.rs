//! MCP state that servers share through one store: sessions, their running calls, and tasks.

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
use crate::store::clients::SharedStore;
use crate::store::clients::logs::LogBounds;
use crate::store::clients::sessions::SessionBounds;

/// An open store for a server, with the data that it shares.
pub(super) fn opened(store: Arc<dyn SharedStore>) -> Opened {
    let (node, sessions) = (store.nodes(), store.sessions(SessionBounds::default()));
    let logs = store.logs(LogBounds::default());
    let counted = sessions.clone();
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

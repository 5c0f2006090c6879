//! Subscriptions of a session that were made with another process. The server is asked about each as when it was made,
//! so that it can begin to follow the resource before updates are sent from here.
//!
//! An update between a subscription elsewhere and the moment this process learns of it would be missed. So the stream
//! reports once that each such resource may have changed: too often is harmless, never is not.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use http::Extensions;
use serde_json::Map;

use crate::context::{ClientSide, Context, Incoming};
use crate::legacy::session::Session;
use crate::server::Server;

/// The caller for whom the server is asked.
pub(super) struct Followed {
    pub(super) server: Server,
    /// What is known about the caller.
    pub(super) extensions: Extensions,
    /// The time limit for all subscriptions together.
    pub(super) patience: Duration,
}

impl Followed {
    /// Asks about these resources. A subscription for which this fails is kept, since the session has it.
    pub(super) async fn follow(&self, session: &Session, uris: impl Iterator<Item = &String>) {
        let context = || {
            let incoming = Incoming::unanswered(Map::new(), self.extensions.clone());
            Context::new(incoming, ClientSide::from(session))
        };
        let all = async {
            for uri in uris {
                if let Err(error) = self.server.check_subscription(uri, context).await {
                    tracing::debug!(
                        ?error,
                        "a subscription was made elsewhere, and is refused here"
                    );
                }
            }
        };
        let all = AssertUnwindSafe(all).catch_unwind();
        if !matches!(tokio::time::timeout(self.patience, all).await, Ok(Ok(()))) {
            tracing::warn!("not all subscriptions that a session made elsewhere could be checked");
        }
    }
}

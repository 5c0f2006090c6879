//! A legacy request that its caller has given up. A lost connection cancels nothing in that era (2025-11-25,
//! "Streamable HTTP"), so the server is sent a cancellation.

use std::sync::Arc;

use mcp_proto::Era;
use mcp_proto::jsonrpc::{Notification, Request, RequestId};
use serde_json::json;
use tokio::runtime::Handle;

use super::HttpLink;
use crate::speaking::Speaking;

/// Sends a cancellation when it is dropped before the answer. Sending may outlive the client, by at most its time
/// limit.
pub(super) struct GivenUp {
    cancellation: Option<(Arc<HttpLink>, RequestId, Speaking)>,
}

impl GivenUp {
    pub(super) fn new(link: &Arc<HttpLink>, request: &Request, speaking: &Speaking) -> Self {
        // `initialize` must not be cancelled (2025-11-25, "Cancellation").
        let is_sent = speaking.era() == Era::Legacy && request.method != "initialize";
        let cancellation =
            is_sent.then(|| (Arc::clone(link), request.id.clone(), speaking.clone()));
        Self { cancellation }
    }

    /// The answer has arrived.
    pub(super) fn is_answered(&mut self) {
        self.cancellation = None;
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        let (Some((link, id, speaking)), Ok(runtime)) =
            (self.cancellation.take(), Handle::try_current())
        else {
            return;
        };
        let cancelled = Notification::new("notifications/cancelled", json!({ "requestId": id }));
        runtime.spawn(async move {
            let cancellation = link.notify(&cancelled, &speaking);
            let _ = tokio::time::timeout(link.config.timeout, cancellation).await;
        });
    }
}

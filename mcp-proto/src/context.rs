//! What one request carries in ([`Context`]) and its way back out ([`Outbox`]).

mod outbox;

use std::sync::Arc;
use std::time::Duration;

use http::Extensions;
use serde_json::{Map, Value, json};

use crate::jsonrpc::{Notification, RequestId};
use crate::lifecycle::{ClientCapabilities, Implementation, ModernMeta};
use crate::version::{Era, ProtocolVersion};

pub use outbox::{OUTBOX_CAPACITY, Outbox, OutboxClosed, OutboxReader, Outgoing};

/// Everything a handler may want to know of the request it serves.
///
/// It belongs to that request alone: version, capabilities and identity come from the request (modern) or its session
/// (legacy), never from an earlier request of the same connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Context {
    /// The request's id.
    pub request_id: RequestId,
    /// The revision the request speaks.
    pub protocol_version: ProtocolVersion,
    /// Who the client says it is. For display only.
    pub client_info: Option<Arc<Implementation>>,
    /// What the client can do.
    pub client_capabilities: Arc<ClientCapabilities>,
    /// The request's `_meta`, without `clientInfo` and `clientCapabilities`, which have fields of their own here.
    pub meta: Map<String, Value>,
    /// The way back for notifications about this request.
    pub outbox: Outbox,
    /// What the embedding service attached to the HTTP request: the caller's identity, trace context.
    pub extensions: Extensions,
}

/// A stable name for the authenticated caller (a subject, never a token).
///
/// The embedding service puts it into the HTTP request's extensions; sessions are bound to it, so that the id of a
/// session is worth nothing to anybody else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

impl Context {
    /// A context for calling [`Server::handle`](crate::Server::handle) without a transport, as tests do: a modern
    /// request without capabilities whose notifications go nowhere.
    #[must_use]
    pub fn test() -> Self {
        Self {
            request_id: RequestId::Number(0),
            protocol_version: ProtocolVersion::LATEST,
            client_info: None,
            client_capabilities: Arc::default(),
            meta: Map::new(),
            outbox: Outbox::closed(),
            extensions: Extensions::new(),
        }
    }

    /// The era of the request.
    #[must_use]
    pub fn era(&self) -> Era {
        self.protocol_version.era()
    }

    /// Something the embedding service attached to the HTTP request.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// Reports progress, if the request asked for it by `_meta.progressToken`.
    ///
    /// `progress` grows with every report; `total` is its end where known. Waits while the client is slower than
    /// [`OUTBOX_CAPACITY`] messages; a client that is gone is no error, since the call is about to be dropped.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token @ (Value::String(_) | Value::Number(_))) = self.meta.get("progressToken")
        else {
            return;
        };
        let mut params = Map::new();
        params.insert("progressToken".to_owned(), token.clone());
        params.insert("progress".to_owned(), json!(progress));
        if let Some(total) = total {
            params.insert("total".to_owned(), json!(total));
        }
        if let Some(message) = message {
            params.insert("message".to_owned(), json!(message));
        }
        let notification = Notification {
            method: "notifications/progress".to_owned(),
            params,
        };
        // The only failure is a reader that is gone, and then there is nobody to tell.
        let _gone = self.outbox.send(notification).await;
    }

    /// Lets go of the client's connection while the call goes on: a legacy client over Streamable HTTP comes back for
    /// the rest, no sooner than after `retry` (2025-11-25, "Streamable HTTP": the server may close the stream). Every
    /// other client keeps its connection, and nothing happens.
    pub async fn release_connection(&self, retry: Duration) {
        // The only failure is a reader that is gone, and then the connection is free.
        let _gone = self.outbox.release(retry).await;
    }

    pub(crate) fn modern(
        request_id: RequestId,
        modern: ModernMeta,
        mut meta: Map<String, Value>,
        outbox: Outbox,
    ) -> Self {
        let (client, capabilities) = ModernMeta::take_client(&mut meta);
        Self {
            request_id,
            protocol_version: modern.version,
            client_info: client.map(Arc::new),
            client_capabilities: Arc::new(capabilities),
            meta,
            outbox,
            extensions: Extensions::new(),
        }
    }
}

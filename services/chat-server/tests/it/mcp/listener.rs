//! A client that has subscribed, in either era, over pipes and HTTP.

use mcp_proto_client::{Client, ListenEvent, Listening};
use serde_json::Value;

use super::harness::HANG;

/// A client that has subscribed, and what it receives.
pub(super) struct Listener {
    /// For questions beside it.
    pub(super) client: Client,
    listening: Listening,
}

impl Listener {
    pub(super) async fn of(client: Client, uri: &str) -> Self {
        let listening = client.subscribe(uri).await.unwrap();
        Self { client, listening }
    }

    /// The params of the next notification.
    pub(super) async fn next(&mut self) -> Value {
        let heard = tokio::time::timeout(HANG, self.listening.next()).await;
        match heard.expect("nothing is told") {
            Some(ListenEvent::Notification(told)) => Value::Object(told.params),
            // One that is lost is found out.
            other => panic!("{other:?}"),
        }
    }

    /// What the next message says, of an update of this URI.
    pub(super) async fn message(&mut self, uri: &str) -> Value {
        let mut update = self.next().await;
        assert_eq!(update["uri"], uri, "{update}");
        update["_meta"]["chat-server/message"].take()
    }
}

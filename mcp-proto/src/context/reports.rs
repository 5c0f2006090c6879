//! The messages of a handler before its result: progress, log messages, notifications of changes.

use std::sync::Weak;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Context;
use crate::change::Change;
use crate::jsonrpc::Notification;
use crate::logging::LogLevel;
use crate::version::ProtocolVersion;

impl Context {
    /// Reports progress, if the request asked for it by `_meta.progressToken`, an integer or a string of at most 1,024
    /// bytes.
    ///
    /// `progress` must grow with every report; a report in which it does not is dropped. `total` is its final value, if
    /// known. `message` is sent to clients of 2025-03-26 and later. Waits while
    /// [`OUTBOX_CAPACITY`](crate::outbox::OUTBOX_CAPACITY) messages wait for the client. A client that has disconnected
    /// is not an error, since the call is about to be dropped.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(state) = &self.progress else {
            return;
        };
        let mut params = Map::new();
        params.insert("progressToken".to_owned(), state.token.clone());
        params.insert("progress".to_owned(), json!(progress));
        // JSON has no other numbers.
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params.insert("total".to_owned(), json!(total));
        }
        // `message` is new in 2025-03-26.
        if let Some(message) = message
            && self.protocol_version > ProtocolVersion::V2024_11_05
        {
            params.insert("message".to_owned(), json!(message));
        }
        let notification = Notification { method: "notifications/progress".to_owned(), params };
        // Checked as it joins the queue, so that the reports of several tasks grow in the order in which they are sent.
        let mut grows = true;
        let judge = || {
            grows = state.grows(progress);
            grows
        };
        // The only failure is a reader that is gone, and then the message has no recipient.
        let _ = self.outbox.send_if(notification, judge).await;
        if !grows {
            tracing::debug!(progress, "a report of progress that does not grow was left out");
        }
    }

    /// Sends a log message about this request to the client, if it wants messages of this level. `data` is any JSON;
    /// `logger` names the part of the server that logs. Never put secrets into it.
    ///
    /// The server must offer logging ([`ServerBuilder::logging`](crate::ServerBuilder::logging)).
    pub async fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Into<Value> + Send) {
        if self.log_level.is_none_or(|wanted| level < wanted) {
            return;
        }
        let mut params = Map::new();
        params.insert("level".to_owned(), json!(level));
        if let Some(logger) = logger {
            params.insert("logger".to_owned(), json!(logger));
        }
        params.insert("data".to_owned(), data.into());
        self.say("notifications/message", params).await;
    }

    /// Closes the client's connection while the call continues. A legacy client over Streamable HTTP reconnects for the
    /// rest, no sooner than after `retry` (2025-11-25, "Streamable HTTP": the server may close the stream). For every
    /// other client this does nothing.
    pub async fn release_connection(&self, retry: Duration) {
        // The only failure is a reader that is gone, and then the connection is free.
        let _ = self.outbox.release(retry).await;
    }

    /// Notifies every listener of a change, as [`Server::notify`](crate::Server::notify) does. For handlers, which have
    /// no handle to their server. In a context that was not made by a server, nothing is sent.
    pub fn notify(&self, change: Change) {
        let server = self.server.as_ref().and_then(Weak::upgrade);
        if let Some(server) = server {
            server.notify(change);
        }
    }

    /// Sends a notification about this request.
    pub(crate) async fn say(&self, method: &str, params: Map<String, Value>) {
        let notification = Notification { method: method.to_owned(), params };
        // The only failure is a reader that is gone, and then the message has no recipient.
        let _ = self.outbox.send(notification).await;
    }
}

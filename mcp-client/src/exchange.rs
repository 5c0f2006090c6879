//! One request and its answer: its `_meta`, how long it may take, and when it is sent again.
//!
//! A request is sent again only where that can do nothing twice: after a lost session, which executed nothing, and for
//! lists and resources. A tool may have done its work before the stream broke, so the caller decides.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_proto::jsonrpc::{ErrorObject, Notification, Request, RequestId};
use mcp_proto::lifecycle::{
    META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_PROTOCOL_VERSION,
};
use mcp_proto::{Era, ProtocolVersion};
use serde_json::{Map, Value, json};

use super::clock::TimeLimit;
use super::http::Reply;
use super::hub::Own;
use super::speaking::Speaking;
use super::{CallOptions, Client, ClientError, Link, Result};
use crate::locked::Locked as _;

/// A legacy server's error code for "initialize first" (-32000, in the range that implementations may use freely).
const NOT_INITIALIZED: i64 = -32_000;

impl Client {
    /// Sends a request and waits for its result, at most [`ClientConfig::timeout`](super::ClientConfig::timeout), which
    /// does not count the time that a callback or a log-in takes. The result may say that the server needs input first
    /// (`input_required`, see [`Client::request_in_rounds`]). Dropping the future cancels the request and notifies the
    /// server.
    ///
    /// The request is sent again, with another id, if it cannot take effect twice: when the session is lost (after a
    /// new handshake), when the server has changed its era, and in the modern era when the connection breaks before the
    /// answer to a method that only reads (`server/discover`, `completion/complete`, `resources/read`,
    /// `resources/directory/read` and all methods that end with `/list` or `/get`).
    ///
    /// # Errors
    /// [`ClientError`]. [`ClientError::Rpc`] is an error that the server answered with.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value> {
        self.request_with(method, params, &CallOptions::default()).await
    }

    /// [`Client::request`] with options, such as another time limit.
    ///
    /// # Errors
    /// As for [`Client::request`].
    pub async fn request_with(
        &self,
        method: &str,
        params: Value,
        options: &CallOptions,
    ) -> Result<Value> {
        let limit = TimeLimit::new(options, self.0.config.timeout, &self.0.hub.clock);
        limit.run(self.tried(method, &params, options, &limit)).await?
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// [`ClientError`] if the notification could not be delivered.
    pub async fn notify(&self, method: &str, params: Value) -> Result<()> {
        let speaking = self.speaking();
        let params = self.with_meta(params, &speaking);
        self.send_notification(&speaking, Notification::new(method, params)).await
    }

    pub(super) async fn send_notification(
        &self,
        speaking: &Speaking,
        notification: Notification,
    ) -> Result<()> {
        let sent = async {
            match &self.0.link {
                Link::Http(link) => link.notify(&notification, speaking).await,
                Link::Pipe(pipe) => pipe.send(&notification).await,
            }
        };
        let limit = self.0.config.timeout;
        self.0.hub.clock.within(limit, sent).await?
    }

    async fn tried(
        &self,
        method: &str,
        params: &Value,
        options: &CallOptions,
        limit: &TimeLimit,
    ) -> Result<Value> {
        let turn = self.0.calls.acquire().await;
        let _turn = turn.map_err(|_| ClientError::Closed)?;
        let mut again = false;
        loop {
            if let Some(reason) = self.0.hub.over_for() {
                return Err(reason);
            }
            let speaking = self.speaking();
            let reply = self.send(method, params, options, &speaking, limit).await;
            if !std::mem::replace(&mut again, true)
                && self.is_to_be_repeated(method, &speaking, &reply).await?
            {
                continue;
            }
            let response = reply?.outcome?;
            let result = response.outcome.map_err(ClientError::Rpc)?.to_value();
            return self.judged(method, result);
        }
    }

    /// An unknown kind of result is a broken answer (2026-07-28, "Results"); a missing one is complete.
    fn judged(&self, method: &str, result: Value) -> Result<Value> {
        if self.era() == Era::Legacy {
            return Ok(result);
        }
        match result.get("resultType") {
            None => Ok(result),
            Some(Value::String(kind))
                if matches!(kind.as_str(), "complete" | "input_required" | "task") =>
            {
                Ok(result)
            }
            Some(other) => Err(ClientError::Protocol(format!(
                "the resultType of {method} is {other}; it must be \"complete\", \"input_required\" or \"task\""
            ))),
        }
    }

    /// Sends one request under a new id.
    async fn send(
        &self,
        method: &str,
        params: &Value,
        options: &CallOptions,
        speaking: &Speaking,
        limit: &TimeLimit,
    ) -> Result<Reply> {
        let id = self.next_id();
        let mut params = self.with_meta(params.clone(), speaking);
        let wants_progress = options.progress.is_some() || options.max_timeout.is_some();
        if wants_progress || !options.meta.is_empty() {
            change_meta(&mut params, |meta| {
                meta.extend(options.meta.clone());
                if wants_progress {
                    meta.insert("progressToken".to_owned(), json!(id));
                }
            });
        }
        let (report, progressed) = (options.progress.clone(), Arc::clone(&limit.progressed));
        let own = Own::new(limit.own.clone(), move |notification| {
            if notification.method != "notifications/progress" {
                return;
            }
            progressed.notify_one();
            let params = Value::Object(notification.params.clone());
            if let (Some(report), Ok(progress)) = (&report, serde_json::from_value(params)) {
                report(progress);
            }
        });
        self.send_request(Request::new(id, method, params), speaking, own).await
    }

    pub(super) async fn send_request(
        &self,
        request: Request,
        speaking: &Speaking,
        own: Own,
    ) -> Result<Reply> {
        match &self.0.link {
            Link::Http(link) => link.call(&request, speaking, own).await,
            Link::Pipe(pipe) => pipe.call(&request, own).await.map(Reply::piped),
        }
    }

    pub(super) fn next_id(&self) -> RequestId {
        RequestId::Number(self.0.next_id.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether the outcome of a request is a reason to send it again. If so, prepares the connection for that.
    async fn is_to_be_repeated(
        &self,
        method: &str,
        speaking: &Speaking,
        reply: &Result<Reply>,
    ) -> Result<bool> {
        let is_pinned = self.0.config.version.is_some();
        let is_modern = speaking.era() == Era::Modern;
        let reply = match reply {
            Ok(reply) => reply,
            // The request is lost with its stream (2026-07-28, "Streamable HTTP").
            Err(ClientError::Closed) => {
                return Ok(is_modern && self.is_http() && only_reads(method));
            }
            Err(_) => return Ok(false),
        };
        let code = match &reply.outcome {
            Ok(response) if response.outcome.is_ok() => return Ok(false),
            Ok(response) => response.outcome.as_ref().err().map(|error| error.code),
            Err(_) => None,
        };
        let is_gone = match (is_modern, reply.status, code) {
            (true, _, Some(ErrorObject::UNSUPPORTED_VERSION)) if is_pinned => {
                return Ok(speaking.version.is_some_and(|version| reply.supports(version)));
            }
            (true, _, Some(ErrorObject::UNSUPPORTED_VERSION)) => true,
            (true, 400 | 404 | 405, None) | (true, 400, Some(NOT_INITIALIZED)) => !is_pinned,
            (false, 404, code) => {
                speaking.session.is_some() && code != Some(ErrorObject::METHOD_NOT_FOUND)
            }
            (
                false,
                400,
                Some(
                    ErrorObject::HEADER_MISMATCH
                    | ErrorObject::MISSING_CLIENT_CAPABILITY
                    | ErrorObject::UNSUPPORTED_VERSION,
                ),
            ) => !is_pinned,
            _ => false,
        };
        if is_gone {
            self.settle_again(speaking.generation).await?;
        }
        Ok(is_gone)
    }

    /// In the modern era every message carries the client's version, name and capabilities.
    pub(super) fn with_meta(&self, mut params: Value, speaking: &Speaking) -> Value {
        if !params.is_object() {
            params = json!({});
        }
        let version = speaking.version.unwrap_or(ProtocolVersion::LATEST);
        if version.era() == Era::Modern {
            let config = &self.0.config;
            let level = self.0.wishes.locked().level;
            change_meta(&mut params, |meta| {
                meta.insert(META_PROTOCOL_VERSION.to_owned(), json!(version));
                meta.insert(META_CLIENT_CAPABILITIES.to_owned(), json!(config.capabilities));
                meta.insert(META_CLIENT_INFO.to_owned(), json!(config.info));
                if let Some(level) = level {
                    meta.entry(META_LOG_LEVEL).or_insert_with(|| json!(level));
                }
            });
        }
        params
    }
}

/// Whether a method changes nothing at the server, so that it may be called twice.
fn only_reads(method: &str) -> bool {
    matches!(
        method,
        "server/discover" | "completion/complete" | "resources/read" | "resources/directory/read"
    ) || method.ends_with("/list")
        || method.ends_with("/get")
}

/// Changes `_meta` of params, which are an object. A missing `_meta` is added.
fn change_meta(params: &mut Value, change: impl FnOnce(&mut Map<String, Value>)) {
    let Value::Object(members) = params else {
        return;
    };
    let mut meta = match members.remove("_meta") {
        Some(Value::Object(meta)) => meta,
        _ => Map::new(),
    };
    change(&mut meta);
    members.insert("_meta".to_owned(), Value::Object(meta));
}

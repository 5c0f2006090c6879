//! What one request carries in ([`Context`]) and its way back out ([`Outbox`]).

mod outbox;
mod progress;
mod trace;

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::Extensions;
use serde_json::{Map, Value, json};

use crate::change::Notify;
use crate::input::Input;
use crate::jsonrpc::{Notification, RequestId};
use crate::lifecycle::{ClientCapabilities, Implementation, ModernMeta};
use crate::logging::LogLevel;
use crate::task::{Entry, TaskMode};
use crate::version::{Era, ProtocolVersion};
use progress::Progress;

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
    /// The mildest log messages that the client wants to have: as the request says (modern), or its session (legacy).
    /// `None`: it wants none.
    pub log_level: Option<LogLevel>,
    /// The way back for notifications about this request.
    pub outbox: Outbox,
    /// What the embedding service attached to the HTTP request: the caller's identity, trace context.
    pub extensions: Extensions,
    /// Who may come back for what this request leaves behind, besides the authenticated principal: the session or the
    /// connection it came by.
    pub(crate) peer: Option<Arc<str>>,
    /// What the client has answered so far; `None` in the first round.
    pub(crate) input: Option<Arc<Input>>,
    /// What the call has to do with tasks.
    pub(crate) task: TaskMode,
    /// The server that handles it.
    pub(crate) server: Option<Weak<dyn Notify>>,
    /// Made by the first report of progress.
    progress: Option<Arc<Progress>>,
}

/// A stable name for the authenticated caller (a subject, never a token).
///
/// The embedding service puts it into the HTTP request's extensions; sessions, request state, cursors and tasks are
/// bound to it, so that their names are worth nothing to anybody else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

/// What a transport knows of a request when it makes its [`Context`].
pub(crate) struct Incoming {
    pub(crate) request_id: RequestId,
    pub(crate) meta: Map<String, Value>,
    pub(crate) outbox: Outbox,
    pub(crate) extensions: Extensions,
    pub(crate) peer: Option<Arc<str>>,
}

/// What a legacy session tells the requests that come in it.
#[derive(Clone)]
pub(crate) struct LegacyClient {
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) client_info: Option<Arc<Implementation>>,
    pub(crate) client_capabilities: Arc<ClientCapabilities>,
    pub(crate) log_level: Option<LogLevel>,
}

impl Context {
    /// A context for calling [`Server::handle`](crate::Server::handle) without a transport, as tests do: a modern
    /// request without capabilities whose notifications go nowhere. Its public fields may be set.
    #[must_use]
    pub fn test() -> Self {
        Self {
            request_id: RequestId::Number(0),
            protocol_version: ProtocolVersion::LATEST,
            client_info: None,
            client_capabilities: Arc::default(),
            meta: Map::new(),
            log_level: None,
            outbox: Outbox::closed(),
            extensions: Extensions::new(),
            peer: None,
            input: None,
            task: TaskMode::None,
            server: None,
            progress: None,
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

    /// The caller as the embedding service authenticated it.
    #[must_use]
    pub fn principal(&self) -> Option<&str> {
        self.extension::<Principal>()
            .map(|principal| principal.0.as_str())
    }

    /// Reports progress, if the request asked for it by `_meta.progressToken`, an integer or a string of at most 1,024
    /// bytes.
    ///
    /// `progress` grows with every report, one that does not is left out; `total` is its end where known; `message` is
    /// told to clients of 2025-03-26 and later. Waits while
    /// the client is slower than [`OUTBOX_CAPACITY`] messages; a client that is gone is no error, since the call is
    /// about to be dropped.
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
        let notification = Notification {
            method: "notifications/progress".to_owned(),
            params,
        };
        // Judged as it joins the queue: the reports of several tasks grow in the order they are sent in.
        let mut grows = true;
        let judge = || {
            grows = state.grows(progress);
            grows
        };
        // The only failure is a reader that is gone, and then there is nobody to tell.
        let _gone = self.outbox.send_if(notification, judge).await;
        if !grows {
            tracing::debug!(
                progress,
                "a report of progress that does not grow was left out"
            );
        }
    }

    /// Sends a log message about this request to the client, if it wants messages of this level. `data` is any JSON;
    /// `logger` names the part of the server that speaks. Never put secrets into it.
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

    /// Lets go of the client's connection while the call goes on: a legacy client over Streamable HTTP comes back for
    /// the rest, no sooner than after `retry` (2025-11-25, "Streamable HTTP": the server may close the stream). Every
    /// other client keeps its connection, and nothing happens.
    pub async fn release_connection(&self, retry: Duration) {
        // The only failure is a reader that is gone, and then the connection is free.
        let _gone = self.outbox.release(retry).await;
    }

    pub(crate) fn modern(incoming: Incoming, modern: ModernMeta) -> Self {
        let mut incoming = incoming;
        let (client, capabilities) = ModernMeta::take_client(&mut incoming.meta);
        let client = LegacyClient {
            protocol_version: modern.version,
            client_info: client.map(Arc::new),
            client_capabilities: Arc::new(capabilities),
            log_level: modern.log_level,
        };
        Self::legacy(incoming, client)
    }

    pub(crate) fn legacy(incoming: Incoming, client: LegacyClient) -> Self {
        Self {
            request_id: incoming.request_id,
            protocol_version: client.protocol_version,
            client_info: client.client_info,
            client_capabilities: client.client_capabilities,
            progress: Progress::wanted(&incoming.meta),
            meta: incoming.meta,
            log_level: client.log_level,
            outbox: incoming.outbox,
            extensions: incoming.extensions,
            peer: incoming.peer,
            input: None,
            task: TaskMode::None,
            server: None,
        }
    }

    /// The same of a request that says nothing.
    pub(crate) fn silent(&self) -> Self {
        Self {
            outbox: Outbox::closed(),
            log_level: None,
            progress: None,
            ..self.clone()
        }
    }

    /// The same for a task: what it says goes out by `outbox`. The modern era has no way out for progress and logs.
    pub(crate) fn into_task(mut self, task: Arc<Entry>, outbox: Outbox) -> Self {
        if self.era() == Era::Modern {
            self.progress = None;
            self.log_level = None;
        }
        self.outbox = outbox;
        self.task = TaskMode::Running(task);
        self
    }

    /// Sends a notification about this request.
    pub(crate) async fn say(&self, method: &str, params: Map<String, Value>) {
        let notification = Notification {
            method: method.to_owned(),
            params,
        };
        // The only failure is a reader that is gone, and then there is nobody to tell.
        let _gone = self.outbox.send(notification).await;
    }
}

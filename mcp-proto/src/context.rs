//! The [`Context`] of one request: what the request carries, and what its handler can do.

mod answers;
mod asking;
mod progress;
mod reports;
mod tasks;
mod trace;
mod urls;
mod waits;

use std::sync::{Arc, Weak};

use http::Extensions;
use serde_json::{Map, Value};

use crate::blocking::{self, NotDone};
use crate::budget::{Client, Over};
use crate::change::Notify;
use crate::input::Input;
use crate::jsonrpc::{ErrorObject, RequestId, Result};
use crate::lifecycle::{ClientCapabilities, Implementation, ModernMeta};
use crate::logging::LogLevel;
use crate::outbox::Outbox;
use crate::task::TaskMode;
use crate::version::{Era, ProtocolVersion};
use progress::Progress;

pub use answers::Answers;
pub(crate) use waits::Waits;

/// What a handler can find out about the request it serves.
///
/// It belongs to that request alone: version, capabilities and identity come from the request (modern) or its session
/// (legacy), never from an earlier request of the same connection.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Context {
    /// The request's id.
    pub request_id: RequestId,
    /// The protocol version of the request.
    pub protocol_version: ProtocolVersion,
    /// The client's name and version, as it reports them. For display only.
    pub client_info: Option<Arc<Implementation>>,
    /// What the client can do.
    pub client_capabilities: Arc<ClientCapabilities>,
    /// The request's `_meta`, without the members that have a field here: version, client, capabilities, log level.
    pub meta: Map<String, Value>,
    /// The least severe level of log messages that the client wants: set by the request (modern) or by its session
    /// (legacy). `None` means no log messages.
    pub log_level: Option<LogLevel>,
    /// The channel for messages about this request.
    pub outbox: Outbox,
    /// What the embedding service attached to the HTTP request: the caller's identity, trace context.
    pub extensions: Extensions,
    /// The session or connection of a legacy request. Without an authenticated principal it owns what the request
    /// creates, such as tasks.
    pub(crate) peer: Option<Arc<str>>,
    /// The budget account of the client; `None` if it is not counted.
    pub(crate) client: Option<Client>,
    /// The most bytes of a result that the client takes.
    pub(crate) max_answer: Option<usize>,
    /// What the client has answered so far; `None` in the first round.
    pub(crate) input: Option<Arc<Input>>,
    /// Whether the call may become, or is, a task.
    pub(crate) task: TaskMode,
    /// The server that handles it.
    pub(crate) server: Option<Weak<dyn Notify>>,
    /// Created by the first report of progress.
    progress: Option<Arc<Progress>>,
}

/// A stable name for the authenticated caller (a subject, never a token).
///
/// The embedding service puts it into the HTTP request's extensions; sessions, request state, cursors and tasks are
/// bound to it, so that their ids are useless to other callers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

/// What a transport knows about a request when it creates its [`Context`].
pub(crate) struct Incoming {
    pub(crate) request_id: RequestId,
    pub(crate) meta: Map<String, Value>,
    pub(crate) outbox: Outbox,
    pub(crate) extensions: Extensions,
    pub(crate) peer: Option<Arc<str>>,
    pub(crate) client: Option<Client>,
    pub(crate) max_answer: Option<usize>,
}

impl Incoming {
    /// A message that is not answered: a notification, or a request that no handler gets. Nothing can be sent for it.
    pub(crate) fn unanswered(meta: Map<String, Value>, extensions: Extensions) -> Self {
        Self {
            request_id: RequestId::Number(0),
            meta,
            outbox: Outbox::closed(),
            extensions,
            peer: None,
            client: None,
            max_answer: None,
        }
    }
}

/// What is known about the client of a request: from its `_meta` (modern), or from its session.
#[derive(Clone)]
pub(crate) struct ClientSide {
    pub(crate) protocol_version: ProtocolVersion,
    pub(crate) client_info: Option<Arc<Implementation>>,
    pub(crate) client_capabilities: Arc<ClientCapabilities>,
    pub(crate) log_level: Option<LogLevel>,
}

impl ClientSide {
    /// A client of which only the revision is known.
    pub(crate) fn of_version(protocol_version: ProtocolVersion) -> Self {
        Self {
            protocol_version,
            client_info: None,
            client_capabilities: Arc::default(),
            log_level: None,
        }
    }
}

impl Context {
    /// A context for calling [`Server::handle`](crate::Server::handle) without a transport, as tests do: a modern
    /// request without capabilities whose notifications go nowhere. Its public fields may be set;
    /// [`with_capability`](Self::with_capability) and similar methods set what tests need most.
    ///
    /// ```
    /// use mcp_proto::Context;
    /// use serde_json::json;
    ///
    /// let context = Context::test().with_capability("elicitation", json!({ "form": {} }));
    /// assert!(context.client_capabilities.can_elicit_forms());
    /// ```
    pub fn test() -> Self {
        let incoming = Incoming::unanswered(Map::new(), Extensions::new());
        Self::new(incoming, ClientSide::of_version(ProtocolVersion::LATEST))
    }

    /// The era of the request.
    pub fn era(&self) -> Era {
        self.protocol_version.era()
    }

    /// A value that the embedding service attached to the HTTP request.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get()
    }

    /// Does work of a millisecond and more on a blocking thread, as [`run_long`](blocking::run_long) for the caller, so
    /// that others are served meanwhile. Work that has begun continues when the call is cancelled.
    ///
    /// # Errors
    /// The caller has too many unread answers to get another large one, the work panicked, or the runtime is ending.
    pub async fn run_long<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let client = self.client.clone();
        let work = move || {
            // The wait may have been long.
            client.as_ref().map_or(Ok(()), Client::may_answer)?;
            Ok(work())
        };
        let done = blocking::run_long(self.client.as_ref(), work).await;
        let done = done.map_err(|NotDone| ErrorObject::internal())?;
        done.map_err(|over: Over| ErrorObject::new(ErrorObject::INTERNAL, over.to_string()))
    }

    /// The most bytes of a result that the client takes, text and structured content together; `None` where that is not
    /// bounded, as over HTTP. A longer result is adapted or becomes a failure
    /// ([`StdioConfig::max_answer_bytes`](crate::stdio::StdioConfig::max_answer_bytes)). For a handler that would
    /// change something first.
    pub fn max_answer_bytes(&self) -> Option<usize> {
        self.max_answer
    }

    /// The session of a request of the older era: over HTTP its id, elsewhere a name of the connection. `None` in the
    /// modern era, which has no sessions.
    pub fn session(&self) -> Option<&str> {
        self.peer.as_deref()
    }

    /// The caller as the embedding service authenticated it.
    pub fn principal(&self) -> Option<&str> {
        self.extension::<Principal>().map(|principal| principal.0.as_str())
    }

    /// The same with a capability of the client, such as `sampling`, and its settings, which are often `{}`: for tests.
    pub fn with_capability(mut self, name: impl Into<String>, settings: Value) -> Self {
        let mut capabilities = Map::clone(self.client_capabilities.members());
        capabilities.insert(name.into(), settings);
        self.client_capabilities = Arc::new(capabilities.into());
        self
    }

    /// The same by a caller of this name: for tests.
    pub fn with_principal(mut self, principal: impl Into<String>) -> Self {
        self.extensions.insert(Principal(principal.into()));
        self
    }

    /// The same with a value among the extensions: for tests.
    pub fn with_extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// The same in another revision: for tests.
    pub fn with_version(mut self, version: ProtocolVersion) -> Self {
        self.protocol_version = version;
        self
    }

    pub(crate) fn modern(incoming: Incoming, modern: ModernMeta) -> Self {
        let ModernMeta { version, log_level, client_info, client_capabilities, others: _ } = modern;
        let client =
            ClientSide { protocol_version: version, client_info, client_capabilities, log_level };
        Self::new(incoming, client)
    }

    pub(crate) fn new(incoming: Incoming, client: ClientSide) -> Self {
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
            client: incoming.client,
            max_answer: incoming.max_answer,
            input: None,
            task: TaskMode::None,
            server: None,
        }
    }

    /// The same context with an outbox that drops all messages.
    pub(crate) fn silent(&self) -> Self {
        Self { outbox: Outbox::closed(), log_level: None, progress: None, ..self.clone() }
    }
}

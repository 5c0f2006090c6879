//! [`Server`]: the registries behind one method, `handle(Request, Context) -> Response`. It is infallible: every
//! failure is an answer. Transports call it; it never calls a transport.

mod build_error;
mod builder;
mod changes;
mod complete;
mod current_offer;
mod dispatch;
mod extension;
mod extension_lists;
mod keys;
mod layered;
mod listen;
mod lists;
mod method;
mod offered;
mod operation;
pub(crate) mod rounds;
mod run;
mod tasks;
mod update;
pub(crate) mod wire;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tracing::{Instrument as _, Level, Span};

use crate::cache::CacheHint;
use crate::call::Called;
use crate::change::{Change, Notify};
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::json::quoted;
use crate::jsonrpc::{ErrorObject, Payload, Request, RequestId, Response, Result};
use crate::lifecycle::{Implementation, ServerCapabilities};
use crate::resource::ResourceSource;
use crate::scopes::Wanted;
use crate::service::{Call, Outcome};
use crate::task::Tasks;
use crate::version::{Era, ProtocolVersion};
use builder::NewServer;
use extension::ExtensionMethods;
use operation::Begun;
use rounds::config::Rounds;

pub use build_error::BuildError;
pub use builder::ServerBuilder;
pub(crate) use changes::{Changes, Interest, Listener, SharedNotification};
pub(crate) use lists::Start;
pub(crate) use method::Method;
pub(crate) use offered::Offered;
pub use operation::{Operation, OperationError};
pub use rounds::config::InputConfig;
pub use update::Update;

/// A server of the Model Context Protocol: cheap to clone, shared by every transport and connection. While it runs,
/// what it offers ([`Server::update`]) and which tools it shows
/// ([`Server::hide_tools`]) may change.
#[derive(Debug, Clone)]
pub struct Server(pub(crate) Arc<Inner>);

/// A weak reference to a [`Server`], for code that notifies it of changes and is itself part of the handlers' state.
#[derive(Debug, Clone)]
pub struct WeakServer(Weak<Inner>);

pub(crate) struct Inner {
    pub(crate) info: Implementation,
    /// `info` as JSON text; part of every modern result.
    info_json: Box<RawValue>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    /// Replaced as a whole. Locked only while a handle is cloned.
    offered: RwLock<Arc<Offered>>,
    /// Held while what is offered changes.
    changing: Mutex<()>,
    methods: ExtensionMethods,
    source: Option<Box<dyn ResourceSource>>,
    /// The result of `server/discover`.
    discover: Option<Payload>,
    /// The result of `initialize` for each revision, once a client has asked for it.
    pub(crate) initialized: [OnceLock<Result<Payload>>; ProtocolVersion::ALL.len()],
    /// Decides whether a resource may be subscribed to, if the resources themselves do not.
    on_subscribe: Option<SubscribeCheck>,
    pub(crate) changes: Changes,
    tasks: Option<Arc<Tasks>>,
    pub(crate) rounds: Rounds,
    pub(crate) page_size: usize,
    list_cache: Option<CacheHint>,
    observers: Vec<operation::Observer>,
    /// All must agree.
    visible: Vec<Visible>,
}

type SubscribeCheck =
    Box<dyn Fn(String, Context) -> BoxFuture<'static, Result<(), RequestError>> + Send + Sync>;

/// Whether a caller may see an item that the server offers.
type Visible = Box<dyn Fn(Wanted<'_>, &Context) -> bool + Send + Sync>;

impl Server {
    /// Starts a server of this name and version whose handlers share `state`.
    pub fn builder<S>(
        name: impl Into<String>,
        version: impl Into<String>,
        state: S,
    ) -> ServerBuilder<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        ServerBuilder::of(NewServer::new(Implementation::new(name, version)), state)
    }

    /// Answers one request. Infallible: failures are answers.
    ///
    /// A panic outside a tool becomes −32603 and a line in the log. Dropping the future cancels the call.
    pub async fn handle(&self, request: Request, context: Context) -> Response {
        self.handle_owned(request.into(), context).await
    }

    /// Notifies every listener of a change: open `subscriptions/listen` requests, GET streams and stdio. A change that
    /// the builder did not declare ([`ServerBuilder::tools_list_changed`] and similar methods) is not sent.
    pub fn notify(&self, change: Change) {
        self.0.notify(change);
    }

    /// Whether an update of a resource may interest a client: false as long as no client has subscribed to a resource,
    /// or when no client listens. Saves the cost of making an update that is not sent.
    pub fn has_subscribers(&self) -> bool {
        self.0.has_subscribers()
    }

    /// A handle that does not keep the server alive.
    pub fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.0))
    }

    /// Ends every listener: listens get their final result, GET streams end. Calls continue; tasks do for
    /// [`TasksConfig::max_time_after_close`](crate::TasksConfig::max_time_after_close), and no more are started. Cannot
    /// be undone.
    pub fn close(&self) {
        self.0.changes.close();
        if let Some(tasks) = &self.0.tasks {
            tasks.close();
        }
    }

    /// Waits until no task runs. For use after [`Server::close`].
    pub async fn tasks_ended(&self) {
        if let Some(tasks) = &self.0.tasks {
            tasks.ended().await;
        }
    }

    /// A result as it is sent in an era.
    fn complete<T: Serialize>(
        &self,
        result: &T,
        hint: Option<CacheHint>,
        meta: Option<&Map<String, Value>>,
        era: Era,
    ) -> Result<Payload> {
        Payload::of(&wire::Complete::new(result, hint, meta, era, &self.0.info_json))
    }

    /// The calls that became tasks, if the server has any.
    pub(crate) fn tasks(&self) -> Option<&Arc<Tasks>> {
        self.0.tasks.as_ref()
    }

    /// As `handle`, with a future that owns its server, as transports need.
    pub(crate) fn handle_owned(
        &self,
        called: Called,
        mut context: Context,
    ) -> BoxFuture<'static, Response> {
        let server = self.clone();
        let id = called.id().clone();
        let itself: Weak<Inner> = Arc::downgrade(&self.0);
        context.server = Some(itself);
        let call = Call::new(called, context);
        let span = span(&id, &call);
        let begun = Begun::new(&self.0, &call);
        // Captured and not passed on as arguments, which would keep two copies in the future.
        Box::pin(async move {
            // Pinned in place, so that its wrappers hold only a reference.
            let answer = pin!(async { server.dispatch(call).answer().await });
            let outcome = AssertUnwindSafe(answer).catch_unwind().instrument(span).await;
            let outcome = Outcome(outcome.unwrap_or_else(|_panic| {
                tracing::error!(request_id = %id, "a request panicked");
                Err(ErrorObject::internal())
            }));
            if let Some(begun) = begun {
                begun.end(&outcome);
            }
            Response { id: Some(id), outcome: outcome.0 }
        })
    }
}

impl Inner {
    fn offered(&self) -> Arc<Offered> {
        // Nothing panics while it is locked.
        let offered = self.offered.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&offered)
    }

    /// Whether the builder declared changes of this kind.
    fn announces(&self, change: &Change) -> bool {
        let declared = &self.capabilities;
        let list = match change {
            Change::ToolsListChanged => declared.tools,
            Change::PromptsListChanged => declared.prompts,
            Change::ResourcesListChanged => declared.resources,
            Change::ResourceUpdated(_) => return self.announces_updates(),
        };
        list.is_some_and(|list| list.list_changed)
    }

    fn announces_updates(&self) -> bool {
        let resources = self.capabilities.resources;
        resources.is_some_and(|resources| resources.subscribe)
    }

    fn has_subscribers(&self) -> bool {
        self.announces_updates() && self.changes.has_subscribers()
    }
}

impl Notify for Inner {
    fn notify(&self, change: Change) {
        let is_wanted = match &change {
            Change::ResourceUpdated(_) => self.has_subscribers(),
            _ => self.announces(&change),
        };
        if is_wanted {
            self.changes.send(change);
        }
    }
}

impl WeakServer {
    /// The server, if it still exists.
    pub fn upgrade(&self) -> Option<Server> {
        self.0.upgrade().map(Server)
    }
}

/// The span around the handling of a request. A request that carries a trace gets a span at info level, others at debug
/// level; a disabled span costs almost nothing.
fn span(id: &RequestId, call: &Call) -> Span {
    let wanted = tracing::span_enabled!(Level::INFO);
    let parent = if wanted { call.context.trace_parent() } else { None };
    match parent {
        Some(traceparent) => {
            tracing::info_span!("request", %id, method = quoted(&call.method), traceparent)
        }
        None => tracing::debug_span!("request", %id, method = quoted(&call.method)),
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Inner")
            .field("info", &self.info)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

//! [`Server`]: the registries behind one verb, `handle(Request, Context) -> Response`, which cannot fail: a failure is
//! an answer. Transports call it; it calls no transport.

mod builder;
mod changes;
mod complete;
mod listen;
mod lists;
mod method;
mod rounds;
mod run;
mod skills;
mod tasks;
mod wire;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, RwLock, Weak};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tracing::{Instrument as _, Level, Span};

use crate::cache::CacheHint;
use crate::change::{Change, Notify};
use crate::completion::CompletionRegistry;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::json::quoted;
use crate::jsonrpc::{ErrorObject, Payload, Request, Response};
use crate::lifecycle::{
    Implementation, InitializeParams, MAX_SUBSCRIPTION_BYTES, MAX_SUBSCRIPTIONS, ServerCapabilities,
};
use crate::logging::LogLevel;
use crate::prompt::PromptRegistry;
use crate::resource::ResourceRegistry;
use crate::schema::MirroredParam;
use crate::skill::Skills;
use crate::task::Tasks;
use crate::tool::ToolRegistry;
use crate::version::{Era, ProtocolVersion};
use method::Method;
use rounds::Rounds;

pub use builder::{BuildError, ServerBuilder};
pub(crate) use changes::{Changes, Interest, Listener};
pub use rounds::InputConfig;

/// A server of the Model Context Protocol: cheap to clone, shared by every transport and connection. Nothing of it
/// changes once it is built, but its skills ([`Server::replace_skills`]).
#[derive(Debug, Clone)]
pub struct Server(Arc<Inner>);

/// A [`Server`] that is not kept alive by it: for whoever tells it of changes and is itself part of what its handlers
/// share.
#[derive(Debug, Clone)]
pub struct WeakServer(Weak<Inner>);

struct Inner {
    info: Implementation,
    /// `info` as JSON text; part of every modern result.
    info_json: Box<RawValue>,
    capabilities: ServerCapabilities,
    instructions: Option<String>,
    /// Shared with tasks, which must not keep the whole server.
    tools: Arc<ToolRegistry>,
    resources: ResourceRegistry,
    prompts: PromptRegistry,
    completions: CompletionRegistry,
    /// `None` without the extension.
    skills: Option<RwLock<Skills>>,
    /// The whole results of lists that are one page and the same for everybody, and of `server/discover`.
    ready: Ready,
    /// Whether a resource may be subscribed to, where the resources themselves do not say.
    on_subscribe: Option<SubscribeCheck>,
    changes: Changes,
    tasks: Option<Tasks>,
    rounds: Rounds,
    /// Turns to write large results.
    writers: Arc<Semaphore>,
    page_size: usize,
    list_cache: Option<CacheHint>,
}

type SubscribeCheck =
    Box<dyn Fn(String, Context) -> BoxFuture<'static, Result<(), RequestError>> + Send + Sync>;

/// Results that are made once.
#[derive(Debug, Default)]
struct Ready {
    discover: Option<Payload>,
    /// Each list in each revision.
    lists: Vec<(Method, ProtocolVersion, Payload)>,
}

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
        ServerBuilder::new(Implementation::new(name, version), state)
    }

    /// Answers one request. Infallible: what fails is told in the answer.
    ///
    /// A panic outside a tool becomes −32603 and a line in the log. Dropping the future cancels the call.
    pub async fn handle(&self, request: Request, mut context: Context) -> Response {
        let id = request.id.clone();
        let span = span(&request, &context);
        let server: Weak<Inner> = Arc::downgrade(&self.0);
        context.server = Some(server);
        let outcome = AssertUnwindSafe(self.dispatch(request, context))
            .catch_unwind()
            .instrument(span)
            .await;
        let outcome = outcome.unwrap_or_else(|_panic| {
            tracing::error!(request_id = %id, "a request panicked");
            Err(ErrorObject::internal())
        });
        Response {
            id: Some(id),
            outcome,
        }
    }

    /// Tells every listener of a change: open `subscriptions/listen` requests, GET streams and stdio. A change that the
    /// builder did not declare ([`ServerBuilder::tools_list_changed`] and its like) is told to nobody.
    pub fn notify(&self, change: Change) {
        self.0.notify(change);
    }

    /// Whether an update of a resource may be of interest to anybody: false as long as nobody has subscribed to one, or
    /// when nobody listens. For who wants to save the making of an update that nobody hears.
    #[must_use]
    pub fn has_subscribers(&self) -> bool {
        self.0.has_subscribers()
    }

    /// A handle that does not keep the server alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.0))
    }

    /// Ends every listener: listens get their final result, GET streams end. Calls go on; tasks do for
    /// [`TasksConfig::max_time_after_close`](crate::TasksConfig::max_time_after_close), and no more are started. Cannot
    /// be undone.
    pub fn close(&self) {
        self.0.changes.close();
        if let Some(tasks) = &self.0.tasks {
            tasks.close();
        }
    }

    /// Waits until no task runs; for after [`Server::close`].
    pub async fn tasks_ended(&self) {
        if let Some(tasks) = &self.0.tasks {
            tasks.ended().await;
        }
    }

    /// The one match from a method to its room.
    async fn dispatch(
        &self,
        request: Request,
        mut context: Context,
    ) -> Result<Payload, ErrorObject> {
        let Request {
            id: _,
            method,
            params,
        } = request;
        let era = context.era();
        let Some(method) = self.method(&method, era) else {
            return Err(Self::unknown_method(&method, era));
        };
        if self.0.capabilities.logging.is_none() {
            context.log_level = None;
        }
        if !method.may_ask()
            && let Some(ready) = self.ready(method, &params, context.protocol_version)
        {
            return Ok(ready);
        }
        // What is not called all the time is boxed, so that the future of a plain call is small.
        match method {
            Method::CallTool | Method::ReadResource | Method::GetPrompt => {
                self.in_rounds(method, params, context).await
            }
            Method::ListTools => self.list_tools(&params, &context),
            Method::ListPrompts => self.list_prompts(&params, &context),
            Method::ListResources => Box::pin(self.list_resources(&params, context)).await,
            Method::ListTemplates => self.list_templates(&params, &context),
            Method::ListSkills => self.list_skills(&params, &context),
            Method::GetSkill => self.get_skill(&params, &context),
            Method::ReadDirectory => self.read_directory(&params, &context),
            Method::Complete => Box::pin(self.complete_argument(&params, context)).await,
            Method::Listen => Box::pin(self.listen(params, context)).await,
            Method::Subscribe => Box::pin(self.subscribe(&params, &context)).await,
            Method::Unsubscribe => Self::unsubscribe(&params),
            Method::SetLogLevel => set_log_level(&params),
            Method::GetTask
            | Method::CancelTask
            | Method::UpdateTask
            | Method::TaskResult
            | Method::ListTasks => Box::pin(self.about_tasks(method, params, context)).await,
            Method::Ping => Payload::of(&json!({})),
            // It is ready whenever it is offered.
            Method::Discover => Err(ErrorObject::internal()),
            Method::Initialize => Err(ErrorObject::invalid_request(
                "this connection is initialized already: open another one",
            )),
        }
    }

    /// A result as it is sent in an era.
    fn complete<T: Serialize>(
        &self,
        result: &T,
        hint: Option<CacheHint>,
        meta: Option<&Map<String, Value>>,
        era: Era,
    ) -> Result<Payload, ErrorObject> {
        Payload::of(&wire::Complete::new(
            result,
            hint,
            meta,
            era,
            &self.0.info_json,
        ))
    }

    /// A result that was made when the server was built.
    fn ready(
        &self,
        method: Method,
        params: &Map<String, Value>,
        version: ProtocolVersion,
    ) -> Option<Payload> {
        if method == Method::Discover {
            return self.0.ready.discover.clone();
        }
        if params.contains_key("cursor") {
            return None;
        }
        let mut lists = self.0.ready.lists.iter();
        let ready = lists.find(|(list, told, _)| *list == method && *told == version);
        ready.map(|(_, _, list)| list.clone())
    }

    /// The result of a legacy `initialize`; the transport makes the session.
    pub(crate) fn initialize(&self, version: ProtocolVersion) -> Result<Payload, ErrorObject> {
        Payload::of(&wire::InitializeResult {
            protocol_version: version,
            capabilities: &self.0.capabilities.told(version),
            server_info: &self.0.info,
            instructions: self.0.instructions.as_deref(),
        })
    }

    /// Changes for one legacy listener.
    pub(crate) fn changes(&self) -> &Changes {
        &self.0.changes
    }

    /// Whether a method exists in an era: the transport answers 404 before it looks at anything else of the params.
    pub(crate) fn knows(&self, method: &str, era: Era) -> bool {
        self.method(method, era).is_some()
    }

    /// The parameters of a tool that headers repeat (2026-07-28).
    pub(crate) fn mirrored(&self, tool: &str) -> &[MirroredParam] {
        self.0.tools.mirrored(tool)
    }

    /// The refusal of a method that there is not in an era. A handshake that comes in a modern request is told which
    /// versions have one (2026-07-28, "Versioning").
    pub(crate) fn unknown_method(method: &str, era: Era) -> ErrorObject {
        let error = ErrorObject::method_not_found(method);
        if method != "initialize" || era == Era::Legacy {
            return error;
        }
        let legacy = ProtocolVersion::ALL.into_iter();
        let legacy: Vec<_> = legacy
            .filter(|version| version.era() == Era::Legacy)
            .collect();
        let message = format!(
            "{}: this request names a version without a handshake; leave it out of params._meta to open a session",
            error.message
        );
        ErrorObject::new(error.code, message)
            .with_data(json!({ "supported": ProtocolVersion::ALL, "initialize": legacy }))
    }

    /// What a method's name means in an era, if this server offers it.
    fn method(&self, name: &str, era: Era) -> Option<Method> {
        Method::parse(name, era).filter(|method| method.is_offered(&self.0.capabilities))
    }

    /// Handles with a future that owns its server, as transports keep it.
    pub(crate) fn handle_owned(
        &self,
        request: Request,
        context: Context,
    ) -> BoxFuture<'static, Response> {
        let server = self.clone();
        Box::pin(async move { server.handle(request, context).await })
    }
}

impl Inner {
    /// Whether the builder declared changes of this kind.
    fn tells(&self, change: &Change) -> bool {
        let declared = &self.capabilities;
        let list = match change {
            Change::ToolsListChanged => declared.tools,
            Change::PromptsListChanged => declared.prompts,
            Change::ResourcesListChanged => declared.resources,
            Change::ResourceUpdated(_) => return self.tells_updates(),
        };
        list.is_some_and(|list| list.list_changed)
    }

    fn tells_updates(&self) -> bool {
        let resources = self.capabilities.resources;
        resources.is_some_and(|resources| resources.subscribe)
    }

    fn has_subscribers(&self) -> bool {
        self.tells_updates() && self.changes.has_subscribers()
    }
}

impl Notify for Inner {
    fn notify(&self, change: Change) {
        let is_heard = match &change {
            Change::ResourceUpdated(_) => self.has_subscribers(),
            _ => self.tells(&change),
        };
        if is_heard {
            self.changes.send(change);
        }
    }
}

impl WeakServer {
    /// The server, if there still is one.
    #[must_use]
    pub fn upgrade(&self) -> Option<Server> {
        self.0.upgrade().map(Server)
    }
}

/// The span around the handling of a request. One that comes with a trace is told of at the level of information, others
/// to those who debug; a span that nobody wants costs a look.
fn span(request: &Request, context: &Context) -> Span {
    let wanted = tracing::span_enabled!(Level::INFO);
    let parent = if wanted { context.trace_parent() } else { None };
    match parent {
        Some(traceparent) => {
            tracing::info_span!("request", id = %request.id, method = quoted(&request.method), traceparent)
        }
        None => tracing::debug_span!("request", id = %request.id, method = quoted(&request.method)),
    }
}

/// The refusal of a subscription above the bound.
pub(crate) fn too_many_subscriptions() -> ErrorObject {
    ErrorObject::invalid_params(format!(
        "at most {MAX_SUBSCRIPTIONS} resources can be subscribed to, whose URIs have {MAX_SUBSCRIPTION_BYTES} bytes \
         together: unsubscribe from one first"
    ))
}

/// Reads the params of a legacy `initialize`.
pub(crate) fn read_initialize(request: Request) -> Result<InitializeParams, ErrorObject> {
    InitializeParams::read(request.params)
}

/// `logging/setLevel` of the legacy era; the transport keeps the level.
fn set_log_level(params: &Map<String, Value>) -> Result<Payload, ErrorObject> {
    let level = params.get("level").and_then(Value::as_str);
    match level.map(str::parse::<LogLevel>) {
        Some(Ok(_)) => Payload::of(&json!({})),
        Some(Err(_)) | None => Err(ErrorObject::invalid_params(format!(
            "params.level must be one of {}",
            LogLevel::names()
        ))),
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

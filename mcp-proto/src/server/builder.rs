//! Building a [`Server`]: every mistake is reported by `build()`, before a socket opens.

mod apps;
mod changes;
mod completions;
mod extensions;
mod finish;
mod items;
mod scopes;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::build_error::BuildError;
use super::changes::{DEFAULT_MAX_LISTENERS, Matcher};
use super::extension::ExtensionMethods;
use super::offered::Offered;
use super::operation::{Observer, Operation};
use super::{InputConfig, SubscribeCheck, Visible};
use crate::cache::CacheHint;
use crate::content::{Icon, Resource};
use crate::handler::{Handler, Takes};
use crate::interrupt::RequestError;
use crate::lifecycle::{Implementation, Settings};
use crate::resource::{Page, PageRequest, ResourceSource};
use crate::schema::Finding;
use crate::seal::Keys;
use crate::service::with_state;
use crate::task::{TaskStore, TasksConfig};
use crate::tool::ToolError;

/// How many items a page of a list has, unless the builder sets another number.
const DEFAULT_PAGE_SIZE: usize = 500;

/// Collects the features of a [`Server`](crate::Server), or those that an [`Update`](crate::Update) changes. Handlers
/// get a clone of the state as their first argument.
///
/// A handler runs on the connection's task: run blocking work in `tokio::task::spawn_blocking`. It is dropped when the
/// call is cancelled; run work that must finish in a separate task.
///
/// `K` is what is built: a new server, or an update of a running one. A function that is generic over it registers the
/// same items in both.
#[must_use]
pub struct ServerBuilder<S, K = NewServer> {
    pub(super) state: S,
    /// What changes the offer, in the order of the calls.
    pub(super) steps: Vec<Step>,
    kind: K,
}

/// A step of an offer to the next, or what is wrong with it.
pub(super) type Step = Box<dyn FnOnce(&mut Offered) -> Result<(), BuildError> + Send + Sync>;

/// The properties of a server that is built.
#[derive(Default)]
pub struct NewServer {
    info: Implementation,
    instructions: Option<String>,
    source: Option<Box<dyn ResourceSource>>,
    tools_list_changed: bool,
    resources_list_changed: bool,
    prompts_list_changed: bool,
    subscriptions: bool,
    logging: bool,
    on_subscribe: Option<SubscribeCheck>,
    matcher: Option<Matcher>,
    extensions: Settings,
    methods: ExtensionMethods,
    tasks: Option<TasksConfig>,
    task_store: Option<Arc<dyn TaskStore>>,
    input: InputConfig,
    keys: Option<Keys>,
    page_size: usize,
    list_cache: Option<CacheHint>,
    max_listeners: usize,
    observers: Vec<Observer>,
    visible: Vec<Visible>,
}

impl<S, K> ServerBuilder<S, K> {
    pub(super) fn of(kind: K, state: S) -> Self {
        Self { state, steps: Vec::new(), kind }
    }

    /// Adds a step. The first problem is reported when all are made.
    pub(super) fn then(
        mut self,
        step: impl FnOnce(&mut Offered) -> Result<(), BuildError> + Send + Sync + 'static,
    ) -> Self {
        self.steps.push(Box::new(step));
        self
    }

    /// The same for a step that cannot fail.
    pub(super) fn also<T>(
        self,
        step: impl FnOnce(&mut Offered) -> T + Send + Sync + 'static,
    ) -> Self {
        self.then(|offered| {
            step(offered);
            Ok(())
        })
    }
}

impl NewServer {
    pub(super) fn new(info: Implementation) -> Self {
        Self {
            info,
            page_size: DEFAULT_PAGE_SIZE,
            max_listeners: DEFAULT_MAX_LISTENERS,
            ..Self::default()
        }
    }
}

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.kind.info.title = Some(title.into());
        self
    }

    /// A description of the server, for people.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.kind.info.description = Some(description.into());
        self
    }

    /// The server's home page.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.kind.info.website_url = Some(url.into());
        self
    }

    /// An icon for the server.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.kind.info.icons.push(icon);
        self
    }

    /// How to use the server, for the model's system prompt.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.kind.instructions = Some(instructions.into());
        self
    }

    /// Sets the error for arguments that do not match a tool's schema, for an API with its own code and details. The
    /// function gets the tool's name, the arguments (an object) and the findings. The default is the code
    /// `INVALID_ARGUMENTS` with all findings.
    ///
    /// ```
    /// use mcp_proto::{Server, ToolError};
    /// use serde_json::json;
    ///
    /// let server = Server::builder("calculator", "1.0.0", ())
    ///     .refuse_arguments(|tool, _arguments, findings| {
    ///         let first = findings.first().map_or("", |finding| finding.message.as_str());
    ///         ToolError::new("BAD_CALL", format!("{tool}: {first}")).with_data(json!({ "all": findings }))
    ///     })
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn refuse_arguments(
        self,
        refuse: impl Fn(&str, &Value, &[Finding]) -> ToolError + Send + Sync + 'static,
    ) -> Self {
        self.also(move |offered| offered.tools.refuse = Some(Arc::new(refuse)))
    }

    /// Lists more resources than those added one by one, such as the existing members of a template. The handler only
    /// lists them; the template's handler reads them. If called again, the last handler is used. These resources are
    /// listed after the others, page by page, and caches must keep the list private to its caller.
    /// The handler is an async function of the state, the [`PageRequest`] and the [`Context`](crate::Context); the
    /// state and the context may be left out ([`Handler`]).
    pub fn list_resources<H, const STATE: bool, const CONTEXT: bool>(self, handler: H) -> Self
    where
        H: Handler<S, Takes<PageRequest, STATE, true, CONTEXT>> + Send + Sync + 'static,
        H::Future: Future<Output = Result<Page<Resource>, RequestError>> + Send + 'static,
    {
        let lister = with_state(self.state.clone(), move |state, asked, context| {
            handler.call(state, asked, context)
        });
        self.also(move |offered| offered.resources.lister = Some(Arc::new(lister)))
    }

    /// Lets handlers send log messages to the client ([`Context::log`](crate::Context::log)).
    pub fn logging(mut self) -> Self {
        self.kind.logging = true;
        self
    }

    /// Offers the resources of a source as well: they are listed after those registered one by one, and a URI that it
    /// has is read from it. If called again, the last source is used.
    pub fn resource_source(mut self, source: impl ResourceSource) -> Self {
        self.kind.source = Some(Box::new(source));
        self
    }

    /// Turns tasks on, within these bounds ([guide](crate::guide::tasks)). Each tool declares whether it may run as a
    /// task ([`Tool::with_task_support`](crate::Tool::with_task_support)).
    pub fn tasks(mut self, config: TasksConfig) -> Self {
        self.kind.tasks = Some(config);
        self
    }

    /// Shares the tasks of [`tasks`](Self::tasks) with all servers that use this store: each shows, answers and cancels
    /// all of them ([guide](crate::guide::tasks)). By default a task is known only to the server that runs it.
    pub fn task_store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.kind.task_store = Some(store);
        self
    }

    /// Sets how clients are asked for input.
    pub fn input(mut self, config: InputConfig) -> Self {
        self.kind.input = config;
        self
    }

    /// Sets the keys that seal request state and cursors. By default they are random for this process. Several
    /// processes that serve the same clients must share them.
    pub fn keys(mut self, keys: Keys) -> Self {
        self.kind.keys = Some(keys);
        self
    }

    /// Sets how many items a page of a list has: at least 1, and 500 by default.
    pub fn page_size(mut self, size: usize) -> Self {
        self.kind.page_size = size.max(1);
        self
    }

    /// Sets how long clients of the modern era may cache lists and the resources of a source. By default all clients
    /// and proxies may cache them for 60 seconds, except for a list that uses [`ServerBuilder::list_resources`]. Such a
    /// list is always private to its caller.
    pub fn list_cache(mut self, hint: CacheHint) -> Self {
        self.kind.list_cache = Some(hint);
        self
    }

    /// Reports each request to `observer` once when it has ended: answered, cancelled, or refused because its caller
    /// lacks a scope ([`OperationError`](crate::OperationError)). For metrics and audits, which may be several
    /// observers. It must not block. Unlike a [layer](Self::layer) it is told of what never reaches one, and it can
    /// change nothing. Requests that a transport refuses before they are handled, for example for a wrong header, are
    /// not reported.
    ///
    /// By OpenTelemetry's conventions for MCP, `duration` goes into the histogram `mcp.server.operation.duration`, with
    /// the attributes `mcp.method.name` (`method`), `gen_ai.tool.name` (`tool`), `gen_ai.prompt.name` (`prompt`) and
    /// `error.type` (the text of `error`).
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use mcp_proto::jsonrpc::Request;
    /// use mcp_proto::{Context, Server, Tool, ToolError};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lines = Arc::new(Mutex::new(Vec::new()));
    /// let audit = Arc::clone(&lines);
    /// let server = Server::builder("office", "1.0.0", ())
    ///     .tool(Tool::new("print", "Prints."), async || {
    ///         Err::<(), _>(ToolError::new("NO_PAPER", "fill in some paper"))
    ///     })
    ///     .observe(move |over| {
    ///         let outcome = over.error.map_or("done".to_owned(), |error| error.to_string());
    ///         let caller = over.principal.as_deref().unwrap_or("somebody");
    ///         let what = over.tool.as_ref().unwrap_or(&over.method);
    ///         audit.lock().unwrap().push(format!("{caller}: {what}: {outcome}"));
    ///     })
    ///     .build()?;
    /// let call = Request::new(1, "tools/call", json!({ "name": "print" }));
    /// server.handle(call, Context::test().with_principal("ada")).await;
    /// assert_eq!(*lines.lock().unwrap(), ["ada: print: tool_error"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe(mut self, observer: impl Fn(&Operation) + Send + Sync + 'static) -> Self {
        self.kind.observers.push(Box::new(observer));
        self
    }
}

impl<S, K: fmt::Debug> fmt::Debug for ServerBuilder<S, K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServerBuilder")
            .field("kind", &self.kind)
            .field("steps", &self.steps.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for NewServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewServer").field("info", &self.info).finish_non_exhaustive()
    }
}

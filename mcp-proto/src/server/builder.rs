//! Building a [`Server`]: every mistake is reported by `build()`, before a socket opens.

mod apps;
mod changes;
mod completions;
mod extensions;
mod finish;
mod scopes;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::build_error::BuildError;
use super::changes::{DEFAULT_MAX_LISTENERS, Matcher};
use super::extension::ExtensionMethods;
use super::offered::Offered;
use super::operation::{Observer, Operation};
use super::{InputConfig, SubscribeCheck, Visible};
use crate::cache::CacheHint;
use crate::content::{Icon, Resource};
use crate::context::Context;
use crate::handler::{Handler, with_state};
use crate::interrupt::RequestError;
use crate::lifecycle::{Implementation, Settings};
use crate::prompt::{GetPromptResult, NewPrompt, Prompt};
use crate::resource::{
    Page, PageRequest, ReadResourceResult, ResourceSource, ResourceTemplate, ResourceUri, reader,
};
use crate::schema::Finding;
use crate::scopes::{Guarded, Scopes};
use crate::seal::Keys;
use crate::task::{TaskStore, TasksConfig};
use crate::tool::{IntoToolResult, NewTool, Tool, ToolError};

/// How many items a page of a list has, unless the builder sets another number.
const DEFAULT_PAGE_SIZE: usize = 500;

/// Collects the features of a [`Server`](crate::Server). Handlers get a clone of the state as their first argument.
///
/// A handler runs on the connection's task: run blocking work in `tokio::task::spawn_blocking`. It is dropped when the
/// call is cancelled; run work that must finish in a separate task.
#[must_use]
pub struct ServerBuilder<S> {
    info: Implementation,
    state: S,
    instructions: Option<String>,
    offered: Offered,
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
    observer: Option<Observer>,
    visible: Option<Visible>,
    error: Option<BuildError>,
}

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    pub(super) fn new(info: Implementation, state: S) -> Self {
        Self {
            info,
            state,
            instructions: None,
            offered: Offered::default(),
            source: None,
            tools_list_changed: false,
            resources_list_changed: false,
            prompts_list_changed: false,
            subscriptions: false,
            logging: false,
            on_subscribe: None,
            matcher: None,
            extensions: Settings::new(),
            methods: ExtensionMethods::default(),
            tasks: None,
            task_store: None,
            input: InputConfig::default(),
            keys: None,
            page_size: DEFAULT_PAGE_SIZE,
            list_cache: None,
            max_listeners: DEFAULT_MAX_LISTENERS,
            observer: None,
            visible: None,
            error: None,
        }
    }

    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// A description of the server, for people.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// The server's home page.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// An icon for the server.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.info.icons.push(icon);
        self
    }

    /// How to use the server, for the model's system prompt.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a tool. Its handler is an async function of the state, the arguments and the [`Context`], any of them left
    /// out ([`Handler`](crate::handler::Handler)), and returns text, [`Json`](crate::Json), blocks of content and more ([`IntoToolResult`]).
    ///
    /// The schema of its arguments is derived from their type, published and enforced; one written by hand is refused.
    /// An explicit null for an optional member counts as left out, for any type. The schema of its result is that of
    /// [`Json`](crate::Json). A handler that makes its [`CallToolResult`](crate::CallToolResult) has none unless
    /// [`Tool::with_output_schema`] adds one; results are then checked against it, as with [`ServerBuilder::raw_tool`].
    ///
    /// ```
    /// use mcp_proto::{Context, Json, Server, Tool, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Named {
    ///     name: String,
    /// }
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Size {
    ///     bytes: u64,
    /// }
    ///
    /// // Any error becomes an internal one, whose cause is logged; the model is told only that it failed.
    /// async fn size(folder: &'static str, asked: Named) -> Result<Json<Size>, ToolError> {
    ///     let bytes = tokio::fs::metadata(format!("{folder}/{}", asked.name)).await?.len();
    ///     Ok(Json(Size { bytes }))
    /// }
    ///
    /// let server = Server::builder("files", "1.0.0", "/srv")
    ///     .tool(Tool::new("size", "The size of a file."), size)
    ///     .tool(Tool::new("where", "The folder."), async |folder: &'static str| folder)
    ///     .tool(Tool::new("ping", "Answers."), async || "pong")
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn tool<T, H>(mut self, tool: Tool, handler: H) -> Self
    where
        H: Handler<S, T> + Send + Sync + 'static,
        H::Arguments: DeserializeOwned + JsonSchema + Send + 'static,
        H::Future: Future<Output: IntoToolResult> + Send + 'static,
    {
        let added = self.offered.add_tool(NewTool::typed(tool, self.state.clone(), handler));
        self.keep_first(added)
    }

    /// Adds a tool whose input schema is written by hand ([`Tool::with_input_schema`]), and perhaps its output schema
    /// ([`Tool::with_output_schema`]); they are enforced, too.
    ///
    /// The handler sees the arguments as they were sent. That includes an explicit null for a member that the schema
    /// does not require, although the schema may not allow null there: models send it, so it is accepted as left out,
    /// and a handler that stores its arguments can distinguish the two. A handler that cannot use a null must ignore
    /// it.
    ///
    /// A result that does not match its output schema reaches the client as `INTERNAL_ERROR`, with the details in the
    /// log; see [`Tool::with_trusted_output`] for the cost of this check.
    pub fn raw_tool<F, R>(mut self, tool: Tool, handler: F) -> Self
    where
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolResult> + Send + 'static,
    {
        let added = self.offered.add_tool(NewTool::raw(tool, self.state.clone(), handler));
        self.keep_first(added)
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
        mut self,
        refuse: impl Fn(&str, &Value, &[Finding]) -> ToolError + Send + Sync + 'static,
    ) -> Self {
        self.offered.tools.refuse_with(Arc::new(refuse));
        self
    }

    /// Adds a resource. The handler returns its contents whenever it is read.
    pub fn resource<O, F, R>(mut self, resource: Resource, handler: F) -> Self
    where
        O: Into<ReadResourceResult>,
        F: Fn(S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let added = self.offered.add_resource(
            resource,
            reader(self.state.clone(), move |state, _uri, context| handler(state, context)),
        );
        self.keep_first(added)
    }

    /// Adds a family of resources. The handler returns the contents of the requested URI, or
    /// [`RequestError::not_found`]. If several templates match a URI, the one that was added first is used. A resource
    /// that was added individually takes precedence over templates.
    ///
    /// ```
    /// use mcp_proto::{Context, RequestError, ResourceContents, ResourceTemplate, ResourceUri, Server};
    ///
    /// async fn note((): (), asked: ResourceUri, _: Context) -> Result<ResourceContents, RequestError> {
    ///     match asked.get("day") {
    ///         Some("monday") => Ok(ResourceContents::text(asked.uri, "Write the docs.")),
    ///         _ => Err(RequestError::not_found("there is a note for monday alone")),
    ///     }
    /// }
    ///
    /// let server = Server::builder("notes", "1.0.0", ())
    ///     .resource_template(ResourceTemplate::new("notes://{day}", "note"), note)
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn resource_template<O, F, R>(mut self, template: ResourceTemplate, handler: F) -> Self
    where
        O: Into<ReadResourceResult>,
        F: Fn(S, ResourceUri, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let added = self.offered.add_template(template, reader(self.state.clone(), handler));
        self.keep_first(added)
    }

    /// Lists more resources than those added one by one, such as the existing members of a template. The handler only
    /// lists them; the template's handler reads them. If called again, the last handler is used. These resources are
    /// listed after the others, page by page, and caches must keep the list private to its caller.
    pub fn list_resources<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(S, PageRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Page<Resource>, RequestError>> + Send + 'static,
    {
        self.offered.resources.set_lister(with_state(self.state.clone(), handler));
        self
    }

    /// Adds a prompt whose arguments are the members of the handler's type: texts and enumerations of texts. The
    /// required ones are listed first, in their order, then the optional ones by name. The values of enumerations are
    /// offered for completion.
    ///
    /// ```
    /// use mcp_proto::{Context, GetPromptResult, Prompt, RequestError, Server};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review {
    ///     /// The code.
    ///     code: String,
    ///     tone: Option<Tone>,
    /// }
    ///
    /// #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(rename_all = "lowercase")]
    /// enum Tone {
    ///     Friendly,
    ///     Strict,
    /// }
    ///
    /// async fn review((): (), asked: Review, _: Context) -> Result<GetPromptResult, RequestError> {
    ///     let tone = asked.tone.unwrap_or(Tone::Friendly);
    ///     Ok(GetPromptResult::text(format!("Review this ({tone:?}):\n{}", asked.code)))
    /// }
    ///
    /// let server = Server::builder("reviews", "1.0.0", ())
    ///     .prompt(Prompt::new("review", "Reviews code."), review)
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn prompt<A, F, R>(mut self, prompt: Prompt, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        let added = self.offered.add_prompt(NewPrompt::typed(prompt, self.state.clone(), handler));
        self.keep_first(added)
    }

    /// Adds a prompt whose arguments are listed by hand ([`Prompt::with_argument`]); the handler gets them by name.
    pub fn raw_prompt<F, R>(mut self, prompt: Prompt, handler: F) -> Self
    where
        F: Fn(S, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        let added = self.offered.add_prompt(NewPrompt::raw(prompt, self.state.clone(), handler));
        self.keep_first(added)
    }

    /// Lets handlers send log messages to the client ([`Context::log`]).
    pub fn logging(mut self) -> Self {
        self.logging = true;
        self
    }

    /// Offers the resources of a source as well: they are listed after those registered one by one, and a URI that it
    /// has is read from it. If called again, the last source is used.
    pub fn resource_source(mut self, source: impl ResourceSource) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Turns tasks on, within these bounds ([guide](crate::guide::tasks)). Each tool declares whether it may run as a
    /// task ([`Tool::with_task_support`]).
    pub fn tasks(mut self, config: TasksConfig) -> Self {
        self.tasks = Some(config);
        self
    }

    /// Shares the tasks of [`tasks`](Self::tasks) with all servers that use this store: each shows, answers and cancels
    /// all of them ([guide](crate::guide::tasks)). By default a task is known only to the server that runs it.
    pub fn task_store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.task_store = Some(store);
        self
    }

    /// Sets how clients are asked for input.
    pub fn input(mut self, config: InputConfig) -> Self {
        self.input = config;
        self
    }

    /// Sets the keys that seal request state and cursors. By default they are random for this process. Several
    /// processes that serve the same clients must share them.
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Sets how many items a page of a list has: at least 1, and 500 by default.
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size.max(1);
        self
    }

    /// Sets how long clients of the modern era may cache lists and the resources of a source. By default all clients
    /// and proxies may cache them for 60 seconds, except for a list that uses [`ServerBuilder::list_resources`]. Such a
    /// list is always private to its caller.
    pub fn list_cache(mut self, hint: CacheHint) -> Self {
        self.list_cache = Some(hint);
        self
    }

    /// Reports each request to `observer` once when it has ended: answered, cancelled, or refused because its caller
    /// lacks a scope ([`OperationError`](crate::OperationError)). For metrics and audits. It must not block. Requests
    /// that a transport refuses before they are handled, for example for a wrong header, are not reported.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use mcp_proto::jsonrpc::Request;
    /// use mcp_proto::{Context, OperationError, Server, Tool, ToolError};
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
    ///         let outcome = match over.error {
    ///             None => format!("{} bytes", over.result_bytes),
    ///             Some(OperationError::Tool) => "failed".to_owned(),
    ///             Some(other) => format!("{other:?}"),
    ///         };
    ///         // `over.duration` goes into a histogram.
    ///         let caller = over.principal.unwrap_or("somebody");
    ///         let what = over.tool.unwrap_or(over.method);
    ///         audit.lock().unwrap().push(format!("{caller}: {what}: {outcome}"));
    ///     })
    ///     .build()?;
    /// let call = Request::new(1, "tools/call", json!({ "name": "print" }));
    /// server.handle(call, Context::test().with_principal("ada")).await;
    /// assert_eq!(*lines.lock().unwrap(), ["ada: print: failed"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe(mut self, observer: impl Fn(Operation<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Requires scopes of callers over HTTP. Without them a caller does not see the item in a list, and a request for
    /// it gets 403 with a challenge that names all of them. Resources of skills are `skill://…`. If called again for
    /// the same item, the last call is used.
    ///
    /// It applies to callers whose [`Scopes`] are known: those that an
    /// [`Authorization`](crate::http::authorize::Authorization) accepted, or those whose scopes the embedding service
    /// put among the extensions of the HTTP request. Other callers, as on stdin and stdout, may use everything.
    pub fn require_scopes(mut self, guarded: Guarded, scopes: Scopes) -> Self {
        self.offered.needs.insert(guarded, scopes);
        self
    }

    /// Keeps the first error for `build`.
    fn keep_first(mut self, added: Result<(), BuildError>) -> Self {
        self.error = self.error.or(added.err());
        self
    }
}

impl<S> fmt::Debug for ServerBuilder<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ServerBuilder")
            .field("info", &self.info)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

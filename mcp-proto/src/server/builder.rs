//! Building a [`Server`]: every mistake shows at `build()`, before a socket opens.

mod finish;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::changes::{DEFAULT_MAX_LISTENERS, Matcher, ResourceUpdate};
use super::{InputConfig, SubscribeCheck};
use crate::cache::CacheHint;
use crate::completion::{Completion, CompletionRegistry, CompletionRequest, Reference};
use crate::content::Icon;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::lifecycle::{Implementation, Settings};
use crate::prompt::{GetPromptResult, Prompt, PromptRegistry};
use crate::resource::{
    Page, PageRequest, ReadResourceResult, Resource, ResourceRegistry, ResourceTemplate,
    ResourceUri,
};
use crate::seal::Keys;
use crate::tool::{CallToolResult, Tool, ToolError, ToolRegistry};

/// How many items a page of a list has unless the builder says otherwise.
const DEFAULT_PAGE_SIZE: usize = 500;

/// Collects what a [`Server`](crate::Server) offers. Handlers get a clone of the state as their first argument.
///
/// A handler runs on the connection's task: what blocks belongs into `tokio::task::spawn_blocking`. It is dropped when
/// the call is cancelled; what must finish belongs into a task of its own.
#[must_use]
pub struct ServerBuilder<S> {
    info: Implementation,
    state: S,
    instructions: Option<String>,
    tools: ToolRegistry,
    resources: ResourceRegistry,
    prompts: PromptRegistry,
    completions: CompletionRegistry,
    tools_list_changed: bool,
    resources_list_changed: bool,
    prompts_list_changed: bool,
    subscriptions: bool,
    logging: bool,
    on_subscribe: Option<SubscribeCheck>,
    matcher: Option<Matcher>,
    extensions: Settings,
    input: InputConfig,
    keys: Option<Keys>,
    page_size: usize,
    list_cache: Option<CacheHint>,
    max_listeners: usize,
    error: Option<BuildError>,
}

/// A server that would not be right, found before it serves anybody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool's name or schema cannot be served.
    #[error("tool {name:?}: {problem}")]
    Tool {
        /// The tool.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A resource or a template cannot be served.
    #[error("resource {uri:?}: {problem}")]
    Resource {
        /// The URI or the URI template.
        uri: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A prompt cannot be served.
    #[error("prompt {name:?}: {problem}")]
    Prompt {
        /// The prompt.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A completion is for nothing that the server has, or there are two for one argument.
    #[error("completion of {argument:?} of {of:?}: {problem}")]
    Completion {
        /// The prompt or the URI template.
        of: String,
        /// The argument or the variable.
        argument: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something about the server itself.
    #[error("{0}")]
    Server(String),
}

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    pub(super) fn new(info: Implementation, state: S) -> Self {
        Self {
            info,
            state,
            instructions: None,
            tools: ToolRegistry::default(),
            resources: ResourceRegistry::default(),
            prompts: PromptRegistry::default(),
            completions: CompletionRegistry::default(),
            tools_list_changed: false,
            resources_list_changed: false,
            prompts_list_changed: false,
            subscriptions: false,
            logging: false,
            on_subscribe: None,
            matcher: None,
            extensions: Settings::new(),
            input: InputConfig::default(),
            keys: None,
            page_size: DEFAULT_PAGE_SIZE,
            list_cache: None,
            max_listeners: DEFAULT_MAX_LISTENERS,
            error: None,
        }
    }

    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// What the server is, for people.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// The server's home page.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// A picture that stands for the server.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.info.icons.push(icon);
        self
    }

    /// How to use the server, for the model's system prompt.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a typed tool: the schemas of its arguments and results are derived from the handler's types, published
    /// and enforced. An explicit null for an optional member counts as left out, whatever the type would make of it.
    pub fn tool<A, O, F, R>(mut self, tool: Tool, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_typed(tool, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Tool {
            name,
            problem: problem.0,
        });
        self
    }

    /// Adds a tool whose arguments have a type, as those of [`ServerBuilder::tool`], and whose handler makes the result
    /// by hand: text, pictures, links. Without an output schema; [`Tool::with_output_schema`] adds one.
    pub fn content_tool<A, F, R>(mut self, tool: Tool, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_content(tool, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Tool {
            name,
            problem: problem.0,
        });
        self
    }

    /// Adds a tool whose JSON Schemas are written by hand ([`Tool::with_input_schema`], [`Tool::with_output_schema`]);
    /// they are enforced alike.
    ///
    /// The handler sees the arguments as they were sent. That includes an explicit null for a member that the schema
    /// does not require, although the schema may not allow null there: models send it, so it is accepted as left out,
    /// and a handler that stores its arguments can tell the two apart. One that cannot take a null must pass it over.
    ///
    /// A result that its output schema does not allow reaches the client as `INTERNAL_ERROR`, with the findings in the
    /// log; see [`Tool::with_trusted_output`] for what that costs.
    pub fn raw_tool<F, R>(mut self, tool: Tool, handler: F) -> Self
    where
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_raw(tool, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Tool {
            name,
            problem: problem.0,
        });
        self
    }

    /// Adds a resource. The handler gives its contents whenever it is read.
    pub fn resource<O, F, R>(mut self, resource: Resource, handler: F) -> Self
    where
        O: Into<ReadResourceResult>,
        F: Fn(S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let uri = resource.uri.clone();
        let added = self.resources.add(resource, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Resource { uri, problem });
        self
    }

    /// Adds a family of resources. The handler gives the contents of the member that is read, or
    /// [`RequestError::not_found`].
    pub fn resource_template<O, F, R>(mut self, template: ResourceTemplate, handler: F) -> Self
    where
        O: Into<ReadResourceResult>,
        F: Fn(S, ResourceUri, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let uri = template.uri_template.clone();
        let added = self
            .resources
            .add_template(template, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Resource { uri, problem });
        self
    }

    /// Lists more resources than those added one by one, such as the members of a template that exist now; the last
    /// handler counts. They are listed behind the others, page by page, and are private to the caller as far as caches
    /// go ([`ServerBuilder::list_cache`]).
    pub fn list_resources<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(S, PageRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Page<Resource>, RequestError>> + Send + 'static,
    {
        self.resources.set_lister(self.state.clone(), handler);
        self
    }

    /// Adds a prompt whose arguments are the members of the handler's type: texts, optional or required.
    pub fn prompt<A, F, R>(mut self, prompt: Prompt, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        let name = prompt.name.clone();
        let added = self.prompts.add_typed(prompt, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Prompt { name, problem });
        self
    }

    /// Adds a prompt whose arguments are listed by hand ([`Prompt::with_argument`]); the handler gets them by name.
    pub fn raw_prompt<F, R>(mut self, prompt: Prompt, handler: F) -> Self
    where
        F: Fn(S, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        let name = prompt.name.clone();
        let added = self.prompts.add_raw(prompt, self.state.clone(), handler);
        self.keep_first(added, |problem| BuildError::Prompt { name, problem });
        self
    }

    /// Completes an argument of a prompt.
    pub fn complete_prompt<F, R>(
        self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        self.complete(Reference::Prompt(prompt.into()), argument.into(), handler)
    }

    /// Completes a variable of a resource template.
    pub fn complete_template<F, R>(
        self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        self.complete(
            Reference::Template(uri_template.into()),
            variable.into(),
            handler,
        )
    }

    /// Lets clients subscribe to resources: [`Server::notify`](crate::Server::notify) will tell of
    /// [`Change::ResourceUpdated`](crate::Change::ResourceUpdated). What can be read can be subscribed to.
    pub fn subscriptions(mut self) -> Self {
        self.subscriptions = true;
        self
    }

    /// Decides itself which URIs can be subscribed to; of others it says why not.
    pub fn on_subscribe<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(S, String, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), RequestError>> + Send + 'static,
    {
        let (state, handler) = (self.state.clone(), Arc::new(handler));
        self.on_subscribe = Some(Box::new(move |uri, context| {
            let (state, handler) = (state.clone(), handler.clone());
            Box::pin(async move { handler(state, uri, context).await })
        }));
        self.subscriptions()
    }

    /// Decides which updates belong to a URI that was subscribed to: families of resources, or filters in a query. By
    /// default it is the same URI. It runs for every subscription and update, on the listener's task: it must be quick.
    pub fn subscription_matcher(
        mut self,
        matches: impl Fn(&str, &ResourceUpdate) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.matcher = Some(Arc::new(matches));
        self
    }

    /// Declares that [`Server::notify`](crate::Server::notify) will tell of changes of the tool list.
    pub fn tools_list_changed(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// The same of the list of resources and templates.
    pub fn resources_list_changed(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// The same of the list of prompts.
    pub fn prompts_list_changed(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Lets handlers send log messages to the client ([`Context::log`]).
    pub fn logging(mut self) -> Self {
        self.logging = true;
        self
    }

    /// Declares an extension such as `com.example/thing`, with its settings.
    pub fn extension(mut self, id: impl Into<String>, settings: Map<String, Value>) -> Self {
        self.extensions.insert(id.into(), Value::Object(settings));
        self
    }

    /// How clients are asked.
    pub fn input(mut self, config: InputConfig) -> Self {
        self.input = config;
        self
    }

    /// The keys that seal request state and cursors; random ones of this process by default. Several processes that
    /// serve the same clients must share them.
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// How many items a page of a list has, at least 1; 500 by default.
    pub fn page_size(mut self, size: usize) -> Self {
        self.page_size = size.max(1);
        self
    }

    /// How long clients of the modern era may keep the lists. By default everybody may keep them for 60 seconds, and
    /// nobody a list that [`ServerBuilder::list_resources`] makes.
    pub fn list_cache(mut self, hint: CacheHint) -> Self {
        self.list_cache = Some(hint);
        self
    }

    /// How many listeners (listens, GET streams, stdio) may be open at once; 1,000 by default.
    pub fn max_listeners(mut self, max: usize) -> Self {
        self.max_listeners = max;
        self
    }

    fn complete<F, R>(mut self, reference: Reference, argument: String, handler: F) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        let (of, name) = (reference.clone(), argument.clone());
        let state = self.state.clone();
        if !self.completions.add(reference, argument, state, handler) {
            self.keep_first(Err(()), |()| {
                unfit_completion(&of, &name, "there is another completion for it")
            });
        }
        self
    }

    fn keep_first<E>(&mut self, added: Result<(), E>, told: impl FnOnce(E) -> BuildError) {
        if let (Err(problem), None) = (added, &self.error) {
            self.error = Some(told(problem));
        }
    }
}

fn unfit_completion(reference: &Reference, argument: &str, problem: &str) -> BuildError {
    let (Reference::Prompt(of) | Reference::Template(of)) = reference;
    BuildError::Completion {
        of: of.clone(),
        argument: argument.to_owned(),
        problem: problem.to_owned(),
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

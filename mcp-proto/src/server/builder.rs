//! Building a [`Server`]: every mistake shows at `build()`, before a socket opens.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use super::changes::{Changes, DEFAULT_MAX_LISTENERS};
use super::wire::{DiscoverResult, ListToolsResult};
use super::{Inner, Server};
use crate::context::Context;
use crate::jsonrpc::Payload;
use crate::lifecycle::{Implementation, ListCapability, ServerCapabilities};
use crate::schema::SchemaError;
use crate::tool::{CallToolResult, Tool, ToolError, ToolRegistry};
use crate::version::Era;

/// Collects what a [`Server`] offers. Handlers get a clone of the state as their first argument.
#[derive(Debug)]
#[must_use]
pub struct ServerBuilder<S> {
    info: Implementation,
    state: S,
    instructions: Option<String>,
    tools: ToolRegistry,
    tools_list_changed: bool,
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
        problem: SchemaError,
    },
    /// The server's description cannot be written as JSON.
    #[error("the server's description cannot be serialised")]
    Serialize,
}

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    pub(super) fn new(info: Implementation, state: S) -> Self {
        Self {
            info,
            state,
            instructions: None,
            tools: ToolRegistry::default(),
            tools_list_changed: false,
            max_listeners: DEFAULT_MAX_LISTENERS,
            error: None,
        }
    }

    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// How to use the server, for the model's system prompt.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a typed tool: the schemas of its arguments and results are derived from the handler's types, published
    /// and enforced. An explicit null for an optional member counts as left out, whatever the type would make of it.
    ///
    /// A handler runs on the connection's task: what blocks belongs into `tokio::task::spawn_blocking`. It is dropped
    /// when the call is cancelled; what must finish belongs into a task of its own.
    pub fn tool<A, O, F, R>(mut self, tool: Tool, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_typed(tool, self.state.clone(), handler);
        self.keep_first(name, added);
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
        self.keep_first(name, added);
        self
    }

    /// Declares that [`Server::notify`] will tell of changes of the tool list.
    pub fn tools_list_changed(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// How many listeners (listens, GET streams, stdio) may be open at once; 1,000 by default.
    pub fn max_listeners(mut self, max: usize) -> Self {
        self.max_listeners = max;
        self
    }

    /// The server.
    ///
    /// # Errors
    /// [`BuildError`]: the first tool whose name or schema cannot be served.
    pub fn build(self) -> Result<Server, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let tools = (!self.tools.is_empty()).then_some(ListCapability {
            list_changed: self.tools_list_changed,
        });
        let capabilities = ServerCapabilities { tools };
        let info_json = to_raw_value(&self.info).map_err(|_| BuildError::Serialize)?;
        let list = |era| {
            Payload::of(&ListToolsResult::new(
                self.tools.list().collect(),
                era,
                &info_json,
            ))
            .map(Payload::shared)
            .map_err(|_| BuildError::Serialize)
        };
        let (tools_legacy, tools_modern) = (list(Era::Legacy)?, list(Era::Modern)?);
        let discover = Payload::of(&DiscoverResult::new(
            &capabilities,
            self.instructions.as_deref(),
            &info_json,
        ))
        .map(Payload::shared)
        .map_err(|_| BuildError::Serialize)?;
        Ok(Server(std::sync::Arc::new(Inner {
            info: self.info,
            info_json,
            capabilities,
            instructions: self.instructions,
            tools: self.tools,
            tools_legacy,
            tools_modern,
            discover,
            changes: Changes::new(self.max_listeners),
        })))
    }

    fn keep_first(&mut self, name: String, added: Result<(), SchemaError>) {
        if let Err(problem) = added {
            self.error.get_or_insert(BuildError::Tool { name, problem });
        }
    }
}

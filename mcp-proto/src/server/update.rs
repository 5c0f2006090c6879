//! Changes the features of a running server.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Server;
use super::build_error::BuildError;
use super::offered::Offered;
use crate::app;
use crate::change::Change;
use crate::completion::Reference;
use crate::content::Resource;
use crate::context::Context;
use crate::handler::Handler;
use crate::interrupt::RequestError;
use crate::prompt::{GetPromptResult, NewPrompt, Prompt};
use crate::resource::{ReadResourceResult, ResourceTemplate, ResourceUri, reader};
use crate::scopes::{Guarded, Scopes};
use crate::tool::{IntoToolResult, NewTool, Tool};

type Step = Box<dyn FnOnce(&mut Offered) -> Result<(), BuildError> + Send>;

/// Items to add to a running server and to remove from it in one step, in the order of the calls; for
/// [`Server::update`]. The handlers are those of [`ServerBuilder`](crate::ServerBuilder), with a separate state.
#[must_use]
pub struct Update<S> {
    state: S,
    steps: Vec<Step>,
    tools: bool,
    resources: bool,
    prompts: bool,
}

impl<S: Clone + Send + Sync + 'static> Update<S> {
    /// An empty update; the handlers that are added get a clone of the state.
    pub fn new(state: S) -> Self {
        Self { state, steps: Vec::new(), tools: false, resources: false, prompts: false }
    }

    /// Adds a tool, as [`ServerBuilder::tool`](crate::ServerBuilder::tool) does.
    pub fn tool<T, H>(mut self, tool: Tool, handler: H) -> Self
    where
        H: Handler<S, T> + Send + Sync + 'static,
        H::Arguments: DeserializeOwned + JsonSchema + Send + 'static,
        H::Future: Future<Output: IntoToolResult> + Send + 'static,
    {
        self.tools = true;
        let state = self.state.clone();
        self.then(move |offered| offered.add_tool(NewTool::typed(tool, state, handler)))
    }

    /// Adds a tool whose schemas are written by hand, as [`ServerBuilder::raw_tool`](crate::ServerBuilder::raw_tool)
    /// does.
    pub fn raw_tool<F, R>(mut self, tool: Tool, handler: F) -> Self
    where
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolResult> + Send + 'static,
    {
        self.tools = true;
        let state = self.state.clone();
        self.then(move |offered| offered.add_tool(NewTool::raw(tool, state, handler)))
    }

    /// Removes a tool. Running calls of it continue.
    pub fn without_tool(mut self, name: impl Into<String>) -> Self {
        self.tools = true;
        let name = name.into();
        self.then(move |offered| {
            if offered.tools.remove(&name) { Ok(()) } else { Err(BuildError::tool(name, MISSING)) }
        })
    }

    /// Adds a resource, as [`ServerBuilder::resource`](crate::ServerBuilder::resource) does.
    pub fn resource<O, F, R>(mut self, resource: Resource, handler: F) -> Self
    where
        O: Into<ReadResourceResult>,
        F: Fn(S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        self.resources = true;
        let state = self.state.clone();
        let reader = reader(state, move |state, _uri, context| handler(state, context));
        self.then(move |offered| offered.add_resource(resource, reader))
    }

    /// Adds a family of resources, as [`ServerBuilder::resource_template`](crate::ServerBuilder::resource_template)
    /// does.
    pub fn resource_template<O, F, R>(mut self, template: ResourceTemplate, handler: F) -> Self
    where
        O: Into<ReadResourceResult>,
        F: Fn(S, ResourceUri, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        self.resources = true;
        let state = self.state.clone();
        self.then(move |offered| offered.add_template(template, reader(state, handler)))
    }

    /// Removes a resource. Subscriptions to it stay, and receive updates that the server sends.
    pub fn without_resource(mut self, uri: impl Into<String>) -> Self {
        self.resources = true;
        let uri = uri.into();
        self.then(move |offered| {
            if offered.resources.remove(&uri) {
                Ok(())
            } else {
                Err(BuildError::resource(uri, MISSING))
            }
        })
    }

    /// Removes a family of resources with its completions. The template must be exactly as it was added.
    pub fn without_resource_template(mut self, uri_template: impl Into<String>) -> Self {
        self.resources = true;
        let text = uri_template.into();
        self.then(move |offered| {
            if !offered.resources.remove_template(&text) {
                return Err(BuildError::resource(text, MISSING));
            }
            offered.completions.remove(&Reference::Template(text));
            Ok(())
        })
    }

    /// Adds a prompt, as [`ServerBuilder::prompt`](crate::ServerBuilder::prompt) does.
    pub fn prompt<A, F, R>(mut self, prompt: Prompt, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        self.prompts = true;
        let state = self.state.clone();
        self.then(move |offered| offered.add_prompt(NewPrompt::typed(prompt, state, handler)))
    }

    /// Adds a prompt whose arguments are listed by hand, as
    /// [`ServerBuilder::raw_prompt`](crate::ServerBuilder::raw_prompt) does.
    pub fn raw_prompt<F, R>(mut self, prompt: Prompt, handler: F) -> Self
    where
        F: Fn(S, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        self.prompts = true;
        let state = self.state.clone();
        self.then(move |offered| offered.add_prompt(NewPrompt::raw(prompt, state, handler)))
    }

    /// Removes a prompt with its completions.
    pub fn without_prompt(mut self, name: impl Into<String>) -> Self {
        self.prompts = true;
        let name = name.into();
        self.then(move |offered| {
            if !offered.prompts.remove(&name) {
                return Err(BuildError::prompt(name, MISSING));
            }
            offered.completions.remove(&Reference::Prompt(name));
            Ok(())
        })
    }

    /// Requires scopes of callers, as [`ServerBuilder::require_scopes`](crate::ServerBuilder::require_scopes) does.
    /// They are kept when their item is removed, and apply to an item that is later added under the same name.
    pub fn require_scopes(self, guarded: Guarded, scopes: Scopes) -> Self {
        self.then(move |offered| {
            offered.needs.insert(guarded, scopes);
            Ok(())
        })
    }

    fn then(
        mut self,
        step: impl FnOnce(&mut Offered) -> Result<(), BuildError> + Send + 'static,
    ) -> Self {
        self.steps.push(Box::new(step));
        self
    }
}

const MISSING: &str = "it is not offered, so it cannot be taken away";

impl Server {
    /// Changes what the server offers while it runs. A request sees the whole change or none of it, running calls
    /// continue, and every client that listens is notified once that a list has changed, in both eras. The cost of an
    /// update grows with the number of things on offer, so combine many changes in one.
    ///
    /// ```
    /// use mcp_proto::{Server, Tool, Update};
    /// use serde_json::json;
    ///
    /// let server = Server::builder("office", "1.0.0", ()).tools_list_changed().build()?;
    /// // Later, when a printer is found:
    /// let print = Tool::new("print", "Prints a page.").with_input_schema(json!({"type": "object"}));
    /// server.update(Update::new("printer 1").raw_tool(print, async |printer, _, _| {
    ///     format!("printed on {printer}")
    /// }))?;
    /// // And when it is gone:
    /// server.update(Update::new(()).without_tool("print"))?;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`]: the first item that cannot be served, or that is to be removed but does not exist, or a list
    /// that the builder did not declare as changing
    /// ([`ServerBuilder::tools_list_changed`](crate::ServerBuilder::tools_list_changed) and similar methods), since
    /// clients may cache it forever. Nothing has changed then.
    pub fn update<S>(&self, update: Update<S>) -> Result<(), BuildError> {
        let lists = [
            (update.tools, Change::ToolsListChanged, "tools"),
            (update.resources, Change::ResourcesListChanged, "resources"),
            (update.prompts, Change::PromptsListChanged, "prompts"),
        ];
        for (changes, change, list) in &lists {
            if *changes && !self.0.announces(change) {
                return Err(BuildError::Server(format!(
                    "the list of {list} cannot change: ServerBuilder::{list}_list_changed declares that it does"
                )));
            }
        }
        let turn = self.turn_to_change();
        let before = self.offered();
        let mut offered = Offered::clone(&before);
        for step in update.steps {
            step(&mut offered)?;
        }
        offered.settle(self.0.tasks.is_some())?;
        let declared = &self.0.capabilities.extensions;
        if offered.uses_apps() && !declared.contains_key(app::UI_EXTENSION) {
            return Err(BuildError::Server(format!(
                "pages of MCP Apps can only be added where ServerBuilder::extension has declared {}",
                app::UI_EXTENSION
            )));
        }
        offered.derive_needs(&before);
        self.offer(offered);
        drop(turn);
        for (changes, change, _) in lists {
            if changes {
                self.notify(change);
            }
        }
        Ok(())
    }
}

impl<S> fmt::Debug for Update<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Update").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

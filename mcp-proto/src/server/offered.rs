//! Everything that a server offers at one time. A change replaces the [`Offered`]; running calls continue with the
//! previous one.

mod check;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::build_error::BuildError;
use super::method::Method;
use crate::completion::{Completion, CompletionRegistry, CompletionRequest, Reference};
use crate::content::Resource;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::jsonrpc::Payload;
use crate::prompt::{GetPromptResult, Prompt, PromptRegistry};
use crate::resource::{ReadResourceResult, ResourceRegistry, ResourceTemplate, ResourceUri};
use crate::scopes::{Guarded, Needs};
use crate::tool::{CallToolResult, Tool, ToolError, ToolRegistry};
use crate::version::ProtocolVersion;

/// The registries, and the scopes that callers need for their items. Clones share the handlers.
#[derive(Clone, Default)]
pub(crate) struct Offered {
    pub(crate) tools: ToolRegistry,
    pub(crate) resources: ResourceRegistry,
    pub(crate) prompts: PromptRegistry,
    pub(crate) completions: CompletionRegistry,
    pub(crate) needs: Needs,
    /// The complete results of lists that are one page and the same for every caller, in each revision.
    pub(super) ready: Vec<ReadyList>,
}

/// The complete result of a list in one revision.
#[derive(Clone)]
pub(super) struct ReadyList {
    pub(super) method: Method,
    pub(super) version: ProtocolVersion,
    /// Its text, once it was requested.
    pub(super) payload: OnceLock<Payload>,
}

/// The offer against which the scopes of a request were checked, kept in its extensions: the same offer answers the
/// request.
#[derive(Clone)]
pub(super) struct Judged(pub(super) Arc<Offered>);

impl Offered {
    pub(super) fn tool<S, A, O, F, R>(
        &mut self,
        tool: Tool,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_typed(tool, state, handler);
        added.map_err(|problem| BuildError::tool(name, problem.0))
    }

    pub(super) fn content_tool<S, A, F, R>(
        &mut self,
        tool: Tool,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_content(tool, state, handler);
        added.map_err(|problem| BuildError::tool(name, problem.0))
    }

    pub(super) fn raw_tool<S, F, R>(
        &mut self,
        tool: Tool,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let name = tool.name.clone();
        let added = self.tools.add_raw(tool, state, handler);
        added.map_err(|problem| BuildError::tool(name, problem.0))
    }

    pub(super) fn resource<S, O, F, R>(
        &mut self,
        resource: Resource,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        O: Into<ReadResourceResult>,
        F: Fn(S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let uri = resource.uri.clone();
        let added = self.resources.add(resource, state, handler);
        added.map_err(|problem| BuildError::Resource { uri, problem })
    }

    pub(super) fn resource_template<S, O, F, R>(
        &mut self,
        template: ResourceTemplate,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        O: Into<ReadResourceResult>,
        F: Fn(S, ResourceUri, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let uri = template.uri_template.clone();
        let added = self.resources.add_template(template, state, handler);
        added.map_err(|problem| BuildError::Resource { uri, problem })
    }

    pub(super) fn prompt<S, A, F, R>(
        &mut self,
        prompt: Prompt,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        let name = prompt.name.clone();
        let added = self.prompts.add_typed(prompt, state, handler);
        added.map_err(|problem| BuildError::Prompt { name, problem })
    }

    pub(super) fn raw_prompt<S, F, R>(
        &mut self,
        prompt: Prompt,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<GetPromptResult, RequestError>> + Send + 'static,
    {
        let name = prompt.name.clone();
        let added = self.prompts.add_raw(prompt, state, handler);
        added.map_err(|problem| BuildError::Prompt { name, problem })
    }

    pub(super) fn complete<S, F, R>(
        &mut self,
        reference: Reference,
        argument: String,
        state: S,
        handler: F,
    ) -> Result<(), BuildError>
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        let (of, name) = (reference.clone(), argument.clone());
        if self.completions.add(reference, argument, state, handler) {
            Ok(())
        } else {
            let problem = "there is another completion for it";
            Err(check::unfit(&of, &name, problem))
        }
    }

    /// Derives the scopes of the tools and prompts that did not exist in `before`, by the same rules as for all others.
    pub(super) fn derive_needs(&mut self, before: &Self) {
        for tool in self.tools.all() {
            if !self.tools.has_same(&tool.name, &before.tools) {
                let guarded = Guarded::Tool(tool.name.clone());
                self.needs.derive(guarded, tool.only_reads());
            }
        }
        for prompt in self.prompts.list() {
            if !self.prompts.has_same(&prompt.name, &before.prompts) {
                self.needs.derive(Guarded::Prompt(prompt.name.clone()), true);
            }
        }
    }
}

//! Everything that a server offers at one time. A change replaces the [`Offered`]; running calls continue with the
//! previous one.

mod check;

use std::sync::{Arc, OnceLock};

use super::Server;
use super::build_error::BuildError;
use super::method::Method;
use crate::completion::{Completion, CompletionRegistry, CompletionRequest, Reference};
use crate::content::Resource;
use crate::interrupt::RequestError;
use crate::jsonrpc::Payload;
use crate::prompt::{NewPrompt, PromptRegistry};
use crate::resource::{Reader, ResourceRegistry, ResourceTemplate};
use crate::scopes::{Guarded, Needs};
use crate::service::{Handle, Next};
use crate::tool::{NewTool, ToolRegistry};
use crate::version::ProtocolVersion;

/// The registries, and the scopes that callers need for their items. Clones share the handlers.
#[derive(Clone, Default)]
pub(crate) struct Offered {
    pub(crate) tools: ToolRegistry,
    pub(crate) resources: ResourceRegistry,
    pub(crate) prompts: PromptRegistry,
    pub(crate) completions: CompletionRegistry,
    pub(crate) needs: Needs,
    /// The way of calls through the layers, if there are any.
    pub(super) layers: Option<Next>,
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
pub(super) struct Judged {
    pub(super) offered: Arc<Offered>,
    /// The server whose layers the request is in.
    pub(super) layered: Option<Server>,
}

impl Offered {
    pub(super) fn add_tool(&mut self, new: NewTool) -> Result<(), BuildError> {
        let name = new.tool.name.clone();
        self.tools.add(new).map_err(|problem| BuildError::tool(name, problem.0))
    }

    pub(super) fn add_resource(
        &mut self,
        resource: Resource,
        reader: Reader,
    ) -> Result<(), BuildError> {
        let uri = resource.uri.clone();
        let added = self.resources.add(resource, reader);
        added.map_err(|problem| BuildError::Resource { uri, problem })
    }

    pub(super) fn add_template(
        &mut self,
        template: ResourceTemplate,
        reader: Reader,
    ) -> Result<(), BuildError> {
        let uri = template.uri_template.clone();
        let added = self.resources.add_template(template, reader);
        added.map_err(|problem| BuildError::Resource { uri, problem })
    }

    pub(super) fn add_prompt(&mut self, new: NewPrompt) -> Result<(), BuildError> {
        let name = new.prompt.name.clone();
        self.prompts.add(new).map_err(|problem| BuildError::Prompt { name, problem })
    }

    pub(super) fn complete(
        &mut self,
        reference: Reference,
        argument: String,
        completer: impl Handle<CompletionRequest, Result<Completion, RequestError>>,
    ) -> Result<(), BuildError> {
        let (of, name) = (reference.clone(), argument.clone());
        if self.completions.add(reference, argument, completer) {
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

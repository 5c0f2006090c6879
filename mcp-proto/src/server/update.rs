//! Changes the features of a running server.

use super::Server;
use super::build_error::BuildError;
use super::builder::ServerBuilder;
use super::offered::Offered;
use crate::apps;
use crate::change::Change;
use crate::completion::Reference;

/// Items to add to a running server and to remove from it in one step, in the order of the calls; for
/// [`Server::update`]. Its state and handlers are separate from those of the server's builder.
pub type Update<S> = ServerBuilder<S, Running>;

/// A change of a running server.
#[derive(Debug)]
pub struct Running;

impl<S> ServerBuilder<S, Running> {
    /// An empty update; the handlers that are added get a clone of the state.
    pub fn new(state: S) -> Self {
        Self::of(Running, state)
    }

    /// Removes a tool. Running calls of it continue.
    pub fn without_tool(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.then(move |offered| {
            if offered.tools.remove(&name) { Ok(()) } else { Err(BuildError::tool(name, MISSING)) }
        })
    }

    /// Removes a resource. Subscriptions to it stay, and receive updates that the server sends.
    pub fn without_resource(self, uri: impl Into<String>) -> Self {
        let uri = uri.into();
        self.then(move |offered| {
            if offered.resources.resources.remove(&uri) {
                Ok(())
            } else {
                Err(BuildError::resource(uri, MISSING))
            }
        })
    }

    /// Removes a family of resources with its completions. The template must be exactly as it was added.
    pub fn without_resource_template(self, uri_template: impl Into<String>) -> Self {
        let text = uri_template.into();
        self.then(move |offered| {
            if !offered.resources.templates.remove(&text) {
                return Err(BuildError::resource(text, MISSING));
            }
            offered.completions.remove(&Reference::Template(text));
            Ok(())
        })
    }

    /// Removes a prompt with its completions.
    pub fn without_prompt(self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.then(move |offered| {
            if !offered.prompts.remove(&name) {
                return Err(BuildError::prompt(name, MISSING));
            }
            offered.completions.remove(&Reference::Prompt(name));
            Ok(())
        })
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
        let turn = self.turn_to_change();
        let before = self.offered();
        let mut offered = Offered::clone(&before);
        for step in update.steps {
            step(&mut offered)?;
        }
        let lists = [
            (offered.tools.is_same(&before.tools), Change::ToolsListChanged, "tools"),
            (
                offered.resources.is_same(&before.resources),
                Change::ResourcesListChanged,
                "resources",
            ),
            (offered.prompts.is_same(&before.prompts), Change::PromptsListChanged, "prompts"),
        ];
        let changed = lists.into_iter().filter(|(is_same, ..)| !is_same);
        let changed: Vec<_> = changed.map(|(_, change, list)| (change, list)).collect();
        for (change, list) in &changed {
            if !self.0.announces(change) {
                return Err(BuildError::Server(format!(
                    "the list of {list} cannot change: ServerBuilder::{list}_list_changed declares that it does"
                )));
            }
        }
        offered.settle(self.0.tasks.is_some())?;
        let declared = &self.0.capabilities.extensions;
        if offered.uses_apps() && !declared.contains_key(apps::UI_EXTENSION) {
            return Err(BuildError::Server(format!(
                "pages of MCP Apps can only be added where ServerBuilder::extension has declared {}",
                apps::UI_EXTENSION
            )));
        }
        offered.derive_needs(&before);
        self.offer(offered);
        drop(turn);
        for (change, _) in changed {
            self.notify(change);
        }
        Ok(())
    }
}

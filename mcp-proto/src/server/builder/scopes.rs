//! Scopes by the annotations of tools and by request, and the visibility of items.

use std::sync::Arc;

use super::ServerBuilder;
use crate::context::Context;
use crate::scopes::{Guarded, Scopes, Wanted};

impl<S> ServerBuilder<S> {
    /// Requires the scope `read` of callers over HTTP for read-only items: tools that declare it
    /// ([`read_only_hint`](crate::ToolAnnotations::read_only_hint)), prompts, resources and completions. Other tools
    /// need `write`. It applies to all items, also to those that a running server gets later
    /// ([`Server::update`](crate::Server::update)). Items that have scopes of their own keep them.
    pub fn scopes_by_annotation(self, read: &Scopes, write: &Scopes) -> Self {
        let by_annotation = Some((read.clone(), write.clone()));
        self.also(move |offered| {
            offered.needs.by_annotation = by_annotation;
            let completions = Guarded::Method("completion/complete".to_owned());
            for guarded in [Guarded::Resources(String::new()), completions] {
                offered.needs.derive(guarded, true);
            }
        })
    }

    /// Requires scopes of callers over HTTP by their request, in addition to those of
    /// [`require_scopes`](ServerBuilder::require_scopes): for example, by the arguments of a call if tenants have
    /// separate scopes. `judge` gets the caller's scopes and, if they are not enough, returns all that are needed.
    /// Without arguments it decides whether the caller sees the item in a list. It must not block.
    pub fn scopes_by(
        self,
        judge: impl Fn(Wanted<'_>, &Scopes) -> Option<Scopes> + Send + Sync + 'static,
    ) -> Self {
        self.also(move |offered| offered.needs.judge = Some(Arc::new(judge)))
    }

    /// Decides which items a caller sees, for example by the principal or by the client's capabilities. Tools, prompts,
    /// resources and templates that `judge` denies are left out of the caller's lists, and a request for one is
    /// answered as if it did not exist. It is called without arguments ([`Wanted`]), for each item of a list and for
    /// each request that names an item, so it must be quick and must not block. Lists become private to their caller
    /// for caches.
    ///
    /// Scopes are checked first ([`ServerBuilder::require_scopes`]): a caller that lacks one that a tool needs gets 403
    /// over HTTP, although the tool is hidden as well. When what a caller sees changes,
    /// [`Server::notify`](crate::Server::notify) makes clients list again.
    ///
    /// ```
    /// use mcp_proto::scopes::Wanted;
    /// use mcp_proto::{CallToolResult, Server, Tool};
    /// use serde_json::json;
    ///
    /// let reset = Tool::new("reset", "Starts again.").with_input_schema(json!({"type": "object"}));
    /// let server = Server::builder("game", "1.0.0", ())
    ///     .raw_tool(reset, async |(), _, _| Ok(CallToolResult::text("done")))
    ///     .visible_to(|wanted, context| match wanted {
    ///         Wanted::Tool("reset", _) => context.principal() == Some("admin"),
    ///         _ => true,
    ///     })
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn visible_to(
        mut self,
        judge: impl Fn(Wanted<'_>, &Context) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.kind.visible.push(Box::new(judge));
        self
    }

    /// The same for one tool, prompt or prefix of URIs: `judge` denies it to some callers. Of several judges, all must
    /// agree.
    ///
    /// ```
    /// use mcp_proto::scopes::Guarded;
    /// use mcp_proto::{Server, Tool};
    ///
    /// let server = Server::builder("game", "1.0.0", ())
    ///     .tool(Tool::new("reset", "Starts again."), async || "done")
    ///     .visible_on(Guarded::Tool("reset".into()), |context| context.principal() == Some("admin"))
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn visible_on(
        self,
        item: Guarded,
        judge: impl Fn(&Context) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visible_to(move |wanted, context| !item.is(wanted) || judge(context))
    }
}

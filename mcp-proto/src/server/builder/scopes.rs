//! Scopes by what the offered things say of themselves.

use std::sync::Arc;

use super::{Offered, ServerBuilder};
use crate::context::Context;
use crate::scopes::{Guarded, Scopes, Wanted};

impl<S> ServerBuilder<S> {
    /// Requires `read` of callers over HTTP where something is only read: tools that declare it
    /// ([`read_only_hint`](crate::ToolAnnotations::read_only_hint)), prompts, resources and completions. Other tools
    /// need `write`. It applies to what was added before and to what a running server gets later
    /// ([`Server::update`](crate::Server::update)). What already has scopes keeps them.
    pub fn scopes_by_annotation(mut self, read: &Scopes, write: &Scopes) -> Self {
        let offered = &mut self.offered;
        offered.needs.derive_by(read, write);
        offered.derive_needs(&Offered::default());
        for guarded in [
            Guarded::Resources(String::new()),
            Guarded::Method("completion/complete".to_owned()),
        ] {
            offered.needs.derive(guarded, true);
        }
        self
    }

    /// Requires scopes of callers over HTTP by their request, in addition to those of
    /// [`require_scopes`](ServerBuilder::require_scopes): for example, by the arguments of a call where tenants have
    /// separate scopes. `judge` sees the scopes that the caller has, and returns all that it needs if they are not
    /// enough. Without arguments it decides whether the caller sees the thing in a list. It must not block.
    pub fn scopes_by(
        mut self,
        judge: impl Fn(Wanted<'_>, &Scopes) -> Option<Scopes> + Send + Sync + 'static,
    ) -> Self {
        self.offered.needs.judge_by(Arc::new(judge));
        self
    }

    /// Decides who sees what: tools, prompts, resources and templates that `judge` denies a caller are left out of the
    /// caller's lists, and a request for one is answered as if it were not there. For example by the principal, or by
    /// the client's capabilities. It is called without arguments ([`Wanted`]), for each item of a list and for each
    /// request that names something, so it must be quick and must not block. Lists become private to their caller for
    /// caches.
    ///
    /// Scopes are judged before ([`ServerBuilder::require_scopes`]): a caller that lacks one that a tool needs gets 403
    /// over HTTP, although the tool is hidden as well. When what a caller sees changes,
    /// [`Server::notify`](crate::Server::notify) makes clients list again.
    ///
    /// ```
    /// use mcp_proto::{CallToolResult, Server, Tool, Wanted};
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
        self.visible = Some(Box::new(judge));
        self
    }
}

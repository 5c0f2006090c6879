//! The offer of a running server. It is replaced as a whole, so that a request sees all of a change or none of it.
//!
//! An update copies the registries, which share their handlers, changes the copy, checks it as `build` does, and puts
//! it in the place of the old one. A call holds the tool that it runs, so it continues when the tool is removed.

use std::sync::{Arc, OnceLock, PoisonError};

use http::Extensions;
use serde_json::Map;

use super::offered::{Offered, ReadyList};
use super::{Method, Server};
use crate::change::Change;
use crate::context::{ClientSide, Context, Incoming};
use crate::jsonrpc::Payload;
use crate::locked::Locked as _;
use crate::scopes::Wanted;
use crate::version::ProtocolVersion;

impl Server {
    /// Hides tools from now on: they are not listed, and a call of one gets the answer for an unknown tool. Running
    /// calls continue. Every client that listens receives `notifications/tools/list_changed`, if that changes anything.
    /// Tools that clients should not see at first are hidden right after the server is built. A tool that
    /// [`Server::update`] puts under the name of a hidden one is hidden too, until [`Server::show_tools`] shows it.
    ///
    /// False, and nothing is hidden, if one of these names does not belong to a tool, or if the builder did not declare
    /// [`ServerBuilder::tools_list_changed`](crate::ServerBuilder::tools_list_changed): without that declaration
    /// clients may cache the list forever.
    ///
    /// ```
    /// use mcp_proto::{CallToolResult, Server, Tool};
    /// use serde_json::json;
    ///
    /// let print = Tool::new("print", "Prints a page.").with_input_schema(json!({"type": "object"}));
    /// let server = Server::builder("office", "1.0.0", ())
    ///     .raw_tool(print, async |(), _, _| Ok(CallToolResult::text("printed")))
    ///     .tools_list_changed()
    ///     .build()?;
    /// assert!(server.hide_tools(&["print"]));
    /// // Later, when a printer is found:
    /// assert!(server.show_tools(&["print"]));
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    #[must_use = "false means that nothing was hidden"]
    pub fn hide_tools(&self, names: &[&str]) -> bool {
        self.set_hidden(names, true)
    }

    /// Shows tools that [`Server::hide_tools`] hid, under the same conditions.
    #[must_use = "false means that nothing was shown"]
    pub fn show_tools(&self, names: &[&str]) -> bool {
        self.set_hidden(names, false)
    }

    /// Hides, before the first request, the tools that are not declared read-only
    /// ([`read_only_hint`](crate::ToolAnnotations::read_only_hint)). No change is sent. Such tools that are added later
    /// ([`Server::update`]) are hidden too.
    pub fn hide_writing_tools(&self) {
        let _turn = self.turn_to_change();
        let mut offered = Offered::clone(&self.offered());
        offered.tools.hide_writing();
        self.offer(offered);
    }

    fn set_hidden(&self, names: &[&str], hidden: bool) -> bool {
        if !self.0.announces(&Change::ToolsListChanged) {
            return false;
        }
        let turn = self.turn_to_change();
        let mut offered = Offered::clone(&self.offered());
        let changed = offered.tools.set_hidden(names, hidden);
        if changed == Some(true) {
            self.offer(offered);
            drop(turn);
            self.notify(Change::ToolsListChanged);
        }
        changed.is_some()
    }

    /// What is offered now.
    pub(crate) fn offered(&self) -> Arc<Offered> {
        self.0.offered()
    }

    /// Allows one change at a time, so that of two concurrent changes neither is lost.
    pub(super) fn turn_to_change(&self) -> impl Drop + '_ {
        self.0.changing.locked()
    }

    /// Offers this from now on.
    pub(super) fn offer(&self, mut offered: Offered) {
        offered.ready = self.ready_lists(&offered);
        let current = self.0.offered.write();
        *current.unwrap_or_else(PoisonError::into_inner) = Arc::new(offered);
    }

    /// Whether a caller may see something that is offered.
    pub(super) fn shows(&self, offered: &Offered, wanted: Wanted<'_>, context: &Context) -> bool {
        offered.needs.show(wanted, &context.extensions) && self.is_visible(wanted, context)
    }

    /// The same, checking only [`ServerBuilder::visible_to`](crate::ServerBuilder::visible_to).
    pub(crate) fn is_visible(&self, wanted: Wanted<'_>, context: &Context) -> bool {
        self.0.visible.iter().all(|visible| visible(wanted, context))
    }

    /// Whether some items may be visible only to some callers.
    pub(crate) fn hides(&self) -> bool {
        !self.0.visible.is_empty()
    }

    /// The complete results of lists that are one page and the same for every caller: those that were requested are
    /// kept as text.
    fn ready_lists(&self, offered: &Offered) -> Vec<ReadyList> {
        let mut lists = Vec::new();
        if self.hides() {
            return lists;
        }
        let others = offered.resources.lists_more() || self.0.source.is_some();
        let counts = [
            (Method::ListTools, offered.tools.list().count()),
            (Method::ListPrompts, offered.prompts.list().count()),
            (Method::ListTemplates, offered.resources.templates().count()),
            (
                Method::ListResources,
                if others { usize::MAX } else { offered.resources.list().count() },
            ),
        ];
        for (method, _) in counts.into_iter().filter(|(_, count)| *count <= self.0.page_size) {
            lists.extend(ProtocolVersion::ALL.map(|version| ReadyList {
                method,
                version,
                payload: OnceLock::new(),
            }));
        }
        lists
    }

    /// A list as sent to every caller, written when the first one asks for it. `None` if it has to be created for the
    /// request, if only to report an error.
    pub(super) fn ready_list(
        &self,
        offered: &Offered,
        method: Method,
        version: ProtocolVersion,
    ) -> Option<Payload> {
        let mut lists = offered.ready.iter();
        let ready = lists.find(|ready| ready.method == method && ready.version == version)?;
        if let Some(payload) = ready.payload.get() {
            return Some(payload.clone());
        }
        // Without the extensions of the request, since the list is the same for all callers.
        let params = Map::new();
        let incoming = Incoming::unanswered(params.clone(), Extensions::new());
        let context = Context::new(incoming, ClientSide::of_version(version));
        let made = self.list_registered(offered, method, &params, &context);
        let payload = made.ok()?.shared();
        Some(ready.payload.get_or_init(|| payload).clone())
    }
}

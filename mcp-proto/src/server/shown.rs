//! Tools that come and go while the server runs.

use std::sync::PoisonError;

use super::Server;
use crate::change::Change;

impl Server {
    /// Hides tools from now on: they are not listed, and a call of one gets the answer for an unknown tool. Calls that run
    /// go on. Every client that listens hears `notifications/tools/list_changed`, if that changes anything. Tools that
    /// clients should not see at first are hidden right after the server is built.
    ///
    /// False, and nothing is hidden, if there is no tool of one of these names, or if the builder did not declare
    /// [`ServerBuilder::tools_list_changed`](crate::ServerBuilder::tools_list_changed): clients may then keep the list for
    /// ever.
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

    /// Hides, before anybody is served, the tools that do not say that they only read
    /// ([`read_only_hint`](crate::ToolAnnotations::read_only_hint)): nobody hears of a change.
    pub fn hide_writing_tools(&self) {
        let lists = self.0.ready.lists.write();
        let mut lists = lists.unwrap_or_else(PoisonError::into_inner);
        self.0.tools.hide_writing();
        *lists = self.ready_lists().unwrap_or_default();
    }

    fn set_hidden(&self, names: &[&str], hidden: bool) -> bool {
        if !self.0.tells(&Change::ToolsListChanged) {
            return false;
        }
        // Held until the new lists are in place, so that of two changes at once both are in them.
        let lists = self.0.ready.lists.write();
        let mut lists = lists.unwrap_or_else(PoisonError::into_inner);
        let changed = self.0.tools.set_hidden(names, hidden);
        if changed == Some(true) {
            // A list that is not ready is made when it is asked for.
            *lists = self.ready_lists().unwrap_or_default();
            drop(lists);
            self.notify(Change::ToolsListChanged);
        }
        changed.is_some()
    }
}

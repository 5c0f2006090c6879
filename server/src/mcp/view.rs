//! The view of a universe inside a conversation: a page of MCP Apps that draws the results of tools.
//!
//! It repeats the chart in JavaScript, in 200 lines: a client shows it in a frame without network, and a compiled
//! module or a picture for each frame would be larger and slower. `server/page/build.mjs` puts the orbits of the live
//! page into it, and the digests of its script and style into its policy.

use mcp_proto::ServerBuilder;
use mcp_proto::apps::UiResource;

use crate::commands::CommandService;

/// The URI of the page.
pub(super) const URI: &str = "ui://universe/view";

/// The page: one file that loads nothing.
const PAGE: &str = include_str!("view/view.html");

/// Adds the page. It is the same for every caller, because the data of a universe arrives as a tool result.
pub(super) fn add(builder: ServerBuilder<CommandService>) -> ServerBuilder<CommandService> {
    let mut page = UiResource::new(URI, "universe-view")
        .with_title("A universe, drawn")
        .with_description("Draws the universe that a tool returned, and animates it.");
    page.prefers_border = Some(true);
    builder.ui_page(page, PAGE)
}

//! What is read from a file replaces what was served before.

use std::sync::Arc;

use mcp_proto::Server;

use crate::activity::Activity;
use crate::connections::Connections;
use crate::load::Loaded;

use super::tools;
use super::universe::{Source, Universe};

/// How many left-out entries of a map are reported one by one.
const MAX_WARNINGS: usize = 5;

/// Replaces the map.
pub(super) fn take_map(universe: &Universe, loaded: Loaded) {
    let (warnings, format) = (loaded.warnings_in_brief(MAX_WARNINGS), loaded.format);
    let count = loaded.warnings.len();
    let first = loaded.warnings.first().map(|first| {
        format!("{count} entries of the map are left out or changed; the first: {first}")
    });
    universe.report(Source::PartOfMap, first);
    let map = Arc::new(loaded.map);
    let left_out = universe.replace_map(Arc::clone(&map));
    // Logged only once the map is loaded, so that anyone who reads the log can already query the map.
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    warn_of(&left_out);
    tracing::info!(
        version = map.version(),
        systems = map.systems().len(),
        connections = map.connections(),
        "map loaded from {format}"
    );
}

/// Replaces the overlay, or removes it.
pub(super) fn take_activity(universe: &Universe, server: &Server, loaded: Option<Activity>) {
    let systems = loaded.as_ref().map(Activity::systems);
    universe.replace_activity(loaded);
    offer_live(universe, server);
    if let Some(systems) = systems {
        tracing::info!(systems, "activity overlay loaded");
    }
}

/// Offers the tools for live activity while there is data for them. Clients are notified when the tools appear or
/// disappear.
pub(super) fn offer_live(universe: &Universe, server: &Server) {
    let offer = if universe.has_overlay() { Server::show_tools } else { Server::hide_tools };
    // All of these tools are registered, and the server declares list changes.
    let _ = offer(server, &tools::LIVE);
}

/// Replaces the connections.
pub(super) fn take_connections(universe: &Universe, loaded: Connections) {
    let connections = loaded.list.len();
    warn_of(&universe.replace_connections(loaded));
    tracing::info!(connections, "connections besides the gates loaded");
}

fn warn_of(left_out: &[String]) {
    for warning in left_out.iter().take(MAX_WARNINGS) {
        tracing::warn!("{warning}");
    }
    if let Some(more @ 1..) = left_out.len().checked_sub(MAX_WARNINGS) {
        tracing::warn!("{more} more connections are left out");
    }
}

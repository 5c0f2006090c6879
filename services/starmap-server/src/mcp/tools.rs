//! The tools: what each is called with, and what it answers.
//!
//! Every one only reads, is bounded by its schema, and answers the same to the same question on the same map.

mod around;
mod avoiding;
mod borders;
mod live;
mod route;
mod systems;
mod tours;
mod ways;

use mcp_proto::{Context, Finding, ServerBuilder, Tool, ToolAnnotations, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::{InvalidParameterError, UniverseError};

use super::universe::{Snapshot, Universe};

pub(crate) use avoiding::{MODES, ModeName};
pub(crate) use route::{RouteArguments, no_route, plain_route, route, route_title};

/// Adds all tools.
pub(crate) fn add(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    let builder = builder.refuse_arguments(|_, findings| refused(findings));
    live(looking(travelling(builder)))
}

/// Where to go, and how.
fn travelling(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    let builder = quick(
        builder,
        "route",
        "Plan a route",
        "Find the way between two systems: the fewest jumps, or by security. Avoids what it is told to, takes extra \
         connections (jump bridges, wormholes), and on request gives alternatives and what safety costs.",
        route::route,
    );
    let builder = slow(
        builder,
        "loop",
        "Plan a round trip",
        "Plan a round trip from a system past border systems of high security, of about as many jumps as asked for.",
        tours::loop_,
    );
    let builder = quick(
        builder,
        "optimize_waypoints",
        "Order waypoints",
        "Find the order of up to 50 waypoints that takes the fewest jumps: for certain up to 12, a good one beyond.",
        tours::optimize_waypoints,
    );
    let builder = quick(
        builder,
        "analyze",
        "Analyze a route",
        "Tell where a given route is dangerous: chokepoints at the edge of high security, stretches below it, and a \
         safer way if there is one.",
        ways::analyze,
    );
    quick(
        builder,
        "distances",
        "Measure distances",
        "Count the jumps between each of some systems and each of others, as a matrix.",
        ways::distances,
    )
}

/// What is where.
fn looking(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    let builder = quick(
        builder,
        "systems",
        "Look up systems",
        "Look up systems by name: security and region, and with detail full their ids, neighbors and borders. Unknown \
         names come back as null in their place.",
        systems::systems,
    );
    let builder = quick(
        builder,
        "search",
        "Search systems",
        "Find systems by name, security, region and distance.",
        around::search,
    );
    let builder = quick(
        builder,
        "nearest",
        "Find the nearest",
        "Find the systems of a kind that are nearest to a system.",
        around::nearest,
    );
    let builder = quick(
        builder,
        "borders",
        "Find border systems",
        "Find the high-security systems with a gate to lower security, near a system.",
        borders::borders,
    );
    quick(
        builder,
        "jump_range",
        "Measure a jump drive's range",
        "Find the systems that a ship with a jump drive of so many light years reaches in one jump.",
        ways::jump_range,
    )
}

/// What happens there; needs an overlay.
fn live(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    let builder = quick(
        builder,
        "activity",
        "See what happens",
        "Tell what happened in systems in the last hour: kills, jumps, ratting. Needs an activity overlay.",
        live::activity,
    );
    let builder = quick(
        builder,
        "hotspots",
        "Find where most happens",
        "Find the systems around one where most is killed, jumped or ratted. Needs an activity overlay.",
        live::hotspots,
    );
    let builder = quick(
        builder,
        "gatecamp_risk",
        "Judge the risk of gate camps",
        "Tell where on a route somebody may wait at a gate, by the kills of the last hour. Needs an activity overlay.",
        live::gatecamp_risk,
    );
    let builder = quick(
        builder,
        "fw_frontlines",
        "See the front lines",
        "List the systems of faction warfare, the most fought for first. Needs an activity overlay.",
        live::fw_frontlines,
    );
    quick(
        builder,
        "activity_cache_status",
        "See how old the overlay is",
        "Tell whether an activity overlay is loaded, what it has and how old it is.",
        live::activity_cache_status,
    )
}

/// Adds a tool whose work is done in a millisecond or two: where the request runs.
fn quick<A, O>(
    builder: ServerBuilder<Universe>,
    name: &'static str,
    title: &str,
    description: &str,
    work: fn(&Snapshot, &A) -> Result<O, UniverseError>,
) -> ServerBuilder<Universe>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    builder.tool(
        tool(name, title, description),
        move |universe: Universe, arguments: A, _: Context| async move {
            Ok(work(&universe.now()?, &arguments)?)
        },
    )
}

/// Adds a tool that may compute for longer: on a thread of its own.
fn slow<A, O>(
    builder: ServerBuilder<Universe>,
    name: &'static str,
    title: &str,
    description: &str,
    work: fn(&Snapshot, &A) -> Result<O, UniverseError>,
) -> ServerBuilder<Universe>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    builder.tool(
        tool(name, title, description),
        move |universe: Universe, arguments: A, _: Context| async move {
            let now = universe.now()?;
            let done = tokio::task::spawn_blocking(move || work(&now, &arguments)).await;
            Ok(done.map_err(|_| ToolError::internal())??)
        },
    )
}

fn tool(name: &str, title: &str, description: &str) -> Tool {
    Tool::new(name, description)
        .with_title(title)
        .with_annotations(ToolAnnotations::read_only())
}

/// Arguments that the schema of a tool does not allow, as the contract tells them: the first by `parameter`, `value` and
/// `reason`, and all in `findings`.
fn refused(findings: &[Finding]) -> ToolError {
    let Some(first) = findings.first() else {
        return ToolError::internal();
    };
    let mut parameter = first.path.trim_start_matches('/').replace('/', ".");
    if let Some(member) = &first.member {
        if !parameter.is_empty() {
            parameter.push('.');
        }
        parameter.push_str(member);
    }
    if parameter.is_empty() {
        parameter.push_str("arguments");
    }
    let value = first.value.as_deref().unwrap_or_default();
    let error = UniverseError::from(InvalidParameterError::new(
        &parameter,
        value,
        &*first.message,
    ));
    let mut data = error.data();
    if let (Some(data), true) = (data.as_object_mut(), findings.len() > 1) {
        data.insert("findings".to_owned(), serde_json::json!(findings));
    }
    ToolError::new(error.code(), error.to_string()).with_data(data)
}

//! The tools: their arguments and their results.
//!
//! Each tool is read-only and has bounds in its schema. It returns the same result for the same arguments and the same
//! map.

mod around;
mod avoiding;
mod chokepoints;
mod empty;
mod live;
mod route;
pub(crate) mod rules;
mod systems;
mod tours;
mod ways;

use std::collections::HashMap;

use mcp_proto::schema::Finding;
use mcp_proto::{Json, ServerBuilder, Tool, ToolAnnotations, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::errors::{InvalidParameterError, UniverseError};
use crate::map::Map;

use super::names::{did_you_mean, nearest_names};
use super::universe::{Snapshot, Universe};
pub(crate) use avoiding::MODES;
pub(crate) use route::{no_route, plain_route, route_title};

/// The tools that were added so far, with the names of their arguments.
struct Tools {
    builder: ServerBuilder<Universe>,
    arguments: HashMap<&'static str, Vec<String>>,
}

/// The tools that may take longer than some milliseconds: each call runs on a thread.
const SLOW: [&str; 4] = ["loop", "optimize_waypoints", "distances", "jump_range"];

/// The tools that only read the overlay. They are offered while there is one.
pub(crate) const LIVE: [&str; 5] =
    ["activity", "hotspots", "gatecamp_risk", "fw_frontlines", "activity_cache_status"];

/// Adds all tools.
pub(crate) fn add(builder: ServerBuilder<Universe>, universe: Universe) -> ServerBuilder<Universe> {
    let tools = Tools { builder, arguments: HashMap::new() };
    let tools = tools
        .add(
            "route",
            "The way between two systems, also through stops in their order. Can avoid systems, \
             areas, security classes and kills, take connections besides the gates, keep to what a \
             ship may enter, and compare alternatives.",
            route::route,
        )
        .add(
            "loop",
            "A round trip past border systems of high security, of about so many jumps.",
            tours::loop_,
        )
        .add(
            "optimize_waypoints",
            "The order of up to 50 waypoints that takes the fewest jumps: exact to 12, good beyond.",
            tours::optimize_waypoints,
        )
        .add("analyze", "Where a given way is dangerous, and a safer one.", ways::analyze)
        .add(
            "distances",
            "Jumps between systems. A row for each: its name, then the jumps to all in to, else to \
             those of the rows before.",
            ways::distances,
        )
        .add(
            "systems",
            "Systems by name or id; null for an unknown one. full: neighbors, constellation, ids.",
            systems::systems,
        )
        .add("search", "Systems by name, security, region, distance.", around::search)
        .add("nearest", "The nearest systems of a kind, or of a list.", around::nearest)
        .add(
            "borders",
            "High-security systems with a gate to lower security, near a system.",
            around::borders,
        )
        .add(
            "jump_range",
            "What a jump drive reaches, by light years or by ship and skill; to a destination the \
             jumps and their midpoints.",
            ways::jump_range,
        )
        .add(
            "chokepoints",
            "Systems and gates without which the space around a place falls apart, and how many \
             systems each cuts off.",
            chokepoints::chokepoints,
        )
        .add("activity", "Kills, jumps and ratting in systems in the last hour.", live::activity)
        .add("hotspots", "Where most is killed, jumped or ratted around a system.", live::hotspots)
        .add("gatecamp_risk", "Where on a route attackers may wait at a gate.", live::gatecamp_risk)
        .add(
            "fw_frontlines",
            "The systems of faction warfare, the most fought for first.",
            live::fw_frontlines,
        )
        .add(
            "activity_cache_status",
            "What activity data is loaded, and how old it is.",
            live::activity_cache_status,
        );
    let Tools { builder, arguments } = tools;
    let builder = builder.tools_list_changed();
    builder.refuse_arguments(move |tool, given, findings| {
        refused(universe.map().as_deref(), arguments.get(tool), given, findings)
    })
}

impl Tools {
    /// Adds a tool.
    fn add<A, O>(
        mut self,
        name: &'static str,
        description: &str,
        work: fn(&Snapshot, &A) -> Result<O, UniverseError>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.remember::<A>(name);
        self.builder = self.builder.tool(
            tool(name, description),
            move |universe: Universe, arguments: A| async move {
                let now = universe.now().map_err(UniverseError::into_tool_error)?;
                // Dropped with the call, when its client cancels it or leaves.
                let _stop = now.stop.clone().drop_guard();
                let work = move || {
                    let done = work(&now, &arguments);
                    done.map(Json).map_err(|error| now.explained(error).into_tool_error())
                };
                if SLOW.contains(&name) { tokio::task::spawn_blocking(work).await? } else { work() }
            },
        );
        self
    }

    fn remember<A: JsonSchema>(&mut self, tool: &'static str) {
        let schema = schemars::SchemaGenerator::default().into_root_schema_for::<A>();
        let members = schema.get("properties").and_then(|it| it.as_object());
        let names = members.into_iter().flat_map(|it| it.keys().cloned());
        self.arguments.insert(tool, names.collect());
    }
}

fn tool(name: &str, description: &str) -> Tool {
    let mut hints = ToolAnnotations::default();
    hints.read_only_hint = Some(true);
    hints.open_world_hint = Some(false);
    Tool::new(name, description).with_annotations(hints)
}

/// Names that others have for arguments: the game's public API, and what models write.
const OTHER_NAMES: [(&str, &str); 29] = [
    ("preference", "mode"),
    ("flag", "mode"),
    ("prefer", "mode"),
    ("route_type", "mode"),
    ("security_penalty", "penalty"),
    ("from", "origin"),
    ("start", "origin"),
    ("source", "origin"),
    ("to", "destination"),
    ("end", "destination"),
    ("target", "destination"),
    ("dest", "destination"),
    ("system", "systems"),
    ("name", "systems"),
    ("names", "systems"),
    ("system", "origin"),
    ("radius", "max_jumps"),
    ("range", "light_years"),
    ("stops", "waypoints"),
    ("via", "waypoints"),
    ("stops", "via"),
    ("waypoints", "via"),
    ("waypoint", "via"),
    ("ship_size", "ship"),
    ("ship_type", "ship"),
    ("hull", "ship"),
    ("skill", "calibration"),
    ("jdc", "calibration"),
    ("ly", "light_years"),
];

/// The argument for what is to be avoided, by the first name that is given.
fn avoided(map: Option<&Map>, given: &Value) -> Option<&'static str> {
    let given = given.get("avoid")?;
    let first = given.get(0).unwrap_or(given);
    let name = first.as_str().map_or_else(|| first.to_string(), str::to_owned);
    avoiding::kind_of(map?, &name).or(Some("avoid_systems"))
}

/// The contract's error for arguments that do not match the schema of a tool: the first by `parameter`, `value` and
/// `reason`, and all of them in `findings`. For an unknown argument it suggests the nearest argument of the tool, or
/// lists all arguments if none is near.
fn refused(
    map: Option<&Map>,
    known: Option<&Vec<String>>,
    given: &Value,
    findings: &[Finding],
) -> ToolError {
    let Some(first) = findings.first() else {
        return ToolError::internal("arguments were refused without a reason");
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
    let mut reason = first.message.clone();
    // A lenient server names the nearest itself.
    let is_named = reason.contains("did you mean");
    let unknown = first.member.as_ref().filter(|it| {
        let is_known = known.is_none_or(|known| known.contains(it));
        first.path.is_empty() && !is_known && !is_named
    });
    if let Some(unknown) = unknown {
        let known: Vec<&str> = known.into_iter().flatten().map(String::as_str).collect();
        let other = match unknown.as_str() {
            "avoid" => avoided(map, given),
            _ => OTHER_NAMES
                .iter()
                .find(|it| it.0 == unknown && known.contains(&it.1))
                .map(|it| it.1),
        };
        let other = other.filter(|other| known.contains(other)).map(str::to_owned);
        let near = || nearest_names(unknown, known.iter().copied()).into_iter().next();
        reason.push_str(&match other.or_else(near) {
            Some(one) => did_you_mean([&one]),
            None => format!("; the tool takes {}", known.join(", ")),
        });
    }
    let error = UniverseError::from(InvalidParameterError::new(&parameter, value, reason));
    let mut data = error.data();
    if let (Some(data), true) = (data.as_object_mut(), findings.len() > 1) {
        data.insert("findings".to_owned(), serde_json::json!(findings));
    }
    ToolError::new(error.code(), error.to_string()).with_data(data)
}

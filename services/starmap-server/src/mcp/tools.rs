//! The tools: what each is called with, and what it answers.
//!
//! Every one only reads, is bounded by its schema, and answers the same to the same question on the same map.

mod avoiding;
mod route;
mod systems;

use mcp_proto::{Context, Finding, ServerBuilder, Tool, ToolAnnotations, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::{InvalidParameterError, UniverseError};

use super::universe::{Snapshot, Universe};

pub(crate) use avoiding::MODES;
pub(crate) use route::{plain_route, route_title};

/// Adds all tools.
pub(crate) fn add(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    let builder = builder.refuse_arguments(|_, findings| refused(findings));
    let builder = quick(
        builder,
        "route",
        "Plan a route",
        "Find the way between two systems: the fewest jumps, or by security. Avoids what it is told to, takes extra \
         connections (jump bridges, wormholes), and on request gives alternatives and what safety costs.",
        route::route,
    );
    quick(
        builder,
        "systems",
        "Look up systems",
        "Look up systems by name: security, region, and with detail full their ids, neighbors and borders. Unknown \
         names come back as null in their place.",
        systems::systems,
    )
}

/// Adds a tool whose work is done in a millisecond or so: where the request runs.
fn quick<A, O>(
    builder: ServerBuilder<Universe>,
    name: &'static str,
    title: &str,
    description: &str,
    work: fn(&Snapshot, A) -> Result<O, UniverseError>,
) -> ServerBuilder<Universe>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    builder.tool(
        tool(name, title, description),
        async move |universe: Universe, arguments: A, _: Context| {
            Ok(work(&universe.now()?, arguments)?)
        },
    )
}

/// Adds a tool that may compute for longer: on a thread of its own.
fn slow<A, O>(
    builder: ServerBuilder<Universe>,
    name: &'static str,
    title: &str,
    description: &str,
    work: fn(&Snapshot, A) -> Result<O, UniverseError>,
) -> ServerBuilder<Universe>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    builder.tool(
        tool(name, title, description),
        async move |universe: Universe, arguments: A, _: Context| {
            let now = universe.now()?;
            let done = tokio::task::spawn_blocking(move || work(&now, arguments)).await;
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

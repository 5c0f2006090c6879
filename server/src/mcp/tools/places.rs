//! Where bodies are: the part `places` of what `get_universe_state` selects.

use mcp_proto::{CallToolResult, Context};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::Universe;
use crate::mcp::arguments;
use crate::mcp::results::{Answer, META_REVISION, set_meta, written};
use crate::offload;
use crate::view::{PlacesAsked, PlacesError, places};

/// The question.
#[derive(Default, Deserialize)]
pub(super) struct Asked {
    at: Option<Value>,
    bodies: Option<Vec<String>>,
    from: Option<String>,
    separations: Option<Vec<String>>,
}

/// Its schema.
pub(super) fn schema() -> Value {
    let ids = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "description": "Instead of entities: where bodies (or all) are, seen from one; angles between some.",
        "additionalProperties": false,
        "properties": {
            "at": {
                "anyOf": [{ "type": "string" }, { "type": "number" }],
                "description": "2026-11-27, seconds or now.",
            },
            "bodies": ids,
            "from": { "type": "string" },
            "separations": ids,
        },
    })
}

pub(super) async fn answer(
    context: &Context,
    universe: Universe,
    asked: Asked,
    limit: Option<usize>,
    after: Option<String>,
) -> Answer {
    let asked = PlacesAsked {
        at: asked.at.map(|at| at.as_str().map_or_else(|| at.to_string(), str::to_owned)),
        bodies: asked.bodies,
        from: asked.from,
        separations: asked.separations,
        limit,
        after,
    };
    let (revision, small) = (universe.revision, offload::is_small(&universe.state));
    let make = move || {
        let id = universe.id.clone();
        let found = places(&universe, &asked).map_err(|error| {
            let code = match error {
                PlacesError::Unknown(_) => "ENTITY_NOT_FOUND",
                PlacesError::NoEpoch(_) | PlacesError::Invalid(_) => "INVALID_ARGUMENTS",
            };
            arguments::invalid(Some(id.as_str()), code, &error.to_string())
        })?;
        CallToolResult::structured(&found)
    };
    let mut result = written(context, small, make).await?;
    set_meta(&mut result, META_REVISION, revision.0.into());
    Ok(result)
}

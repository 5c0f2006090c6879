//! The tools, in the order they are listed in, and what they share.

mod listing;
mod send;
mod state;

use std::collections::HashMap;

use mcp_proto::{CallToolResult, ServerBuilder, Tool, ToolError};
use serde_json::{Map, Value, json};

use super::{arguments, find};
use crate::commands::{CommandService, ServiceError};
use crate::offload::{self, NotDone};
use crate::store::UniverseId;

/// `_meta` key of what is read of a universe: the revision it is of.
pub(super) const META_REVISION: &str = "universe-server/revision";
/// `_meta` key of a large result: how to ask for less.
const META_HINT: &str = "universe-server/hint";

/// Adds the tools.
pub(super) fn add(builder: ServerBuilder<CommandService>) -> ServerBuilder<CommandService> {
    let tools = [state::tool(), listing::tool(), send::tool()];
    let schemas: HashMap<_, _> = tools
        .iter()
        .map(|tool: &Tool| (tool.name.clone(), tool.input_schema.clone()))
        .collect();
    let [state, listing, send] = tools;
    builder
        .raw_tool(state, state::call)
        .raw_tool(listing, listing::call)
        .raw_tool(send, send::call)
        .refuse_arguments(move |tool, arguments, findings| {
            arguments::refuse(schemas.get(tool), arguments, findings)
        })
}

/// The schema of arguments: these properties and no others, the first ones required.
fn arguments_schema(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn universe_id_schema() -> Value {
    json!({ "type": "string", "description": "Which universe, such as \"sol\"." })
}

/// Makes a result where it holds up nobody.
async fn written(
    small: bool,
    make: impl FnOnce() -> Result<CallToolResult, ToolError> + Send + 'static,
) -> Result<CallToolResult, ToolError> {
    let made = offload::run(small, make).await;
    made.unwrap_or_else(|NotDone| Err(ToolError::internal()))
}

fn set_meta(result: &mut CallToolResult, name: &str, value: Value) {
    let meta = result.meta.get_or_insert_with(Map::new);
    meta.insert(name.to_owned(), value);
}

/// A failure as a model can act on it.
async fn failure(service: &CommandService, id: &UniverseId, error: ServiceError) -> ToolError {
    let mut data = json!({ "universeId": id.as_str() });
    let message = match &error {
        ServiceError::NotFound(_) => {
            let known = find::known_ids(service, id.as_str()).await;
            data = json!({ "universeId": id.as_str(), "knownIds": known.ids });
            format!("{error}{}", known.hint)
        }
        ServiceError::Refused { refusal, .. } => {
            data = json!({ "universeId": id.as_str(), "events": refusal.events });
            error.to_string()
        }
        ServiceError::Conflict { revision, .. } => {
            data = json!({ "universeId": id.as_str(), "revision": revision });
            error.to_string()
        }
        // The store's failures do not name the universe themselves.
        _ => format!("universe {id}: {error}"),
    };
    ToolError::new(error.code(), message).with_data(data)
}

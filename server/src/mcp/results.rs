//! What tools share: the schemas of their arguments, their hints, and their results.

use mcp_proto::{
    CallToolResult, Context, RequestError, ResourceContents, ToolAnnotations, ToolError,
};
use serde_json::{Map, Value, json};

use super::find;
use crate::commands::{CommandService, ServiceError};
use crate::store::UniverseId;
use crate::view::NearbyUniverses;

/// The `_meta` key for the revision that the result was read from.
pub(super) const META_REVISION: &str = "universe-server/revision";
/// The `_meta` key of a large result for a hint on how to request less.
pub(super) const META_HINT: &str = "universe-server/hint";

/// What a tool answers.
pub(super) type Answer = Result<CallToolResult, ToolError>;

/// What a resource is read as.
pub(super) type Contents = Result<ResourceContents, RequestError>;

/// The schema of arguments: only these properties, of which some are required.
pub(super) fn arguments_schema(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(super) fn universe_id_schema() -> Value {
    json!({ "type": "string", "description": "Such as \"sol\"." })
}

/// The schema of the `universe` argument of the extra tools. Its description is in the core tools.
pub(super) fn universe_schema() -> Value {
    json!({ "type": "string" })
}

/// The hints of an extra tool, without those that are redundant.
pub(super) fn hints(reads: bool, destroys: bool) -> ToolAnnotations {
    let mut hints = ToolAnnotations::default();
    hints.read_only_hint = Some(reads);
    // The hint has no meaning for a tool that only reads.
    hints.destructive_hint = Some(destroys).filter(|_| !reads);
    hints.open_world_hint = Some(false);
    hints
}

/// Makes a result in a way that delays no other request. A large one waits for its caller's turn.
pub(super) async fn written<T: Send + 'static>(
    context: &Context,
    small: bool,
    make: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    if small { make() } else { context.run_long(make).await? }
}

pub(super) fn set_meta(result: &mut CallToolResult, name: &str, value: Value) {
    let meta = result.meta.get_or_insert_with(Map::new);
    meta.insert(name.to_owned(), value);
}

/// The result of the command service. Errors are written so that a model can act on them.
pub(super) async fn answered<T>(
    service: &CommandService,
    id: &UniverseId,
    answer: Result<T, ServiceError>,
) -> Result<T, ToolError> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(error) => Err(failure(service, id, error).await),
    }
}

pub(super) async fn failure(
    service: &CommandService,
    id: &UniverseId,
    error: ServiceError,
) -> ToolError {
    let mut data = json!({ "universeId": id.as_str() });
    let message = match &error {
        ServiceError::NotFound(_) => {
            let known = NearbyUniverses::near(service, id.as_str()).await;
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
        ServiceError::Trimmed { oldest, .. } => {
            data = json!({ "universeId": id.as_str(), "oldest": oldest });
            error.to_string()
        }
        _ => find::about(id.as_str(), &error),
    };
    ToolError::new(error.code(), message).with_data(data)
}

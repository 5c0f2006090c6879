//! The tools, in the order they are listed in, and what they share.

mod entities;
mod listing;
mod send;
mod state;
mod universes;

use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::{CallToolResult, Context, ServerBuilder, Tool, ToolAnnotations, ToolError};
use serde_json::{Map, Value, json};

use super::{arguments, find, picture, scopes};
use crate::commands::{CommandService, ServiceError};
use crate::offload::{self, NotDone};
use crate::requests;
use crate::store::UniverseId;
use crate::view::NearbyUniverses;

/// The `_meta` key for the revision that the result was read from.
pub(super) const META_REVISION: &str = "universe-server/revision";
/// The `_meta` key of a large result for a hint on how to request less.
const META_HINT: &str = "universe-server/hint";

/// The set of tools that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// The three of the requirements (REQ-MCP-1).
    Core,
    /// The core tools and further ones, which together can do everything that REST can do.
    Extra,
}

/// Adds the tools.
pub(super) fn add(
    builder: ServerBuilder<CommandService>,
    set: ToolSet,
) -> ServerBuilder<CommandService> {
    let mut tools = Tools { builder, schemas: HashMap::new(), reading: Vec::new() }
        .add(state::tool(), state::call)
        .add(listing::tool(), listing::call)
        .add(send::tool(), send::call);
    if set == ToolSet::Extra {
        tools = tools
            .add(send::tool_for_many(), send::call_many)
            .add(entities::tool(), entities::call)
            .add(universes::list_tool(), universes::list)
            .add(universes::create_tool(), universes::create)
            .add(universes::rename_tool(), universes::rename)
            .add(universes::delete_tool(), universes::delete)
            .add(universes::undo_tool(), universes::undo)
            .add(universes::history_tool(), universes::history)
            .add(picture::tool(), picture::call);
    }
    let Tools { builder, schemas, reading } = tools;
    scopes::add(builder, reading).refuse_arguments(move |tool, arguments, findings| {
        arguments::refuse(schemas.get(tool), arguments, findings)
    })
}

/// The tools that are being added, and the schemas of their arguments.
struct Tools {
    builder: ServerBuilder<CommandService>,
    schemas: HashMap<String, Value>,
    /// The names of the tools that only read.
    reading: Vec<String>,
}

impl Tools {
    fn add<F, R>(mut self, tool: Tool, call: F) -> Self
    where
        F: Fn(CommandService, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let name: Arc<str> = tool.name.as_str().into();
        self.schemas.insert(tool.name.clone(), tool.input_schema.clone());
        let hints = tool.annotations.as_ref();
        if hints.is_some_and(|hints| hints.read_only_hint == Some(true)) {
            self.reading.push(tool.name.clone());
        }
        self.builder = self.builder.raw_tool(tool, move |service, arguments, context| {
            let service = scopes::within(&service, &context);
            requests::call(Arc::clone(&name), call(service, arguments, context))
        });
        self
    }
}

/// The schema of arguments: only these properties, of which some are required.
pub(super) fn arguments_schema(properties: &Value, required: &[&str]) -> Value {
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
    let turn = match small {
        true => None,
        false => context.turn().await?,
    };
    let made = offload::run(small, move || {
        // Held until the work is done, because the caller may disconnect before.
        let _turn = turn;
        make()
    });
    made.await.unwrap_or_else(|NotDone| Err(ToolError::internal()))
}

fn set_meta(result: &mut CallToolResult, name: &str, value: Value) {
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

async fn failure(service: &CommandService, id: &UniverseId, error: ServiceError) -> ToolError {
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

//! The MCP dialect: exactly three tools over the command service (REQ-MCP-1), and beside them resources, prompts and
//! completion.

mod address;
mod completion;
mod find;
mod history;
mod listing;
mod prompts;
mod resources;
mod tree;
mod updates;

use mcp_proto::budget::Turn;
use mcp_proto::{BuildError, CallToolResult, Context, Server, Tool, ToolAnnotations, ToolError};
use serde_json::{Map, Value, json};
use universe_core::{Command, CommandError, catalog};

use crate::commands::{CommandResult, CommandService, ServiceError};
use crate::offload::{self, NotDone};
use crate::store::UniverseId;

/// The name of the server on the wire.
pub const SERVER_NAME: &str = "universe-server";

/// The MCP server over `service`, beside REST. `rest_url` is told to models as the place to create and list universes;
/// without one they are told that there is such a place.
///
/// # Errors
/// A tool whose schema cannot be served; a test proves that there is none.
pub fn server(service: CommandService, rest_url: Option<&str>) -> Result<Server, BuildError> {
    let rest = rest_url.map_or_else(
        || "the REST API of this server".to_owned(),
        |url| {
            format!(
                "the REST API: GET {url}/universes lists them, POST {url}/universes creates one"
            )
        },
    );
    build(service, &format!("Ids come from {rest}"))
}

/// The MCP server over `service` where there is no REST beside it.
///
/// # Errors
/// As for [`server`].
pub fn stdio_server(service: CommandService) -> Result<Server, BuildError> {
    build(
        service,
        "There is no REST API beside this connection: universes are made over REST, by a universe-server that listens \
         on the same data directory",
    )
}

fn build(service: CommandService, whence: &str) -> Result<Server, BuildError> {
    let changing = service.clone();
    let builder = Server::builder(SERVER_NAME, env!("CARGO_PKG_VERSION"), service)
        .title("Star-system universes")
        .instructions(instructions(whence))
        .raw_tool(get_universe_state_tool(), get_universe_state)
        .raw_tool(list_universe_commands_tool(), list_universe_commands)
        .raw_tool(send_universe_command_tool(), send_universe_command);
    let builder = prompts::add(resources::add(builder), whence);
    let server = completion::add(builder).build()?;
    updates::tell(&changing, &server);
    Ok(server)
}

/// What a model is told first; `whence` says where universes and their ids come from.
fn instructions(whence: &str) -> String {
    format!(
        "Simulated universes of stars, planets, moons, belts, disks and nebulae. Every tool takes a universeId; \
         the demo universe, if the server was started with --demo, is \"sol\". {whence}; an unknown id is \
         answered with the known ones. Read with get_universe_state, ask list_universe_commands (with a category for \
         all details) what can be changed and how, and change with send_universe_command, one command at a time. \
         A refused command changes nothing and says why. The same universes are resources: universe:// lists them, \
         universe://ID/tree is an outline of one, universe://ID/stars/BODY and its like are single entities, and \
         universe://ID/events is what happened; subscribe to hear of changes. The prompt model_star_system shows how \
         to build."
    )
}

fn get_universe_state_tool() -> Tool {
    Tool::new(
        "get_universe_state",
        "Read the whole current state of a universe: its bodies by id under `stars` (each with its `parentId` and \
         `children`), the ids of root bodies, groups, belts, disks, nebulae, and the simulation `time` in seconds.",
    )
    .with_title("Read a universe")
    .with_annotations(ToolAnnotations::read_only())
    .with_input_schema(json!({
        "type": "object",
        "properties": { "universeId": universe_id_schema() },
        "required": ["universeId"],
    }))
    .with_output_schema(state_schema())
    // The domain's own type is what is written; a large state is not parsed again to see that.
    .with_trusted_output()
}

fn list_universe_commands_tool() -> Tool {
    Tool::new(
        "list_universe_commands",
        "List the commands that change a universe, in ten categories, each with what it does, its fields and an \
         example. With `category`, only that one, with the full JSON Schema of its commands. The list is the same \
         for every universe.",
    )
    .with_title("List the commands")
    .with_annotations(ToolAnnotations::read_only())
    .with_input_schema(json!({
        "type": "object",
        "properties": {
            "universeId": universe_id_schema(),
            "category": {
                "type": "string",
                "description": "One category, by name in any case or in kebab case, such as \"Star hierarchy\" or \
                                \"star-hierarchy\". All of them when absent or empty.",
            },
        },
        "required": ["universeId"],
    }))
    .with_output_schema(listing::schema())
}

fn send_universe_command_tool() -> Tool {
    Tool::new(
        "send_universe_command",
        "Change a universe by one command, such as {\"type\":\"tick\",\"dt\":3600} or an addStar. The answer has the \
         state afterwards and the events that happened. A command that the universe does not allow (an unknown id, \
         a cycle) changes nothing and is answered as an error that says why.",
    )
    .with_title("Change a universe")
    .with_annotations(ToolAnnotations::destructive())
    .with_input_schema(json!({
        "type": "object",
        "properties": { "universeId": universe_id_schema(), "command": catalog::command_schema() },
        "required": ["universeId", "command"],
    }))
    .with_output_schema(json!({
        "type": "object",
        "properties": {
            "nextState": state_schema(),
            "events": {
                "type": "array",
                "description": "What happened; empty for a tick.",
                "items": {
                    "type": "object",
                    "properties": { "type": { "type": "string" } },
                    "required": ["type"],
                },
            },
        },
        "required": ["nextState", "events"],
    }))
    // As for get_universe_state.
    .with_trusted_output()
}

fn universe_id_schema() -> Value {
    json!({ "type": "string", "description": "Which universe, such as \"sol\"." })
}

fn state_schema() -> Value {
    let map = |description: &str| json!({ "type": "object", "description": description });
    let ids = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    json!({
        "type": "object",
        "properties": {
            "stars": map("Every body by its id: stars, planets, moons, asteroids, comets, Lagrange points, black holes."),
            "rootIds": ids("Bodies without a parent, in order."),
            "groups": map("Folders of bodies and groups, by id."),
            "rootGroupIds": ids("Groups without a parent, in order."),
            "belts": map("Asteroid belts, by id."),
            "smallBodyFields": map("Particle belts, by id."),
            "protoplanetaryDisks": map("Disks, by id."),
            "nebulae": map("Nebulae, by id."),
            "time": { "type": "number", "description": "Simulation time in seconds." },
        },
        "required": [
            "stars", "rootIds", "groups", "rootGroupIds", "belts", "smallBodyFields", "protoplanetaryDisks",
            "nebulae", "time",
        ],
    })
}

async fn get_universe_state(
    service: CommandService,
    arguments: Map<String, Value>,
    context: Context,
) -> Result<CallToolResult, ToolError> {
    let id = universe_id(&arguments)?;
    match service.get(&id).await {
        Ok(universe) => {
            let state = universe.state;
            let small = state.star_count() <= offload::INLINE_BODIES;
            let _turn = turn(&context, small).await?;
            written(offload::run(small, move || CallToolResult::structured(&state)).await)
        }
        Err(error) => Err(failure(&service, &id, error).await),
    }
}

async fn list_universe_commands(
    service: CommandService,
    arguments: Map<String, Value>,
    _context: Context,
) -> Result<CallToolResult, ToolError> {
    let id = universe_id(&arguments)?;
    let listing = listing::listing(arguments.get("category").and_then(Value::as_str))?;
    // The list is static, but a wrong id is better told now than with the command that follows.
    match service.store().record(&id).await {
        Ok(_) => CallToolResult::structured(&listing),
        Err(error) => Err(failure(&service, &id, ServiceError::reading(&id, &error)).await),
    }
}

async fn send_universe_command(
    service: CommandService,
    mut arguments: Map<String, Value>,
    context: Context,
) -> Result<CallToolResult, ToolError> {
    let id = universe_id(&arguments)?;
    let command = arguments.remove("command").unwrap_or_default();
    let command =
        Command::from_value(command).map_err(|malformed| malformed_command(&id, &malformed))?;
    match service.process(&id, command, None).await {
        Ok(processed) => {
            let small = processed.state.star_count() <= offload::INLINE_BODIES;
            let write = move || CallToolResult::structured(&CommandResult::of(&processed));
            let _turn = turn(&context, small).await?;
            written(offload::run(small, write).await)
        }
        Err(error) => Err(failure(&service, &id, error).await),
    }
}

/// The caller's turn to have something large written.
async fn turn(context: &Context, small: bool) -> Result<Option<Turn>, ToolError> {
    match small {
        true => Ok(None),
        false => Ok(context.turn().await?),
    }
}

/// What was written elsewhere, or the failure to.
fn written(
    result: Result<Result<CallToolResult, ToolError>, NotDone>,
) -> Result<CallToolResult, ToolError> {
    result.unwrap_or_else(|NotDone| Err(ToolError::internal()))
}

/// Everything that is wrong with a command, with paths into the arguments of the call.
fn malformed_command(id: &UniverseId, malformed: &CommandError) -> ToolError {
    let findings: Vec<_> = malformed
        .findings()
        .iter()
        .map(|finding| {
            json!({ "path": format!("/command{}", finding.path), "message": finding.message })
        })
        .collect();
    ToolError::new("INVALID_COMMAND", format!("universe {id}: {malformed}"))
        .with_data(json!({ "universeId": id.as_str(), "findings": findings }))
}

/// The id that a call names. A text that can be no id is told as one that nothing has.
fn universe_id(arguments: &Map<String, Value>) -> Result<UniverseId, ToolError> {
    let id = arguments
        .get("universeId")
        .and_then(Value::as_str)
        .unwrap_or_default();
    UniverseId::new(id).map_err(|problem| {
        let shown: String = id.chars().take(80).collect();
        ToolError::new(
            "UNIVERSE_NOT_FOUND",
            format!("universe not found: {shown:?} is no id: {problem}"),
        )
        .with_data(json!({ "universeId": shown }))
    })
}

/// A failure as a model can act on it.
async fn failure(service: &CommandService, id: &UniverseId, error: ServiceError) -> ToolError {
    let mut data = json!({ "universeId": id.as_str() });
    let message = match &error {
        ServiceError::NotFound(_) => {
            let known = find::known_ids(service).await;
            data = json!({ "universeId": id.as_str(), "knownIds": known });
            error.to_string()
        }
        ServiceError::Refused { refusal, .. } => {
            data = json!({ "universeId": id.as_str(), "events": refusal.events });
            error.to_string()
        }
        // The store's failures do not name the universe themselves.
        _ => format!("universe {id}: {error}"),
    };
    ToolError::new(error.code(), message).with_data(data)
}

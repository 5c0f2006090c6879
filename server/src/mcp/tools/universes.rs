//! The extra tools for whole universes: listing, creating, renaming and deleting them, and their history.

use mcp_proto::input::ElicitAction;
use mcp_proto::{CallToolResult, Context, ElicitForm, Field, Tool, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use universe_core::generate::{MAX_SYSTEMS, Preset, Scale, Style};
use universe_core::{Findings, State};

use crate::commands::{CommandService, Replacement, ServiceError, Universe};
use crate::demo;
use crate::generate;
use crate::mcp::arguments;
use crate::mcp::results::{Answer, answered, arguments_schema, hints, universe_schema};
use crate::store::{self, Position, Revision, UniverseId};
use crate::view::history::{self, PageError};

/// The most universes on a page, and the default.
const MAX_LIMIT: usize = 100;
const DEFAULT_LIMIT: usize = 20;
/// The id of the question before a deletion, and of its field.
const DELETE: &str = "delete";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    #[serde(default)]
    universe_id: String,
    name: Option<String>,
    from: Option<String>,
    state: Option<Value>,
    fork: Option<Fork>,
    generate: Option<Value>,
    revision: Option<u64>,
    idempotency_key: Option<String>,
    after: Option<u64>,
    limit: Option<u64>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fork {
    universe_id: String,
    revision: Option<u64>,
}

/// A page of universes.
#[derive(Serialize)]
struct UniverseList {
    universes: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A universe that was created or renamed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UniverseMade<'u> {
    universe_id: &'u str,
    name: &'u str,
    revision: Revision,
    #[serde(skip_serializing_if = "Findings::is_empty")]
    warnings: Findings,
    /// The recipe that the universe was generated from.
    #[serde(skip_serializing_if = "Option::is_none")]
    generate: Option<Value>,
}

impl<'u> UniverseMade<'u> {
    fn of(universe: &'u Universe) -> Self {
        Self {
            universe_id: universe.id.as_str(),
            name: &universe.name,
            revision: universe.revision,
            warnings: Findings::default(),
            generate: None,
        }
    }
}

pub(super) fn list_tool() -> Tool {
    let properties = json!({
        "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT },
        "cursor": { "type": "string" },
    });
    Tool::new("list_universes", "The universes, newest first: id, name, revision, time of change.")
        .with_title("List universes")
        .with_annotations(hints(true, false))
        .with_input_schema(arguments_schema(&properties, &[]))
}

pub(super) fn create_tool() -> Tool {
    let properties = json!({
        "name": { "type": "string" },
        "from": { "type": "string", "enum": ["empty", "sol"], "description": "sol: the solar system." },
        "state": { "type": "object", "description": "A whole state, instead of `from`." },
        "fork": {
            "type": "object",
            "description": "Copies a universe, as it is or was.",
            "properties": { "universeId": universe_schema(), "revision": { "type": "integer" } },
            "required": ["universeId"],
            "additionalProperties": false,
        },
        "generate": generate_schema(),
        "idempotencyKey": { "type": "string" },
    });
    Tool::new("create_universe", "Create a universe, empty by default.")
        .with_title("Create a universe")
        .with_annotations(hints(false, false))
        .with_input_schema(arguments_schema(&properties, &["name"]))
}

fn generate_schema() -> Value {
    json!({
        "type": "object",
        "description": "At random; the same seed gives the same universe.",
        "properties": {
            "seed": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
            "preset": { "enum": Preset::ALL.map(Preset::name) },
            "style": { "enum": Style::ALL.map(Style::name) },
            "scale": { "enum": Scale::ALL.map(Scale::name) },
            "systems": { "type": "integer", "maximum": MAX_SYSTEMS },
        },
        "additionalProperties": false,
    })
}

pub(super) fn rename_tool() -> Tool {
    let properties = json!({ "universeId": universe_schema(), "name": { "type": "string" } });
    Tool::new("rename_universe", "Give a universe another name.")
        .with_title("Rename a universe")
        .with_annotations(hints(false, true))
        .with_input_schema(arguments_schema(&properties, &["universeId", "name"]))
}

pub(super) fn delete_tool() -> Tool {
    let properties = json!({ "universeId": universe_schema() });
    Tool::new(
        "delete_universe",
        "Delete a universe with its history, for good. The user is asked first, if the client can.",
    )
    .with_title("Delete a universe")
    .asking()
    .with_annotations(hints(false, true))
    .with_input_schema(arguments_schema(&properties, &["universeId"]))
}

pub(super) fn undo_tool() -> Tool {
    let properties = json!({
        "universeId": universe_schema(), "revision": { "type": "integer" },
    });
    Tool::new("undo_universe", "Set the state back to a revision's, as a new change.")
        .with_title("Undo changes")
        .with_annotations(hints(false, true))
        .with_input_schema(arguments_schema(&properties, &["universeId", "revision"]))
}

pub(super) fn history_tool() -> Tool {
    let properties = json!({
        "universeId": universe_schema(),
        "after": { "type": "integer", "description": "A revision, or `next` of a page." },
        "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
    });
    Tool::new(
        "get_universe_history",
        "The commands that changed a universe, with events, oldest first; the latest 20 by default.",
    )
    .with_title("Read history")
    .with_annotations(hints(true, false))
    .with_input_schema(arguments_schema(&properties, &["universeId"]))
}

pub(super) async fn list(service: CommandService, given: Arguments, _: Context) -> Answer {
    let after = given.cursor.as_deref().map(str::parse::<Position>);
    let after = after.transpose().map_err(|_| {
        let problem = "cursor must be the `next` of the page before";
        arguments::invalid(None, "INVALID_ARGUMENTS", problem)
    })?;
    let limit = given.limit.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    // One more than requested shows whether there is a next page.
    let page = store::Page { after, limit: limit + 1 };
    let records = service.list(page).await;
    let mut records = records.map_err(|error| ToolError::new(error.code(), error.to_string()))?;
    let more = records.len() > limit;
    records.truncate(limit);
    let universes: Vec<_> = records
        .iter()
        .map(|record| {
            json!({
                "id": record.meta.id.as_str(),
                "name": record.meta.name,
                "revision": record.head.revision,
                "updatedAt": record.head.updated_at,
            })
        })
        .collect();
    let last = records.last().filter(|_| more);
    CallToolResult::structured(&UniverseList {
        universes,
        next: last.map(|last| last.position().to_string()),
    })
}

pub(super) async fn create(service: CommandService, given: Arguments, context: Context) -> Answer {
    let invalid = |problem: &str| arguments::invalid(None, "INVALID_ARGUMENTS", problem);
    let name = given.name.unwrap_or_default();
    let name = Replacement::check_name(&name).map_err(|problem| invalid(&problem))?;
    let sources = [
        given.from.is_some(),
        given.state.is_some(),
        given.fork.is_some(),
        given.generate.is_some(),
    ];
    if sources.into_iter().filter(|given| *given).count() > 1 {
        return Err(invalid("give one of `from`, `state`, `fork` and `generate`"));
    }
    let present = given.fork.as_ref().is_some_and(|fork| fork.revision.is_none());
    if present && given.idempotency_key.is_some() {
        // A retry must copy the same state as the first try.
        return Err(invalid("fork needs a revision under an idempotencyKey"));
    }
    let recipe = given.generate.as_ref();
    if given.idempotency_key.is_some() && recipe.is_some_and(generate::is_without_seed) {
        return Err(invalid("generate needs a seed under an idempotencyKey"));
    }
    let recipe = recipe.map(generate::recipe).transpose();
    let recipe =
        recipe.map_err(|found| arguments::findings("INVALID_ARGUMENTS", "/generate", &found))?;
    let (state, warnings) = match (given.fork, given.state, given.from.as_deref()) {
        (Some(fork), ..) => (forked(&service, &fork).await?, Findings::default()),
        (_, Some(state), _) => State::read_partial(state, service.strictness())
            .map_err(|findings| arguments::findings("INVALID_STATE", "/state", &findings))?,
        // The caller did not write this state, so there are no warnings.
        (_, _, Some("sol")) => (sol()?, Findings::default()),
        _ => match recipe.clone() {
            Some(recipe) => {
                let made = context.run_long(move || generate::universe(&recipe)).await?;
                (made?, Findings::default())
            }
            None => (State::default(), Findings::default()),
        },
    };
    let created = match arguments::key(None, given.idempotency_key.as_deref())? {
        Some(key) => service.create_once(key, name, state).await,
        None => service.create(UniverseId::random(), name, state).await,
    };
    let universe = created.map_err(|error| ToolError::new(error.code(), error.to_string()))?;
    CallToolResult::structured(&UniverseMade {
        warnings,
        generate: recipe.map(|recipe| recipe.to_value()),
        ..UniverseMade::of(&universe)
    })
}

fn sol() -> Result<State, ToolError> {
    let state = State::from_value(demo::sol()?);
    state.map_err(|found| ToolError::internal(format!("the demo is wrong: {found:?}")))
}

async fn forked(service: &CommandService, fork: &Fork) -> Result<State, ToolError> {
    let id = arguments::universe_id(&fork.universe_id)?;
    let universe = service.read(&id, fork.revision.map(Revision)).await;
    Ok(answered(service, &id, universe).await?.state)
}

pub(super) async fn undo(service: CommandService, given: Arguments, _: Context) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let to = Revision(given.revision.unwrap_or_default());
    let universe = service.undo(&id, to, None).await;
    let universe = answered(&service, &id, universe).await?;
    CallToolResult::structured(&UniverseMade::of(&universe))
}

pub(super) async fn rename(service: CommandService, given: Arguments, _: Context) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let name = given.name.unwrap_or_default();
    let name = Replacement::check_name(&name)
        .map_err(|problem| arguments::invalid(Some(id.as_str()), "INVALID_ARGUMENTS", &problem))?;
    let replacement = Replacement { name: Some(name), state: None };
    let universe = service.replace(&id, replacement, None).await;
    let universe = answered(&service, &id, universe).await?;
    CallToolResult::structured(&UniverseMade::of(&universe))
}

pub(super) async fn delete(service: CommandService, given: Arguments, context: Context) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let record = service.store().record(&id).await;
    let record = record.map_err(|error| ServiceError::reading(&id, &error));
    let record = answered(&service, &id, record).await?;
    if context.client_capabilities.can_elicit_forms() {
        let name = &record.meta.name;
        let question = format!("Delete the universe {name:?} ({id}) with its history, for good?");
        let yes = Field::boolean().with_title("Delete it").required();
        let form = ElicitForm::new(question).field(DELETE, yes);
        let answer = context.elicit(DELETE, &form)?;
        let agreed = answer.content.get(DELETE) == Some(&Value::Bool(true));
        if answer.action != ElicitAction::Accept || !agreed {
            let problem = "the user said no: nothing was deleted";
            return Err(arguments::invalid(Some(id.as_str()), "DECLINED", problem));
        }
    }
    answered(&service, &id, service.delete(&id, None).await).await?;
    CallToolResult::structured(&json!({ "deleted": id.as_str() }))
}

pub(super) async fn history(service: CommandService, given: Arguments, _: Context) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let page = match history::page(&service, &id, given.after, given.limit).await {
        Ok(page) => page,
        Err(PageError::Asked(problem)) => {
            return Err(arguments::invalid(Some(id.as_str()), "INVALID_ARGUMENTS", &problem));
        }
        Err(PageError::Service(error)) => answered(&service, &id, Err(error)).await?,
    };
    let text = page.write(&id, |next| next);
    text.map(CallToolResult::from_json).ok_or_else(|| ToolError::internal("the page is not JSON"))
}

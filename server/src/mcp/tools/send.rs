//! `send_universe_command`: one change of a universe.

use mcp_proto::{CallToolResult, Context, Tool, ToolAnnotations, ToolError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use universe_core::{Command, Findings, catalog};

use super::{
    META_HINT, arguments, arguments_schema, failure, set_meta, universe_id_schema, written,
};
use crate::commands::{CommandService, Processed, Request};
use crate::store::{CommandId, Revision};
use crate::view::{CommandAnswer, ResultForm};

const HINT: &str = "`changes.omitted` counts what is not shown: ask for it with get_universe_state and `select`, or \
                    send commands with `result` \"changes\"";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    universe_id: String,
    #[serde(default)]
    command: Value,
    result: Option<String>,
    idempotency_key: Option<String>,
    expected_revision: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "universeId": universe_id_schema(),
        "command": catalog::command_schema(),
        "result": result_schema(),
        "expectedRevision": { "type": "integer", "minimum": 0, "description": "Refuse if it is at another revision." },
        "idempotencyKey": {
            "type": "string",
            "description": "A new text for each change: a retry with the same is answered as before, for 24 hours.",
        },
    });
    Tool::new(
        "send_universe_command",
        "Change a universe by one command, such as {\"type\":\"tick\",\"dt\":3600} or an addStar. The answer has the \
         updated revision and time, the events, and the changes: each entity that was created or changed, and the ids \
         that went. A small universe is in it whole, as `nextState`. A command that the universe does not allow (an \
         unknown id, a cycle) changes nothing and is answered as an error that says why.",
    )
    .with_title("Change a universe")
    .with_annotations(ToolAnnotations::destructive())
    .with_input_schema(arguments_schema(&properties, &["universeId", "command"]))
    .with_output_schema(output_schema())
    // As for get_universe_state.
    .with_trusted_output()
}

pub(super) async fn call(
    service: CommandService,
    given: Map<String, Value>,
    _context: Context,
) -> Result<CallToolResult, ToolError> {
    let given: Arguments = arguments::read(given)?;
    let id = arguments::universe_id(&given.universe_id)?;
    let form = form(id.as_str(), given.result.as_deref())?;
    let (command, warnings) = Command::read(given.command, service.strictness())
        .map_err(|malformed| arguments::malformed(id.as_str(), "/command", &malformed))?;
    let request = Request {
        commands: vec![command],
        expected: given.expected_revision.map(Revision),
        key: key(id.as_str(), given.idempotency_key.as_deref())?,
    };
    match service.process(&id, request).await {
        Ok(processed) => answer(processed, warnings, form).await,
        Err(error) => Err(failure(&service, &id, error).await),
    }
}

fn result_schema() -> Value {
    json!({
        "type": "string",
        "enum": ResultForm::WORDS,
        "description": "How much to answer: `events` alone, all `changes`, or the whole `state`. Each has the updated \
                        revision and time and the events. By default what is short.",
    })
}

fn output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "revision": { "type": "integer" },
            "time": { "type": "number" },
            "events": { "type": "array", "items": { "type": "object" }, "description": "None for a tick." },
            "changes": { "type": "object" },
            "nextState": { "type": "object" },
            "warnings": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["revision", "time", "events"],
    })
}

fn key(universe: &str, key: Option<&str>) -> Result<Option<CommandId>, ToolError> {
    let read = key.map(CommandId::of_key).transpose();
    read.map_err(|problem| {
        let problem = format!("/idempotencyKey: {problem}");
        arguments::invalid(Some(universe), "INVALID_ARGUMENTS", &problem)
    })
}

fn form(universe: &str, word: Option<&str>) -> Result<ResultForm, ToolError> {
    let form = word.map_or(Ok(ResultForm::Fitting), ResultForm::read);
    form.map_err(|problem| arguments::invalid(Some(universe), "INVALID_ARGUMENTS", &problem))
}

async fn answer(
    processed: Processed,
    warnings: Findings,
    form: ResultForm,
) -> Result<CallToolResult, ToolError> {
    written(form.is_quick(&processed), move || {
        let answer = CommandAnswer::of(&processed, &warnings, form);
        let answer = answer.map_err(|_| ToolError::internal())?;
        let mut result = CallToolResult::structured(&answer)?;
        if answer.changes.is_some_and(|changes| changes.is_cut()) {
            set_meta(&mut result, META_HINT, HINT.into());
        }
        Ok(result)
    })
    .await
}

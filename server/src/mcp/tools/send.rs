//! `send_universe_command` and `send_universe_commands`: one change of a universe, and several at once.

use mcp_proto::{CallToolResult, Context, Tool, ToolAnnotations, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};
use universe_core::{Command, Findings, catalog};

use crate::commands::{CommandService, MAX_COMMANDS, Processed, Request};
use crate::mcp::arguments;
use crate::mcp::results::{
    Answer, META_HINT, answered, arguments_schema, hints, set_meta, universe_id_schema,
    universe_schema, written,
};
use crate::mcp::view;
use crate::store::{Revision, UniverseId};
use crate::view::{CommandAnswer, ResultForm};

const HINT: &str = "`changes.omitted` counts what is not shown: ask for it with get_universe_state and `select`, or \
                    send commands with `result` \"changes\"";

/// For a result that is too long for its client.
const CARRIED_OUT: &str = "the command was carried out, so do not send it again; read its effects with \
                           get_universe_state and `select`, and next time send it with `result` \"events\"";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    universe_id: String,
    #[serde(default)]
    command: Value,
    #[serde(default)]
    commands: Vec<Value>,
    result: Option<String>,
    idempotency_key: Option<String>,
    expected_revision: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "universeId": universe_id_schema(),
        "command": catalog::command_schema(),
        "result": result_schema(),
        "expectedRevision": { "type": "integer", "minimum": 0, "description": "Refuse at another revision." },
        "idempotencyKey": {
            "type": "string",
            "description": "A new text for each change. A retry with the same text is answered as before, for 24 hours.",
        },
    });
    Tool::new(
        "send_universe_command",
        "Change a universe by one command, such as {\"type\":\"tick\",\"dt\":3600} or an addStar. The answer has the new \
         revision, time, events and changes: what was created (less what you sent), changed or removed. A small universe \
         is added whole, as `nextState`. A refused command changes nothing, and the error says why.",
    )
    .with_title("Change a universe")
    .with_ui(view::URI)
    .with_annotations(ToolAnnotations::destructive())
    .with_input_schema(arguments_schema(&properties, &["universeId", "command"]))
    // The domain reads it, and knows what was meant.
    .with_handler_checked("command")
    .with_output_schema(output_schema())
    // For the same reason as in `get_universe_state`.
    .with_trusted_output()
    .with_whole_results(CARRIED_OUT)
}

/// The tool that sends several commands.
pub(super) fn tool_for_many() -> Tool {
    let command = json!({ "type": "object", "properties": { "type": { "type": "string" } }, "required": ["type"] });
    let properties = json!({
        "universeId": universe_schema(),
        "commands": {
            "type": "array",
            "items": command,
            "minItems": 1,
            "maxItems": MAX_COMMANDS,
        },
        "result": { "type": "string", "enum": ResultForm::WORDS },
        "expectedRevision": { "type": "integer", "minimum": 0 },
        "idempotencyKey": { "type": "string" },
    });
    Tool::new(
        "send_universe_commands",
        "Change a universe by several commands, all or none; each gets a revision. Else as send_universe_command.",
    )
    .with_title("Change it in steps")
    .with_annotations(hints(false, true))
    .with_input_schema(arguments_schema(&properties, &["universeId", "commands"]))
}

pub(super) async fn call_many(
    service: CommandService,
    mut given: Arguments,
    context: Context,
) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let commands = std::mem::take(&mut given.commands);
    let (commands, warnings) = Command::read_all(commands, service.strictness())
        .map_err(|malformed| arguments::malformed(id.as_str(), "/commands", &malformed))?;
    process(service, id, commands, warnings, (&given, &context)).await
}

pub(super) async fn call(
    service: CommandService,
    mut given: Arguments,
    context: Context,
) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let command = std::mem::take(&mut given.command);
    let (command, warnings) = arguments::command(id.as_str(), command, service.strictness())?;
    process(service, id, vec![command], warnings, (&given, &context)).await
}

async fn process(
    service: CommandService,
    id: UniverseId,
    commands: Vec<Command>,
    mut warnings: Findings,
    (given, context): (&Arguments, &Context),
) -> Answer {
    let form = form(id.as_str(), given.result.as_deref())?;
    if let (ResultForm::State, Some(max)) = (form, context.max_answer_bytes()) {
        let universe = answered(&service, &id, service.get(&id).await).await?;
        // It is sent twice, as text and as structured content.
        if !universe.state.is_within(max / 2) {
            let problem = format!(
                "nothing was changed: an answer with the whole state has more than the {max} bytes that this \
                 connection takes; send the command with `result` \"changes\" or \"events\""
            );
            return Err(arguments::invalid(Some(id.as_str()), "ANSWER_TOO_LARGE", &problem));
        }
    }
    let sent = commands.clone();
    let request = Request {
        commands,
        expected: given.expected_revision.map(Revision),
        key: arguments::key(Some(id.as_str()), given.idempotency_key.as_deref())?,
    };
    let mut processed = answered(&service, &id, service.process(&id, request).await).await?;
    warnings.extend(None, std::mem::take(&mut processed.warnings));
    answer(context, processed, warnings, form, sent).await
}

fn result_schema() -> Value {
    json!({
        "type": "string",
        "enum": ResultForm::WORDS,
        "description": "How much to answer besides revision, time and events: `events` nothing, all `changes`, or the \
                        whole `state`. By default the changes, and a small state.",
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

fn form(universe: &str, word: Option<&str>) -> Result<ResultForm, ToolError> {
    let form = word.map_or(Ok(ResultForm::Fitting), ResultForm::read);
    form.map_err(|problem| arguments::invalid(Some(universe), "INVALID_ARGUMENTS", &problem))
}

async fn answer(
    context: &Context,
    processed: Processed,
    warnings: Findings,
    form: ResultForm,
    sent: Vec<Command>,
) -> Answer {
    written(context, form.is_quick(&processed), move || {
        let answer = CommandAnswer::of(&processed, &warnings, form, &sent)?;
        let mut result = CallToolResult::structured(&answer)?;
        if answer.changes.is_some_and(|changes| changes.is_cut()) {
            set_meta(&mut result, META_HINT, HINT.into());
        }
        Ok(result)
    })
    .await
}

//! What is wrong with a command that a model has sent: the findings of the domain, and the usual mistakes of wrapping.

use mcp_proto::ToolError;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use universe_core::{Command, CommandError, Findings, Strictness, catalog};

use super::{Listed, failure};
use crate::commands::MAX_COMMANDS;

/// Reads the `command` of a call.
pub(in crate::mcp) fn read(
    universe: &str,
    command: Value,
    strictness: Strictness,
) -> Result<(Command, Findings), ToolError> {
    if let Some(sentence) = sent_as_text(&command) {
        let mut listed = Listed::default();
        listed.push("/command", &sentence);
        return Err(failure(Some(universe), "INVALID_COMMAND", listed));
    }
    Command::read(command, strictness).map_err(|error| malformed(universe, "/command", &error))
}

/// Everything that is wrong with a command, with paths into the arguments of the call.
pub(in crate::mcp) fn malformed(universe: &str, path: &str, malformed: &CommandError) -> ToolError {
    let mut listed = Listed::default();
    listed.extend(path, malformed.findings());
    failure(Some(universe), "INVALID_COMMAND", listed)
}

/// Adds the errors in the `command` or, if the tool has it, in the `commands` of a call, each with its path and a
/// sentence. Returns whether there are any: if not, the domain accepts them.
pub(super) fn explain(
    arguments: &Map<String, Value>,
    takes_many: bool,
    listed: &mut Listed,
) -> bool {
    if let Some(command) = arguments.get("command") {
        return explain_one("/command", command, listed);
    }
    let commands = arguments.get("commands").filter(|_| takes_many);
    let commands = commands.and_then(Value::as_array).into_iter().flatten();
    let mut is_explained = false;
    for (index, command) in commands.take(MAX_COMMANDS).enumerate() {
        is_explained |= explain_one(&format!("/commands/{index}"), command, listed);
    }
    is_explained
}

fn explain_one(path: &str, command: &Value, listed: &mut Listed) -> bool {
    if let Some(sentence) = sent_as_text(command) {
        listed.push(path, &sentence);
        return true;
    }
    let Err(malformed) = Command::from_value(command.clone()) else {
        return false;
    };
    listed.extend(path, malformed.findings());
    true
}

/// What is wrong with a command that is a text: models like to send them so.
fn sent_as_text(command: &Value) -> Option<String> {
    let text = command.as_str()?;
    // Read without building it: a tree of a long text takes many times its memory.
    let is_object =
        text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
    Some(if is_object {
        "is an object written as JSON text: send the object itself, without quotes".to_owned()
    } else {
        format!("must be an object with a `type`, such as {}", example(text.trim()))
    })
}

/// An example of a command, of the given type if that exists.
fn example(name: &str) -> Value {
    let spec = catalog::command(name).or_else(|| catalog::command("tick"));
    spec.map(catalog::CommandSpec::example).unwrap_or_default()
}

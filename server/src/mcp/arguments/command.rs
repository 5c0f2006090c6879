//! What is wrong with a command that a model has sent: the findings of the domain, and the usual mistakes of wrapping.

use mcp_proto::ToolError;
use serde_json::{Map, Value};
use universe_core::{Command, CommandError, Findings, Strictness, catalog};

use super::{entry, failure};

/// Reads the `command` of a call.
pub(in crate::mcp) fn read(
    universe: &str,
    command: Value,
    strictness: Strictness,
) -> Result<(Command, Findings), ToolError> {
    if let Some(sentence) = sent_as_text(&command) {
        let finding = entry("/command", &sentence);
        return Err(failure(Some(universe), "INVALID_COMMAND", &[finding]));
    }
    Command::read(command, strictness).map_err(|error| malformed(universe, "/command", &error))
}

/// Everything that is wrong with a command, with paths into the arguments of the call.
pub(in crate::mcp) fn malformed(universe: &str, path: &str, malformed: &CommandError) -> ToolError {
    let findings = malformed.findings().iter();
    let findings: Vec<_> = findings
        .map(|finding| entry(&format!("{path}{}", finding.path), &finding.message))
        .collect();
    failure(Some(universe), "INVALID_COMMAND", &findings)
}

/// The errors in the `command` or the `commands` of a call, each with its path and a sentence. Empty if the domain
/// accepts them.
pub(super) fn explain(arguments: &Map<String, Value>) -> Vec<(String, String)> {
    if let Some(command) = arguments.get("command") {
        return explain_one("/command", command);
    }
    let commands = arguments.get("commands").and_then(Value::as_array);
    let commands = commands.into_iter().flatten().enumerate();
    commands
        .flat_map(|(index, command)| explain_one(&format!("/commands/{index}"), command))
        .collect()
}

fn explain_one(path: &str, command: &Value) -> Vec<(String, String)> {
    if let Some(sentence) = sent_as_text(command) {
        return vec![(path.to_owned(), sentence)];
    }
    let Err(malformed) = Command::from_value(command.clone()) else {
        return Vec::new();
    };
    let findings = malformed.findings().iter();
    findings
        .map(|finding| (format!("{path}{}", finding.path), finding.message.clone()))
        .collect()
}

/// What is wrong with a command that is a text: models like to send them so.
fn sent_as_text(command: &Value) -> Option<String> {
    let text = command.as_str()?;
    Some(match serde_json::from_str(text) {
        Ok(Value::Object(_)) => {
            "is an object written as JSON text: send the object itself, without quotes".to_owned()
        }
        _ => format!(
            "must be an object with a `type`, such as {}",
            example(text.trim())
        ),
    })
}

/// An example of a command, of the given type if that exists.
fn example(name: &str) -> Value {
    let spec = catalog::command(name).or_else(|| catalog::command("tick"));
    spec.map(catalog::CommandSpec::example).unwrap_or_default()
}

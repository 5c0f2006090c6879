//! The arguments of calls: read into types, and explained where they do not fit.

mod command;

use mcp_proto::ToolError;
use mcp_proto::schema::Finding;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use universe_core::{Findings, nearest};

use crate::store::{CommandId, UniverseId};

pub(super) use command::{malformed, read as command};

/// The most findings in an error's message, and in its data. A client may send a million wrong members; of the further
/// ones the message has their number.
const MAX_SHOWN: usize = 3;
const MAX_LISTED: usize = Findings::LIMIT;

/// The paths of objects whose member names are checked: the arguments, and those arguments that are objects with known
/// members.
const OBJECTS: [&str; 5] = ["", "/select", "/select/places", "/fork", "/generate"];

/// What is wrong with arguments: the first [`MAX_LISTED`] findings, and the number of the others.
#[derive(Default)]
struct Listed {
    findings: Vec<Value>,
    others: usize,
}

impl Listed {
    fn is_full(&self) -> bool {
        self.findings.len() >= MAX_LISTED
    }

    fn push(&mut self, path: &str, message: &str) {
        if self.is_full() { self.others += 1 } else { self.findings.push(entry(path, message)) }
    }

    /// Adds findings of the domain about the argument at `path`.
    fn extend(&mut self, path: &str, found: &Findings) {
        for finding in found.iter() {
            self.push(&format!("{path}{}", finding.path), &finding.message);
        }
    }
}

/// Reads arguments, which have passed the schema, as a type.
pub(super) fn read<T: DeserializeOwned>(mut arguments: Map<String, Value>) -> Result<T, ToolError> {
    let id = named(&arguments).map(str::to_owned);
    // JSON Schema takes `3.0` for an integer, and serde does not. Numbers inside a command stay as they were sent.
    for value in arguments.values_mut() {
        let whole = value.as_f64().filter(|it| value.is_f64() && it.fract() == 0.0);
        if let Some(whole) = whole.and_then(|it| format!("{it:.0}").parse::<u64>().ok()) {
            *value = whole.into();
        }
    }
    serde_json::from_value(Value::Object(arguments))
        .map_err(|problem| invalid(id.as_deref(), "INVALID_ARGUMENTS", &problem.to_string()))
}

/// The error for an argument with an invalid value, in a call about a universe.
pub(super) fn invalid(universe: Option<&str>, code: &str, problem: &str) -> ToolError {
    let error = ToolError::new(code, about(universe, problem));
    match universe {
        Some(id) => error.with_data(json!({ "universeId": shown(id) })),
        None => error,
    }
}

/// The id in a call. A text that cannot be an id gets the same answer as an unknown id.
pub(super) fn universe_id(id: &str) -> Result<UniverseId, ToolError> {
    UniverseId::new(id).map_err(|problem| {
        let shown = shown(id);
        ToolError::new(
            "UNIVERSE_NOT_FOUND",
            format!("universe not found: {shown:?} is not an id: {problem}"),
        )
        .with_data(json!({ "universeId": shown }))
    })
}

/// The id of the command or universe that belongs to an idempotency key.
pub(super) fn key(
    universe: Option<&str>,
    key: Option<&str>,
) -> Result<Option<CommandId>, ToolError> {
    let read = key.map(CommandId::of_key).transpose();
    read.map_err(|problem| {
        let problem = format!("/idempotencyKey: {problem}");
        invalid(universe, "INVALID_ARGUMENTS", &problem)
    })
}

/// The error for a call whose arguments do not match the schema of the tool.
pub(super) fn refuse(schema: Option<&Value>, arguments: &Value, found: &[Finding]) -> ToolError {
    let empty = Map::new();
    let given = arguments.as_object().unwrap_or(&empty);
    let mut listed = Listed::default();
    for path in OBJECTS {
        let schema = match path {
            "" => schema,
            _ => schema.and_then(|schema| schema.pointer(&path.replace('/', "/properties/"))),
        };
        let object = arguments.pointer(path).and_then(Value::as_object);
        if let (Some(schema), Some(object)) = (schema, object) {
            judge_names(path, schema, object, &mut listed);
        }
    }
    let judged =
        |finding: &&Finding| finding.member.is_some() && OBJECTS.contains(&finding.path.as_str());
    let in_command = |finding: &&Finding| finding.path.starts_with("/command");
    let others = found.iter().filter(|finding| !judged(finding) && !in_command(finding));
    for finding in others {
        let hint = meant(schema, arguments, &finding.path);
        listed.push(&finding.path, &format!("{}{hint}", finding.message));
    }
    let only_command = listed.findings.is_empty();
    // The schema of one command is left to the domain.
    let has = |name: &str| schema.is_some_and(|it| it.pointer(name).is_some());
    if has("/properties/command") || found.iter().any(|finding| in_command(&finding)) {
        let is_explained = command::explain(given, has("/properties/commands"), &mut listed);
        if !is_explained {
            for finding in found.iter().filter(in_command) {
                listed.push(&finding.path, &finding.message);
            }
        }
    }
    let code = if only_command { "INVALID_COMMAND" } else { "INVALID_ARGUMENTS" };
    failure(named(given), code, listed)
}

/// The error for findings of the domain about an argument.
pub(super) fn findings(code: &str, path: &str, found: &Findings) -> ToolError {
    let mut listed = Listed::default();
    listed.extend(path, found);
    failure(None, code, listed)
}

/// The error for findings: the first ones are in the message, and up to [`MAX_LISTED`] in the data.
fn failure(universe: Option<&str>, code: &str, listed: Listed) -> ToolError {
    let Listed { findings, others } = listed;
    let text = |finding: &Value| {
        let part = |name| finding.get(name).and_then(Value::as_str).unwrap_or("");
        match part("path") {
            "" => part("message").to_owned(),
            path => format!("{path}: {}", part("message")),
        }
    };
    let mut listed: Vec<_> = findings.iter().take(MAX_SHOWN).map(text).collect();
    if let more @ 1.. = findings.len().saturating_sub(MAX_SHOWN) + others {
        listed.push(format!("and {more} more"));
    }
    let mut data = Map::new();
    if let Some(id) = universe {
        data.insert("universeId".to_owned(), shown(id).into());
    }
    data.insert("findings".to_owned(), findings.into());
    ToolError::new(code, about(universe, &listed.join("; "))).with_data(data.into())
}

/// Checks the member names of an object: unknown ones, and required ones that are missing.
fn judge_names(path: &str, schema: &Value, given: &Map<String, Value>, listed: &mut Listed) {
    let known = schema.get("properties").and_then(Value::as_object);
    let known: Vec<_> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let mut meant = Vec::new();
    for name in given.keys().filter(|name| !known.contains(&name.as_str())) {
        if listed.is_full() {
            listed.others += 1;
            continue;
        }
        let near = nearest::nearest(name, known.iter().copied());
        let is_command = path.is_empty() && known.contains(&"command") && name == "type";
        let why = if is_command {
            meant.push("command");
            "belongs into `command`, an object, together with the other members of the command"
                .to_owned()
        } else if near.is_empty() {
            format!("is not known; there are {}", known.join(", "))
        } else {
            format!("is not known; did you mean {}?", near.join(" or "))
        };
        meant.extend(near);
        listed.push(&format!("{path}/{}", shown(name)), &why);
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !given.contains_key(name) && !meant.contains(&name) {
            listed.push(&format!("{path}/{name}"), "is missing");
        }
    }
}

/// A suggestion for a text that is not one of the values listed in the schema.
fn meant(schema: Option<&Value>, arguments: &Value, path: &str) -> String {
    let steps = path.split('/').skip(1);
    let schema = steps.fold(schema, |schema, step| {
        let schema = schema?;
        let member = schema.get("properties").and_then(|known| known.get(step));
        member.or_else(|| schema.get("items"))
    });
    let choices = schema.and_then(|schema| schema.get("enum")?.as_array());
    let choices = choices.into_iter().flatten().filter_map(Value::as_str);
    match arguments.pointer(path).and_then(Value::as_str) {
        Some(given) => nearest::hint(given, choices),
        None => String::new(),
    }
}

/// The universe in a call, even if the name of the argument is misspelled.
fn named(arguments: &Map<String, Value>) -> Option<&str> {
    let is_id = |name: &str| !nearest::nearest(name, ["universeId"]).is_empty();
    let found = arguments.get("universeId").or_else(|| {
        let mut names = arguments.iter().filter(|(name, _)| is_id(name));
        names.next().map(|(_, id)| id)
    });
    found.and_then(Value::as_str)
}

fn about(universe: Option<&str>, problem: &str) -> String {
    match universe {
        Some(id) => format!("universe {}: {problem}", shown(id)),
        None => problem.to_owned(),
    }
}

fn entry(path: &str, message: &str) -> Value {
    json!({ "path": path, "message": message })
}

/// A text of the caller, shortened so that a message can repeat it.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

//! Habits of clients that do no harm: arguments that the schema does not allow, but whose meaning is plain. A lenient
//! server takes them, and its answer says so ([`layers::lenient`](crate::layers::lenient)).
//!
//! A model cannot correct what its client does to every call: a refusal would only be repeated. What is published does
//! not change. Any other name stays an error: it may be a filter, and an answer without it would be another answer. An
//! error names the nearest known argument.

use std::sync::Arc;

use serde_json::{Map, Number, Value, json};

use super::Tool;
use crate::budget::{Client, Kind};
use crate::json::{self, MAX_TREE_BYTES, Meter, Strict};
use crate::schema::Finding;
use crate::service::{Call, Warned};

/// What gateways add to the arguments of every call, as n8n does. Taken for that before they could be taken for another
/// argument, misspelled.
const ADDED: [&str; 4] = ["toolCallId", "sessionId", "action", "chatInput"];

/// The most edits between names that are alike, and the longest name in bytes that is compared.
const MAX_EDITS: usize = 3;
const MAX_NAME: usize = 40;

/// The most warnings of an answer, and the longest name in one, in characters. Of the others there is the number.
const MAX_WARNINGS: usize = 20;
const MAX_SHOWN: usize = 80;

/// What was taken in the arguments of one call.
struct Taken {
    /// Whether numbers and booleans are read from text.
    plain: bool,
    warnings: Vec<Value>,
    others: usize,
    client: Option<Client>,
    /// Counts what was read from text, at most 128 MiB ([`MAX_TREE_BYTES`]).
    meter: Option<Meter>,
}

/// Takes the habits in the arguments of a call of a tool, which may be an object as JSON text. With `plain`, numbers
/// and booleans are read from text too.
pub(crate) fn take_habits(call: &mut Call, tool: &Tool, plain: bool) {
    let client = call.context.client.clone();
    let mut taken = Taken { plain, warnings: Vec::new(), others: 0, client, meter: None };
    if let Some(arguments) = &mut call.arguments {
        if taken.read_text(arguments, |kind| kind == "object") {
            let message =
                "the arguments were an object written as JSON text: send the object itself";
            taken.warn("", message);
        }
        if let Value::Object(members) = arguments {
            taken.take(&tool.input_schema, members);
        }
    }
    if let Some(warned) = taken.warned() {
        call.warned = Some(warned);
    }
}

/// Adds the known names that are near to unknown ones, to what is wrong with arguments.
pub(super) fn name_nearest(schema: &Value, arguments: &Value, findings: &mut [Finding]) {
    let Some(known) = only_members(schema) else {
        return;
    };
    let is_unknown = |name: &str| !known.contains_key(name);
    let unknown = arguments.as_object().into_iter().flat_map(Map::keys);
    let unknown = unknown.filter(|name| is_unknown(name));
    let near: Vec<_> = unknown.filter_map(|name| nearest(name, known)).collect();
    let about_names = findings.iter_mut().find(|finding| {
        let member = finding.member.as_ref();
        finding.path.is_empty() && member.is_some_and(|member| is_unknown(member))
    });
    if let (Some(finding), false) = (about_names, near.is_empty()) {
        finding.message.push_str(&format!("; did you mean {}?", near.join(" or ")));
    }
}

impl Taken {
    /// Takes what is plain in the arguments of a tool with this schema.
    fn take(&mut self, schema: &Value, members: &mut Map<String, Value>) {
        self.read_texts(schema, members);
        let Some(known) = only_members(schema) else {
            return;
        };
        for added in ADDED.into_iter().filter(|added| !known.contains_key(*added)) {
            if members.remove(added).is_some() {
                self.left_out(added);
            }
        }
    }

    /// What the answer has to say, if anything was taken.
    fn warned(mut self) -> Option<Arc<Warned>> {
        if self.warnings.is_empty() {
            return None;
        }
        if self.others > 0 {
            let message = format!("{} more arguments were taken so", self.others);
            self.warnings.push(json!({ "path": "", "message": message }));
        }
        let text = json!({ "warnings": self.warnings }).to_string();
        // What exceeded the client's share was not read.
        let held = self.meter.and_then(|meter| meter.into_held().ok().flatten());
        Some(Arc::new(Warned { text, _held: held }))
    }

    /// Reads the arguments that are text where their schema wants something else and no text.
    fn read_texts(&mut self, schema: &Value, members: &mut Map<String, Value>) {
        for (name, value) in members {
            let wanted = schema.get("properties").and_then(|known| known.get(name));
            let Some(wanted) = wanted.filter(|wanted| !allows(wanted, "string")) else {
                continue;
            };
            let message = if self.read_text(value, |kind| allows(wanted, kind)) {
                "was JSON text and was read as such: send the value itself, without quotes"
            } else if self.plain && read_plain(value, wanted) {
                "was text and was read as a number or a boolean: send the value itself, without quotes"
            } else {
                continue;
            };
            self.warn(&format!("/{}", json::pointer_segment(name)), message);
        }
    }

    /// Replaces a text by the object or the list that it is as JSON. False, and nothing changes, for anything else.
    fn read_text(&mut self, value: &mut Value, is_wanted: impl Fn(&str) -> bool) -> bool {
        let Value::String(text) = &*value else {
            return false;
        };
        let kind = match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => "object",
            Some(b'[') => "array",
            _ => return false,
        };
        if !is_wanted(kind) {
            return false;
        }
        let read = self.meter().and_then(|meter| json::parse(text.as_bytes(), Strict(meter)).ok());
        read.map(|read| *value = read).is_some()
    }

    fn meter(&mut self) -> Option<&Meter> {
        if self.meter.is_none() {
            let held = self.client.as_ref().map(|client| client.hold(Kind::RequestBytes, 0));
            self.meter = Some(match held {
                Some(held) => Meter::held_by(held.ok()?, MAX_TREE_BYTES),
                None => Meter::new(MAX_TREE_BYTES),
            });
        }
        self.meter.as_ref()
    }

    fn left_out(&mut self, name: &str) {
        let shown: String = name.chars().take(MAX_SHOWN).collect();
        let path = format!("/{}", json::pointer_segment(&shown));
        self.warn(&path, "is not an argument of this tool and was left out");
    }

    fn warn(&mut self, path: &str, message: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(json!({ "path": path, "message": message }));
        } else {
            self.others += 1;
        }
    }
}

/// Replaces a text by the number or the boolean that it is as JSON. False, and nothing changes, for anything else.
fn read_plain(value: &mut Value, wanted: &Value) -> bool {
    let Value::String(text) = &*value else {
        return false;
    };
    let read = match (text.as_str(), text.parse::<Number>()) {
        ("true" | "false", _) if allows(wanted, "boolean") => Some(Value::Bool(text == "true")),
        (_, Ok(number)) if allows(wanted, "number") => Some(Value::Number(number)),
        (_, Ok(number)) if allows(wanted, "integer") && !number.is_f64() => {
            Some(Value::Number(number))
        }
        _ => None,
    };
    read.map(|read| *value = read).is_some()
}

/// The members that a schema names, if it allows no others.
fn only_members(schema: &Value) -> Option<&Map<String, Value>> {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let members = schema.get("properties")?.as_object();
    members.filter(|_| is_closed && schema.get("patternProperties").is_none())
}

/// Whether a schema allows values of this type, as far as it or its alternatives name types. Without a word about
/// types, and behind a reference, all are.
///
/// Recurses as deep as the schema nests.
fn allows(schema: &Value, kind: &str) -> bool {
    if let Some(named) = schema.get("type") {
        let listed = named.as_array().map_or(std::slice::from_ref(named), Vec::as_slice);
        return listed.iter().any(|one| one == kind);
    }
    let alternatives =
        ["anyOf", "oneOf"].into_iter().filter_map(|keyword| schema.get(keyword)?.as_array());
    let mut alternatives = alternatives.peekable();
    alternatives.peek().is_none() || alternatives.flatten().any(|one| allows(one, kind))
}

/// The known name that is nearest to an unknown one: at most three edits away, and at most half of its letters. Case,
/// `_`, `-` and blanks do not count.
fn nearest<'n>(given: &str, known: &'n Map<String, Value>) -> Option<&'n str> {
    let letters = |name: &str| -> String {
        let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' '));
        letters.flat_map(char::to_lowercase).collect()
    };
    let plain = Some(given).filter(|given| given.len() <= MAX_NAME).map(letters)?;
    let known = known.keys().filter(|name| name.len() <= 2 * MAX_NAME);
    let near = known.filter_map(|name| {
        let edits = strsim::osa_distance(&plain, &letters(name));
        (edits <= MAX_EDITS && edits * 2 <= name.chars().count()).then_some((edits, name))
    });
    near.min_by_key(|(edits, _)| *edits).map(|(_, name)| name.as_str())
}

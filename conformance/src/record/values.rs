//! Messages in the form of a transcript: values that come back are captured, changing values become matchers, secrets
//! are removed.

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use super::flow::{Flow, SHORTEST};
use super::mask::{Mask, is_secret_name};
use super::volatile::{ANYTHING, ChangingText, ENCODED, expression, is_opaque_name, number, parts};

/// A place where a transcript accepts more than what was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loosened {
    /// The line of the transcript, counted from 1.
    pub line: usize,
    /// Where in what the line expects, as a JSON Pointer.
    pub path: String,
    /// Why, such as `a time or an identifier`.
    pub reason: &'static str,
}

/// Turns values into what a transcript writes.
pub(crate) struct Writer<'a> {
    mask: &'a Mask,
    flow: Flow,
    /// Those of them that are captured already, with their names.
    captured: BTreeMap<String, String>,
    /// The names captured before the step that is being written.
    before: BTreeSet<String>,
    path: String,
    loosened: Vec<Loosened>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(mask: &'a Mask, flow: Flow) -> Self {
        Self {
            mask,
            flow,
            captured: BTreeMap::new(),
            before: BTreeSet::new(),
            path: String::new(),
            loosened: Vec::new(),
        }
    }

    /// Begins a step: what earlier ones captured can stand inside texts.
    pub(crate) fn begin(&mut self) {
        self.before = self.captured.values().cloned().collect();
    }

    /// The places that accept more than what was recorded, since this was last asked.
    pub(crate) fn loosened(&mut self) -> Vec<Loosened> {
        std::mem::take(&mut self.loosened)
    }

    /// A value of the client, and whether a secret was taken out of it.
    pub(crate) fn sent(&self, value: &Value) -> (Value, bool) {
        let mut value = value.clone();
        let masked = self.mask.value(&mut value, "");
        (self.template(&value), masked)
    }

    fn template(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match self.captured.get(text) {
                Some(name) => json!({"$var": name}),
                None => self.filled(text).unwrap_or_else(|| escaped(text)).into(),
            },
            Value::Array(items) => items.iter().map(|item| self.template(item)).collect(),
            Value::Object(members) if is_special(members) => json!({"$literal": value}),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), self.template(value)))
                .collect::<Map<_, _>>()
                .into(),
            scalar => scalar.clone(),
        }
    }

    /// A value of the server as a pattern. `place` is where it stands in what a step expects.
    pub(crate) fn expected(&mut self, place: &str, value: &Value) -> Value {
        self.path = place.to_owned();
        self.pattern(value, "")
    }

    /// The same for what several values are compared with, where nothing can be captured.
    pub(crate) fn uncaptured(&mut self, place: &str, value: &Value) -> Value {
        let returned = std::mem::take(&mut self.flow.returned);
        let pattern = self.expected(place, value);
        self.flow.returned = returned;
        pattern
    }

    fn pattern(&mut self, value: &Value, key: &str) -> Value {
        match value {
            Value::String(text) => self.text(text, key),
            Value::Array(items) => {
                let mut patterns = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    patterns
                        .push(self.within(&index.to_string(), |writer| writer.pattern(item, key)));
                }
                patterns.into()
            }
            // JSON Schema has members that begin with `$`. Nothing in them changes from run to run.
            Value::Object(members) if members.keys().any(|name| name.starts_with('$')) => {
                let mut value = value.clone();
                if self.mask.value(&mut value, key) {
                    return self.loosen(json!({"$type": "object"}), "a secret");
                }
                json!({"$literal": value})
            }
            Value::Object(members) => {
                let mut patterns = Map::new();
                for (name, member) in members {
                    let pattern = self.within(name, |writer| writer.pattern(member, name));
                    patterns.insert(name.clone(), pattern);
                }
                patterns.into()
            }
            Value::Number(_) => match number(value, key).filter(|_| !self.is_fixed()) {
                Some(pattern) => self.loosen(pattern, "a time"),
                None => value.clone(),
            },
            scalar => scalar.clone(),
        }
    }

    fn text(&mut self, text: &str, key: &str) -> Value {
        if is_secret_name(key) && !text.is_empty() {
            return self.loosen(json!({"$type": "string"}), "a secret");
        }
        if let Some(name) = self.captured.get(text) {
            return json!({"$var": name});
        }
        if self.flow.returned.contains(text) {
            let name = format!("{}{}", name_of(key), self.captured.len() + 1);
            self.captured.insert(text.to_owned(), name.clone());
            return self.loosen(json!({"$capture": name}), "used by a later request");
        }
        if is_opaque_name(key) {
            return self.loosen(json!({"$type": "string"}), "the server's own text");
        }
        if matches!(key, "blob" | "data") && holds_changing_text(text) {
            let pattern = json!({ "$match": ENCODED });
            return self.loosen(pattern, "a time or an identifier in base64");
        }
        let secrets = self.mask.secrets(text);
        let filled = self.filled(text).filter(|_| self.changing(text).is_empty());
        if let Some(filled) = filled.filter(|_| secrets.is_empty()) {
            return filled.into();
        }
        let mut loose: Vec<ChangingText> = secrets
            .iter()
            .map(|&(start, end)| ChangingText { start, end, like: ANYTHING })
            .collect();
        let secret = !loose.is_empty();
        for part in self.changing(text) {
            if loose.iter().all(|other| part.end <= other.start || part.start >= other.end) {
                loose.push(part);
            }
        }
        if loose.is_empty() {
            return escaped(text).into();
        }
        loose.sort_by_key(|part| part.start);
        let reason = if secret { "a secret" } else { "a time or an identifier" };
        self.loosen(json!({"$match": expression(text, &loose)}), reason)
    }

    /// The text with what was captured before put in by name, if there is any of it in it.
    fn filled(&self, text: &str) -> Option<String> {
        let mut filled = escaped(text);
        let mut any = false;
        for (value, name) in &self.captured {
            if value.len() >= SHORTEST
                && self.before.contains(name)
                && text.contains(value.as_str())
            {
                filled = filled.replace(&escaped(value), &format!("${{{name}}}"));
                any = true;
            }
        }
        any.then_some(filled)
    }

    /// What changes in a text, besides what the client made up and what was captured before.
    fn changing(&self, text: &str) -> Vec<ChangingText> {
        if self.is_fixed() {
            return Vec::new();
        }
        let mut left = parts(text);
        left.retain(|part| {
            let part = known_range::text(text, part.start..part.end);
            let filled = self.captured.iter().any(|(value, name)| {
                self.before.contains(name) && text.contains(value.as_str()) && value.contains(part)
            });
            !filled && !self.flow.own.contains(part)
        });
        left
    }

    /// Whether this is in a list of tools or prompts, in which a time is an example or a default.
    fn is_fixed(&self) -> bool {
        ["/result/tools/", "/result/prompts/"].iter().any(|list| self.path.starts_with(list))
    }

    fn loosen(&mut self, pattern: Value, reason: &'static str) -> Value {
        self.loosened.push(Loosened { line: 0, path: self.path.clone(), reason });
        pattern
    }

    fn within(&mut self, name: &str, visit: impl FnOnce(&mut Self) -> Value) -> Value {
        let outer = self.path.len();
        self.path.push('/');
        self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let value = visit(self);
        self.path.truncate(outer);
        value
    }
}

/// Whether base64 holds a text in which something changes.
fn holds_changing_text(text: &str) -> bool {
    BASE64
        .decode(text.as_bytes())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .is_some_and(|text| !parts(&text).is_empty())
}

/// A text with `${` escaped.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

fn is_special(members: &Map<String, Value>) -> bool {
    members.len() == 1 && members.keys().any(|name| name == "$var" || name == "$literal")
}

/// The beginning of a variable's name.
fn name_of(key: &str) -> &str {
    match key {
        "nextCursor" => "cursor",
        "requestState" => "state",
        key if !key.is_empty()
            && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') =>
        {
            key
        }
        _ => "value",
    }
}

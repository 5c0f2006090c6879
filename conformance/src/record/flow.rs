//! Who made up which text: what a client sends back, and what it says first.

use std::collections::BTreeSet;

use serde_json::Value;

use super::session::Item;
use super::volatile::{is_opaque_name, parts};

/// The shortest text that is followed from an answer to a request.
pub(super) const SHORTEST: usize = 6;

/// The texts of a session that differ between runs, by the side that sent them first.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Texts of the server that the client sends back later.
    pub(super) returned: BTreeSet<String>,
    /// Identifiers and times that the client made up. A server that repeats them repeats just them.
    pub(super) own: BTreeSet<String>,
}

impl Flow {
    pub(super) fn of(items: &[Item]) -> Self {
        let mut flow = Self::default();
        let mut known = BTreeSet::new();
        for item in items {
            match item {
                Item::Response { answer, .. } => collect(&answer.value, &mut known),
                Item::Server { message, .. } => collect(message, &mut known),
                Item::Request { params, .. } | Item::Notification { params, .. } => {
                    params.iter().for_each(|params| flow.sent(params, "", &known));
                }
                Item::Reply { answer, .. } => flow.sent(&answer.value, "", &known),
                Item::Listen | Item::Plain { .. } => {}
            }
        }
        flow
    }

    fn sent(&mut self, value: &Value, key: &str, known: &BTreeSet<&str>) {
        match value {
            Value::String(text) => {
                let opaque = key == "cursor" || is_opaque_name(key);
                let changing = parts(text);
                if known.contains(text.as_str()) {
                    if opaque || text.len() >= SHORTEST && !changing.is_empty() {
                        self.returned.insert(text.clone());
                    }
                    return;
                }
                for part in changing {
                    let part = known_range::text(text, part.start..part.end);
                    if known.contains(part) {
                        // The client put it into a longer text.
                        self.returned.insert(part.to_owned());
                    } else if !known.iter().any(|text| text.contains(part)) {
                        self.own.insert(part.to_owned());
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.sent(item, key, known)),
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| self.sent(value, name, known))
            }
            _ => {}
        }
    }
}

fn collect<'v>(value: &'v Value, texts: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => drop(texts.insert(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

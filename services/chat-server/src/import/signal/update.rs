//! Signal's service messages in its own export: calls, changes of groups, timers.

use serde_json::Value;

use crate::json::{list, number, text};
use crate::model::Body;

/// A service message of Signal.
pub(super) fn update(said: &Value, by: &str, name_of: &dyn Fn(&str) -> Option<String>) -> Body {
    let Some((kind, detail)) = said.as_object().and_then(|update| update.iter().next()) else {
        return Body::Service { action: "update".to_owned(), text: by.to_owned() };
    };
    let state = ["type", "state", "direction"].into_iter().filter_map(|name| text(detail, name));
    let mut state: Vec<String> =
        state.map(|state| state.to_lowercase().replace('_', " ")).collect();
    let action = match kind.as_str() {
        "individualCall" | "groupCall" if state.iter().any(|it| it.contains("missed")) => {
            "missed_call".to_owned()
        }
        "individualCall" | "groupCall" => "call".to_owned(),
        kind => words_of(kind).replace(' ', "_"),
    };
    for change in list(detail, "updates") {
        for (name, what) in change.as_object().into_iter().flatten() {
            let details = details(what, by, name_of, 0).join(", ");
            let words = words_of(name);
            state.push(if details.is_empty() { words } else { format!("{words}: {details}") });
        }
    }
    let is_told = |name: &str| matches!(name, "type" | "state" | "direction" | "updates");
    for (name, value) in detail.as_object().into_iter().flatten().filter(|(name, _)| !is_told(name))
    {
        state.extend(described(name, value, by, name_of, 0));
    }
    if let Some(ms) = number::<i64>(detail, "expiresInMs") {
        state.push(format!("after {} s", ms / 1_000));
    }
    let text = format!("{by}: {} {}", words_of(kind), state.join(", "));
    Body::Service { action, text: text.trim_end().to_owned() }
}

/// How deep details are looked for.
const MAX_DEPTH: usize = 4;

/// What a change is about: its texts, and the names of people in it except of who has made it.
fn details(
    value: &Value,
    by: &str,
    name_of: &dyn Fn(&str) -> Option<String>,
    depth: usize,
) -> Vec<String> {
    let members = value.as_object().into_iter().flatten();
    let described = members.flat_map(|(name, value)| described(name, value, by, name_of, depth));
    described.collect()
}

fn described(
    name: &str,
    value: &Value,
    by: &str,
    name_of: &dyn Fn(&str) -> Option<String>,
    depth: usize,
) -> Vec<String> {
    let is_id =
        ["Id", "Hash", "Token", "Key", "Link", "Data"].iter().any(|end| name.ends_with(end));
    match value {
        Value::String(aci) if name.to_lowercase().ends_with("aci") => {
            name_of(aci).filter(|name| name != by).into_iter().collect()
        }
        // Large numbers are written as strings: times, and ids of calls.
        Value::String(text) if !is_id && text.parse::<f64>().is_err() => vec![text.clone()],
        Value::Object(_) if depth < MAX_DEPTH => details(value, by, name_of, depth + 1),
        Value::Array(values) if depth < MAX_DEPTH => {
            let each = |value| described(name, value, by, name_of, depth + 1);
            values.iter().flat_map(each).collect()
        }
        _ => Vec::new(),
    }
}

/// A name such as `groupChange` in words.
pub(super) fn words_of(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

//! Signal's service messages in its own export: calls, changes of groups, timers.

use serde_json::Value;

use super::member::{list, number, text};
use crate::model::Body;

/// A service message of Signal.
pub(super) fn update(said: &Value, by: &str) -> Body {
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
        state.extend(change.as_object().into_iter().flatten().map(|(name, _)| words_of(name)));
    }
    if let Some(ms) = number(detail, "expiresInMs") {
        state.push(format!("after {} s", ms / 1_000));
    }
    let text = format!("{by}: {} {}", words_of(kind), state.join(", "));
    Body::Service { action, text: text.trim_end().to_owned() }
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

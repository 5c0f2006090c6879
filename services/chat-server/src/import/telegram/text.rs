//! The two forms of text: a string, or strings and marked pieces one after the other.

use serde_json::Value;

use crate::json::member;

/// How deep pieces of a text may be nested.
pub(super) const MAX_DEPTH: usize = 32;

/// The plain text. A link behind other words is added in parentheses after them.
pub(super) fn plain(text: &Value) -> String {
    let mut words = String::new();
    add(text, 0, &mut words);
    words
}

fn add(text: &Value, depth: usize, words: &mut String) {
    match text {
        Value::String(text) => words.push_str(text),
        Value::Array(pieces) if depth < MAX_DEPTH => {
            pieces.iter().for_each(|piece| add(piece, depth + 1, words));
        }
        // Newer files wrap the answers of polls and similar texts in another object.
        object @ Value::Object(_) if depth < MAX_DEPTH => {
            let start = words.len();
            // A formula in a text has a source, an emoji that somebody has made a usual one.
            let names = ["text", "source", "expression", "alternative_text"];
            if let Some(inner) = names.iter().find_map(|name| object.get(*name)) {
                add(inner, depth + 1, words);
            }
            let inner = known_range::text(words, start..);
            let link = member(object, "href").or_else(|| member(object, "url"));
            if let Some(link) = link.filter(|link| *link != inner) {
                words.push_str(&format!(" ({link})"));
            }
        }
        _ => {}
    }
}

/// Whether a value is a text in pieces.
pub(super) fn is_text(value: &Value) -> bool {
    let is_piece = |value: &Value| {
        value.is_string() || value.get("type").is_some() && value.get("text").is_some()
    };
    match value {
        Value::Array(pieces) => pieces.iter().any(Value::is_object) && pieces.iter().all(is_piece),
        Value::Object(_) => is_piece(value),
        _ => false,
    }
}

//! The two forms of text: a string, or strings and marked pieces one after the other.

use serde_json::{Map, Value};

/// How deep pieces of a rich message may be nested.
const MAX_DEPTH: usize = 32;

/// The plain text. A link behind other words is added in parentheses after them.
pub(super) fn plain(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces.iter().map(piece).collect(),
        // Newer files wrap the answers of polls and similar texts in another object.
        Value::Object(object) => object.get("text").map(shallow).unwrap_or_default(),
        _ => String::new(),
    }
}

fn piece(piece: &Value) -> String {
    let Value::Object(object) = piece else {
        return shallow(piece);
    };
    let text = object.get("text").map(shallow).unwrap_or_default();
    match member(object, "href") {
        Some(link) if link != text => format!("{text} ({link})"),
        _ => text,
    }
}

/// A string, or the strings of a list; deeper values are left out.
fn shallow(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces
            .iter()
            .filter_map(|piece| piece.as_str().or_else(|| piece.get("text")?.as_str()))
            .collect(),
        _ => String::new(),
    }
}

/// Everything that is called `text` anywhere in a rich message, line by line, in the order of the file as far as the
/// parser keeps it.
pub(super) fn rich(message: &Value) -> String {
    let mut lines = Vec::new();
    let mut open = vec![(message, 0)];
    while let Some((value, depth)) = open.pop() {
        let inner: Box<dyn DoubleEndedIterator<Item = &Value>> = match value {
            Value::Object(object) => {
                if let Some(text) = member(object, "text") {
                    lines.push(text);
                }
                Box::new(object.values())
            }
            Value::Array(values) => Box::new(values.iter()),
            _ => continue,
        };
        if depth < MAX_DEPTH {
            // The stack is read from its end.
            open.extend(
                inner.rev().filter(|value| !value.is_string()).map(|value| (value, depth + 1)),
            );
        }
    }
    lines.join("\n")
}

/// A member that is a string and not empty.
pub(super) fn member<'m>(object: &'m Map<String, Value>, name: &str) -> Option<&'m str> {
    object.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A member that is a number, or a string of one.
pub(super) fn number(object: &Map<String, Value>, name: &str) -> Option<i64> {
    let value = object.get(name)?;
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

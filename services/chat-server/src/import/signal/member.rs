//! Members of the objects in Signal's own export.

use serde_json::Value;

/// A member that is a string, or a number as text.
pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number; large ones are written as strings.
pub(super) fn number(value: &Value, name: &str) -> Option<i64> {
    value.get(name).and_then(as_number)
}

pub(super) fn as_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

pub(super) fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

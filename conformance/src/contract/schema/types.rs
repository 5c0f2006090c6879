//! Which types and which single values a schema takes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::same::MAX_DEPTH;
use crate::schema::local::resolve;

/// Every type of JSON. A number is an integer or a fraction, so that integers are narrower than numbers.
const TYPES: [&str; 7] = ["array", "boolean", "fraction", "integer", "null", "object", "string"];

pub(super) fn all_types() -> BTreeSet<&'static str> {
    BTreeSet::from(TYPES)
}

/// The types that a schema takes.
pub(super) fn types(root: &Value, schema: &Value, depth: usize) -> BTreeSet<&'static str> {
    let schema = resolve(root, schema);
    if depth > MAX_DEPTH {
        return all_types();
    }
    if let Some(kind) = schema.get("type") {
        let several = kind.as_array().map_or_else(|| vec![kind], |kinds| kinds.iter().collect());
        return several.into_iter().filter_map(Value::as_str).flat_map(of_name).copied().collect();
    }
    if let Some(values) = values(root, schema) {
        return values.into_iter().map(of_value).collect();
    }
    match alternatives(schema) {
        Some(forms) => forms.iter().flat_map(|form| types(root, form, depth + 1)).collect(),
        None if schema.get("properties").is_some() => BTreeSet::from(["object"]),
        None => all_types(),
    }
}

/// The only values that a schema takes, if it lists them.
pub(super) fn values<'a>(root: &'a Value, schema: &'a Value) -> Option<Vec<&'a Value>> {
    let schema = resolve(root, schema);
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().collect());
    }
    let forms = alternatives(schema)?;
    let single = |form: &'a Value| {
        let form = resolve(root, form);
        let value = form.get("const").map(|value| vec![value]);
        value.or_else(|| Some(form.get("enum")?.as_array()?.iter().collect()))
    };
    let values: Option<Vec<_>> = forms.iter().map(single).collect();
    values.map(|values| values.into_iter().flatten().collect())
}

/// What `anyOf` or `oneOf` list.
pub(super) fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    let forms = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    forms.and_then(Value::as_array).filter(|forms| !forms.is_empty())
}

/// Types as people call them.
pub(super) fn type_words(types: &BTreeSet<&str>) -> String {
    if *types == all_types() {
        return "anything".to_owned();
    }
    let is_number = types.contains("fraction");
    let named = types.iter().filter(|it| !(is_number && **it == "integer"));
    let named: Vec<_> = named.map(|it| if *it == "fraction" { "number" } else { it }).collect();
    if named.is_empty() { "nothing".to_owned() } else { named.join(" or ") }
}

fn of_name(name: &str) -> &'static [&'static str] {
    match name {
        "array" => &["array"],
        "boolean" => &["boolean"],
        "integer" => &["integer"],
        "null" => &["null"],
        "number" => &["fraction", "integer"],
        "object" => &["object"],
        "string" => &["string"],
        _ => &[],
    }
}

/// The type of a value.
pub(super) fn of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() == 0.0) => "integer",
        Value::Number(_) => "fraction",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

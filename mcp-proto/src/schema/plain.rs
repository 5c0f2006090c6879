//! Converts a derived schema to the plain form.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value};

use super::SchemaError;
use super::walk::walk;
use crate::json;

/// Generates a schema by `root` and makes it plain. `nulls` decides what happens to a value that may be null.
pub(super) fn make(
    mut settings: SchemaSettings,
    nulls: fn(&mut Schema),
    root: impl FnOnce(SchemaGenerator) -> Schema,
) -> Result<Value, SchemaError> {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.transforms.push(Box::new(RecursiveTransform(move |schema: &mut Schema| {
        nulls(schema);
        simplify(schema);
    })));
    let schema = root(settings.into_generator()).to_value();
    // A type without constraints has the schema `true`, which is not an object of keywords.
    let mut schema = match schema {
        Value::Bool(true) => Value::Object(Map::new()),
        schema => schema,
    };
    if let Some(members) = schema.as_object_mut() {
        // The type's Rust name has no meaning for a client.
        members.remove("title");
    }
    refuse_references(&schema)?;
    Ok(schema)
}

/// Counts the nodes of a schema, and refuses one that is unreasonably large or deep. Does not recurse.
pub(super) fn bounded(
    schema: &Value,
    max_nodes: usize,
    max_depth: usize,
) -> Result<usize, SchemaError> {
    let mut nodes = 0;
    let mut open = vec![(schema, 0)];
    while let Some((value, depth)) = open.pop() {
        nodes += 1;
        if nodes > max_nodes {
            return Err(SchemaError(format!("the schema has more than {max_nodes} nodes")));
        }
        if depth > max_depth {
            return Err(SchemaError(format!("the schema nests deeper than {max_depth} levels")));
        }
        open.extend(json::children(value).map(|child| (child, depth + 1)));
    }
    Ok(nodes)
}

/// A recursive type cannot be inlined; schemars leaves a reference, which clients reject.
fn refuse_references(schema: &Value) -> Result<(), SchemaError> {
    walk(schema, |part, _| match part.get("$ref") {
        Some(_) => Err(SchemaError(
            "the type contains itself; its schema cannot be inlined: use serde_json::Value there"
                .to_owned(),
        )),
        None => Ok(()),
    })
}

/// For arguments: null is not a separate value. If it is allowed, the member may be left out, and an explicit null
/// counts as left out.
pub(super) fn without_nulls(schema: &mut Schema) {
    if let Some(members) = schema.as_object_mut() {
        strip_null(members);
    }
}

/// For results: a member that is skipped when it is `None` is never null; a null that is sent is described only in
/// words, since clients reject every way to allow null besides another type.
pub(super) fn with_nulls(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    let required = match members.get("required") {
        Some(Value::Array(required)) => required.clone(),
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        for (name, property) in properties {
            if let Value::Object(property) = property
                && !required.iter().any(|required| required == name)
            {
                strip_null(property);
            }
        }
    }
    if may_be_null(members) {
        members.retain(|keyword, _| matches!(keyword.as_str(), "title" | "description"));
    }
}

fn may_be_null(members: &Map<String, Value>) -> bool {
    let has = |keyword: &str, null: fn(&Value) -> bool| {
        members.get(keyword).and_then(Value::as_array).is_some_and(|values| values.iter().any(null))
    };
    has("type", |name| name == "null")
        || has("enum", Value::is_null)
        || has("anyOf", is_null_schema)
        || has("oneOf", is_null_schema)
}

fn is_null_schema(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}

fn strip_null(members: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(alternatives)) = members.get_mut(keyword) else {
            continue;
        };
        alternatives.retain(|alternative| !is_null_schema(alternative));
        if let [only] = alternatives.as_mut_slice() {
            let only = only.take();
            members.remove(keyword);
            if let Value::Object(only) = only {
                for (name, value) in only {
                    members.entry(name).or_insert(value);
                }
            }
        }
    }
}

/// One schema object: no boolean as the schema of a part, no null as a default, no machine format.
fn simplify(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    spell_out(members);
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    // Widths such as uint32 are specific to Rust; minimum and maximum say the same in JSON Schema.
    let Some(format) = members.get("format").and_then(Value::as_str) else {
        return;
    };
    if is_common_format(format) {
        return;
    }
    if let Some((minimum, maximum)) = range_of(format) {
        members.entry("minimum").or_insert(minimum.into());
        members.entry("maximum").or_insert(maximum.into());
    }
    members.remove("format");
}

/// Replaces the schema `true` of a part that accepts any value, such as a `serde_json::Value`, by `{}`. Both mean the
/// same, but up to 2025-11-25 the schema of MCP allows only objects there, and clients refuse the whole list for that.
fn spell_out(members: &mut Map<String, Value>) {
    let spell = |schema: &mut Value| {
        if *schema == Value::Bool(true) {
            *schema = Value::Object(Map::new());
        }
    };
    for (keyword, below) in members {
        match (keyword.as_str(), below) {
            ("properties" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(spell);
            }
            ("prefixItems" | "allOf" | "anyOf" | "oneOf", Value::Array(listed)) => {
                listed.iter_mut().for_each(spell);
            }
            ("items", below) => spell(below),
            _ => {}
        }
    }
}

/// The range of an integer width that every JSON reader represents exactly. Wider integers keep the range in the
/// schema.
fn range_of(format: &str) -> Option<(i64, i64)> {
    match format {
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        _ => None,
    }
}

fn is_common_format(format: &str) -> bool {
    matches!(format, "date-time" | "date" | "time" | "email" | "uri" | "uuid")
}

//! Bringing a derived schema into the plain form.

use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::SchemaError;

/// Generates a schema by `root` and makes it plain.
pub(super) fn make(
    mut settings: SchemaSettings,
    root: impl FnOnce(SchemaGenerator) -> Schema,
) -> Result<Value, SchemaError> {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings
        .transforms
        .push(Box::new(RecursiveTransform(simplify as fn(&mut Schema))));
    let mut schema = root(settings.into_generator()).to_value();
    if let Some(members) = schema.as_object_mut() {
        // The type's Rust name says nothing to a client.
        members.remove("title");
        if !members.contains_key("type") && !members.contains_key("$ref") {
            return Err(SchemaError(
                "the type must be a struct: the root of its schema is no object".to_owned(),
            ));
        }
    }
    refuse_references(&schema)?;
    Ok(schema)
}

/// Refuses schemas that are larger or deeper than anybody needs. Walks with a stack of its own.
pub(super) fn bounded(
    schema: &Value,
    max_nodes: usize,
    max_depth: usize,
) -> Result<(), SchemaError> {
    let mut nodes = 0;
    let mut open = vec![(schema, 0)];
    while let Some((value, depth)) = open.pop() {
        nodes += 1;
        if nodes > max_nodes {
            return Err(SchemaError(format!(
                "the schema has more than {max_nodes} nodes"
            )));
        }
        if depth > max_depth {
            return Err(SchemaError(format!(
                "the schema nests deeper than {max_depth} levels"
            )));
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                open.extend(members.values().map(|member| (member, depth + 1)))
            }
            _ => {}
        }
    }
    Ok(())
}

/// A recursive type cannot be inlined; schemars leaves a reference, which clients reject.
fn refuse_references(schema: &Value) -> Result<(), SchemaError> {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                if members.get("$ref").is_some_and(Value::is_string) {
                    return Err(SchemaError(
                        "the type contains itself; its schema cannot be inlined: use serde_json::Value there"
                            .to_owned(),
                    ));
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    Ok(())
}

/// One schema object: no null among the types, no null alternative, no machine format.
fn simplify(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
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
        alternatives
            .retain(|alternative| alternative.get("type").and_then(Value::as_str) != Some("null"));
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
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    // Widths such as uint32 are Rust's affair; minimum and maximum say the same to everybody.
    if members
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| !is_common_format(format))
    {
        members.remove("format");
    }
}

fn is_common_format(format: &str) -> bool {
    matches!(
        format,
        "date-time" | "date" | "time" | "email" | "uri" | "uuid"
    )
}

//! Merges alternatives at the root of a schema of arguments, as a flattened enumeration creates them, into one object.
//! Model providers refuse `oneOf`, `anyOf` and `allOf` there, and with one such tool all tools of a server.
//! The published schema then lists all members and all values of a tag; the type of the arguments checks which of them
//! belong together.

use serde_json::{Map, Value, json};

use super::SchemaError;

/// How deep alternatives inside alternatives are followed.
const MAX_NESTED: usize = 8;

/// Merges the alternatives at the root of a schema into it. A schema without alternatives stays unchanged.
///
/// # Errors
/// If one of them is not an object.
pub(super) fn lay_out(schema: &mut Value) -> Result<(), SchemaError> {
    match schema {
        Value::Object(root) => flatten(root, MAX_NESTED),
        _ => Ok(()),
    }
}

// Recursion over a type's own alternatives, bounded by `depth`.
fn flatten(object: &mut Map<String, Value>, depth: usize) -> Result<(), SchemaError> {
    for keyword in ["allOf", "oneOf", "anyOf"] {
        let Some(Value::Array(parts)) = object.remove(keyword) else {
            continue;
        };
        let parts: Vec<_> =
            parts.into_iter().map(|part| part_of(part, depth)).collect::<Result<_, _>>()?;
        let mut required: Vec<Value> = match keyword {
            "allOf" => parts.iter().flat_map(required_of).cloned().collect(),
            _ => common(&parts),
        };
        object.insert("type".to_owned(), "object".into());
        for part in parts {
            merge_properties(object, part);
        }
        if let Value::Array(all) = object.entry("required").or_insert_with(|| json!([])) {
            required.retain(|name| !all.contains(name));
            all.append(&mut required);
            if all.is_empty() {
                object.remove("required");
            }
        }
    }
    Ok(())
}

/// An alternative as an object without alternatives of its own.
fn part_of(part: Value, depth: usize) -> Result<Map<String, Value>, SchemaError> {
    let nested = depth.checked_sub(1);
    let (Value::Object(mut part), Some(nested)) = (part, nested) else {
        return Err(no_object());
    };
    flatten(&mut part, nested)?;
    if part.get("type").is_some_and(|kind| kind == "object") { Ok(part) } else { Err(no_object()) }
}

fn no_object() -> SchemaError {
    SchemaError(
        "one of the forms of an enumeration is not an object, so clients cannot be shown the arguments as one object: \
         make it a member of its own instead of flattening it, or tag it (#[serde(tag = \"kind\")])"
            .to_owned(),
    )
}

fn required_of(part: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let required = part.get("required").and_then(Value::as_array);
    required.into_iter().flatten()
}

/// What all alternatives require.
fn common(parts: &[Map<String, Value>]) -> Vec<Value> {
    let Some((first, others)) = parts.split_first() else {
        return Vec::new();
    };
    let everywhere = |name: &&Value| {
        let mut others = others.iter();
        others.all(|part| required_of(part).any(|other| other == *name))
    };
    required_of(first).filter(everywhere).cloned().collect()
}

/// Adds the members of an alternative. Its description moves to its constant member.
fn merge_properties(object: &mut Map<String, Value>, mut part: Map<String, Value>) {
    let about = part.remove("description");
    let Some(Value::Object(members)) = part.remove("properties") else {
        return;
    };
    let properties = object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(properties) = properties else {
        return;
    };
    for (name, mut member) in members {
        let about = about.as_ref().and_then(Value::as_str);
        if let (Some(about), Some(value)) = (about, member.get("const").and_then(Value::as_str)) {
            let about = format!("{value}: {about}");
            if let Value::Object(member) = &mut member {
                member.entry("description").or_insert(about.into());
            }
        }
        match properties.get_mut(&name) {
            None => {
                properties.insert(name, member);
            }
            Some(known) if *known == member => {}
            Some(known) => combine(known, member),
        }
    }
}

/// Changes `known` to allow everything that either schema allows.
fn combine(known: &mut Value, other: Value) {
    if let (Some(mut values), Some(more)) = (closed(known), closed(&other)) {
        for value in more {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let text = |schema: &Value| {
            let text = schema.get("description").and_then(Value::as_str);
            text.map(str::to_owned)
        };
        let about: Vec<_> = [text(known), text(&other)].into_iter().flatten().collect();
        *known = match about.as_slice() {
            [] => json!({ "type": "string", "enum": values }),
            about => {
                json!({ "type": "string", "enum": values, "description": about.join("\n") })
            }
        };
        return;
    }
    match known.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(alternatives) => alternatives.push(other),
        None => *known = json!({ "anyOf": [known.take(), other] }),
    }
}

/// All the strings that a schema allows, if they are a closed set.
fn closed(schema: &Value) -> Option<Vec<Value>> {
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return None,
    };
    values.iter().all(Value::is_string).then_some(values)
}

//! Explicit nulls for optional members, which count as left out.

use serde_json::Value;

use super::{fits, listed};
use crate::schema::choice::{self, Choice};

/// Removes the members that are null where a schema has them as optional and does not allow null.
///
/// Recurses as deep as the schema nests. References are not followed.
pub(in crate::schema) fn remove_nulls(schema: &Value, value: &mut Value) {
    for part in schema.get("allOf").into_iter().flat_map(listed) {
        remove_nulls(part, value);
    }
    for keyword in ["anyOf", "oneOf"] {
        let alternatives = schema.get(keyword).and_then(Value::as_array);
        if let Some(alternatives) = alternatives
            && !alternatives.iter().any(|one| fits(one, value))
            && let Some(Choice::Meant(meant)) = choice::of(alternatives, value)
            && let Some(meant) = alternatives.get(meant)
        {
            remove_nulls(meant, value);
        }
    }
    match value {
        Value::Array(items) => {
            let mut first = schema.get("prefixItems").into_iter().flat_map(listed);
            for item in items {
                if let Some(schema) = first.next().or_else(|| schema.get("items")) {
                    remove_nulls(schema, item);
                }
            }
        }
        Value::Object(members) => {
            let known = schema.get("properties");
            let known = |name: &str| known.and_then(|known| known.get(name));
            members.retain(|name, member| {
                let is_left_out = |schema| member.is_null() && !fits(schema, member);
                let is_required = || schema.get("required").is_some_and(|all| has(all, name));
                !known(name).is_some_and(is_left_out) || is_required()
            });
            for (name, member) in members {
                let schema = known(name).or_else(|| schema.get("additionalProperties"));
                if let Some(schema) = schema {
                    remove_nulls(schema, member);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn has(names: &Value, name: &str) -> bool {
    listed(names).any(|one| one == name)
}

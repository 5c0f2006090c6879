//! Schemas with only the few keywords that most tools need, checked without compiling them.
//!
//! This module decides only certain cases: that such a schema compiles, and that an instance matches it. The validator
//! decides everything else, and writes every error.

use std::collections::HashSet;

use jsonschema::Draft;
use serde_json::{Map, Number, Value};

/// The dialect of simple schemas. A schema that names a dialect is not simple.
pub(super) const DIALECT: Draft = Draft::Draft202012;

/// Up to this value an `f64` represents every integer exactly.
const MAX_EXACT: u64 = 1 << 53;

/// Whether a schema has only known keywords, all with values that the meta-schema allows.
///
/// Recurses: the caller has bounded how deep the schema nests.
pub(super) fn is_simple(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    keywords
        .iter()
        .all(|(keyword, value)| match keyword.as_str() {
            "type" => value.as_str().is_some_and(is_type),
            "title" | "description" | "format" => value.is_string(),
            "default" => true,
            "enum" | "examples" => value.is_array(),
            "minimum" | "maximum" => value.is_number(),
            "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
            "required" => are_names(value),
            "properties" => match value {
                Value::Object(properties) => properties.values().all(is_simple),
                _ => false,
            },
            "additionalProperties" => value.is_boolean() || is_simple(value),
            "items" => is_simple(value),
            // Annotations.
            other => other.starts_with("x-"),
        })
}

/// Whether an instance certainly matches a simple schema. If not, it may still match.
///
/// Recurses as deep as the schema nests.
pub(super) fn fits(schema: &Value, instance: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    keywords
        .iter()
        .all(|(keyword, value)| match (keyword.as_str(), instance) {
            ("type", _) => is_of_type(value, instance),
            ("enum", _) => value
                .as_array()
                .is_some_and(|values| values.contains(instance)),
            ("minimum", Value::Number(number)) => {
                is_ordered(value, number, |least, it| least <= it)
            }
            ("maximum", Value::Number(number)) => is_ordered(value, number, |most, it| most >= it),
            ("minLength", Value::String(text)) => {
                value.as_u64().is_some_and(|least| length(text) >= least)
            }
            ("maxLength", Value::String(text)) => {
                value.as_u64().is_some_and(|most| length(text) <= most)
            }
            ("minItems", Value::Array(items)) => value
                .as_u64()
                .is_some_and(|least| items.len() as u64 >= least),
            ("maxItems", Value::Array(items)) => value
                .as_u64()
                .is_some_and(|most| items.len() as u64 <= most),
            ("items", Value::Array(items)) => items.iter().all(|item| fits(value, item)),
            ("required", Value::Object(members)) => {
                let mut names = value.as_array().into_iter().flatten();
                names.all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))
            }
            ("properties", Value::Object(members)) => {
                let mut properties = value.as_object().into_iter().flatten();
                properties.all(|(name, schema)| {
                    members.get(name).is_none_or(|member| fits(schema, member))
                })
            }
            ("additionalProperties", Value::Object(members)) => {
                let known = keywords.get("properties").and_then(Value::as_object);
                others_fit(value, known, members)
            }
            // Annotations, and keywords for values of another type.
            _ => true,
        })
}

fn is_type(name: &str) -> bool {
    matches!(
        name,
        "null" | "boolean" | "object" | "array" | "number" | "string" | "integer"
    )
}

fn are_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    let mut is_new = |name: &Value| {
        name.as_str()
            .is_some_and(|name| seen.insert(name.to_owned()))
    };
    value
        .as_array()
        .is_some_and(|names| names.iter().all(&mut is_new))
}

fn is_of_type(name: &Value, instance: &Value) -> bool {
    match name.as_str() {
        Some("null") => instance.is_null(),
        Some("boolean") => instance.is_boolean(),
        Some("object") => instance.is_object(),
        Some("array") => instance.is_array(),
        Some("number") => instance.is_number(),
        Some("string") => instance.is_string(),
        // 1.0 is an integer as well, which the validator handles.
        Some("integer") => instance.is_i64() || instance.is_u64(),
        _ => false,
    }
}

fn others_fit(
    schema: &Value,
    known: Option<&Map<String, Value>>,
    members: &Map<String, Value>,
) -> bool {
    if *schema == Value::Bool(true) {
        return true;
    }
    members
        .iter()
        .filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)))
        // `false` is not a schema of keywords, so no member fits it.
        .all(|(_, member)| fits(schema, member))
}

/// In characters, as JSON Schema counts.
fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Compares a limit and a number, if both are exact.
fn is_ordered(limit: &Value, number: &Number, order: fn(f64, f64) -> bool) -> bool {
    let limit = limit.as_number().and_then(exact);
    limit
        .zip(exact(number))
        .is_some_and(|(limit, number)| order(limit, number))
}

fn exact(number: &Number) -> Option<f64> {
    let whole = number
        .as_i64()
        .map(i64::unsigned_abs)
        .or_else(|| number.as_u64());
    match whole {
        Some(whole) if whole > MAX_EXACT => None,
        _ => number.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Values of keywords, right and wrong ones.
    fn keywords() -> Vec<(&'static str, Value)> {
        let name = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
        let right = [
            ("type", json!("object")),
            ("type", json!("integer")),
            ("type", json!("string")),
            ("type", json!("array")),
            ("description", json!("text")),
            ("format", json!("date")),
            ("default", json!(null)),
            ("enum", json!(["ab", 1, { "a": 1 }])),
            ("enum", json!([])),
            ("examples", json!([1])),
            ("minimum", json!(1)),
            ("maximum", json!(1.5)),
            ("maximum", json!(9_007_199_254_740_993_u64)),
            ("minLength", json!(2)),
            ("maxLength", json!(2)),
            ("minItems", json!(1)),
            ("maxItems", json!(1)),
            ("items", json!({ "type": "integer" })),
            ("required", json!(["a"])),
            ("required", json!([])),
            ("properties", json!({ "a": name, "b": {} })),
            ("additionalProperties", json!(false)),
            ("additionalProperties", json!({ "type": "string" })),
            ("x-mcp-header", json!("A")),
        ];
        let wrong = [
            ("type", json!("text")),
            ("type", json!(["string", "null"])),
            ("title", json!(1)),
            ("enum", json!("ab")),
            ("minimum", json!("1")),
            ("minLength", json!(-1)),
            ("maxItems", json!(1.5)),
            ("items", json!([{}])),
            ("required", json!(["a", "a"])),
            ("required", json!("a")),
            ("properties", json!({ "a": 1 })),
            ("properties", json!({ "a": { "type": 1 } })),
            ("additionalProperties", json!("no")),
            ("pattern", json!("[")),
            ("$ref", json!("#/nowhere")),
        ];
        right.into_iter().chain(wrong).collect()
    }

    fn instances() -> Vec<Value> {
        vec![
            json!(null),
            json!(true),
            json!(1),
            json!(1.0),
            json!(1.5),
            json!(-1),
            json!(9_007_199_254_740_993_u64),
            json!("ab"),
            json!("äöü"),
            json!("a"),
            json!([]),
            json!([1]),
            json!([1, "a"]),
            json!({}),
            json!({ "a": 1 }),
            json!({ "a": "ab" }),
            json!({ "a": "ab", "b": 1 }),
            json!({ "a": "ab", "c": "text" }),
            json!({ "c": 1 }),
        ]
    }

    #[test]
    fn what_is_certain_here_is_what_the_validator_says() {
        let (keywords, instances) = (keywords(), instances());
        let (mut simple, mut certain, mut uncertain) = (0, 0, 0);
        for (first, one) in &keywords {
            for (second, other) in &keywords {
                let schema = json!({ *first: one, *second: other });
                if !is_simple(&schema) {
                    continue;
                }
                simple += 1;
                let validator = crate::schema::enforced::validator(&schema, DIALECT).unwrap();
                for instance in &instances {
                    match (fits(&schema, instance), validator.is_valid(instance)) {
                        (true, true) => certain += 1,
                        (true, false) => panic!("{instance} does not fit {schema}"),
                        (false, true) => uncertain += 1,
                        (false, false) => {}
                    }
                }
            }
        }
        // Otherwise hardly anything was decided without the validator, so little was compared.
        assert!(simple > 400, "{simple}");
        assert!(uncertain * 10 < certain, "{uncertain} of {certain}");
    }

    #[test]
    fn what_the_compiler_refuses_is_not_simple() {
        for (keyword, value) in keywords() {
            let schema = json!({ keyword: value });
            let compiles = crate::schema::enforced::validator(&schema, DIALECT).is_ok();
            assert!(compiles || !is_simple(&schema), "{schema}");
        }
    }
}

//! Schemas that servers send: their own references, their validity, and values that do not match them.

use jsonschema::Validator;
use serde_json::{Value, json};

use super::words;

/// How many references are followed in a row.
const MAX_HOPS: usize = 16;

/// The schema that a reference within `root` stands for, or the schema itself.
pub(crate) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..MAX_HOPS {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let all = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice);
        let next = match (reference, all) {
            (Some(reference), _) => {
                reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer))
            }
            // A reference with a description is often written so.
            (None, Some([only])) if schema.get("properties").is_none() => Some(only),
            _ => None,
        };
        match next {
            Some(next) => schema = next,
            None => return schema,
        }
    }
    schema
}

/// Where a schema is not valid by its own meta-schema, if it is not. A schema of an unknown dialect is not judged.
pub(crate) fn invalid(schema: &Value) -> Option<String> {
    let error = jsonschema::meta::validate(schema).err()?;
    let (path, problem) = words::explain(&error);
    // An unknown dialect is no fault of the schema's members.
    if path.is_empty() && schema.is_object() && problem.contains("meta-schema") {
        return None;
    }
    Some(format!("{} {problem}", if path.is_empty() { "the schema" } else { &path }))
}

/// Where a value does not match a schema, if it does not.
///
/// # Errors
/// The schema cannot be used, for this reason.
pub(crate) fn unfit(schema: &Value, value: &Value) -> Result<Option<String>, String> {
    let validator = validator(schema)?;
    let found = validator.validate(value).err().map(|error| {
        let (path, problem) = words::explain(&error);
        format!("{} {problem}", if path.is_empty() { "the value" } else { &path })
    });
    Ok(found)
}

/// Whether a schema refuses all of these values. One that cannot be used refuses nothing.
pub(crate) fn none_fits(schema: &Value, values: &[Value]) -> bool {
    validator(schema).is_ok_and(|it| !values.iter().any(|value| it.is_valid(value)))
}

/// Why a pattern cannot be used, if it cannot.
pub(crate) fn unusable(pattern: &str) -> Option<String> {
    validator(&json!({ "pattern": pattern })).err()
}

/// What `find` says first of a schema or of one within it, each with its place, such as `/properties/a`. The depth is
/// limited by the parser.
pub(crate) fn each<T>(
    schema: &Value,
    at: &str,
    find: &impl Fn(&Value, &str) -> Option<T>,
) -> Option<T> {
    find(schema, at).or_else(|| {
        schema.as_object()?.iter().find_map(|(keyword, inner)| {
            let at = format!("{at}/{keyword}");
            match (keyword.as_str(), inner) {
                // Data.
                ("const" | "default" | "enum" | "examples", _) => None,
                // The names in these are not keywords.
                (
                    "$defs" | "definitions" | "dependentSchemas" | "patternProperties"
                    | "properties",
                    Value::Object(inner),
                ) => inner.iter().find_map(|(name, it)| each(it, &format!("{at}/{name}"), find)),
                (_, Value::Array(inner)) => {
                    let mut inner = inner.iter().enumerate();
                    inner.find_map(|(index, it)| each(it, &format!("{at}/{index}"), find))
                }
                _ => each(inner, &at, find),
            }
        })
    })
}

fn validator(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options().offline();
    let built = options.should_validate_formats(false).build(schema);
    built.map_err(|error| {
        let (path, problem) = words::explain(&error);
        format!("{path} {problem}").trim_start().to_owned()
    })
}

//! Schemas that servers send: their own references, their validity, and values that do not match them.

use jsonschema::Validator;
use serde_json::{Value, json};

use super::words;

/// How many references are followed in a row.
const MAX_HOPS: usize = 16;

/// How deep a schema is looked into.
const MAX_DEPTH: usize = 40;

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

/// Each pattern in a schema, and why it cannot be used, if so.
pub(crate) fn patterns(schema: &Value) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    gather(schema, 0, &mut found);
    let judged = found.into_iter().map(|pattern| {
        let problem = validator(&json!({ "pattern": pattern })).err();
        (pattern, problem)
    });
    judged.collect()
}

fn gather(schema: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    match schema {
        Value::Object(members) => {
            let pattern = members.get("pattern").and_then(Value::as_str);
            found.extend(pattern.map(str::to_owned));
            let names = members.get("patternProperties").and_then(Value::as_object);
            found.extend(names.into_iter().flatten().map(|(name, _)| name.clone()));
            let data = ["const", "default", "enum", "examples"];
            let inner = members.iter().filter(|(name, _)| !data.contains(&name.as_str()));
            inner.for_each(|(_, it)| gather(it, depth + 1, found));
        }
        Value::Array(items) => items.iter().for_each(|it| gather(it, depth + 1, found)),
        _ => {}
    }
}

fn validator(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options().offline();
    let built = options.should_validate_formats(false).build(schema);
    built.map_err(|error| {
        let (path, problem) = words::explain(&error);
        format!("{path} {problem}").trim_start().to_owned()
    })
}

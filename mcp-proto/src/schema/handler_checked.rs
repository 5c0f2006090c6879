//! Arguments that a tool's handler checks itself: their schemas are listed, but not enforced.
//!
//! A parser that knows what was meant gives better errors than alternatives of a schema: the universe server does so
//! for its commands, and needs no validator.

use serde_json::{Value, json};

#[cfg(feature = "validate")]
use super::CompiledSchema;
use super::walk::walk;
use super::{SchemaError, compiled};
use crate::json;

/// What is enforced of the schema of a tool's arguments.
///
/// # Errors
/// What is listed cannot be served; an argument is not among its properties; or a reference from elsewhere leads into
/// an argument, which would be enforced there as what it is not here.
pub(crate) fn enforced(schema: &Value, arguments: &[String]) -> Result<Value, SchemaError> {
    if arguments.is_empty() {
        return Ok(schema.clone());
    }
    compiled::bounded(schema)?;
    #[cfg(feature = "validate")]
    CompiledSchema::of_arguments(schema.clone())?;
    let mut enforced = schema.clone();
    for argument in arguments {
        let known = enforced.get_mut("properties");
        let known = known.and_then(|known| known.get_mut(argument));
        *known.ok_or_else(|| unknown(argument))? = json!({});
    }
    walk(&enforced, |schema, _| {
        let reference = schema.get("$ref").and_then(Value::as_str).unwrap_or("");
        match arguments.iter().find(|argument| leads_into(reference, argument)) {
            Some(argument) => Err(referred_to(reference, argument)),
            None => Ok(()),
        }
    })?;
    Ok(enforced)
}

fn leads_into(reference: &str, argument: &str) -> bool {
    let argument = format!("#/properties/{}", json::pointer_segment(argument));
    let rest = reference.strip_prefix(&argument);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn unknown(argument: &str) -> SchemaError {
    SchemaError(format!(
        "{argument:?} is to be checked by the handler, but is not among the properties of the schema"
    ))
}

fn referred_to(reference: &str, argument: &str) -> SchemaError {
    SchemaError(format!(
        "the reference {reference:?} leads into {argument:?}, which is to be checked by the handler: put what both need \
         into $defs"
    ))
}

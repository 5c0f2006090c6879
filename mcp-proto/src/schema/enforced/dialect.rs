//! The dialect of a schema: 2020-12 unless it names another one (MCP 2025-11-25, "JSON Schema usage").

use jsonschema::Draft;
use serde_json::Value;

use crate::schema::SchemaError;
use crate::schema::walk::walk;

/// The dialect of a schema, which must be the same everywhere in it.
///
/// # Errors
/// Any but 2020-12 and draft-07: an unknown dialect cannot be enforced as intended, and dialects are not fetched.
pub(super) fn of(schema: &Value) -> Result<Draft, SchemaError> {
    let dialect = match schema.get("$schema") {
        None => Draft::Draft202012,
        Some(dialect) => named(dialect)?,
    };
    walk(schema, |part, _| match part.get("$schema") {
        Some(inner) if named(inner)? != dialect => Err(SchemaError(format!(
            "a part of the schema says \"$schema\": {inner}, another dialect than the whole: all of it must be in one"
        ))),
        _ => Ok(()),
    })?;
    Ok(dialect)
}

fn named(dialect: &Value) -> Result<Draft, SchemaError> {
    let uri = dialect.as_str().unwrap_or_default().trim_end_matches('#');
    let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
    match uri {
        Some("json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        _ => Err(SchemaError(format!(
            "the dialect \"$schema\": {dialect} is not served: leave it out for JSON Schema 2020-12, or say \
             \"http://json-schema.org/draft-07/schema#\""
        ))),
    }
}

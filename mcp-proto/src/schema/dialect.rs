//! The dialect of a schema: 2020-12 unless it names another one (MCP 2025-11-25, "JSON Schema usage").

use serde_json::Value;

use super::SchemaError;
use super::walk::walk;

/// A dialect that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Of2020,
    Draft07,
}

impl Dialect {
    /// The dialect of a schema, which must be the same everywhere in it.
    ///
    /// # Errors
    /// Any but 2020-12 and draft-07: an unknown dialect cannot be enforced as intended, and dialects are not fetched.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let dialect = match schema.get("$schema") {
            None => Self::Of2020,
            Some(dialect) => Self::named(dialect)?,
        };
        walk(schema, |part, _| match part.get("$schema") {
            Some(inner) if Self::named(inner)? != dialect => Err(SchemaError(format!(
                "a part of the schema says \"$schema\": {inner}, another dialect than the whole: all of it must be in one"
            ))),
            _ => Ok(()),
        })?;
        Ok(dialect)
    }

    /// The dialect of this name.
    pub(super) fn named(dialect: &Value) -> Result<Self, SchemaError> {
        let uri = dialect.as_str().unwrap_or_default().trim_end_matches('#');
        let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
        match uri {
            Some("json-schema.org/draft/2020-12/schema") => Ok(Self::Of2020),
            Some("json-schema.org/draft-07/schema") => Ok(Self::Draft07),
            _ => Err(SchemaError(format!(
                "the dialect \"$schema\": {dialect} is not served: leave it out for JSON Schema 2020-12, or say \
                 \"http://json-schema.org/draft-07/schema#\""
            ))),
        }
    }
}

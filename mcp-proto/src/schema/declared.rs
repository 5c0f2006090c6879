//! Publishing a schema without enforcing it, for builds without the feature `validate`: arguments are checked only by
//! the handler's own type.

use serde_json::Value;

use super::mirror::{self, MirroredParam};
use super::{Finding, Nulls, SchemaError, Unfit};

/// A published schema.
#[derive(Debug)]
pub(crate) struct CompiledSchema(Value);

/// Checks that a value is of the type that a small schema names.
pub(crate) fn check_once(schema: &Value, value: &Value) -> Result<(), Unfit> {
    let fits = match schema.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match fits {
        true => Ok(()),
        false => Err(Unfit::Value(format!(
            "the value must be of the type {}",
            schema["type"]
        ))),
    }
}

impl CompiledSchema {
    /// A schema of arguments: its root must describe an object.
    pub(crate) fn of_arguments(schema: Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError(
                "the root of the schema must say \"type\": \"object\"".to_owned(),
            ));
        }
        Ok(Self(schema))
    }

    /// A schema of results, of any kind.
    pub(crate) fn of_results(schema: Value) -> Result<Self, SchemaError> {
        match schema.is_object() {
            true => Ok(Self(schema)),
            false => Err(SchemaError(
                "the output schema must be an object of keywords: {} allows everything".to_owned(),
            )),
        }
    }

    /// The parameters that clients mirror into headers.
    pub(crate) fn mirrored(&self) -> Result<Vec<MirroredParam>, SchemaError> {
        mirror::params_to_publish(&self.0)
    }

    /// Accepts any instance: nothing is enforced.
    #[expect(clippy::unused_self, reason = "it is called as the one that enforces")]
    pub(crate) fn check(&self, _instance: &Value) -> Result<(), Vec<Finding>> {
        Ok(())
    }

    /// Accepts any object.
    #[expect(clippy::unused_self, reason = "it is called as the one that enforces")]
    pub(crate) fn accept(
        &self,
        instance: Value,
        _nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        match instance.is_object() {
            true => Ok(instance),
            false => {
                let finding = Finding::new("", "the arguments must be an object");
                Err((instance, vec![finding]))
            }
        }
    }
}

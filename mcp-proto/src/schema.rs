//! From a Rust type to the plain JSON Schema that clients accept; compiling it, enforcing it, explaining its findings.
//!
//! *Plain* means: one object without `$ref`, `type: "object"` at its root, no `null` among the types of an optional
//! member, no machine-oriented `format`. Several clients drop a tool, or every tool of the server, for less.

mod explain;
mod plain;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

pub use explain::Finding;

/// The most schema nodes and the deepest nesting that are compiled: a bound against schema bombs.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// A schema that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub(crate) String);

/// What becomes of explicit nulls for optional members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The handler sees what was sent.
    Keep,
    /// They are gone before a type is made of the rest, which might not take them.
    TakeOut,
}

/// A published schema together with its compiled form: what is listed is what is enforced.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    schema: Value,
    validator: jsonschema::Validator,
}

/// The plain schema of what `T` deserialises from.
pub(crate) fn input_schema_of<T: JsonSchema>() -> Result<Value, SchemaError> {
    plain::make(
        SchemaSettings::draft2020_12().for_deserialize(),
        plain::without_nulls,
        |generator| generator.into_root_schema_for::<T>(),
    )
}

/// The plain schema of what `T` serialises to.
pub(crate) fn output_schema_of<T: JsonSchema>() -> Result<Value, SchemaError> {
    plain::make(
        SchemaSettings::draft2020_12().for_serialize(),
        plain::with_nulls,
        |generator| generator.into_root_schema_for::<T>(),
    )
}

impl CompiledSchema {
    /// Compiles a schema whose root must describe an object. Never reaches for the network or a file.
    pub(crate) fn compile(schema: Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError(
                "the root of the schema must say \"type\": \"object\"".to_owned(),
            ));
        }
        plain::bounded(&schema, MAX_NODES, MAX_DEPTH)?;
        let validator = jsonschema::options()
            .offline()
            .build(&schema)
            .map_err(|error| SchemaError(format!("the schema does not compile: {error}")))?;
        Ok(Self { schema, validator })
    }

    /// Everything that is wrong with `instance`, at most [`explain::MAX_FINDINGS`] findings.
    pub(crate) fn check(&self, instance: &Value) -> Result<(), Vec<Finding>> {
        if self.validator.is_valid(instance) {
            return Ok(());
        }
        Err(explain::findings(self.validator.iter_errors(instance)))
    }

    /// [`check`](Self::check) for arguments. An explicit null for an optional member counts as left out: models send
    /// it, and the plain form has no way to allow it. Such nulls stay in or are taken out as `nulls` says.
    pub(crate) fn accept(&self, instance: Value, nulls: Nulls) -> Result<Value, Vec<Finding>> {
        if self.validator.is_valid(&instance) {
            return Ok(instance);
        }
        let paths = explain::nulls(&self.schema, self.validator.iter_errors(&instance));
        let mut without = instance.clone();
        for path in paths {
            explain::remove(&mut without, &path);
        }
        self.check(&without)?;
        Ok(match nulls {
            Nulls::Keep => instance,
            Nulls::TakeOut => without,
        })
    }
}

//! Derives the plain JSON Schema that clients accept from a Rust type, enforces it, and explains what does not fit.
//!
//! There are two judges. The simple one needs no compiled form of a schema, and no other crate. Where a schema says
//! more than it enforces, the crate `jsonschema` judges (feature `validate`); a build without it refuses such a schema.
//! Both word their findings by the same function.
//!
//! *Plain* means: one object without `$ref`, for arguments with `type: "object"` and `properties` at its root, no
//! boolean as a schema, no `null` among the types of an optional member, no machine-oriented `format`. Several clients
//! drop a tool, or every tool of the server, if one of these rules is broken. Schemas written by hand are published
//! unchanged, in 2020-12 or draft-07.

mod choice;
mod compiled;
mod dialect;
mod finding;
mod flat;
mod handler_checked;
mod mirror;
mod number;
mod place;
mod plain;
mod simple;
mod walk;
#[cfg(feature = "validate")]
mod whole;
mod wording;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

pub use compiled::CompiledSchema;
pub(crate) use compiled::Nulls;
pub use finding::Finding;
pub(crate) use handler_checked::enforced;
pub(crate) use mirror::params_to_publish;
pub use mirror::{MirroredParam, header_value, params_to_mirror};

/// A schema that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub(crate) String);

/// The plain schema of the object that `T` deserialises from.
pub(crate) fn input_schema_of<T: JsonSchema>() -> Result<Value, SchemaError> {
    let mut schema = plain::make(
        SchemaSettings::draft2020_12().for_deserialize(),
        plain::without_nulls,
        |generator| generator.into_root_schema_for::<T>(),
    )?;
    flat::lay_out(&mut schema)?;
    match schema.as_object_mut() {
        Some(members) if members.get("type").is_some_and(|kind| kind == "object") => {
            // It may be empty, but model providers require the member.
            let properties = members.entry("properties");
            properties.or_insert_with(|| Value::Object(Map::new()));
            Ok(schema)
        }
        _ => Err(SchemaError(
            "the type of the arguments must be a struct; a handler that takes no arguments leaves them out: the root of \
             its schema is not an object"
                .to_owned(),
        )),
    }
}

/// The plain schema of the value that `T` serialises to.
pub(crate) fn output_schema_of<T: JsonSchema>() -> Result<Value, SchemaError> {
    plain::make(SchemaSettings::draft2020_12().for_serialize(), plain::with_nulls, |generator| {
        generator.into_root_schema_for::<T>()
    })
}

/// Checks one value against the schema of a field of a form, its format included where the feature `validate` is on.
pub(crate) fn check_field(schema: &Value, value: &Value) -> Result<(), Unfit> {
    let compiled = CompiledSchema::of_field(schema.clone())
        .map_err(|SchemaError(problem)| Unfit::Schema(problem))?;
    compiled.check(value).map_err(|findings| {
        let first = findings.into_iter().next();
        Unfit::Value(first.map_or_else(String::new, |finding| finding.without_value(value)))
    })
}

/// Why a value does not fit the schema of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("{0}")]
    Schema(String),
    #[error("{0}")]
    Value(String),
}

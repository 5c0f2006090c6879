//! Derives the plain JSON Schema that clients accept from a Rust type, compiles it, enforces it, and explains its
//! errors.
//!
//! *Plain* means: one object without `$ref`, for arguments with `type: "object"` and `properties` at its root, no
//! boolean as a schema, no `null` among the types of an optional member, no machine-oriented `format`. Several clients
//! drop a tool, or every tool of the server, if one of these rules is broken. Schemas written by hand are published
//! unchanged, in 2020-12 or draft-07.

mod compiled;
#[cfg(feature = "validate")]
mod enforced;
mod finding;
mod flat;
mod handler_checked;
mod mirror;
#[cfg(not(feature = "validate"))]
mod partial;
mod plain;
mod simple;
mod walk;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

pub use compiled::CompiledSchema;
#[cfg(feature = "validate")]
use enforced::Judged;
#[cfg(feature = "validate")]
pub(crate) use enforced::check_once;
pub use finding::Finding;
pub(crate) use handler_checked::enforced;
pub(crate) use mirror::params_to_publish;
pub use mirror::{MirroredParam, header_value, params_to_mirror};
#[cfg(not(feature = "validate"))]
use partial::Judged;
#[cfg(not(feature = "validate"))]
pub(crate) use partial::check_once;

/// A schema that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SchemaError(pub(crate) String);

/// How explicit nulls for optional members are handled. They are accepted in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The handler receives them, for raw tools, which may distinguish an explicit null from an absent member.
    Keep,
    /// They are removed before the arguments are deserialised, since the type might not accept them.
    TakeOut,
}

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
            "the type must be a struct, one without members where nothing is asked for: the root of its schema is not a \
             object"
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

/// Why a value does not match a small schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("its schema does not compile: {0}")]
    Schema(String),
    #[error("{0}")]
    Value(String),
}

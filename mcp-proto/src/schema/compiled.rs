//! A published schema together with what judges values by it: what is listed is what is enforced.

use serde_json::Value;

use super::dialect::Dialect;
#[cfg(feature = "validate")]
use super::whole::Whole;
use super::{Finding, SchemaError, plain, simple};

/// The most schema nodes and the deepest nesting that are enforced: a bound against schema bombs.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// How explicit nulls for optional members are handled. They are accepted in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The handler receives them, for raw tools, which may distinguish an explicit null from an absent member.
    Keep,
    /// They are removed before the arguments are deserialised, since the type might not accept them.
    TakeOut,
}

/// A published schema, ready to judge values.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Value,
    /// What judges by a schema that says more than the simple judge enforces.
    #[cfg(feature = "validate")]
    whole: Option<Box<Whole>>,
}

/// What a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Arguments,
    Results,
    /// One value of a form, whose format is enforced where that is possible.
    Field,
}

impl CompiledSchema {
    /// Compiles a schema of arguments: its root must describe an object.
    pub(crate) fn of_arguments(schema: Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError(
                "the root of the schema must say \"type\": \"object\"".to_owned(),
            ));
        }
        Self::compile(schema, Use::Arguments)
    }

    /// Compiles a schema of results, of any kind (since 2026-07-28; older clients only see schemas of objects).
    ///
    /// # Errors
    /// A schema that is not an object, does not compile, or is too large.
    pub fn of_results(schema: Value) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError(
                "the output schema must be an object of keywords: {} allows everything".to_owned(),
            ));
        }
        Self::compile(schema, Use::Results)
    }

    /// The same for results that are trusted or not ours: `None` if this build cannot judge them by such a schema.
    ///
    /// # Errors
    /// As [`CompiledSchema::of_results`].
    pub fn of_results_if_possible(schema: Value) -> Result<Option<Self>, SchemaError> {
        let (_, nodes) = bounded(&schema)?;
        if cfg!(feature = "validate") || simple::beyond(&schema, nodes).is_none() {
            Self::of_results(schema).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Compiles the schema of one field of a form.
    pub(super) fn of_field(schema: Value) -> Result<Self, SchemaError> {
        Self::compile(schema, Use::Field)
    }

    #[cfg(feature = "validate")]
    fn compile(schema: Value, purpose: Use) -> Result<Self, SchemaError> {
        let (dialect, nodes) = bounded(&schema)?;
        let formats = purpose == Use::Field && schema.get("format").is_some();
        let whole = if formats || simple::beyond(&schema, nodes).is_some() {
            Some(Box::new(Whole::compile(&schema, dialect, nodes, formats)?))
        } else {
            None
        };
        Ok(Self { schema, whole })
    }

    #[cfg(not(feature = "validate"))]
    fn compile(schema: Value, purpose: Use) -> Result<Self, SchemaError> {
        let (_, nodes) = bounded(&schema)?;
        let Some(beyond) = simple::beyond(&schema, nodes) else {
            return Ok(Self { schema });
        };
        let instead = match purpose {
            Use::Arguments => {
                ", or say that the handler checks the argument (Tool::with_handler_checked)"
            }
            Use::Results => ", or say that the results fit (Tool::with_trusted_output)",
            Use::Field => "",
        };
        Err(SchemaError(format!(
            "{beyond} is not enforced by this build: build mcp-proto with the feature \"validate\"{instead}"
        )))
    }

    /// Whether a value fits.
    pub(crate) fn fits(&self, value: &Value) -> bool {
        #[cfg(feature = "validate")]
        if let Some(whole) = &self.whole {
            return whole.fits(value);
        }
        simple::fits(&self.schema, value)
    }

    /// Checks a value. Takes bounded work, but may take a while.
    ///
    /// # Errors
    /// What is wrong with it, in a few findings.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Finding>> {
        #[cfg(feature = "validate")]
        if let Some(whole) = &self.whole {
            return whole.check(&self.schema, value);
        }
        simple::check(&self.schema, value)
    }

    /// [`check`](Self::check) for arguments. An explicit null for an optional member counts as left out: models send
    /// it, and the plain form has no way to allow it. `nulls` decides whether such nulls are kept or removed. Refused
    /// arguments are returned.
    pub(crate) fn accept(
        &self,
        arguments: Value,
        nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        if self.fits(&arguments) {
            return Ok(arguments);
        }
        let mut without = arguments.clone();
        simple::remove_nulls(&self.schema, &mut without);
        match (self.check(&without), nulls) {
            (Ok(()), Nulls::Keep) => Ok(arguments),
            (Ok(()), Nulls::TakeOut) => Ok(without),
            (Err(findings), _) => Err((arguments, findings)),
        }
    }
}

/// The dialect and the number of nodes of a schema.
pub(super) fn bounded(schema: &Value) -> Result<(Dialect, usize), SchemaError> {
    let nodes = plain::bounded(schema, MAX_NODES, MAX_DEPTH)?;
    Ok((Dialect::of(schema)?, nodes))
}

//! A published schema together with what enforces it: what is listed is what is enforced.

use serde_json::Value;

#[cfg(feature = "validate")]
use super::enforced::Whole;
use super::{Finding, Nulls, SchemaError, plain, simple};

/// The most schema nodes and the deepest nesting that are enforced: a bound against schema bombs.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// A published schema, ready to judge values.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    schema: Value,
    by: By,
}

/// What judges values.
#[derive(Debug)]
enum By {
    /// The schema itself: it is simple.
    Itself,
    /// The validator of whole schemas.
    #[cfg(feature = "validate")]
    Whole(Box<Whole>),
    /// The part of the schema that is simple, in builds without the feature `validate`. What else the schema says is
    /// left to the type that the handler reads.
    #[cfg(not(feature = "validate"))]
    Part(Value),
}

impl CompiledSchema {
    /// Compiles a schema of arguments: its root must describe an object.
    pub(crate) fn of_arguments(schema: Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError(
                "the root of the schema must say \"type\": \"object\"".to_owned(),
            ));
        }
        Self::compile(schema)
    }

    /// Compiles a schema of results, of any kind (since 2026-07-28; older clients only see schemas of objects).
    pub(crate) fn of_results(schema: Value) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError(
                "the output schema must be an object of keywords: {} allows everything".to_owned(),
            ));
        }
        Self::compile(schema)
    }

    fn compile(schema: Value) -> Result<Self, SchemaError> {
        let nodes = plain::bounded(&schema, MAX_NODES, MAX_DEPTH)?;
        let by = match simple::is_simple(&schema) {
            true => By::Itself,
            false => By::of(&schema, nodes)?,
        };
        Ok(Self { schema, by })
    }

    /// What is wrong with `instance`, at most [`simple::MAX_FINDINGS`] findings.
    pub(crate) fn check(&self, instance: &Value) -> Result<(), Vec<Finding>> {
        let schema = match &self.by {
            By::Itself => &self.schema,
            #[cfg(feature = "validate")]
            By::Whole(whole) => return whole.check(&self.schema, instance),
            #[cfg(not(feature = "validate"))]
            By::Part(part) => part,
        };
        match simple::fits(schema, instance) {
            true => Ok(()),
            false => Err(simple::findings(schema, instance, false)),
        }
    }

    /// [`check`](Self::check) for arguments. An explicit null for an optional member counts as left out: models send
    /// it, and the plain form has no way to allow it. `nulls` decides whether such nulls are kept or removed. Refused
    /// arguments are returned.
    pub(crate) fn accept(
        &self,
        mut instance: Value,
        nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        let schema = match &self.by {
            By::Itself => &self.schema,
            #[cfg(feature = "validate")]
            By::Whole(whole) => return whole.accept(&self.schema, instance, nulls),
            #[cfg(not(feature = "validate"))]
            By::Part(part) => part,
        };
        if simple::fits(schema, &instance) {
            return Ok(instance);
        }
        let findings = simple::findings(schema, &instance, true);
        if !findings.is_empty() {
            return Err((instance, findings));
        }
        if nulls == Nulls::TakeOut {
            simple::remove_nulls(schema, &mut instance);
        }
        Ok(instance)
    }

    /// Whether `instance` is known to match the whole schema.
    pub(crate) fn surely_fits(&self, instance: &Value) -> bool {
        match &self.by {
            #[cfg(not(feature = "validate"))]
            By::Part(_) => false,
            _ => self.check(instance).is_ok(),
        }
    }
}

impl By {
    #[cfg(feature = "validate")]
    fn of(schema: &Value, nodes: usize) -> Result<Self, SchemaError> {
        Ok(Self::Whole(Box::new(Whole::compile(schema, nodes)?)))
    }

    #[cfg(not(feature = "validate"))]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "it is called as the one that compiles"
    )]
    fn of(schema: &Value, _nodes: usize) -> Result<Self, SchemaError> {
        Ok(Self::Part(simple::part_of(schema)))
    }
}

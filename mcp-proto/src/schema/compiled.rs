//! A published schema together with what enforces it: what is listed is what is enforced.

use serde_json::Value;

use super::{Finding, Judged, Nulls, SchemaError, plain, simple};

/// The most schema nodes and the deepest nesting that are enforced: a bound against schema bombs.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// The most schema nodes of a schema that is judged by itself: each list in it is walked for each value.
pub(super) const MAX_SIMPLE: usize = 1_000;

/// A published schema, ready to judge values.
#[derive(Debug)]
pub struct CompiledSchema {
    schema: Value,
    by: By,
}

/// What judges values.
#[derive(Debug)]
enum By {
    /// The schema itself: it is simple.
    Itself,
    /// What was made of a schema that is not simple.
    Other(Box<Judged>),
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
    ///
    /// # Errors
    /// A schema that is not an object, does not compile, or is too large.
    pub fn of_results(schema: Value) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError(
                "the output schema must be an object of keywords: {} allows everything".to_owned(),
            ));
        }
        Self::compile(schema)
    }

    fn compile(schema: Value) -> Result<Self, SchemaError> {
        let nodes = plain::bounded(&schema, MAX_NODES, MAX_DEPTH)?;
        let by = match nodes <= MAX_SIMPLE && simple::is_simple(&schema) {
            true => By::Itself,
            false => By::Other(Box::new(Judged::compile(&schema, nodes)?)),
        };
        Ok(Self { schema, by })
    }

    /// Checks `instance`. Takes bounded work, but may take a while.
    ///
    /// # Errors
    /// What is wrong with it, a limited number of findings.
    pub fn check(&self, instance: &Value) -> Result<(), Vec<Finding>> {
        match &self.by {
            By::Itself => simple::check(&self.schema, instance),
            By::Other(judged) => judged.check(&self.schema, instance),
        }
    }

    /// [`check`](Self::check) for arguments. An explicit null for an optional member counts as left out: models send
    /// it, and the plain form has no way to allow it. `nulls` decides whether such nulls are kept or removed. Refused
    /// arguments are returned.
    pub(crate) fn accept(
        &self,
        instance: Value,
        nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        match &self.by {
            By::Itself => simple::accept(&self.schema, instance, nulls),
            By::Other(judged) => judged.accept(&self.schema, instance, nulls),
        }
    }

    /// Whether `instance` is known to match the whole schema.
    pub(crate) fn surely_fits(&self, instance: &Value) -> bool {
        match &self.by {
            By::Itself => simple::fits(&self.schema, instance),
            By::Other(judged) => judged.surely_fits(instance),
        }
    }
}

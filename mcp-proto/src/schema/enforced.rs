//! Enforces a schema: arguments and results are checked against the schema that clients see.

mod choice;
mod dialect;
mod explain;
mod references;
mod simple;
mod unique;

use std::sync::OnceLock;

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::mirror::{self, MirroredParam};
use super::walk::walk;
use super::{Finding, Nulls, SchemaError, Unfit, plain};
use crate::json;

/// The most schema nodes and the deepest nesting that are compiled: a bound against schema bombs.
const MAX_NODES: usize = 20_000;
const MAX_DEPTH: usize = 64;

/// The most nodes of a schema that is compiled only when it is first needed. One call waits some milliseconds for it.
const MAX_LATE: usize = 1_000;

/// The most values in an instance whose findings are reported one by one, and the most bytes of their paths together.
/// The validator collects every finding with its path before it returns one, so this bounds its work, not just its
/// answer.
const MAX_EXPLAINED: usize = 10_000;
const MAX_EXPLAINED_PATHS: usize = 1024 * 1024;
/// Each value may fail many keywords (required members, alternatives), so fewer values are explained for a large
/// schema: about this number divided by the nodes of the schema, but no fewer than [`MIN_EXPLAINED`].
const MAX_EXPLAINED_WORK: usize = 200_000;
const MIN_EXPLAINED: usize = 256;

/// A published schema together with its compiled form: what is listed is what is enforced.
#[derive(Debug)]
pub(crate) struct CompiledSchema {
    schema: Value,
    /// The schema has only keywords that [`simple`] handles, so most instances need no validator.
    is_simple: bool,
    /// A simple schema is compiled only when an instance is not certain to be valid. Compiling the first schema of a
    /// process takes longer than the rest of a small server's start, since the crate compiles the meta-schema, too.
    validator: OnceLock<Result<Validator, SchemaError>>,
    /// The schema has alternatives. If all of them fail, the findings of each are reported at once.
    has_choices: bool,
    /// The most values of an instance whose findings are reported one by one.
    max_explained: usize,
    /// How many times more often a part of an instance is checked than the value that contains it
    /// ([`references::check`]).
    again: usize,
}

/// Checks one value against a small schema, formats included.
pub(crate) fn check_once(schema: &Value, value: &Value) -> Result<(), Unfit> {
    let validator = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| Unfit::Schema(error.to_string()))?;
    validator
        .validate(value)
        .map_err(|error| Unfit::Value(error.masked_with("the value").to_string()))
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

    /// The parameters that clients mirror into headers.
    pub(crate) fn mirrored(&self) -> Result<Vec<MirroredParam>, SchemaError> {
        mirror::params_to_publish(&self.schema)
    }

    fn compile(schema: Value) -> Result<Self, SchemaError> {
        let nodes = plain::bounded(&schema, MAX_NODES, MAX_DEPTH)?;
        let dialect = dialect::of(&schema)?;
        let again = references::check(&schema)?;
        let is_simple = nodes <= MAX_LATE && simple::is_simple(&schema);
        let validator = match is_simple {
            true => OnceLock::new(),
            false => OnceLock::from(Ok(validator(&schema, dialect)?)),
        };
        let has_choices = has_choices(&schema);
        Ok(Self {
            schema,
            is_simple,
            validator,
            has_choices,
            max_explained: (MAX_EXPLAINED_WORK / nodes).clamp(MIN_EXPLAINED, MAX_EXPLAINED),
            again,
        })
    }

    /// What is wrong with `instance`, at most [`explain::MAX_FINDINGS`] findings.
    pub(crate) fn check(&self, instance: &Value) -> Result<(), Vec<Finding>> {
        if self.surely_fits(instance) {
            return Ok(());
        }
        let validator = self.validator()?;
        if validator.is_valid(instance) {
            return Ok(());
        }
        if !self.explains(instance) {
            return Err(vec![self.first_finding(validator, instance)]);
        }
        let errors: Vec<_> = validator.iter_errors(instance).collect();
        Err(explain::findings(&self.schema, &errors))
    }

    /// [`check`](Self::check) for arguments. An explicit null for an optional member counts as left out: models send
    /// it, and the plain form has no way to allow it. `nulls` decides whether such nulls are kept or removed. In an
    /// instance that is too large to be explained (a limit between 256 and 10,000 values), or nested too deep for a
    /// schema that refers back to itself in several alternatives, they are findings like others. Refused arguments are
    /// returned.
    pub(crate) fn accept(
        &self,
        instance: Value,
        nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        if self.surely_fits(&instance) {
            return Ok(instance);
        }
        let validator = match self.validator() {
            Ok(validator) => validator,
            Err(findings) => return Err((instance, findings)),
        };
        if validator.is_valid(&instance) {
            return Ok(instance);
        }
        if !self.explains(&instance) {
            let finding = self.first_finding(validator, &instance);
            return Err((instance, vec![finding]));
        }
        let errors: Vec<_> = validator.iter_errors(&instance).collect();
        let paths = explain::nulls(&self.schema, &errors);
        if paths.is_empty() {
            let findings = explain::findings(&self.schema, &errors);
            drop(errors);
            return Err((instance, findings));
        }
        drop(errors);
        let mut without = instance.clone();
        for path in paths {
            explain::remove(&mut without, &path);
        }
        if let Err(findings) = self.check(&without) {
            return Err((instance, findings));
        }
        Ok(match nulls {
            Nulls::Keep => instance,
            Nulls::TakeOut => without,
        })
    }

    fn surely_fits(&self, instance: &Value) -> bool {
        self.is_simple && simple::fits(&self.schema, instance)
    }

    /// The compiled form.
    ///
    /// # Errors
    /// If the schema does not compile, which was ruled out when it was added.
    fn validator(&self) -> Result<&Validator, Vec<Finding>> {
        let compiled = self
            .validator
            .get_or_init(|| validator(&self.schema, simple::DIALECT));
        compiled.as_ref().map_err(|error| {
            tracing::error!(%error, "a schema that was taken does not compile");
            vec![Finding::new("", &error.0)]
        })
    }

    /// The single finding for an instance that is too large for all of them. It names the first wrong place, unless
    /// even that could collect the findings of a whole instance.
    fn first_finding(&self, validator: &Validator, instance: &Value) -> Finding {
        if !references::is_quick(instance, self.again) {
            return explain::too_deep();
        }
        let first = if self.has_choices {
            None
        } else {
            validator.validate(instance).err()
        };
        explain::too_large(first.as_ref(), self.max_explained)
    }

    /// Whether finding all errors takes bounded work. Finding the first one always does: the validator then remembers
    /// the values it has checked, which it does not when it collects all errors.
    fn explains(&self, instance: &Value) -> bool {
        json::is_small(instance, self.max_explained, MAX_EXPLAINED_PATHS)
            && references::is_quick(instance, self.again)
    }
}

/// Compiles a schema, without the network or a file.
fn validator(schema: &Value, dialect: Draft) -> Result<Validator, SchemaError> {
    jsonschema::options()
        .with_draft(dialect)
        .offline()
        .with_keyword(unique::KEYWORD, |_, wanted, _| {
            Ok(Box::new(unique::UniqueItems::new(wanted)))
        })
        .build(schema)
        .map_err(|error| SchemaError(format!("the schema does not compile: {error}")))
}

/// Whether the schema contains alternatives anywhere.
fn has_choices(schema: &Value) -> bool {
    let found = walk(schema, |part, _| {
        match part.get("anyOf").or_else(|| part.get("oneOf")) {
            Some(_) => Err(()),
            None => Ok(()),
        }
    });
    found.is_err()
}

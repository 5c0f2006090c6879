//! Enforces a schema that is not simple: a validator checks values against the whole of it.

mod choice;
mod dialect;
mod explain;
mod references;
mod unique;

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::walk::walk;
use super::{Finding, Nulls, SchemaError, Unfit};
use crate::json;

/// The most values in an instance whose findings are reported one by one, and the most bytes of their paths together.
/// The validator collects every finding with its path before it returns one, so this bounds its work, not just its
/// answer.
const MAX_EXPLAINED: usize = 10_000;
const MAX_EXPLAINED_PATHS: usize = 1024 * 1024;
/// Each value may fail many keywords (required members, alternatives), so fewer values are explained for a large
/// schema: about this number divided by the nodes of the schema, but no fewer than [`MIN_EXPLAINED`].
const MAX_EXPLAINED_WORK: usize = 200_000;
const MIN_EXPLAINED: usize = 256;

/// The compiled form of a schema.
#[derive(Debug)]
pub(super) struct Judged {
    validator: Validator,
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

impl Judged {
    /// Compiles a schema of so many nodes.
    pub(super) fn compile(schema: &Value, nodes: usize) -> Result<Self, SchemaError> {
        let dialect = dialect::of(schema)?;
        let again = references::check(schema)?;
        Ok(Self {
            validator: validator(schema, dialect)?,
            has_choices: has_choices(schema),
            max_explained: (MAX_EXPLAINED_WORK / nodes).clamp(MIN_EXPLAINED, MAX_EXPLAINED),
            again,
        })
    }

    /// What is wrong with `instance`.
    pub(super) fn check(&self, schema: &Value, instance: &Value) -> Result<(), Vec<Finding>> {
        if self.validator.is_valid(instance) {
            return Ok(());
        }
        if !self.explains(instance) {
            return Err(vec![self.first_finding(instance)]);
        }
        let errors: Vec<_> = self.validator.iter_errors(instance).collect();
        Err(explain::findings(schema, &errors))
    }

    /// [`check`](Self::check) for arguments, with what `CompiledSchema::accept` says of nulls. In an instance that is
    /// too large to be explained (a limit between 256 and 10,000 values), or nested too deep for a schema that refers
    /// back to itself in several alternatives, they are findings like others.
    pub(super) fn accept(
        &self,
        schema: &Value,
        instance: Value,
        nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        if self.validator.is_valid(&instance) {
            return Ok(instance);
        }
        if !self.explains(&instance) {
            let finding = self.first_finding(&instance);
            return Err((instance, vec![finding]));
        }
        let errors: Vec<_> = self.validator.iter_errors(&instance).collect();
        let paths = explain::nulls(schema, &errors);
        if paths.is_empty() {
            let findings = explain::findings(schema, &errors);
            drop(errors);
            return Err((instance, findings));
        }
        drop(errors);
        let mut without = instance.clone();
        for path in paths {
            explain::remove(&mut without, &path);
        }
        if let Err(findings) = self.check(schema, &without) {
            return Err((instance, findings));
        }
        Ok(match nulls {
            Nulls::Keep => instance,
            Nulls::TakeOut => without,
        })
    }

    pub(super) fn surely_fits(&self, instance: &Value) -> bool {
        self.validator.is_valid(instance)
    }

    /// The single finding for an instance that is too large for all of them. It names the first wrong place, unless
    /// even that could collect the findings of a whole instance.
    fn first_finding(&self, instance: &Value) -> Finding {
        if !references::is_quick(instance, self.again) {
            return explain::too_deep();
        }
        let first = if self.has_choices { None } else { self.validator.validate(instance).err() };
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
    let found = walk(schema, |part, _| match part.get("anyOf").or_else(|| part.get("oneOf")) {
        Some(_) => Err(()),
        None => Ok(()),
    });
    found.is_err()
}

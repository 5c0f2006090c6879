//! Judges values by the whole of a compiled schema, whatever it says.

mod explain;
mod references;
mod unique;

use jsonschema::{Draft, Validator};
use serde_json::Value;

use super::dialect::Dialect;
use super::walk::walk;
use super::{Finding, SchemaError};
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

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Whole {
    validator: Validator,
    /// The schema has alternatives. If all of them fail, the findings of each are reported at once.
    has_choices: bool,
    /// The most values of an instance whose findings are reported one by one.
    max_explained: usize,
    /// How many times more often a part of an instance is checked than the value that contains it
    /// ([`references::check`]).
    again: usize,
}

impl Whole {
    /// Compiles a schema of so many nodes, without the network or a file. Formats are enforced if `formats` says so,
    /// or else as is usual in the dialect.
    pub(super) fn compile(
        schema: &Value,
        dialect: Dialect,
        nodes: usize,
        formats: bool,
    ) -> Result<Self, SchemaError> {
        let again = references::check(schema)?;
        let draft = match dialect {
            Dialect::Of2020 => Draft::Draft202012,
            Dialect::Draft07 => Draft::Draft7,
        };
        let mut options = jsonschema::options().with_draft(draft).offline().with_keyword(
            unique::KEYWORD,
            |_, wanted, _| {
                Ok(Box::new(unique::UniqueItems { is_wanted: *wanted == Value::Bool(true) }))
            },
        );
        if formats {
            options = options.should_validate_formats(true);
        }
        let validator = options
            .build(schema)
            .map_err(|error| SchemaError(format!("the schema does not compile: {error}")))?;
        Ok(Self {
            validator,
            has_choices: has_choices(schema),
            max_explained: (MAX_EXPLAINED_WORK / nodes).clamp(MIN_EXPLAINED, MAX_EXPLAINED),
            again,
        })
    }

    /// Whether a value fits.
    pub(super) fn fits(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// What is wrong with a value.
    pub(super) fn check(&self, schema: &Value, value: &Value) -> Result<(), Vec<Finding>> {
        if self.fits(value) {
            return Ok(());
        }
        if !self.explains(value) {
            return Err(vec![self.first_finding(value)]);
        }
        let errors: Vec<_> = self.validator.iter_errors(value).collect();
        Err(explain::findings(schema, &errors))
    }

    /// The single finding for a value that is too large for all of them. It names the first wrong place, unless even
    /// that could collect the findings of a whole value.
    fn first_finding(&self, value: &Value) -> Finding {
        if !references::is_quick(value, self.again) {
            return explain::too_deep();
        }
        let first = if self.has_choices { None } else { self.validator.validate(value).err() };
        explain::too_large(first.as_ref(), self.max_explained)
    }

    /// Whether finding all errors takes bounded work. Finding the first one always does: the validator then remembers
    /// the values it has checked, which it does not when it collects all errors.
    fn explains(&self, value: &Value) -> bool {
        json::is_small(value, self.max_explained, MAX_EXPLAINED_PATHS)
            && references::is_quick(value, self.again)
    }
}

/// Whether the schema contains alternatives anywhere.
fn has_choices(schema: &Value) -> bool {
    let found = walk(schema, |part, _| match part.get("anyOf").or_else(|| part.get("oneOf")) {
        Some(_) => Err(()),
        None => Ok(()),
    });
    found.is_err()
}

//! Enforces the simple part of a schema that is not simple, in builds without the feature `validate`. What else it says
//! is left to the type that the handler reads.

use serde_json::{Map, Value};

use super::compiled::MAX_SIMPLE;
use super::{Finding, Nulls, SchemaError, Unfit, finding, simple};

/// The simple part of a schema.
#[derive(Debug)]
pub(super) struct Judged(Value);

/// Checks one value against the simple part of a small schema. The error does not repeat the value, which a person may
/// have typed.
pub(crate) fn check_once(schema: &Value, value: &Value) -> Result<(), Unfit> {
    let found = simple::check(&simple::part_of(schema), value);
    found.map_err(|found| {
        let rest = found.first().and_then(|finding| {
            let shown = finding::shown(value.pointer(&finding.path)?);
            finding.message.strip_prefix(&shown)
        });
        Unfit::Value(format!("the value{}", rest.unwrap_or(" does not fit")))
    })
}

impl Judged {
    /// Of a schema with too many nodes to be judged by itself nothing is enforced.
    pub(super) fn compile(schema: &Value, nodes: usize) -> Result<Self, SchemaError> {
        Ok(Self(match nodes <= MAX_SIMPLE {
            true => simple::part_of(schema),
            false => Value::Object(Map::new()),
        }))
    }

    pub(super) fn check(&self, _schema: &Value, instance: &Value) -> Result<(), Vec<Finding>> {
        simple::check(&self.0, instance)
    }

    pub(super) fn accept(
        &self,
        _schema: &Value,
        instance: Value,
        nulls: Nulls,
    ) -> Result<Value, (Value, Vec<Finding>)> {
        simple::accept(&self.0, instance, nulls)
    }

    /// Never: the rest of the schema is not known.
    #[expect(clippy::unused_self, reason = "it is called as the one that enforces")]
    pub(super) fn surely_fits(&self, _instance: &Value) -> bool {
        false
    }
}

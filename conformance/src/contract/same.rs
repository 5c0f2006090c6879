//! Whether two schemas take the same values.

use std::collections::BTreeSet;
use std::ptr;

use serde_json::{Map, Value};

use super::values::varies;
use crate::schema::local::resolve;

/// How deep a schema is looked into.
pub(super) const MAX_DEPTH: usize = 24;

/// The members of a schema that say nothing about which values it takes.
const SILENT: [&str; 12] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "definitions",
    "deprecated",
    "description",
    "discriminator",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// The members of a schema that say which values it takes.
pub(super) fn telling(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.iter().filter(|(name, _)| !SILENT.contains(&name.as_str()))
}

/// Whether a keyword has the same meaning in the schemas of two roots; without one, whether two schemas have.
/// References are followed, and texts do not count.
pub(super) fn is_same<'a>(
    roots: [&'a Value; 2],
    keyword: &str,
    old: &'a Value,
    new: &'a Value,
) -> bool {
    Comparison { roots, met: BTreeSet::new() }.keyword(keyword, old, new, 0)
}

struct Comparison<'a> {
    roots: [&'a Value; 2],
    /// The pairs that were compared, or are being compared: a definition may refer to itself.
    met: BTreeSet<[*const Value; 2]>,
}

impl<'a> Comparison<'a> {
    fn keyword(&mut self, name: &str, old: &'a Value, new: &'a Value, depth: usize) -> bool {
        match (name, old, new) {
            ("default" | "const" | "enum", ..) => old == new,
            ("required", Value::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().all(|it| other.contains(it))
            }
            // The names in these are not keywords.
            (
                "properties" | "patternProperties" | "dependencies" | "dependentRequired"
                | "dependentSchemas",
                Value::Object(one),
                Value::Object(other),
            ) => {
                let mut inner = one.iter().map(|(name, it)| (it, other.get(name)));
                one.len() == other.len()
                    && inner.all(|(it, now)| now.is_some_and(|now| self.schema(it, now, depth)))
            }
            (_, Value::Array(one), Value::Array(other)) => {
                let mut both = one.iter().zip(other);
                one.len() == other.len() && both.all(|(it, now)| self.schema(it, now, depth))
            }
            _ => self.schema(old, new, depth),
        }
    }

    fn schema(&mut self, old: &'a Value, new: &'a Value, depth: usize) -> bool {
        let (old, new) = (resolve(self.roots[0], old), resolve(self.roots[1], new));
        let (Value::Object(one), Value::Object(other)) = (old, new) else {
            return old == new;
        };
        if varies(old) || varies(new) {
            return true;
        }
        // A pair that differs ends the whole comparison.
        if depth > MAX_DEPTH || !self.met.insert([ptr::from_ref(old), ptr::from_ref(new)]) {
            return true;
        }
        let mut keywords = telling(one).map(|(name, it)| (name, it, other.get(name)));
        telling(one).count() == telling(other).count()
            && keywords.all(|(name, it, now)| {
                now.is_some_and(|now| self.keyword(name, it, now, depth + 1))
            })
    }
}

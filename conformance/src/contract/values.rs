//! Values as they are shown, and what is left of a schema without its texts.

use serde_json::{Map, Value};

use crate::schema::local::resolve;
use crate::shorten::shorten;

/// The member that marks a value which a transcript does not expect exactly.
pub(super) const VARIES: &str = "$varies";
/// How much of a value is shown, in characters.
const SHOWN: usize = 60;
/// How deep a schema is looked into.
pub(super) const MAX_DEPTH: usize = 24;

/// The members of a schema that say nothing about which values it takes.
pub(super) const TEXTS: [&str; 7] =
    ["title", "description", "examples", "$comment", "deprecated", "readOnly", "writeOnly"];

/// Whether a transcript leaves this open.
pub(super) fn varies(value: &Value) -> bool {
    value.get(VARIES).is_some()
}

/// A value in few characters.
pub(super) fn shown(value: &Value) -> String {
    shorten(&value.to_string(), SHOWN)
}

/// Several values in few words.
pub(super) fn listed(values: &[&Value]) -> String {
    let most = 6;
    let shown: Vec<_> = values.iter().take(most).map(|it| shown(it)).collect();
    let more = match values.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// A schema without texts and with its references put in, for a comparison of what it takes.
pub(super) fn bare(root: &Value, schema: &Value, depth: usize) -> Value {
    let schema = resolve(root, schema);
    let Value::Object(members) = schema else {
        return schema.clone();
    };
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let mut kept = Map::new();
    for (name, value) in members {
        let is_text = TEXTS.contains(&name.as_str());
        if is_text || matches!(name.as_str(), "$schema" | "$id" | "$defs" | "definitions") {
            continue;
        }
        let value = match (name.as_str(), value) {
            // The names in these are not keywords.
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(inner)) => {
                let inner = inner.iter();
                let inner = inner.map(|(name, it)| (name.clone(), bare(root, it, depth + 1)));
                Value::Object(inner.collect())
            }
            ("default" | "const" | "enum", _) => value.clone(),
            ("required", Value::Array(names)) => {
                let mut names = names.clone();
                names.sort_by_key(ToString::to_string);
                names.into()
            }
            (_, Value::Object(_)) => bare(root, value, depth + 1),
            (_, Value::Array(items)) => items
                .iter()
                .map(|it| if it.is_object() { bare(root, it, depth + 1) } else { it.clone() })
                .collect(),
            _ => value.clone(),
        };
        kept.insert(name.clone(), value);
    }
    Value::Object(kept)
}

//! The alternatives of a schema.

use serde_json::Value;

use super::super::same::telling;
use super::types::alternatives;
use crate::schema::local::resolve;

/// The forms that a schema takes besides null; the schema itself if it has no alternatives, or if something stands
/// beside them that holds for all.
pub(super) fn forms<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let members = schema.as_object().into_iter().flat_map(telling);
    let telling = members.filter(|(name, _)| !matches!(name.as_str(), "type" | "default"));
    let Some(listed) = alternatives(schema).filter(|_| telling.count() == 1) else {
        return vec![schema];
    };
    let is_null = |form: &Value| form.get("type").is_some_and(|kind| kind == "null");
    let forms = listed.iter().map(|form| resolve(root, form));
    forms.filter(|form| !is_null(form)).collect()
}

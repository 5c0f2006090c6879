//! The alternatives of a schema.

use serde_json::Value;

use super::types::alternatives;
use crate::schema::local::resolve;

/// The forms that a schema takes besides null, each without alternatives at its root; itself if it has none.
pub(super) fn forms<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(root, schema);
    let Some(listed) = alternatives(schema) else {
        return vec![schema];
    };
    let is_null = |form: &Value| form.get("type").is_some_and(|kind| kind == "null");
    let forms = listed.iter().map(|form| resolve(root, form));
    forms.filter(|form| !is_null(form)).collect()
}

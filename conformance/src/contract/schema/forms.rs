//! The alternatives of a schema.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::same::telling;
use super::types::{alternatives, of_value, types, values};
use crate::schema::local::resolve;

/// The forms that a schema takes besides null; the schema itself if it has no alternatives, or if something stands
/// beside them that holds for all. Values that another form takes anyway are only suggestions.
pub(super) fn forms<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let members = schema.as_object().into_iter().flat_map(telling);
    let kinds = members.filter(|(name, _)| !matches!(name.as_str(), "type" | "default"));
    let Some(listed) = alternatives(schema).filter(|_| kinds.count() == 1) else {
        return vec![schema];
    };
    let is_null = |form: &Value| form.get("type").is_some_and(|kind| kind == "null");
    let forms = listed.iter().map(|form| resolve(root, form));
    let forms: Vec<_> = forms.filter(|form| !is_null(form)).collect();
    let is_bare = |form: &Value| {
        form.as_object().is_some_and(|form| telling(form).all(|(name, _)| name == "type"))
    };
    let bare = forms.iter().copied().filter(|form| is_bare(form));
    let taken: BTreeSet<_> = bare.flat_map(|form| types(root, form, 0)).collect();
    let is_suggested = |form: &Value| {
        values(root, form).is_some_and(|it| it.into_iter().all(|it| taken.contains(of_value(it))))
    };
    forms.into_iter().filter(|form| !is_suggested(form)).collect()
}

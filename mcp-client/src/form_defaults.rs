//! Defaults of forms, for the fields that an answer omits.

use mcp_proto::input::ElicitAction;
use serde_json::{Map, Value, json};

/// Fills the omitted fields of an accepted form with the defaults of its schema.
pub(super) fn fill_defaults(question: &Map<String, Value>, answer: &mut Value) {
    let accepted = json!(ElicitAction::Accept);
    if answer.get("action") != Some(&accepted) {
        return;
    }
    let schema = question.get("requestedSchema");
    let fields = schema.and_then(|schema| schema.get("properties")?.as_object());
    let Some(answer) = answer.as_object_mut() else {
        return;
    };
    let content = answer.entry("content").or_insert_with(|| json!({}));
    let Some(content) = content.as_object_mut() else {
        return;
    };
    for (name, field) in fields.into_iter().flatten() {
        if let Some(default) = field.get("default") {
            content.entry(name).or_insert_with(|| default.clone());
        }
    }
}

//! What a tool says of its behaviour, by which clients decide whether to ask a person first.

use serde_json::Value;

use super::change::Impact;

/// The changes in the hints of a tool.
pub(super) fn compare(old: &Value, new: &Value) -> Vec<(String, Impact)> {
    let hint = |tool: &Value, name: &str, otherwise: bool| {
        let hint = tool.get("annotations").and_then(|it| it.get(name));
        hint.and_then(Value::as_bool).unwrap_or(otherwise)
    };
    let mut changes = Vec::new();
    let mut add = |what: &str, impact| changes.push((what.to_owned(), impact));
    let reads = |tool: &Value| hint(tool, "readOnlyHint", false);
    match (reads(old), reads(new)) {
        (true, false) => add("is no longer marked as read-only", Impact::Breaking),
        (false, true) => add("is marked as read-only", Impact::Compatible),
        _ => {}
    }
    if !reads(old) && !reads(new) {
        let destroys = |tool: &Value| hint(tool, "destructiveHint", true);
        match (destroys(old), destroys(new)) {
            (false, true) => add("is no longer marked as not destructive", Impact::Breaking),
            (true, false) => add("is marked as not destructive", Impact::Compatible),
            _ => {}
        }
        let repeats = |tool: &Value| hint(tool, "idempotentHint", false);
        match (repeats(old), repeats(new)) {
            (true, false) => add("is no longer marked as idempotent", Impact::Breaking),
            (false, true) => add("is marked as idempotent", Impact::Compatible),
            _ => {}
        }
    }
    let opens = |tool: &Value| hint(tool, "openWorldHint", true);
    match (opens(old), opens(new)) {
        (true, false) => add("is marked as working in a closed domain", Impact::Compatible),
        (false, true) => {
            add("is no longer marked as working in a closed domain", Impact::Compatible)
        }
        _ => {}
    }
    changes.extend(tasks(old, new));
    changes
}

/// Whether calls may, must or cannot become tasks.
fn tasks(old: &Value, new: &Value) -> Option<(String, Impact)> {
    let support = |tool: &Value| {
        let support = tool.pointer("/execution/taskSupport").and_then(Value::as_str);
        support.unwrap_or("forbidden").to_owned()
    };
    let (before, after) = (support(old), support(new));
    let impact = match (before.as_str(), after.as_str()) {
        (before, after) if before == after => return None,
        (_, "optional") => Impact::Compatible,
        _ => Impact::Breaking,
    };
    Some((format!("its taskSupport is {after} instead of {before}"), impact))
}

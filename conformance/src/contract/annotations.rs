//! What a tool says of its behaviour, by which clients decide whether to ask a person first.

use serde_json::Value;

use super::change::{Found, Impact};

/// The hints: the value of each if it is absent, and what a tool with the other value is marked as.
const HINTS: [(&str, bool, &str); 4] = [
    ("readOnlyHint", false, "read-only"),
    ("destructiveHint", true, "not destructive"),
    ("idempotentHint", false, "idempotent"),
    ("openWorldHint", true, "working in a closed domain"),
];

/// Adds the changes in the hints of a tool.
pub(super) fn compare(old: &Value, new: &Value, found: &mut Found) {
    let is_marked = |tool: &Value, name: &str, otherwise: bool| {
        let hint = tool.get("annotations").and_then(|it| it.get(name)?.as_bool());
        hint.is_some_and(|it| it != otherwise)
    };
    let reads = [old, new].into_iter().any(|tool| is_marked(tool, "readOnlyHint", false));
    for (name, otherwise, marked) in HINTS {
        // These say nothing of a tool that only reads.
        if reads && matches!(name, "destructiveHint" | "idempotentHint") {
            continue;
        }
        match [old, new].map(|tool| is_marked(tool, name, otherwise)) {
            [true, false] => {
                let asks = name != "openWorldHint";
                let impact = if asks { Impact::Breaking } else { Impact::Compatible };
                found.push(format!("is no longer marked as {marked}"), impact);
            }
            [false, true] => found.push(format!("is marked as {marked}"), Impact::Compatible),
            _ => {}
        }
    }
    // Whether calls may, must or cannot become tasks.
    let [before, after] = [old, new].map(|tool| {
        let support = tool.pointer("/execution/taskSupport").and_then(Value::as_str);
        support.unwrap_or("forbidden")
    });
    if before != after {
        let impact = if after == "optional" { Impact::Compatible } else { Impact::Breaking };
        found.push(format!("its taskSupport is {after} instead of {before}"), impact);
    }
}

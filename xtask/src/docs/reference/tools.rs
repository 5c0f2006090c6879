//! The tools of a server as a section of a page.

use serde_json::Value;

use super::{rest, text};
use xtask::Result;

/// The annotations of a tool and their descriptions, in display order.
const HINTS: [(&str, &str); 3] = [
    ("readOnlyHint", "only reads"),
    ("destructiveHint", "may destroy"),
    ("idempotentHint", "may be repeated"),
];

/// The section of a server.
///
/// # Errors
/// When the answer has no tools.
pub(super) fn section(program: &str, listed: &Value) -> Result<String> {
    let tools = listed.get("tools").and_then(Value::as_array);
    let tools = tools.ok_or_else(|| format!("{program} has no tools"))?;
    let mut section = format!("\n## {program}\n");
    for tool in tools {
        section.push_str(&format!(
            "\n### `{}`\n\n{}\n",
            text(tool, "name"),
            text(tool, "description")
        ));
        let annotations = tool.get("annotations").unwrap_or(&Value::Null);
        let hints: Vec<&str> = HINTS
            .iter()
            .filter(|(name, _)| annotations.get(name) == Some(&Value::Bool(true)))
            .map(|(_, said)| *said)
            .collect();
        if !hints.is_empty() {
            section.push_str(&format!("\nIt {}.\n", hints.join(", ")));
        }
        if let Some(schema) = tool.get("inputSchema") {
            section.push_str(&rest::members(schema, &[]));
        }
    }
    Ok(section)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_told_with_its_hints_and_arguments() {
        let listed = json!({"tools": [{
            "name": "find",
            "description": "Finds.",
            "annotations": {"readOnlyHint": true, "destructiveHint": false},
            "inputSchema": {"required": ["name"], "properties": {"name": {"type": "string", "description": "Whose."}}},
        }]});
        let section = section("a-server", &listed).expect("a section");
        for part in
            ["## a-server", "### `find`", "It only reads.", "| `name`\\* | string | Whose. |"]
        {
            assert!(section.contains(part), "{part} in {section}");
        }
        assert!(super::section("a", &json!({})).is_err());
    }
}

//! The reference pages, generated from the output of the programs.

mod ask;
mod help;
mod rest;
mod tools;

use std::collections::BTreeMap;

use serde_json::Value;

use xtask::Result;
use xtask::process::Server;
use xtask::programs::judged;
use xtask::servers::Shown;

/// The servers, with the arguments for MCP beyond those of [`Shown`].
const SERVERS: [(&str, &[&str]); 4] = [
    ("universe-server", &["--extra-tools"]),
    ("spec-server", &[]),
    ("chat-server", &[]),
    ("starmap-server", &[]),
];

/// The programs whose help is shown.
const PROGRAMS: [&str; 5] =
    ["universe-server", "spec-server", "chat-server", "starmap-server", "mcp-conformance"];

/// The first lines of every generated page.
fn heading(title: &str, introduction: &str) -> String {
    format!("# {title}\n\n<!-- Written by `cargo xtask docs write`. -->\n\n{introduction}\n")
}

/// All pages, by path in the repository. The judged programs must already be built.
///
/// # Errors
/// When a program does not start, or its output cannot be made into a page.
pub(super) fn pages() -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let mut add = |name: &str, text: String| {
        pages.insert(format!("docs/src/reference/{name}.md"), text);
    };
    let mut tools_page = heading(
        "Tools",
        "What each server offers to models by `tools/list`. Arguments that are required have a star.",
    );
    for (program, more) in SERVERS {
        let shown = Shown::first(program)?;
        let mut words = shown.on_http();
        words.extend(more.iter().map(Into::into));
        let server = Server::start(&shown.binary(), &words)?;
        let listed = ask::mcp(server.url(), "tools/list")?;
        tools_page.push_str(&tools::section(program, &listed)?);
        if program == "universe-server" {
            let base = server.url().trim_end_matches("/mcp");
            let api: Value = serde_json::from_str(&ask::get(&format!("{base}/openapi.json"))?)?;
            add("rest", rest::paths(&api)?);
            add("commands", rest::commands(&api)?);
            // The metrics of commands exist only after the first command.
            ask::post(&format!("{base}/universes/sol/commands"), "{\"type\":\"tick\",\"dt\":1}")?;
            add("metrics", rest::figures(&ask::get(&format!("{base}/metrics"))?));
        }
        server.stop()?;
    }
    add("tools", tools_page);
    for program in PROGRAMS {
        add(program, help::page(program, &judged(program))?);
    }
    Ok(pages)
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The string under `name`; empty if it does not exist.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A short description of the values that a JSON Schema allows.
fn kind(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<String> = choices.iter().map(|it| format!("`{}`", plain(it))).collect();
        return choices.join(", ");
    }
    if let Some(only) = schema.get("const") {
        return format!("`{}`", plain(only));
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(ways) = schema.get("anyOf").and_then(Value::as_array) {
        let mut ways: Vec<String> = ways.iter().map(kind).collect();
        ways.dedup();
        return ways.join(" or ");
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            let items = schema.get("items").map(kind_of_items).unwrap_or_default();
            format!("array{items}")
        }
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<String> = kinds.iter().map(plain).collect();
            kinds.join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn kind_of_items(items: &Value) -> String {
    match kind(items).as_str() {
        "any" => String::new(),
        kind => format!(" of {kind}"),
    }
}

/// A value without the quotes of a string.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_told_in_a_few_words() {
        for (schema, told) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["string", "null"]}), "string or null"),
            (json!({"enum": ["a", 1]}), "`a`, `1`"),
            (json!({"type": "array", "items": {"type": "number"}}), "array of number"),
            (json!({"type": "array"}), "array"),
            (json!({"$ref": "#/components/schemas/State"}), "State"),
            (json!({}), "any"),
        ] {
            assert_eq!(kind(&schema), told);
        }
    }

    #[test]
    fn a_cell_does_not_end_its_table() {
        assert_eq!(cell("a|b\nc"), "a\\|b c");
    }
}

//! Every tool as a command: `starmap-server nearest origin=Jita among=trade_hubs`.

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Map, Value, json};
use service_host::{block_on, table};

use crate::mcp::did_you_mean;

use super::{Failure, PROGRAM, Sources, print, report};

/// The tools, for the help of the program.
pub(super) const HELP: &str = "Tools: route, systems, search, nearest, borders, chokepoints, jump_range, distances, analyze, \
    loop, optimize_waypoints; with --activity also activity, hotspots, gatecamp_risk, fw_frontlines, \
    activity_cache_status.\n\
    Their arguments are NAME=VALUE, lists with commas between: distances systems=Jita,Amarr. Those that a tool needs \
    may stand without their names: route Jita Amarr mode=safe";

/// A tool, called here.
#[derive(Debug, Parser)]
struct ToolArgs {
    /// An argument of the tool; a list has commas between its entries. Without NAME= it is the next one needed.
    #[arg(value_name = "NAME=VALUE")]
    arguments: Vec<String>,
    #[command(flatten)]
    sources: Sources,
    /// Prints the answer as JSON.
    #[arg(long)]
    json: bool,
}

/// Calls the tool named by the first word, with the other words as its arguments.
pub(super) fn run(words: &[String]) -> ExitCode {
    let parsed = ToolArgs::command()
        .bin_name(words.first().map_or(PROGRAM, String::as_str))
        .try_get_matches_from(words)
        .and_then(|matches| ToolArgs::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let tool = words.first().cloned().unwrap_or_default();
    block_on(PROGRAM, async { call(&tool, &arguments).await })
}

async fn call(tool: &str, arguments: &ToolArgs) -> Result<ExitCode, Failure> {
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let server = arguments.sources.server().map_err(|it| other(&it))?;
    server.load_graph()?;
    server.load_activity()?;
    server.load_connections()?;
    let config = ClientConfig::new(Era::Modern);
    let client = Client::memory(server.server().clone(), config).await.map_err(|it| other(&it))?;
    let tools = client.list_tools().await.map_err(|it| other(&it))?;
    let Some(known) = tools.into_iter().find(|it| it.name == tool) else {
        // This is reported like any other wrong command line.
        report(PROGRAM, &format!("{tool} is not a tool or a command\n{HELP}"));
        return Ok(ExitCode::from(2));
    };
    let given = match given(&arguments.arguments, &json!(known.input_schema)) {
        Ok(given) => given,
        Err(wrong) => {
            report(PROGRAM, &wrong);
            return Ok(ExitCode::from(2));
        }
    };
    let result = client.call_tool_raw(tool, Value::Object(given)).await.map_err(|it| other(&it))?;
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    let answer: Value = serde_json::from_str(text.unwrap_or_default()).map_err(|it| other(&it))?;
    if let Some(error) = answer.get("error") {
        let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
        let near = error.pointer("/data/suggestions").and_then(Value::as_array);
        let near = near.into_iter().flatten().filter_map(Value::as_str);
        let near: Vec<String> = near.map(str::to_owned).collect();
        return Err(Failure::Other(format!("{message}{}", did_you_mean(&near))));
    }
    print(&if arguments.json { format!("{answer:#}") } else { shown(&answer) })?;
    Ok(ExitCode::SUCCESS)
}

/// The arguments of a tool, with the types that its schema has.
fn given(words: &[String], schema: &Value) -> Result<Map<String, Value>, String> {
    let members = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut needed = members("required").filter_map(Value::as_str);
    let mut given = Map::new();
    for word in words {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => match needed.find(|it| !given.contains_key(*it)) {
                Some(name) => (name, word.as_str()),
                None => return Err(format!("{word:?} is not NAME=VALUE, such as origin=Jita")),
            },
        };
        let kind = schema.pointer(&format!("/properties/{name}/type"));
        given.insert(name.to_owned(), value_of(value, kind.unwrap_or(&Value::Null)));
    }
    if let Some(lacks) = needed.find(|it| !given.contains_key(*it)) {
        return Err(format!("the tool needs {lacks}=VALUE"));
    }
    Ok(given)
}

/// A text as the schema wants it: as a list if it may be one and has commas or brackets, as a name if it may be text,
/// else as JSON.
fn value_of(text: &str, kind: &Value) -> Value {
    let may_be = |name: &str| match kind {
        Value::Array(kinds) => kinds.iter().any(|it| it == name),
        kind => kind == name,
    };
    let json = || serde_json::from_str(text).ok();
    let name = || Some(Value::from(text));
    if may_be("array") && text.starts_with('[') {
        return json().or_else(name).unwrap_or_default();
    }
    if may_be("array") && text.contains(',') {
        return text.split(',').map(|it| Value::from(it.trim())).collect();
    }
    let as_text = if may_be("string") { name() } else { json().or_else(name) };
    as_text.unwrap_or_default()
}

/// An answer for people: one line for each member, and a table of the systems with their kills.
pub(super) fn shown(answer: &Value) -> String {
    let mut text = String::new();
    let members = answer.as_object().into_iter().flatten();
    for (name, value) in members.filter(|(name, _)| *name != "columns") {
        match (name.as_str(), value) {
            ("systems" | "borders" | "hotspots" | "risks", Value::Array(rows))
                if answer.get("columns").is_some() =>
            {
                text.push_str(&format!("\n{}\n\n", rows_of(answer, rows)));
            }
            ("warnings", Value::Array(warnings)) => {
                for warning in warnings.iter().filter_map(Value::as_str) {
                    text.push_str(&format!("! {warning}\n"));
                }
            }
            (_, value) => text.push_str(&format!("{name}: {}\n", cell(value))),
        }
    }
    text
}

fn rows_of(answer: &Value, rows: &[Value]) -> String {
    let columns = answer.get("columns").and_then(Value::as_array);
    let head: Vec<&str> = columns.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut region = String::new();
    for row in rows {
        let mut cells: Vec<String> = row.as_array().into_iter().flatten().map(cell).collect();
        if cells.len() == head.len() {
            region = cells.last().cloned().unwrap_or_default()
        } else {
            cells.push(region.clone())
        }
        lines.push(cells);
    }
    table(&head, &lines)
}

/// A text without its quotes, a list separated by commas, anything else as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(|it| !it.is_array()) => {
            list.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

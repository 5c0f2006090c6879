//! The pages generated from the OpenAPI document and from the metrics: paths, commands, metrics.

use serde_json::Value;

use super::{cell, heading, kind, text};
use xtask::Result;

const VERBS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The page of the paths.
///
/// # Errors
/// When the document has no paths.
pub(super) fn paths(api: &Value) -> Result<String> {
    let otherwise = api.pointer("/components/responses/Otherwise");
    let otherwise = otherwise.map_or("", |it| text(it, "description"));
    let mut page = heading(
        "REST",
        &format!(
            "The same as [OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.0) is at `/openapi.json` of every server. Bodies are JSON unless said otherwise.\n\n\
             Besides the answers below, every operation may give: {otherwise}"
        ),
    );
    let paths = api.get("paths").and_then(Value::as_object).ok_or("no paths")?;
    for (path, item) in paths {
        page.push_str(&format!("\n## `{path}`\n"));
        let shared = parameters(api, item);
        for verb in VERBS {
            let Some(operation) = item.get(verb) else {
                continue;
            };
            page.push_str(&format!(
                "\n**{}** {}\n",
                verb.to_uppercase(),
                text(operation, "summary")
            ));
            let mut rows = shared.clone();
            rows.extend(parameters(api, operation));
            if !rows.is_empty() {
                page.push_str("\n| parameter | in | values | meaning |\n|---|---|---|---|\n");
                rows.iter().for_each(|row| page.push_str(row));
            }
            if let Some(body) = operation.pointer("/requestBody/content") {
                page.push_str(&format!("\nBody: {}.\n", contents(body)));
            }
            page.push_str(&format!("\nAnswers: {}.\n", answers(api, operation)));
        }
    }
    Ok(page)
}

/// The target of a `$ref`, or the value itself.
fn resolved<'v>(api: &'v Value, value: &'v Value) -> &'v Value {
    let target = value.get("$ref").and_then(Value::as_str);
    target.and_then(|target| api.pointer(target.strip_prefix('#')?)).unwrap_or(value)
}

fn parameters(api: &Value, of: &Value) -> Vec<String> {
    let listed = of.get("parameters").and_then(Value::as_array);
    let rows = listed.into_iter().flatten().map(|parameter| {
        let parameter = resolved(api, parameter);
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        let default = schema.get("default").map(|it| format!(", default `{}`", super::plain(it)));
        format!(
            "| `{}` | {} | {}{} | {} |\n",
            text(parameter, "name"),
            text(parameter, "in"),
            cell(&kind(schema)),
            default.unwrap_or_default(),
            cell(text(parameter, "description"))
        )
    });
    rows.collect()
}

/// Media types, each with the name of its schema.
fn contents(content: &Value) -> String {
    let kinds = content.as_object().into_iter().flatten().map(|(media, it)| {
        match it.get("schema").map(kind).as_deref() {
            None | Some("any" | "string" | "object") => format!("`{media}`"),
            Some(schema) => format!("`{media}` ({schema})"),
        }
    });
    kinds.collect::<Vec<_>>().join(", ")
}

fn answers(api: &Value, operation: &Value) -> String {
    let listed = operation.get("responses").and_then(Value::as_object);
    let listed = listed.into_iter().flatten();
    let said = listed.filter(|(status, _)| *status != "default").map(|(status, answer)| {
        let answer = resolved(api, answer);
        let what = text(answer, "description").trim_end_matches('.');
        format!("{status}: {what}")
    });
    said.collect::<Vec<_>>().join("; ")
}

/// The page of the commands.
///
/// # Errors
/// When the document has no commands.
pub(super) fn commands(api: &Value) -> Result<String> {
    let listed = api.pointer("/components/schemas/Command/oneOf");
    let listed = listed.and_then(Value::as_array).ok_or("no commands")?;
    let mut page = heading(
        "Commands",
        &format!(
            "A universe changes by one of {} commands, over REST (`POST /universes/{{id}}/commands`) and over MCP (`send_universe_command`). \
             Members that are required have a star.",
            listed.len()
        ),
    );
    for command in listed {
        let command = resolved(api, command);
        let name = command.pointer("/properties/type/const").map(super::plain);
        let name = name.ok_or("a command without a name")?;
        page.push_str(&format!("\n## `{name}`\n\n{}\n", text(command, "description")));
        page.push_str(&members(command, &["type"]));
        if let Some(example) = command.pointer("/examples/0") {
            page.push_str(&format!("\n```json\n{}\n```\n", serde_json::to_string_pretty(example)?));
        }
    }
    Ok(page)
}

/// The members of an object as a table, without those in `known`.
pub(super) fn members(schema: &Value, known: &[&str]) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let needed = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    let mut table = String::new();
    let listed = schema.get("properties").and_then(Value::as_object);
    for (name, member) in listed.into_iter().flatten() {
        if known.contains(&name.as_str()) {
            continue;
        }
        if table.is_empty() {
            table.push_str("\n| member | values | meaning |\n|---|---|---|\n");
        }
        table.push_str(&format!(
            "| `{name}`{} | {} | {} |\n",
            if needed(name) { "\\*" } else { "" },
            cell(&kind(member)),
            cell(text(member, "description"))
        ));
    }
    table
}

/// The page of the metrics at `/metrics`.
pub(super) fn figures(metrics: &str) -> String {
    let mut page = heading(
        "Metrics",
        "The figures at `/metrics`, in the text format of Prometheus, or of OpenMetrics for who accepts that. A counter has `_total` at the end of its name, a histogram `_bucket`, `_sum` and `_count`.\n\n\
         | name | kind | meaning | labels |\n|---|---|---|---|",
    );
    let mut rows: Vec<String> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '))
        .map(|(name, help)| {
            let start = format!("# TYPE {name} ");
            let kind = metrics.lines().find_map(|line| line.strip_prefix(&start));
            format!(
                "| `{name}` | {} | {} | {} |\n",
                kind.unwrap_or_default(),
                cell(help),
                labels(metrics, name)
            )
        })
        .collect();
    rows.sort_unstable();
    rows.iter().for_each(|row| page.push_str(row));
    page
}

/// The labels of a metric's samples, without the bound of a bucket.
fn labels(metrics: &str, name: &str) -> String {
    let sample = metrics.lines().find(|line| line.starts_with(name) && line.contains('{'));
    let inside = sample.and_then(|line| line.split_once('{')?.1.rsplit_once('}'));
    let names = inside.map_or("", |(inside, _)| inside).split(',');
    let mut names: Vec<String> = names
        .filter_map(|pair| Some(pair.split_once("=\"")?.0))
        .filter(|label| *label != "le")
        .map(|label| format!("`{label}`"))
        .collect();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_told_with_what_they_refer_to() {
        let api = json!({
            "components": {"responses": {"Otherwise": {"description": "Not."}}, "parameters": {"limit": {"name": "limit", "in": "query", "description": "At most.", "schema": {"type": "integer", "default": 5}}}},
            "paths": {"/a/{id}": {
                "parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}],
                "get": {"summary": "Reads it.", "parameters": [{"$ref": "#/components/parameters/limit"}], "responses": {"200": {"description": "It."}, "default": {"description": "Not."}}},
            }},
        });
        let page = paths(&api).expect("a page");
        for part in [
            "## `/a/{id}`",
            "**GET** Reads it.",
            "| `id` | path | string |  |",
            "| `limit` | query | integer, default `5` | At most. |",
            "Answers: 200: It.",
            "every operation may give: Not.",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn figures_are_told_with_their_kinds_and_labels() {
        let page = figures(
            "# HELP a_total_things Things.\n# TYPE a_total_things counter\na_total_things_total{kind=\"x\",le=\"1\"} 3\n",
        );
        assert!(page.contains("| `a_total_things` | counter | Things. | `kind` |"), "{page}");
    }
}

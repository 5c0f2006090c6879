//! Calls with arguments that fit and that do not, and what comes back.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::{Rule, Scope, Verdict, finding, holds_if};
use super::{EVERYWHERE, MUST, SHOULD};
use crate::probe::{Bench, Exchange, Revision};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.arguments",
        level: SHOULD,
        section: "2025-11-25, Tools, Error handling",
        title: "Arguments of a wrong type are refused with an isError result, which a model can read (before 2025-11-25 also with error −32602)",
        fix: "check arguments against the inputSchema; answer with isError and a text that says what would be right",
        scope: EVERYWHERE,
        probe: |bench| arguments(bench).boxed(),
    },
    Rule {
        id: "tools.structured-content",
        level: MUST,
        section: "2025-06-18, Tools, Output schema",
        title: "A tool with an outputSchema returns structuredContent that matches it",
        fix: "return structuredContent that matches the schema in every result that is not an error",
        scope: Scope { first: Revision::V2025_06_18, ..EVERYWHERE },
        probe: |bench| structured(bench).boxed(),
    },
    Rule {
        id: "tools.progress",
        level: MUST,
        section: "Progress, Behaviour requirements",
        title: "Progress notifications have the token of their request, and their progress increases",
        fix: "send notifications/progress with the progressToken of the request and a larger progress each time",
        scope: EVERYWHERE,
        probe: |bench| progress(bench).boxed(),
    },
    Rule {
        id: "prompts.arguments",
        level: SHOULD,
        section: "Prompts, Error handling",
        title: "prompts/get without a required argument is refused with −32602",
        fix: "check that every required argument was sent",
        scope: EVERYWHERE,
        probe: |bench| prompt_arguments(bench).boxed(),
    },
    Rule {
        id: "completion.unknown",
        level: SHOULD,
        section: "Completion, Error handling",
        title: "A completion for an unknown prompt, or for a reference of an unknown type, is refused with −32602",
        fix: "answer with code −32602 if ref names nothing that exists",
        scope: EVERYWHERE,
        probe: |bench| completion(bench).boxed(),
    },
];

fn name(tool: &Value) -> Option<&str> {
    tool.get("name")?.as_str()
}

/// Tools that may be called, those that are read-only first.
pub(super) fn callable(bench: &Bench) -> impl Iterator<Item = &Value> {
    let tools = bench.items("tools/list");
    let named = |wanted: &String| tools.iter().find(|tool| name(tool) == Some(wanted));
    bench.callable.iter().filter_map(named)
}

pub(super) fn needs_nothing(tool: &Value) -> bool {
    let required = tool.pointer("/inputSchema/required").and_then(Value::as_array);
    required.is_none_or(Vec::is_empty)
}

pub(super) fn nothing_to_call(what: &str) -> Verdict {
    Verdict::Inapplicable(format!("no tool that is read-only or named with --call {what}"))
}

async fn arguments(bench: &mut Bench) -> Verdict {
    let simple = ["string", "integer", "number", "boolean"];
    let chosen = callable(bench).find_map(|tool| {
        let properties = tool.pointer("/inputSchema/properties")?.as_object()?;
        let is_simple = |schema: &Value| {
            let kind = schema.get("type").and_then(Value::as_str);
            kind.is_some_and(|kind| simple.contains(&kind))
        };
        let (property, _) = properties.iter().find(|(_, schema)| is_simple(schema))?;
        Some((name(tool)?.to_owned(), property.clone()))
    });
    let Some((tool, property)) = chosen else {
        return nothing_to_call("has an argument of a simple type");
    };
    let wrong = json!({ property.as_str(): {"wrong": ["type"]} });
    let given = json!({"name": tool, "arguments": wrong});
    let exchange = bench.ask("tools/call", given).await;
    let is_error = exchange.result().and_then(|it| it.get("isError")) == Some(&json!(true));
    let by_code = exchange.code() == Some(-32602) && bench.revision < Revision::V2025_11_25;
    let seen = format!("{tool} with an object as {property}: {}", exchange.outcome());
    holds_if(is_error || by_code, seen, &exchange)
}

async fn structured(bench: &mut Bench) -> Verdict {
    let with_schema = |tool: &&Value| needs_nothing(tool) && tool.get("outputSchema").is_some();
    let chosen = callable(bench).find(with_schema).cloned();
    let Some(tool) = chosen else {
        return nothing_to_call("has an outputSchema and needs no arguments");
    };
    let given = json!({"name": tool.get("name"), "arguments": {}});
    let exchange = bench.ask("tools/call", given).await;
    let Some(result) = exchange.result() else {
        return Verdict::Unclear(exchange.outcome());
    };
    let is_complete = result.get("resultType").is_none_or(|it| it == "complete");
    if !is_complete || result.get("isError") == Some(&json!(true)) {
        return Verdict::Inapplicable("its result is an error, or needs input".to_owned());
    }
    let Some(content) = result.get("structuredContent") else {
        return finding("the result has no structuredContent", &exchange);
    };
    let schema = tool.get("outputSchema").unwrap_or(&Value::Null);
    match misfit(content, schema, "", 0) {
        Some(seen) => finding(seen, &exchange),
        None => Verdict::Holds,
    }
}

/// Where a value does not have the type, or lacks a member, that a schema says in the plainest way.
fn misfit(value: &Value, schema: &Value, path: &str, depth: usize) -> Option<String> {
    let kind = schema.get("type").and_then(Value::as_str);
    let fits = match kind {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    };
    if !fits {
        let kind = kind.unwrap_or_default();
        return Some(format!("/structuredContent{path} is not of the type {kind}"));
    }
    if depth > 20 {
        return None;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    if value.is_object()
        && let Some(name) = required.find(|name| value.get(name).is_none())
    {
        return Some(format!("/structuredContent{path}/{name} is missing"));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let inner = properties.into_iter().flatten().find_map(|(name, schema)| {
        misfit(value.get(name)?, schema, &format!("{path}/{name}"), depth + 1)
    });
    inner.or_else(|| {
        let items = schema.get("items")?;
        // It applies to the items after those that `prefixItems` names.
        let prefix = schema.get("prefixItems").and_then(Value::as_array);
        let values = value.as_array()?.iter().enumerate();
        values
            .skip(prefix.map_or(0, Vec::len))
            .take(100)
            .find_map(|(index, value)| misfit(value, items, &format!("{path}/{index}"), depth + 1))
    })
}

async fn progress(bench: &mut Bench) -> Verdict {
    let chosen = callable(bench).find(|tool| needs_nothing(tool));
    let Some(name) = chosen.and_then(name).map(str::to_owned) else {
        return nothing_to_call("needs no arguments");
    };
    let token = json!("a token");
    let params = json!({"name": name, "arguments": {}, "_meta": {"progressToken": token}});
    let exchange = bench.ask("tools/call", params).await;
    let mut last = f64::NEG_INFINITY;
    let mut is_silent = true;
    for params in reports(&exchange) {
        is_silent = false;
        if params.get("progressToken") != Some(&token) {
            return finding("a progress notification has another token", &exchange);
        }
        let Some(now) = params.get("progress").and_then(Value::as_f64) else {
            // That is a finding about its schema.
            continue;
        };
        if now <= last {
            return finding(format!("progress {now} came after {last}"), &exchange);
        }
        last = now;
    }
    if is_silent {
        Verdict::Inapplicable(format!("{name} reports no progress"))
    } else {
        Verdict::Holds
    }
}

fn reports(exchange: &Exchange) -> impl Iterator<Item = &Value> {
    let messages = exchange.messages.iter();
    let reports = messages.filter(|it| {
        let method = it.get("method");
        method.is_some_and(|method| method == "notifications/progress")
    });
    reports.filter_map(|it| it.get("params"))
}

async fn prompt_arguments(bench: &mut Bench) -> Verdict {
    let is_required = |argument: &Value| argument.get("required") == Some(&json!(true));
    let prompts = bench.items("prompts/list").iter();
    let mut prompts = prompts.filter(|prompt| {
        let arguments = prompt.get("arguments").and_then(Value::as_array);
        arguments.is_some_and(|arguments| arguments.iter().any(is_required))
    });
    let Some(name) = prompts.find_map(|prompt| prompt.get("name")).cloned() else {
        return Verdict::Inapplicable("no prompt has a required argument".to_owned());
    };
    let exchange = bench.ask("prompts/get", json!({ "name": name })).await;
    let good = exchange.code() == Some(-32602);
    holds_if(good, format!("{name}: {}", exchange.outcome()), &exchange)
}

async fn completion(bench: &mut Bench) -> Verdict {
    if !bench.offers("completions") {
        return Verdict::Inapplicable("the server does not declare completions".to_owned());
    }
    for reference in [
        json!({"type": "ref/prompt", "name": "no_such_prompt_of_this_server"}),
        json!({"type": "ref/nothing", "name": "x"}),
    ] {
        let argument = json!({"name": "x", "value": "a"});
        let params = json!({"ref": reference, "argument": argument});
        let exchange = bench.ask("completion/complete", params).await;
        if exchange.code() != Some(-32602) {
            return finding(format!("{reference}: {}", exchange.outcome()), &exchange);
        }
    }
    Verdict::Holds
}

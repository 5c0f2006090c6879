//! Calls with arguments that fit and that do not, and what comes back.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::calling::make;
use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Verdict, declares, finding, holds_for, holds_if, inapplicable,
};
use super::{EVERYWHERE, MUST, PRACTICE, SHOULD};
use crate::probe::{Bench, Exchange, MadeCall, Revision};
use crate::schema::local::unfit;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.arguments",
        level: SHOULD,
        section: "2025-11-25, Tools, Error handling",
        title: "Arguments of a wrong type are refused with an isError result, which a model can read (before 2025-11-25 also with error −32602)",
        fix: "check arguments against the inputSchema; answer with isError and a text that says what would be right",
        scope: EVERYWHERE,
        probe: Asks(|bench| arguments(bench).boxed()),
    },
    Rule {
        id: "tools.structured-content",
        level: MUST,
        section: "2025-06-18, Tools, Output schema",
        title: "A tool with an outputSchema returns structuredContent that matches it",
        fix: "return structuredContent that matches the schema in every result that is not an error",
        scope: Scope { first: Revision::V2025_06_18, ..EVERYWHERE },
        probe: Asks(|bench| structured(bench, false).boxed()),
    },
    Rule {
        id: "tools.error-content",
        level: PRACTICE,
        section: "Tools, Output schema",
        title: "A result with isError has no structuredContent, or such that matches the outputSchema",
        fix: "say the error in content alone: some clients hold structuredContent against the schema and do not show the error",
        scope: Scope { first: Revision::V2025_06_18, ..EVERYWHERE },
        probe: Asks(|bench| structured(bench, true).boxed()),
    },
    Rule {
        id: "tools.progress",
        level: MUST,
        section: "Progress, Behaviour requirements",
        title: "Progress notifications have the token of their request, and their progress increases",
        fix: "send notifications/progress with the progressToken of the request and a larger progress each time",
        scope: EVERYWHERE,
        probe: Asks(|bench| progress(bench).boxed()),
    },
    Rule {
        id: "prompts.arguments",
        level: SHOULD,
        section: "Prompts, Error handling",
        title: "prompts/get without a required argument is refused with −32602",
        fix: "check that every required argument was sent",
        scope: EVERYWHERE,
        probe: Asks(|bench| prompt_arguments(bench).boxed()),
    },
    Rule {
        id: "completion.unknown",
        level: SHOULD,
        section: "Completion, Error handling",
        title: "A completion for an unknown prompt, or for a reference of an unknown type, is refused with −32602",
        fix: "answer with code −32602 if ref names nothing that exists",
        scope: EVERYWHERE,
        probe: Asks(|bench| completion(bench).boxed()),
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
    inapplicable(format!("no tool that is read-only or named with --call {what}"))
}

async fn arguments(bench: &mut Bench) -> Outcome {
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
    let missing = || nothing_to_call("has an argument of a simple type");
    let (tool, property) = chosen.ok_or_else(missing)?;
    let wrong = json!({ property.as_str(): {"wrong": ["type"]} });
    let given = json!({"name": tool, "arguments": wrong});
    let exchange = bench.ask("tools/call", given).await;
    let by_code = exchange.code() == Some(-32602) && bench.revision < Revision::V2025_11_25;
    let call = format_args!("{tool} with an object as {property}");
    holds_for(exchange.is_failure() || by_code, call, &exchange)
}

/// Judges the results with `isError`, or those without.
async fn structured(bench: &mut Bench, is_error: bool) -> Outcome {
    make(bench).await;
    let (made, _) = bench.calls.as_ref().ok_or_else(not_called)?;
    let mut judged = 0;
    let mut wrong: Vec<(String, &Exchange)> = Vec::new();
    for call in made {
        let Some(schema) = call.tool.get("outputSchema") else { continue };
        let Some(result) = call.exchange.result() else { continue };
        let is_complete = result.get("resultType").is_none_or(|it| it == "complete");
        if !is_complete || call.exchange.is_failure() != is_error {
            continue;
        }
        let name = name(&call.tool).unwrap_or_default();
        let seen = match result.get("structuredContent") {
            None if is_error => None,
            None => Some("the result has no structuredContent".to_owned()),
            // That the schema is not valid is another finding.
            Some(content) => unfit(schema, content).unwrap_or_default(),
        };
        judged += 1;
        wrong.extend(seen.map(|seen| (format!("{name}: {seen}"), &call.exchange)));
    }
    match wrong.as_slice() {
        [] if judged == 0 => Err(not_called()),
        [] => Ok(()),
        [(seen, exchange)] => finding(seen, exchange),
        [(seen, exchange), more @ ..] => {
            let names = more.iter().filter_map(|(seen, _)| Some(seen.split_once(':')?.0));
            let mut names: Vec<_> = names.collect();
            names.dedup();
            finding(format!("{seen}; and {}", names.join(", ")), exchange)
        }
    }
}

/// No call could be judged.
pub(super) fn not_called() -> Verdict {
    inapplicable(
        "no tool that was called shows it; tools are called in the newest revision of each era",
    )
}

async fn progress(bench: &mut Bench) -> Outcome {
    make(bench).await;
    let mut is_silent = true;
    let made = || bench.calls.iter().flat_map(|(made, _)| made);
    for MadeCall { token, exchange, .. } in made() {
        let mut last = f64::NEG_INFINITY;
        for params in reports(exchange) {
            is_silent = false;
            let own = params.get("progressToken");
            if made().any(|it| it.token != *token && Some(&it.token) == own) {
                // What comes after the response of its call is another rule.
                continue;
            }
            holds_if(own == Some(token), "a progress notification has another token", exchange)?;
            let Some(now) = params.get("progress").and_then(Value::as_f64) else {
                // That is a finding about its schema.
                continue;
            };
            if now <= last {
                return finding(format!("progress {now} came after {last}"), exchange);
            }
            last = now;
        }
    }
    if is_silent { Err(not_called()) } else { Ok(()) }
}

fn reports(exchange: &Exchange) -> impl Iterator<Item = &Value> {
    let messages = exchange.messages.iter();
    let reports = messages.filter(|it| {
        let method = it.get("method");
        method.is_some_and(|method| method == "notifications/progress")
    });
    reports.filter_map(|it| it.get("params"))
}

async fn prompt_arguments(bench: &mut Bench) -> Outcome {
    let mut prompts = bench.items("prompts/list").iter().filter(|it| needs_arguments(it));
    let name = prompts.find_map(|prompt| prompt.get("name")).cloned();
    let name = name.ok_or_else(|| inapplicable("no prompt has a required argument"))?;
    let exchange = bench.ask("prompts/get", json!({ "name": name })).await;
    holds_for(exchange.code() == Some(-32602), name, &exchange)
}

pub(super) fn needs_arguments(prompt: &Value) -> bool {
    let is_required = |argument: &Value| argument.get("required") == Some(&json!(true));
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    arguments.is_some_and(|arguments| arguments.iter().any(is_required))
}

async fn completion(bench: &mut Bench) -> Outcome {
    declares(bench, "completions")?;
    for reference in [
        json!({"type": "ref/prompt", "name": "no_such_prompt_of_this_server"}),
        json!({"type": "ref/nothing", "name": "x"}),
    ] {
        let argument = json!({"name": "x", "value": "a"});
        let params = json!({"ref": reference, "argument": argument});
        let exchange = bench.ask("completion/complete", params).await;
        holds_for(exchange.code() == Some(-32602), reference, &exchange)?;
    }
    Ok(())
}

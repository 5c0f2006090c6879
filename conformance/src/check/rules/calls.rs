//! Calls with arguments that fit and that do not, and what comes back.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::calling::make;
use super::super::rule::{Rule, Scope, Verdict, finding, holds_if};
use super::{EVERYWHERE, MUST, SHOULD};
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
    make(bench).await;
    let Some((made, _)) = &bench.calls else {
        return not_called();
    };
    let mut judged = 0;
    let mut wrong: Vec<(String, &Exchange)> = Vec::new();
    for call in made {
        let Some(schema) = call.tool.get("outputSchema") else { continue };
        let Some(result) = call.exchange.result() else { continue };
        let is_complete = result.get("resultType").is_none_or(|it| it == "complete");
        if !is_complete || result.get("isError") == Some(&json!(true)) {
            continue;
        }
        let name = name(&call.tool).unwrap_or_default();
        let seen = match result.get("structuredContent") {
            None => Some("the result has no structuredContent".to_owned()),
            // That the schema is not valid is another finding.
            Some(content) => unfit(schema, content).unwrap_or_default(),
        };
        judged += 1;
        wrong.extend(seen.map(|seen| (format!("{name}: {seen}"), &call.exchange)));
    }
    match wrong.as_slice() {
        [] if judged == 0 => not_called(),
        [] => Verdict::Holds,
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
    let why =
        "no tool that was called shows it; tools are called in the newest revision of each era";
    Verdict::Inapplicable(why.to_owned())
}

async fn progress(bench: &mut Bench) -> Verdict {
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
            if own != Some(token) {
                return finding("a progress notification has another token", exchange);
            }
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
    if is_silent { not_called() } else { Verdict::Holds }
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

//! What is listed, used as a good client does: tools with arguments that fit, prompts, completions.

mod refusals;

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use self::refusals::is_of_form;
use super::super::calling::make;
use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, applies, declares, holds_for, holds_if, unclear};
use super::calls::{needs_arguments, not_called};
use super::{EVERYWHERE, MUST, PRACTICE};
use crate::probe::{Bench, Exchange, MadeCall};
use crate::schema::local::unfit;
use crate::shorten::shorten;

/// How much of a refusal is shown, in characters.
const SHOWN: usize = 300;
/// The most values of a completion.
const MOST_VALUES: usize = 100;
/// The most prompts and references that are asked for.
const MOST_ASKED: usize = 20;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.answered",
        level: PRACTICE,
        section: "Tools, Error handling",
        title: "A call with arguments that fit the inputSchema is not answered with an internal error (−32603 or status 500), and does not end the server",
        fix: "catch errors in the tool, and answer with isError and a text that a model can read",
        scope: EVERYWHERE,
        probe: Asks(|bench| answered(bench).boxed()),
    },
    Rule {
        id: "tools.fitting-call",
        level: PRACTICE,
        section: "Tools, Tool (inputSchema)",
        title: "A call that fits the inputSchema is not refused because an argument is missing, unknown or of another type",
        fix: "list in the inputSchema what the tool needs, with the names and types that it reads: models know only that",
        scope: EVERYWHERE,
        probe: Asks(|bench| fitting(bench).boxed()),
    },
    Rule {
        id: "prompts.get",
        level: PRACTICE,
        section: "Prompts, Getting a prompt",
        title: "prompts/get returns each listed prompt that needs no arguments",
        fix: "answer prompts/get for every name that prompts/list has",
        scope: EVERYWHERE,
        probe: Asks(|bench| got(bench).boxed()),
    },
    Rule {
        id: "completion.limit",
        level: MUST,
        section: "Completion, Completion results; schema reference, Completion",
        title: "A completion has at most 100 values",
        fix: "return the 100 best values, and say with hasMore that there are more",
        scope: EVERYWHERE,
        probe: Asks(|bench| limited(bench).boxed()),
    },
];

async fn answered(bench: &mut Bench) -> Outcome {
    make(bench).await;
    let mut calls = bench.calls.iter().flat_map(|(made, _)| made).peekable();
    if calls.peek().is_none() {
        return Err(not_called());
    }
    for call in calls {
        let exchange = &call.exchange;
        let has_failed =
            exchange.status.is_some_and(|it| it >= 500) || exchange.code() == Some(-32603);
        let has_ended = exchange.broken.as_ref().is_some_and(|it| it.contains("closed"));
        let name = call.tool.get("name").and_then(Value::as_str).unwrap_or_default();
        holds_for(!has_failed && !has_ended, name, exchange)?;
    }
    Ok(())
}

async fn fitting(bench: &mut Bench) -> Outcome {
    make(bench).await;
    let calls = bench.calls.iter().flat_map(|(made, _)| made);
    // Arguments that were given may be wrong on purpose.
    let fits = |it: &&MadeCall| {
        it.tool.get("inputSchema").is_some_and(|schema| unfit(schema, &it.arguments) == Ok(None))
    };
    let mut calls = calls.filter(fits).peekable();
    calls.peek().ok_or_else(not_called)?;
    for MadeCall { tool, exchange, arguments, .. } in calls {
        let Some(refusal) = refusal(exchange) else { continue };
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let seen = format!("{name}: a call that fits the schema is refused: {refusal}");
        holds_if(!is_of_form(&refusal, arguments), shorten(&seen, SHOWN), exchange)?;
    }
    Ok(())
}

/// The text of a refusal, be it a result or an error. Other errors belong to another rule.
fn refusal(exchange: &Exchange) -> Option<String> {
    if exchange.code() == Some(-32602) {
        return exchange.response()?.pointer("/error/message")?.as_str().map(str::to_owned);
    }
    let result = exchange.result().filter(|_| exchange.is_failure())?;
    let texts = result.get("content")?.as_array()?.iter().filter_map(|it| it.get("text")?.as_str());
    Some(texts.collect::<Vec<_>>().join(" "))
}

async fn got(bench: &mut Bench) -> Outcome {
    let prompts = bench.items("prompts/list").iter().filter(|it| !needs_arguments(it));
    let names: Vec<_> = prompts.filter_map(|it| it.get("name").cloned()).take(MOST_ASKED).collect();
    applies(!names.is_empty(), "no listed prompt does without arguments")?;
    for name in names {
        let exchange = bench.ask("prompts/get", json!({ "name": name })).await;
        match exchange.code() {
            _ if exchange.result().is_some() => {}
            // What it is made of may be out of reach today.
            Some(-32603) | None => {
                return Err(unclear(format!("{name}: {}", exchange.outcome())));
            }
            // It needs a client that can do more than this one.
            Some(-32021) => {}
            Some(_) if exchange.received.contains("capabilit") => {}
            Some(_) => return holds_for(false, name, &exchange),
        }
    }
    Ok(())
}

async fn limited(bench: &mut Bench) -> Outcome {
    declares(bench, "completions")?;
    let mut is_asked = false;
    for (reference, argument) in references(bench) {
        let argument = json!({"name": argument, "value": ""});
        let params = json!({"ref": reference, "argument": argument});
        let exchange = bench.ask("completion/complete", params).await;
        let result = exchange.result();
        let values = result.and_then(|it| it.pointer("/completion/values")?.as_array());
        let Some(values) = values else { continue };
        is_asked = true;
        let seen = format!("{reference}: {} values", values.len());
        holds_if(values.len() <= MOST_VALUES, seen, &exchange)?;
    }
    applies(is_asked, "no listed prompt or template was completed")
}

/// The references that can be completed, each with the name of an argument.
fn references(bench: &Bench) -> Vec<(Value, String)> {
    let prompts = bench.items("prompts/list").iter().flat_map(|prompt| {
        let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let names = arguments.filter_map(|it| it.get("name")?.as_str().map(str::to_owned));
        let reference = || json!({"type": "ref/prompt", "name": prompt.get("name")});
        names.map(move |name| (reference(), name)).collect::<Vec<_>>()
    });
    let templates = bench.items("resources/templates/list").iter().flat_map(|template| {
        let uri = template.get("uriTemplate").and_then(Value::as_str).unwrap_or_default();
        let parts = uri.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
        let names = parts.flat_map(|part| {
            part.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).split(',')
        });
        let reference = || json!({"type": "ref/resource", "uri": uri});
        names.map(|name| (reference(), name.trim_end_matches('*').to_owned())).collect::<Vec<_>>()
    });
    prompts.chain(templates).take(MOST_ASKED).collect()
}

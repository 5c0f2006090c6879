//! Requests as the official clients really send them, each once.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::calling::make;
use super::super::rule::{Rule, Unserved, Verdict, finding, holds_if, plain, settled};
use super::calls::{needs_nothing, not_called};
use super::{EVERYWHERE, HTTP, LEGACY, MUST, PRACTICE};
use crate::probe::{Bench, Exchange};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "habits.no-params",
        level: MUST,
        section: "Schema reference, JSONRPCRequest (params is optional)",
        title: "A request without params is answered like one with empty params",
        fix: "treat absent params like an empty object: the TypeScript client leaves them out",
        scope: LEGACY,
        probe: |bench| settled(no_params(bench)).boxed(),
    },
    Rule {
        id: "habits.no-arguments",
        level: PRACTICE,
        section: "Schema reference, CallToolRequest (arguments is optional)",
        title: "A call without arguments of a tool that needs none is answered",
        fix: "treat absent arguments like an empty object: official clients leave them out",
        scope: EVERYWHERE,
        probe: |bench| no_arguments(bench).boxed(),
    },
    Rule {
        id: "habits.charset",
        level: PRACTICE,
        section: "RFC 9110, Media type",
        title: "A content-type with charset=utf-8 is accepted",
        fix: "compare the media type alone: the C# client and others send application/json; charset=utf-8",
        scope: HTTP,
        probe: |bench| settled(charset(bench)).boxed(),
    },
    Rule {
        id: "habits.accept",
        level: PRACTICE,
        section: "RFC 9110, Accept",
        title: "The media types of Accept may come in any order, with any spaces, weights and case",
        fix: "parse Accept as a list of media types, and do not compare its text",
        scope: HTTP,
        probe: |bench| settled(accept(bench)).boxed(),
    },
];

/// A list that the server offers, or a ping.
fn asked(bench: &Bench) -> Result<&'static str, Unserved> {
    let answered = |it: &&(&'static str, Vec<Value>, Vec<Exchange>)| {
        it.2.first().is_some_and(|page| page.result().is_some())
    };
    bench.lists.iter().find(answered).map_or_else(|| plain(bench), |(method, ..)| Ok(*method))
}

async fn no_params(bench: &mut Bench) -> Result<Verdict, Verdict> {
    let method = asked(bench)?;
    let mut message = bench.message(method, json!({}));
    if let Some(members) = message.as_object_mut() {
        members.remove("params");
    }
    let exchange = bench.send(&message).await;
    let seen = format!("{method} without params: {}", exchange.outcome());
    Ok(holds_if(exchange.result().is_some(), seen, &exchange))
}

async fn no_arguments(bench: &mut Bench) -> Verdict {
    make(bench).await;
    let is_error = |it: &Exchange| {
        it.result().is_none_or(|result| result.get("isError") == Some(&json!(true)))
    };
    let calls = bench.calls.iter().flat_map(|(made, _)| made);
    let mut good = calls.filter(|it| needs_nothing(&it.tool) && !is_error(&it.exchange));
    let Some(name) = good.find_map(|it| it.tool.get("name")).cloned() else {
        return not_called();
    };
    let exchange = bench.ask("tools/call", json!({ "name": name })).await;
    let with = json!({"name": name, "arguments": {}});
    if is_error(&exchange) && is_error(&bench.ask("tools/call", with).await) {
        return Verdict::Unclear(format!("{name} fails with empty arguments, too"));
    }
    let seen = format!("{name} without arguments: {}", exchange.outcome());
    holds_if(!is_error(&exchange), seen, &exchange)
}

/// Whether a good request is answered with each of these values in place of the usual header.
async fn with(bench: &mut Bench, name: &str, values: &[&str]) -> Result<Verdict, Verdict> {
    let method = asked(bench)?;
    for value in values {
        let message = bench.message(method, json!({}));
        let raw = bench.framed(&message).with(name, value);
        let exchange = bench.raw(raw).await;
        if exchange.result().is_none() {
            return Ok(finding(format!("{name} {value}: {}", exchange.outcome()), &exchange));
        }
    }
    Ok(Verdict::Holds)
}

async fn charset(bench: &mut Bench) -> Result<Verdict, Verdict> {
    let values = ["application/json; charset=utf-8", "application/json;charset=UTF-8"];
    with(bench, "content-type", &values).await
}

async fn accept(bench: &mut Bench) -> Result<Verdict, Verdict> {
    let values = [
        "text/event-stream, application/json",
        "application/json,text/event-stream",
        "application/json;q=1.0, text/event-stream;q=0.9",
        "Application/JSON, Text/Event-Stream, */*",
    ];
    with(bench, "accept", &values).await
}

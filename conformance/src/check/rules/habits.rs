//! Requests as the official clients really send them, each once.

use futures_util::FutureExt as _;
use serde_json::json;

use super::super::calling::make;
use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, Unserved, holds_for, plain, unclear};
use super::calls::{needs_nothing, not_called};
use super::{EVERYWHERE, HTTP, LEGACY, MUST, PRACTICE};
use crate::probe::Bench;

/// Types of JSON that official clients send.
const CHARSETS: [&str; 2] = ["application/json; charset=utf-8", "application/json;charset=UTF-8"];
/// What clients accept, in ways that all mean the same.
const ACCEPTED: [&str; 4] = [
    "text/event-stream, application/json",
    "application/json,text/event-stream",
    "application/json;q=1.0, text/event-stream;q=0.9",
    "Application/JSON, Text/Event-Stream, */*",
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "habits.no-params",
        level: MUST,
        section: "Schema reference, JSONRPCRequest (params is optional)",
        title: "A request without params is answered like one with empty params",
        fix: "treat absent params like an empty object: the TypeScript client leaves them out",
        scope: LEGACY,
        probe: Asks(|bench| no_params(bench).boxed()),
    },
    Rule {
        id: "habits.no-arguments",
        level: PRACTICE,
        section: "Schema reference, CallToolRequest (arguments is optional)",
        title: "A call without arguments of a tool that needs none is answered",
        fix: "treat absent arguments like an empty object: official clients leave them out",
        scope: EVERYWHERE,
        probe: Asks(|bench| no_arguments(bench).boxed()),
    },
    Rule {
        id: "habits.charset",
        level: PRACTICE,
        section: "RFC 9110, Media type",
        title: "A content-type with charset=utf-8 is accepted",
        fix: "compare the media type alone: the C# client and others send application/json; charset=utf-8",
        scope: HTTP,
        probe: Asks(|bench| with(bench, "content-type", &CHARSETS).boxed()),
    },
    Rule {
        id: "habits.accept",
        level: PRACTICE,
        section: "RFC 9110, Accept",
        title: "The media types of Accept may come in any order, with any spaces, weights and case",
        fix: "parse Accept as a list of media types, and do not compare its text",
        scope: HTTP,
        probe: Asks(|bench| with(bench, "accept", &ACCEPTED).boxed()),
    },
];

/// A list that the server offers, or a ping.
fn asked(bench: &Bench) -> Result<&'static str, Unserved> {
    bench.answered().next().map_or_else(|| plain(bench), Ok)
}

async fn no_params(bench: &mut Bench) -> Outcome {
    let method = asked(bench)?;
    let mut message = bench.message(method, json!({}));
    if let Some(members) = message.as_object_mut() {
        members.remove("params");
    }
    let exchange = bench.send(&message).await;
    let request = format_args!("{method} without params");
    holds_for(exchange.result().is_some(), request, &exchange)
}

async fn no_arguments(bench: &mut Bench) -> Outcome {
    make(bench).await;
    let calls = bench.calls.iter().flat_map(|(made, _)| made);
    let mut good = calls.filter(|it| needs_nothing(&it.tool) && it.exchange.is_done());
    let name = good.find_map(|it| it.tool.get("name")).cloned().ok_or_else(not_called)?;
    let exchange = bench.ask("tools/call", json!({ "name": name })).await;
    let with = json!({"name": name, "arguments": {}});
    if !exchange.is_done() && !bench.ask("tools/call", with).await.is_done() {
        return Err(unclear(format!("{name} fails with empty arguments, too")));
    }
    holds_for(exchange.is_done(), format_args!("{name} without arguments"), &exchange)
}

/// Whether a good request is answered with each of these values in place of the usual header.
async fn with(bench: &mut Bench, name: &str, values: &[&str]) -> Outcome {
    let method = asked(bench)?;
    for value in values {
        let message = bench.message(method, json!({}));
        let raw = bench.framed(&message).with(name, value);
        let exchange = bench.raw(raw).await;
        holds_for(exchange.result().is_some(), format_args!("{name} {value}"), &exchange)?;
    }
    Ok(())
}

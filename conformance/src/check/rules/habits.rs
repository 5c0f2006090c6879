//! Requests as the official clients really send them, each once.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::calling::make;
use super::super::rule::{Rule, Verdict, finding, holds_if};
use super::calls::{needs_nothing, not_called};
use super::{EVERYWHERE, HTTP, LEGACY, MUST, PRACTICE};
use crate::probe::{Bench, Exchange};
use crate::sse::is_event_stream;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "habits.no-params",
        level: MUST,
        section: "Schema reference, JSONRPCRequest (params is optional)",
        title: "A request without params is answered like one with empty params",
        fix: "treat absent params like an empty object: the TypeScript client leaves them out",
        scope: LEGACY,
        probe: |bench| no_params(bench).boxed(),
    },
    Rule {
        id: "habits.no-arguments",
        level: MUST,
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
        probe: |bench| charset(bench).boxed(),
    },
    Rule {
        id: "habits.accept",
        level: PRACTICE,
        section: "RFC 9110, Accept",
        title: "The media types of Accept may come in any order, with any spaces, weights and case",
        fix: "parse Accept as a list of media types, and do not compare its text",
        scope: HTTP,
        probe: |bench| accept(bench).boxed(),
    },
];

/// What all exchanges show, so that they are looked at after the others.
pub(super) const SEEN: &[Rule] = &[
    Rule {
        id: "habits.event-name",
        level: PRACTICE,
        section: "none (clients); HTML, Server-sent events",
        title: "Events with messages have no event name other than message",
        fix: "leave the line event: out: the official clients skip events of other names",
        scope: HTTP,
        probe: |bench| event_name(bench).boxed(),
    },
    Rule {
        id: "habits.result-status",
        level: PRACTICE,
        section: "Streamable HTTP, Sending messages",
        title: "A result comes with status 200, and a refusal (−32600 to −32602) with a status below 500",
        fix: "answer with status 200; for an error of a valid request send a JSON-RPC error",
        scope: HTTP,
        probe: |bench| result_status(bench).boxed(),
    },
];

/// A list that the server offers, or a ping.
fn asked(bench: &Bench) -> &'static str {
    let answered = |it: &&(&'static str, Vec<Value>, Vec<Exchange>)| {
        it.2.first().is_some_and(|page| page.result().is_some())
    };
    bench.lists.iter().find(answered).map_or(bench.revision.ping(), |(method, ..)| *method)
}

async fn no_params(bench: &mut Bench) -> Verdict {
    let method = asked(bench);
    let mut message = bench.message(method, json!({}));
    if let Some(members) = message.as_object_mut() {
        members.remove("params");
    }
    let exchange = bench.send(&message).await;
    // What is refused with params, too, is another finding.
    if exchange.result().is_none() && bench.ask(method, json!({})).await.result().is_none() {
        return Verdict::Unclear(format!("{method} is refused with params, too"));
    }
    let seen = format!("{method} without params: {}", exchange.outcome());
    holds_if(exchange.result().is_some(), seen, &exchange)
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

/// The answer to a good request with this header in place of the usual one.
async fn with(bench: &mut Bench, name: &str, value: &str) -> Exchange {
    let method = asked(bench);
    let message = bench.message(method, json!({}));
    let raw = bench.framed(&message).with(name, value);
    bench.raw(raw).await
}

async fn charset(bench: &mut Bench) -> Verdict {
    for value in ["application/json; charset=utf-8", "application/json;charset=UTF-8"] {
        let exchange = with(bench, "content-type", value).await;
        if exchange.result().is_none() {
            return finding(format!("content-type {value}: {}", exchange.outcome()), &exchange);
        }
    }
    Verdict::Holds
}

async fn accept(bench: &mut Bench) -> Verdict {
    for value in [
        "text/event-stream, application/json",
        "application/json,text/event-stream",
        "application/json;q=1.0, text/event-stream;q=0.9",
        "Application/JSON, Text/Event-Stream, */*",
    ] {
        let exchange = with(bench, "accept", value).await;
        if exchange.result().is_none() {
            return finding(format!("accept {value}: {}", exchange.outcome()), &exchange);
        }
    }
    Verdict::Holds
}

async fn event_name(bench: &mut Bench) -> Verdict {
    let logged = bench.log.as_ref().map(|log| log.read());
    let talks = logged.iter().flat_map(|logged| &logged.talks);
    let mut is_stream = false;
    for exchange in talks.filter_map(|talk| talk.http.as_ref()) {
        if !is_event_stream(&exchange.headers) {
            continue;
        }
        is_stream = true;
        // An event ends with an empty line.
        for event in exchange.received.replace("\r\n", "\n").split("\n\n") {
            let field =
                |name: &str| event.lines().filter_map(move |it| it.strip_prefix(name)).next_back();
            let name = field("event:").map(str::trim).filter(|it| !matches!(*it, "" | "message"));
            let is_message = field("data:").is_some_and(|it| it.contains("jsonrpc"));
            if let Some(name) = name.filter(|_| is_message) {
                return finding(format!("an event with a message is called {name:?}"), exchange);
            }
        }
    }
    if is_stream {
        return Verdict::Holds;
    }
    Verdict::Inapplicable("the server answered with no event stream".to_owned())
}

async fn result_status(bench: &mut Bench) -> Verdict {
    let logged = bench.log.as_ref().map(|log| log.read());
    for talk in logged.iter().flat_map(|logged| &logged.talks) {
        let mut sent = talk.lines.iter().filter(|line| line.is_sent);
        let is_request = sent
            .any(|line| line.messages.iter().flatten().any(|message| message.get("id").is_some()));
        let Some(exchange) = talk.http.as_ref().filter(|_| is_request) else {
            continue;
        };
        let status = exchange.status.unwrap_or_default();
        let is_odd = exchange.result().is_some() && (201..300).contains(&status);
        // An internal error may have such a status.
        let is_refused = matches!(exchange.code(), Some(-32602..=-32600));
        if is_odd || is_refused && status >= 500 {
            return finding(exchange.outcome(), exchange);
        }
    }
    Verdict::Holds
}

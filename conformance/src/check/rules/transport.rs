//! Streamable HTTP: statuses, types, origins, batches.

use futures_util::FutureExt as _;
use serde_json::json;

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Unserved, applies, finding, good, holds_if, inapplicable, plain, unclear,
};
use super::{HTTP, LEGACY_HTTP, MUST, PRACTICE};
use crate::probe::{Bench, Exchange, QUIET, Raw, Revision};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "http.accepted",
        level: MUST,
        section: "Streamable HTTP, Sending messages",
        title: "A notification that is accepted is answered with 202 and no body",
        fix: "answer notifications with 202 and an empty body",
        scope: HTTP,
        probe: Asks(|bench| accepted(bench).boxed()),
    },
    Rule {
        id: "http.get",
        level: MUST,
        section: "Streamable HTTP, Listening for messages",
        title: "GET is answered with an event stream or with 405",
        fix: "open text/event-stream for GET, or answer 405",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| get(bench).boxed()),
    },
    Rule {
        id: "http.batch",
        // What the specification binds here is the client: its body is one message.
        level: PRACTICE,
        section: "2025-06-18, Streamable HTTP, Sending messages",
        title: "A batch (an array of messages, which clients must not send) is refused as a whole",
        fix: "answer an array with status 400 and error −32600",
        scope: Scope { first: Revision::V2025_06_18, ..HTTP },
        probe: Asks(|bench| batch(bench).boxed()),
    },
    Rule {
        id: "http.batch-2025-03-26",
        level: MUST,
        section: "2025-03-26, Base protocol, Batching",
        title: "A batch is answered with one response for each of its requests",
        fix: "accept arrays of messages in sessions of 2025-03-26",
        scope: Scope { last: Revision::V2025_03_26, ..LEGACY_HTTP },
        probe: Asks(|bench| batch_taken(bench).boxed()),
    },
    Rule {
        id: "http.origin",
        level: MUST,
        section: "Streamable HTTP, Security warning",
        title: "A server on a loopback address refuses requests from foreign web pages (Origin header)",
        fix: "compare Origin with the allowed origins, and answer others with 403",
        scope: HTTP,
        probe: Asks(|bench| refused(bench, "origin", "https://evil.example").boxed()),
    },
    Rule {
        id: "http.host",
        level: PRACTICE,
        section: "none (DNS rebinding)",
        title: "A server on a loopback address refuses requests for a foreign host (Host header)",
        fix: "compare Host with the server's own names, and answer others with a 4xx status",
        scope: HTTP,
        probe: Asks(|bench| refused(bench, "host", "evil.example").boxed()),
    },
    Rule {
        id: "http.media-type",
        level: PRACTICE,
        section: "none (RFC 9110 §15.5.16)",
        title: "A body whose Content-Type is not application/json is refused",
        fix: "answer 415 if Content-Type is not application/json: any web page can send text/plain without a preflight request",
        scope: HTTP,
        probe: Asks(|bench| media_type(bench).boxed()),
    },
    Rule {
        id: "http.parse-status",
        level: PRACTICE,
        section: "Streamable HTTP, Sending messages",
        title: "Text that is not JSON is answered with a 4xx status",
        fix: "answer 400",
        scope: HTTP,
        probe: Asks(|bench| parse_status(bench).boxed()),
    },
];

async fn accepted(bench: &mut Bench) -> Outcome {
    let exchange = bench.notify("notifications/cancelled", QUIET).await;
    match exchange.status {
        Some(202) if exchange.received.is_empty() => Ok(()),
        // It may be refused: it names no request.
        Some(400..500) => Err(inapplicable("the notification was refused")),
        Some(200..300) if exchange.response().is_some() => {
            Err(unclear("it got a response, see base.notification"))
        }
        _ => finding(exchange.outcome(), &exchange),
    }
}

async fn get(bench: &mut Bench) -> Outcome {
    // An open stream does not end: its head is enough.
    let exchange = bench.head(bench.get()).await;
    let streams =
        exchange.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    match exchange.status {
        Some(405) => Ok(()),
        Some(200) if streams => Ok(()),
        // A stream whose head comes with its first event is silent until there is one.
        None => Err(unclear(exchange.outcome())),
        _ => finding(exchange.outcome(), &exchange),
    }
}

fn two(bench: &mut Bench) -> Result<Raw, Unserved> {
    let method = plain(bench)?;
    let messages = [bench.message(method, json!({})), bench.message(method, json!({}))];
    let [first, _] = &messages;
    let raw = bench.framed(first);
    Ok(Raw { body: serde_json::Value::from(messages.to_vec()).to_string().into(), ..raw })
}

async fn batch(bench: &mut Bench) -> Outcome {
    let raw = two(bench)?;
    let exchange = bench.raw(raw).await;
    let answered = exchange.messages.iter().any(|message| message.get("result").is_some());
    let refused = exchange.status.is_some_and(|status| (400..500).contains(&status));
    // The status is not fixed by the text.
    let refused = refused || exchange.code() == Some(-32600);
    holds_if(refused && !answered, exchange.outcome(), &exchange)
}

async fn batch_taken(bench: &mut Bench) -> Outcome {
    let raw = two(bench)?;
    let exchange = bench.raw(raw).await;
    let answers =
        exchange.messages.iter().filter(|message| message.get("result").is_some()).count();
    // Of an event stream only the first response is waited for.
    let all = answers == 2
        || answers == 1
            && exchange.header("content-type").is_some_and(|it| it.starts_with("text/event"));
    holds_if(all, format!("{answers} of 2 requests got a response"), &exchange)
}

/// Whether the server is reached by a loopback name: others may be open to every page on purpose.
fn is_loopback(bench: &Bench) -> bool {
    let endpoint = bench.endpoint.to_string();
    ["//127.", "//localhost", "//[::1]"].iter().any(|name| endpoint.contains(name))
}

fn is_refused(exchange: &Exchange) -> Outcome {
    let refused = exchange.status.is_some_and(|status| (400..500).contains(&status));
    holds_if(refused, exchange.outcome(), exchange)
}

async fn refused(bench: &mut Bench, name: &str, value: &str) -> Outcome {
    applies(is_loopback(bench), "the server is not on a loopback address")?;
    let raw = good(bench)?.with(name, value);
    let exchange = bench.raw(raw).await;
    is_refused(&exchange)
}

async fn media_type(bench: &mut Bench) -> Outcome {
    let raw = good(bench)?.with("content-type", "text/plain");
    let exchange = bench.raw(raw).await;
    is_refused(&exchange)
}

async fn parse_status(bench: &mut Bench) -> Outcome {
    let raw = Raw { body: "{\"jsonrpc\"".into(), ..good(bench)? };
    let exchange = bench.raw(raw).await;
    is_refused(&exchange)
}

//! Many at once, much at once, and what is over already.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, holds_if, proven, unclear};
use super::base::survives;
use super::{EVERYWHERE, HTTP, LEGACY_HTTP, MUST, PRACTICE, SHOULD};
use crate::probe::{Bench, NOT_JSON, QUIET};

/// How many requests are sent at once.
const AT_ONCE: u64 = 8;
/// The size of a large message, in bytes.
const LARGE: usize = 5 * 1024 * 1024;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "base.concurrent",
        level: MUST,
        section: "Base protocol, Responses",
        title: "Each of eight simultaneous requests gets its own response",
        fix: "keep the state of a request with the request, not with the connection",
        scope: EVERYWHERE,
        probe: Asks(|bench| concurrent(bench, "together").boxed()),
    },
    Rule {
        id: "base.cancel-unknown",
        level: SHOULD,
        section: "Cancellation, Behaviour",
        title: "A cancellation of an unknown request is ignored",
        fix: "ignore notifications/cancelled whose requestId you do not know",
        scope: EVERYWHERE,
        probe: Asks(|bench| cancel_unknown(bench).boxed()),
    },
    Rule {
        id: "robust.large-message",
        level: PRACTICE,
        section: "none",
        title: "The server survives a message of 5 MiB, and does not answer with a server error (5xx)",
        fix: "limit the size of messages; over HTTP, answer larger ones with 413",
        scope: EVERYWHERE,
        probe: Asks(|bench| large(bench).boxed()),
    },
    Rule {
        id: "http.accept",
        level: PRACTICE,
        section: "Streamable HTTP, Sending messages (RFC 9110 §12.5.1)",
        title: "A client that accepts only JSON gets no event stream",
        fix: "answer with JSON, or with 406",
        scope: HTTP,
        probe: Asks(|bench| accept(bench).boxed()),
    },
    Rule {
        id: "http.resume-unknown",
        level: MUST,
        section: "Streamable HTTP, Resumability and redelivery",
        title: "Resuming after an unknown event id returns no responses of other streams",
        fix: "replay only events of the stream that the id belongs to",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| resume_unknown(bench).boxed()),
    },
];

/// Whether each of several concurrent requests gets its own response. Unclear if the server refuses one.
pub(super) async fn concurrent(bench: &mut Bench, name: &str) -> Outcome {
    let method = bench.plain();
    let messages: Vec<Value> = (0..AT_ONCE)
        .map(|index| bench.message_with(format!("{name}-{index}"), method, json!({})))
        .collect();
    let exchanges = bench.together(&messages).await;
    let mut verdict = Ok(());
    for (message, exchange) in messages.iter().zip(&exchanges) {
        let id = exchange.response().and_then(|it| it.get("id"));
        if id == message.get("id") {
            continue;
        }
        let seen = format!("one of the eight requests got {}", exchange.outcome());
        let is_of_another = id.is_some_and(|id| !id.is_null());
        let is_lost = match exchange.status {
            Some(status) => (200..300).contains(&status),
            // That an answer is not JSON is found by another rule.
            None => !bench.endpoint.is_http() && exchange.broken.as_deref() != Some(NOT_JSON),
        };
        if is_of_another || is_lost {
            return proven(seen, exchange);
        }
        // A server may refuse what is too much for it: with 429 or 503, say.
        verdict = Err(unclear(seen));
    }
    verdict
}

async fn cancel_unknown(bench: &mut Bench) -> Outcome {
    // That a notification is answered is found by another rule.
    let exchange = bench.cancel("no such request", QUIET).await;
    if bench.is_alive().await {
        return Ok(());
    }
    proven("the server did not answer the next request", &exchange)
}

async fn large(bench: &mut Bench) -> Outcome {
    let params = json!({"x": "x".repeat(LARGE)});
    let message = bench.message_with(1, bench.plain(), params);
    survives(bench, message.to_string()).await
}

async fn accept(bench: &mut Bench) -> Outcome {
    let message = bench.message(bench.plain(), json!({}));
    let raw = bench.framed(&message).with("accept", "application/json");
    let exchange = bench.raw(raw).await;
    let kind = exchange.header("content-type").unwrap_or_default();
    let streams = kind.starts_with("text/event-stream");
    holds_if(!streams, "an event stream came", &exchange)
}

async fn resume_unknown(bench: &mut Bench) -> Outcome {
    let exchange = bench.head(bench.get().with("last-event-id", "no-such-event")).await;
    let answers = exchange.result().is_some();
    holds_if(!answers, "a response came", &exchange)
}

//! JSON-RPC, as every revision has it.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Verdict, another, finding, holds_if, plain, proven, unclear,
};
use super::{EVERYWHERE, LEGACY, MUST, PRACTICE, SHOULD};
use crate::json::put;
use crate::probe::{Bench, Exchange, QUIET, Raw};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "base.unknown-method",
        level: MUST,
        section: "Base protocol, Responses (JSON-RPC 2.0 §5.1)",
        title: "An unknown method is answered with error −32601",
        fix: "answer a request with an unknown method with code −32601",
        scope: EVERYWHERE,
        probe: Asks(|bench| unknown_method(bench).boxed()),
    },
    Rule {
        id: "base.parse-error",
        level: SHOULD,
        section: "JSON-RPC 2.0 §5.1",
        title: "Text that is not JSON is answered with error −32700 (on stdio it may be ignored), and the server keeps running",
        fix: "answer with code −32700 and without an id",
        scope: EVERYWHERE,
        probe: Asks(|bench| parse_error(bench).boxed()),
    },
    Rule {
        id: "base.unknown-members",
        level: PRACTICE,
        section: "JSON-RPC 2.0",
        title: "Unknown members of a request are ignored",
        fix: "do not refuse a request because it has unknown members",
        scope: EVERYWHERE,
        probe: Asks(|bench| unknown_members(bench).boxed()),
    },
    Rule {
        id: "base.no-request",
        level: PRACTICE,
        section: "Base protocol, Requests; 2026-07-28, Streamable HTTP, Sending messages",
        title: "A request with the id null is not served, and in 2026-07-28 no response is accepted over HTTP",
        fix: "refuse with code −32600, and over HTTP with status 400, what is neither a request nor a notification",
        scope: EVERYWHERE,
        probe: Asks(|bench| no_request(bench).boxed()),
    },
    Rule {
        id: "base.ping",
        level: MUST,
        section: "Ping",
        title: "ping is answered with an empty result",
        fix: "answer ping with {\"result\":{}}",
        scope: LEGACY,
        probe: Asks(|bench| ping(bench).boxed()),
    },
    Rule {
        id: "robust.deep-nesting",
        level: PRACTICE,
        section: "none",
        title: "The server survives a message that is nested 20,000 levels deep",
        fix: "limit the depth of the JSON that you parse",
        scope: EVERYWHERE,
        probe: Asks(|bench| deep_nesting(bench).boxed()),
    },
    Rule {
        id: "robust.invalid-utf8",
        level: PRACTICE,
        section: "Base protocol (UTF-8)",
        title: "The server survives bytes that are not UTF-8, and does not answer with a server error (5xx)",
        fix: "answer with code −32700, and over HTTP with status 400",
        scope: EVERYWHERE,
        probe: Asks(|bench| invalid_utf8(bench).boxed()),
    },
    Rule {
        id: "robust.huge-id",
        level: PRACTICE,
        section: "none",
        title: "The server survives an id of 100,000 characters",
        fix: "limit the length of ids, or return them whole",
        scope: EVERYWHERE,
        probe: Asks(|bench| huge_id(bench).boxed()),
    },
];

async fn unknown_method(bench: &mut Bench) -> Outcome {
    let exchange = bench.ask("no/such/method", json!({})).await;
    holds_if(exchange.code() == Some(-32601), exchange.outcome(), &exchange)
}

/// Sends a body unchanged, in a separate session, since it may do harm.
async fn harm(bench: &Bench, body: impl Into<bytes::Bytes>) -> Result<(Bench, Exchange), Verdict> {
    let mut fresh = another(bench).await?;
    // One that ends after its greeting is not ended by what is wrong.
    if !fresh.is_alive().await {
        fresh.end().await;
        return Err(unclear("the request before was not answered either"));
    }
    let message = fresh.message_with(1, bench.plain(), json!({}));
    let raw = Raw { body: body.into(), ..fresh.framed(&message) };
    // On stdio, such a line needs no answer.
    let patience = if bench.endpoint.is_http() { bench.patience } else { QUIET };
    let exchange = fresh.raw_within(raw, patience).await;
    Ok((fresh, exchange))
}

async fn parse_error(bench: &mut Bench) -> Outcome {
    let (mut fresh, exchange) = harm(bench, "{\"jsonrpc\": \"2.0\", ").await?;
    let alive = fresh.is_alive().await;
    fresh.end().await;
    match exchange.code() {
        _ if !alive => proven("the server did not answer the next request", &exchange),
        // On stdio, something that was not requested may come before it.
        _ if is_parse_error(&exchange) => Ok(()),
        // A line that is not a message needs no answer.
        None if exchange.status.is_none() => Ok(()),
        _ => finding(exchange.outcome(), &exchange),
    }
}

fn is_parse_error(exchange: &Exchange) -> bool {
    let code = |it: &Value| it.pointer("/error/code").and_then(Value::as_i64);
    exchange.messages.iter().any(|it| code(it) == Some(-32700))
}

async fn unknown_members(bench: &mut Bench) -> Outcome {
    let method = plain(bench)?;
    let params = json!({"noSuchMember": 1, "_meta": {"example.com/unknown": true}});
    let mut message = bench.message(method, params);
    put(&mut message, "alsoUnknown", json!({"a": [1]}));
    // No sentence says that it must be taken, so that it gets no answer is a finding of this rule alone.
    let exchange = bench.raw(bench.framed(&message)).await;
    if exchange.is_late && bench.is_alive().await {
        return proven(exchange.outcome(), &exchange);
    }
    holds_if(exchange.result().is_some(), exchange.outcome(), &exchange)
}

async fn no_request(bench: &mut Bench) -> Outcome {
    let mut nameless = bench.message_with(Value::Null, plain(bench)?, json!({}));
    let (mut fresh, exchange) = harm(bench, nameless.to_string()).await?;
    let has_result = exchange.messages.iter().any(|it| it.get("result").is_some());
    let is_taken = |it: &Exchange| it.status.is_some_and(|it| it < 300) && it.code().is_none();
    let is_served = has_result || is_taken(&exchange);
    let seen = format!("a request with the id null: {}", exchange.outcome());
    let mut verdict = holds_if(!is_served, seen, &exchange);
    if !is_served && bench.revision.is_modern() && bench.endpoint.is_http() {
        nameless = json!({"jsonrpc": "2.0", "id": "never asked", "result": {}});
        let exchange = fresh.raw(fresh.framed(&nameless)).await;
        let seen = format!("a response: {}", exchange.outcome());
        verdict = holds_if(!is_taken(&exchange), seen, &exchange);
    }
    fresh.end().await;
    verdict
}

async fn ping(bench: &mut Bench) -> Outcome {
    let exchange = bench.ask("ping", json!({})).await;
    let empty = exchange.result().and_then(Value::as_object);
    let empty = empty.is_some_and(|result| result.keys().all(|name| name == "_meta"));
    holds_if(empty, exchange.outcome(), &exchange)
}

pub(super) async fn survives(bench: &Bench, body: impl Into<bytes::Bytes>) -> Outcome {
    let (mut fresh, exchange) = harm(bench, body).await?;
    let alive =
        fresh.is_alive().await || bench.endpoint.is_http() && bench.fresh().await.is_alive().await;
    fresh.end().await;
    match exchange.status {
        _ if !alive => proven("the server did not answer the next request", &exchange),
        Some(status) if status >= 500 => finding(exchange.outcome(), &exchange),
        _ => Ok(()),
    }
}

async fn deep_nesting(bench: &mut Bench) -> Outcome {
    let nested = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{}","params":{{"x":{nested}}}}}"#,
        bench.plain()
    );
    survives(bench, body).await
}

async fn invalid_utf8(bench: &mut Bench) -> Outcome {
    let body = [b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"".as_slice(), b"\xff\xfe\"}"].concat();
    survives(bench, body).await
}

async fn huge_id(bench: &mut Bench) -> Outcome {
    let id = json!("i".repeat(100_000));
    let message = bench.message_with(id, bench.plain(), json!({}));
    survives(bench, message.to_string()).await
}

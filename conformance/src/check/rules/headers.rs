//! What 2026-07-28 repeats in headers besides the method, and what it no longer has.

use futures_util::FutureExt as _;
use http::Method;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, Verdict, holds_for, holds_if, inapplicable};
use super::calls::{callable, nothing_to_call};
use super::modern::header_mismatch;
use super::{MODERN, MODERN_HTTP, MUST, SHOULD};
use crate::probe::{Bench, Raw, Revision, handshake};
use crate::rpc_client::headers::Mirror;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "modern.name-header",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Headers",
        title: "A request whose Mcp-Name header differs from the body, or is missing, is refused with 400 and −32020",
        fix: "compare the header with params.name, or for resources/read with params.uri",
        scope: MODERN_HTTP,
        probe: Asks(|bench| name_header(bench).boxed()),
    },
    Rule {
        id: "modern.name-encoding",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Headers",
        title: "Mcp-Name in base64 is decoded before it is compared, and refused with −32020 if it cannot be decoded",
        fix: "decode =?base64?…?= strictly, and compare the decoded value with the body",
        scope: MODERN_HTTP,
        probe: Asks(|bench| name_encoding(bench).boxed()),
    },
    Rule {
        id: "modern.param-header",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Custom headers from tool parameters",
        title: "A call whose Mcp-Param-… header differs from the argument, or is missing, is refused with 400 and −32020",
        fix: "compare each header that x-mcp-header names with the argument in the body",
        scope: MODERN_HTTP,
        probe: Asks(|bench| param_header(bench).boxed()),
    },
    Rule {
        id: "modern.removed-methods",
        level: MUST,
        section: "2026-07-28, Changes",
        title: "Methods that this revision removed are refused with −32601; initialize is refused with any error, or answered in the newest older revision of the server",
        fix: "answer ping, logging/setLevel and resources/subscribe with −32601, and initialize with an error, if _meta names this revision",
        scope: MODERN,
        probe: Asks(|bench| removed(bench).boxed()),
    },
    Rule {
        id: "modern.get-and-delete",
        level: SHOULD,
        section: "2026-07-28, Streamable HTTP",
        title: "GET and DELETE are answered with 405 (or with 400 or 404, if the server has sessions for older clients)",
        fix: "answer 405 with Allow: POST",
        scope: MODERN_HTTP,
        probe: Asks(|bench| get_and_delete(bench).boxed()),
    },
];

/// A request for something that does not exist, so that nothing happens if a server accepts it.
fn named(bench: &Bench, name: &str) -> Option<(&'static str, Value)> {
    Some(match () {
        () if bench.offers("tools") => ("tools/call", json!({"name": name, "arguments": {}})),
        () if bench.offers("prompts") => ("prompts/get", json!({ "name": name })),
        () if bench.offers("resources") => {
            ("resources/read", json!({"uri": format!("no-such-scheme://{name}")}))
        }
        () => return None,
    })
}

fn nothing_named() -> Verdict {
    inapplicable("the server has no tools, prompts or resources")
}

async fn name_header(bench: &mut Bench) -> Outcome {
    let request = named(bench, "no_such_thing_of_this_server").ok_or_else(nothing_named)?;
    header_mismatch(bench, request, "mcp-name", &[Some("another"), None]).await
}

async fn name_encoding(bench: &mut Bench) -> Outcome {
    let (method, params) = named(bench, "no_such_thing_\u{e9}").ok_or_else(nothing_named)?;
    let message = bench.message(method, params);
    let exchange = bench.send(&message).await;
    let seen = "a header in base64 with the same name as the body was refused as different";
    holds_if(exchange.code() != Some(-32020), seen, &exchange)?;
    for broken in ["=?base64?bm9@?=", "=?base64?bm8?="] {
        let raw = bench.framed(&message).with("mcp-name", broken);
        let exchange = bench.raw(raw).await;
        holds_for(exchange.code() == Some(-32020), format_args!("{broken:?}"), &exchange)?;
    }
    Ok(())
}

async fn param_header(bench: &mut Bench) -> Outcome {
    let chosen = callable(bench).find_map(|tool| {
        let schema = tool.get("inputSchema")?;
        let mut mirrors = Mirror::all(schema).into_iter();
        let mirror = mirrors.find(|it| it.is_text_of(schema))?;
        let required = schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten();
        let (argument, name) = (mirror.argument()?.to_owned(), tool.get("name")?.clone());
        let is_enough = required.all(|it| it.as_str() == Some(argument.as_str()));
        is_enough.then(|| (name, argument, mirror.header()))
    });
    let wanted = "has a string argument that a header repeats, and no other required argument";
    let (name, argument, header) = chosen.ok_or_else(|| nothing_to_call(wanted))?;
    let arguments = json!({ argument.as_str(): "one" });
    let request = ("tools/call", json!({"name": name, "arguments": arguments}));
    header_mismatch(bench, request, &header, &[Some("another"), None]).await
}

async fn removed(bench: &mut Bench) -> Outcome {
    // A connection that accepts a handshake may serve an older client from then on.
    let mut fresh = bench.fresh().await;
    let exchange = fresh.ask("initialize", handshake(bench.revision.as_str())).await;
    fresh.join(exchange.header("mcp-session-id").map(str::to_owned));
    fresh.end().await;
    let result = exchange.result();
    let version = result.and_then(|it| it.get("protocolVersion"));
    let older = bench.spoken.iter().filter(|it| !it.is_modern()).max();
    let is_taken =
        older.is_some_and(|older| version.and_then(Value::as_str) == Some(older.as_str()));
    // How a handshake is refused is free; best by an error that names the versions.
    holds_for(exchange.code().is_some() || is_taken, "initialize", &exchange)?;
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "test://one"})),
    ] {
        let exchange = bench.ask(method, params).await;
        holds_for(exchange.code() == Some(-32601), method, &exchange)?;
    }
    Ok(())
}

async fn get_and_delete(bench: &mut Bench) -> Outcome {
    let has_sessions = bench.spoken.iter().any(|it| *it < Revision::V2026_07_28);
    for method in [Method::GET, Method::DELETE] {
        let raw = Raw { method: method.clone(), ..bench.get() };
        let exchange = bench.head(raw).await;
        let good = match exchange.status {
            Some(405) => true,
            Some(400 | 404) => has_sessions,
            _ => false,
        };
        holds_for(good, method, &exchange)?;
    }
    Ok(())
}

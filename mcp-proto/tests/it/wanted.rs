//! What a server should answer to each probe that real servers answer differently: status, code, id, and always a
//! JSON-RPC body.

use http::Method;
use serde_json::{Value, json};

use crate::common::{Raw, request, say, service, with_meta};

struct Probe {
    what: &'static str,
    raw: Raw,
    wanted: (u16, i64, Option<Value>),
}

fn probe(
    what: &'static str,
    raw: Raw,
    status: u16,
    code: i64,
    id: impl Into<Option<i64>>,
) -> Probe {
    let id = id.into().map(Value::from);
    Probe { what, raw, wanted: (status, code, id) }
}

fn probes() -> Vec<Probe> {
    let list = || Raw::modern("tools/list", json!({}));
    let body = |text: &str| Raw { body: text.to_owned().into(), ..list() };
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let invalid_utf8 =
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"x\":\"\xff\"}}";
    vec![
        probe("foreign Origin", list().set("origin", "http://evil.example"), 403, -32600, None),
        probe("Origin null", list().set("origin", "null"), 403, -32600, None),
        probe("foreign Host", list().set("host", "evil.example"), 403, -32600, None),
        probe("broken JSON", body("{\"jsonrpc\""), 400, -32700, None),
        probe("empty body", body(""), 400, -32700, None),
        probe(
            "invalid UTF-8",
            Raw { body: invalid_utf8.as_slice().into(), ..list() },
            400,
            -32700,
            None,
        ),
        probe("a string", body("\"hello\""), 400, -32600, None),
        probe("jsonrpc 1.0", body(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#), 400, -32600, 7),
        probe("no jsonrpc", body(r#"{"id":7,"method":"ping"}"#), 400, -32600, 7),
        probe(
            "array params",
            body(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#),
            400,
            -32600,
            7,
        ),
        probe("float id", body(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), 400, -32600, None),
        probe("null id", body(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), 400, -32600, None),
        probe("object id", body(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#), 400, -32600, None),
        probe("number as method", body(r#"{"jsonrpc":"2.0","id":7,"method":1}"#), 400, -32600, 7),
        probe("neither method nor result", body(r#"{"jsonrpc":"2.0","id":7}"#), 400, -32600, 7),
        probe("5000 levels", body(&deep), 400, -32700, None),
        probe(
            "batch",
            body(&json!([request(7, "ping", &json!({}))]).to_string()),
            400,
            -32600,
            None,
        ),
        probe("response", body(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), 400, -32600, 7),
        probe(
            "error response",
            body(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#),
            400,
            -32600,
            7,
        ),
        probe("text/plain", list().set("content-type", "text/plain"), 415, -32600, None),
        probe("no content type", list().unset("content-type"), 415, -32600, None),
        probe("GET without session", Raw::bare(Method::GET), 400, -32600, None),
        probe("DELETE without session", Raw::bare(Method::DELETE), 400, -32600, None),
        probe("PUT", Raw::bare(Method::PUT), 405, -32600, None),
        probe("PATCH", Raw::bare(Method::PATCH), 405, -32600, None),
        probe("HEAD", Raw::bare(Method::HEAD), 405, -32600, None),
        probe("no version header", list().unset("mcp-protocol-version"), 400, -32020, 7),
        probe(
            "another version header",
            list().set("mcp-protocol-version", "2025-11-25"),
            400,
            -32020,
            7,
        ),
        probe("no method header", list().unset("mcp-method"), 400, -32020, 7),
        probe(
            "no name header",
            Raw::modern("tools/call", say("x")).unset("mcp-name"),
            400,
            -32020,
            7,
        ),
        probe("initialize with modern _meta", Raw::modern("initialize", json!({})), 404, -32601, 7),
        probe("ping with modern _meta", Raw::modern("ping", json!({})), 404, -32601, 7),
        probe("unknown method", Raw::modern("bogus/method", json!({})), 404, -32601, 7),
        probe(
            "logging/setLevel",
            Raw::modern("logging/setLevel", json!({"level": "info"})),
            404,
            -32601,
            7,
        ),
        probe("undeclared family", Raw::modern("resources/list", json!({})), 404, -32601, 7),
        probe("unknown tool", Raw::modern("tools/call", json!({"name": "nope"})), 200, -32602, 7),
        probe("call without name", Raw::modern("tools/call", json!({})), 200, -32602, 7),
        probe(
            "arguments that are not an object",
            Raw::modern("tools/call", json!({"name": "echo", "arguments": [1]})),
            200,
            -32602,
            7,
        ),
        probe("unknown cursor", Raw::modern("tools/list", json!({"cursor": "x"})), 200, -32602, 7),
        probe("empty cursor", Raw::modern("tools/list", json!({"cursor": ""})), 200, -32602, 7),
        probe(
            "listen without filter",
            Raw::modern("subscriptions/listen", json!({})),
            200,
            -32602,
            7,
        ),
        probe(
            "listen with a bad filter",
            Raw::modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": 1}})),
            200,
            -32602,
            7,
        ),
        probe(
            "member twice",
            body(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","method":"tools/call"}"#),
            400,
            -32600,
            7,
        ),
        probe(
            "id twice",
            body(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/list"}"#),
            400,
            -32600,
            None,
        ),
        probe(
            "neither era",
            Raw::post(request(7, "tools/list", &json!({})).to_string()),
            400,
            -32600,
            7,
        ),
        probe("unknown session", Raw::legacy("no-such", "tools/list", &json!({})), 404, -32600, 7),
        probe("no _meta", modern_without_meta(&json!({})), 400, -32602, 7),
        probe("_meta no object", modern_without_meta(&json!({"_meta": 1})), 400, -32602, 7),
        probe(
            "no version in _meta",
            modern_lacking("io.modelcontextprotocol/protocolVersion"),
            400,
            -32602,
            7,
        ),
        probe(
            "no capabilities in _meta",
            modern_lacking("io.modelcontextprotocol/clientCapabilities"),
            400,
            -32602,
            7,
        ),
        probe("unknown version", version("2099-01-01"), 400, -32022, 7),
        probe("legacy version in _meta", version("2025-11-25"), 400, -32022, 7),
    ]
}

/// A good request of the modern header but for its params.
fn modern_without_meta(params: &Value) -> Raw {
    Raw {
        body: request(7, "tools/list", params).to_string().into(),
        ..Raw::modern("tools/list", json!({}))
    }
}

fn modern_lacking(key: &str) -> Raw {
    let mut params = with_meta(json!({}));
    params["_meta"].as_object_mut().unwrap().remove(key);
    modern_without_meta(&params)
}

/// Header and body agree on a version.
fn version(version: &str) -> Raw {
    let mut params = with_meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
    modern_without_meta(&params).set("mcp-protocol-version", version)
}

#[tokio::test]
async fn every_probe_gets_its_status_code_and_id() {
    let service = service();
    for probe in probes() {
        let reply = probe.raw.send(&service).await;
        assert_eq!(reply.refusal(), probe.wanted, "{}: {}", probe.what, reply.message());
    }
}

#[tokio::test]
async fn no_answer_uses_a_code_it_must_not() {
    let service = service();
    for probe in probes() {
        let (_, code, _) = probe.raw.send(&service).await.refusal();
        let standard = (-32603..=-32600).contains(&code) || code == -32700;
        assert!(standard || (-32022..=-32020).contains(&code), "{}: {code}", probe.what);
    }
}

#[tokio::test]
async fn refused_methods_name_the_allowed_ones() {
    let reply = Raw::bare(Method::PUT).send(&service()).await;
    assert_eq!(reply.header("allow"), Some("POST, GET, DELETE, OPTIONS"));
}

#[tokio::test]
async fn an_unknown_version_is_told_the_known_ones() {
    let data = version("2099-01-01").send(&service()).await.json()["error"]["data"].clone();
    let known = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
    assert_eq!(data, json!({ "supported": known, "requested": "2099-01-01" }));
    // The sentence stays one, whatever was asked for.
    let reply = version(&"9".repeat(10_000)).send(&service()).await;
    assert_eq!(reply.refusal().1, -32022);
    assert!(reply.message().len() < 200, "{}", reply.message());
}

#[tokio::test]
async fn an_unknown_tool_is_told_the_known_ones() {
    let reply = Raw::modern("tools/call", json!({"name": "nope"})).send(&service()).await;
    assert_eq!(reply.message(), "unknown tool \"nope\"");
    assert_eq!(reply.json()["error"]["data"]["tools"][0], "echo");
}

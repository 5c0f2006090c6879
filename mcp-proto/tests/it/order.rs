//! Two faults at once: which of them is told. The order is host, origin, method, accept, content type, size, JSON,
//! shape, era, `_meta`, version, headers against body, method, params.

use http::Method;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::HttpConfig;
use serde_json::json;

use crate::common::{Raw, request, server, with_meta};

/// What it is, how it spoils a request, and the status and code it gets.
type Fault = (&'static str, fn(Raw) -> Raw, (u16, i64));

/// Each fault makes a good request worse; they are in the order in which they win.
fn faults() -> Vec<Fault> {
    vec![
        ("host", |raw| raw.set("host", "evil.example"), (403, -32600)),
        ("origin", |raw| raw.set("origin", "http://evil.example"), (403, -32600)),
        ("method", |raw| Raw { method: Method::PUT, ..raw }, (405, -32600)),
        ("accept", |raw| raw.set("accept", "text/html"), (406, -32600)),
        ("content type", |raw| raw.set("content-type", "text/plain"), (415, -32600)),
        ("size", |raw| raw.set("content-length", "5000000"), (413, -32600)),
    ]
}

/// Each body is good but for one fault; the header names a method that none of them has.
fn bodies() -> Vec<(&'static str, String, (u16, i64))> {
    let with = |version: &str, method: &str| {
        let mut params = with_meta(json!({"cursor": "x"}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
        request(7, method, &params).to_string()
    };
    vec![
        ("JSON", "{".to_owned(), (400, -32700)),
        ("shape", r#"{"jsonrpc":"2.0","id":7,"method":1}"#.to_owned(), (400, -32600)),
        ("_meta", request(7, "bogus", &json!({})).to_string(), (400, -32602)),
        ("version", with("2099-01-01", "bogus"), (400, -32022)),
        ("headers", with("2026-07-28", "bogus"), (400, -32020)),
    ]
}

#[tokio::test]
async fn of_two_faults_in_the_headers_the_earlier_is_told() {
    let service = StreamableHttpService::with_config(server(), HttpConfig::default());
    let faults = faults();
    for (index, (first, spoil_first, wanted)) in faults.iter().enumerate() {
        for (second, spoil_second, _) in &faults[index..] {
            let raw = spoil_second(spoil_first(Raw::modern("tools/list", json!({}))));
            let (status, code, _) = raw.send(&service).await.refusal();
            assert_eq!((status, code), *wanted, "{first} and {second}");
        }
    }
}

#[tokio::test]
async fn faults_of_the_headers_win_over_those_of_the_body() {
    let service = StreamableHttpService::new(server());
    for (head, spoil, wanted) in faults() {
        for (body, text, _) in bodies() {
            let raw = Raw { body: text.into(), ..Raw::modern("tools/list", json!({})) };
            let (status, code, _) = spoil(raw).send(&service).await.refusal();
            assert_eq!((status, code), wanted, "{head} and {body}");
        }
    }
}

#[tokio::test]
async fn faults_of_the_body_win_in_their_order() {
    let service = StreamableHttpService::new(server());
    for (fault, text, wanted) in bodies() {
        let mut raw = Raw { body: text.into(), ..Raw::modern("tools/list", json!({})) };
        if fault == "version" {
            // The header agrees on it; the one of the method does not.
            raw = raw.set("mcp-protocol-version", "2099-01-01");
        }
        let (status, code, _) = raw.send(&service).await.refusal();
        assert_eq!((status, code), wanted, "{fault}");
    }
    // Headers that agree with the body on an unknown method: now the method is told.
    let raw = Raw::modern("bogus", json!({"cursor": "x"}));
    let (status, code, _) = raw.send(&service).await.refusal();
    assert_eq!((status, code), (404, -32601));
}

#[tokio::test]
async fn an_unknown_version_is_told_unless_the_header_names_another() {
    let mut params = with_meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let body = request(7, "tools/list", &params).to_string();
    let raw = || Raw { body: body.clone().into(), ..Raw::modern("tools/list", json!({})) };
    let service = StreamableHttpService::new(server());
    let reply = raw().send(&service).await;
    assert_eq!((reply.status.as_u16(), reply.refusal().1), (400, -32020));
    let agreed = raw().set("mcp-protocol-version", "2099-01-01");
    let reply = agreed.send(&service).await;
    assert_eq!((reply.status.as_u16(), reply.refusal().1), (400, -32022));
    assert_eq!(reply.json()["error"]["data"]["requested"], "2099-01-01");
}

#[tokio::test]
async fn initialize_without_meta_is_the_handshake_whatever_the_headers_say() {
    let service = StreamableHttpService::new(server());
    for version in ["2026-07-28", "2099-01-01", "1999-01-01", "nonsense"] {
        let raw = Raw::initialize("2025-06-18")
            .set("mcp-protocol-version", version)
            .set("mcp-session-id", "no-such");
        let reply = raw.send(&service).await;
        assert_eq!(reply.result()["protocolVersion"], "2025-06-18", "{version}");
        assert!(reply.header("mcp-session-id").is_some());
    }
}

#[tokio::test]
async fn a_modern_request_needs_no_session_and_gets_none() {
    let service = StreamableHttpService::new(server());
    let raw = Raw::modern("tools/list", json!({})).set("mcp-session-id", "no-such");
    let reply = raw.send(&service).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("mcp-session-id"), None);
}

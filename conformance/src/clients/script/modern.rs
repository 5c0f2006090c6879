//! Servers of 2026-07-28 alone.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::super::seen::{META_VERSION, ReceivedRequest};
use super::{MODERN, QUESTION, Reply, STATE, TOOL, UNUSABLE, called, tool};
use crate::json::put;

/// The member of `_meta` with a client's capabilities.
pub(in super::super) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub(super) fn reply(scene: Scene, request: &ReceivedRequest) -> Reply {
    if request.method != Method::POST {
        return Reply::status(StatusCode::METHOD_NOT_ALLOWED);
    }
    let refused = |code, message| Reply::error(request, StatusCode::BAD_REQUEST, code, message);
    let unsupported = |version: &str| {
        let data = json!({ "supported": [MODERN], "requested": version });
        refused(-32022, "Unsupported protocol version").with_data(data)
    };
    if request.message.is_none() {
        return refused(-32700, "not JSON");
    }
    match request.meta(META_VERSION).and_then(Value::as_str) {
        Some(MODERN) => {}
        Some(other) => return unsupported(other),
        None if request.rpc() == Some("initialize") => {
            let asked = request.param("protocolVersion").and_then(Value::as_str);
            return unsupported(asked.unwrap_or_default());
        }
        None => return refused(-32602, "_meta has no protocol version"),
    }
    if request.id().is_none() {
        return Reply::status(StatusCode::ACCEPTED);
    }
    match request.rpc() {
        Some("server/discover") => complete(
            request,
            json!({ "supportedVersions": [MODERN], "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" }),
        ),
        Some("tools/list") => {
            complete(request, json!({ "tools": tools(), "ttlMs": 0, "cacheScope": "private" }))
        }
        Some("tools/call") if scene == Scene::Asks && request.param("requestState").is_none() => {
            asks(request)
        }
        Some("tools/call") => complete(request, called()),
        _ => Reply::error(request, StatusCode::NOT_FOUND, -32601, "Method not found"),
    }
}

fn tools() -> Value {
    let text = json!({ "type": "string" });
    json!([
        tool(
            TOOL,
            &json!({ "text": text, "region": { "type": "string", "x-mcp-header": "Region" } })
        ),
        tool(UNUSABLE, &json!({ "text": { "type": "string", "x-mcp-header": "no token" } })),
    ])
}

/// A result that needs input: a form where the client can show one, and the state alone otherwise.
fn asks(request: &ReceivedRequest) -> Reply {
    let mut result = json!({ "resultType": "input_required", "requestState": STATE });
    let can = request.meta(META_CAPABILITIES).and_then(|it| it.get("elicitation"));
    if can.is_some() {
        let form = json!({
            "mode": "form",
            "message": "Who are you?",
            "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
        });
        let question = json!({ "method": "elicitation/create", "params": form });
        put(&mut result, "inputRequests", json!({ QUESTION: question }));
    }
    Reply::result(request, &result)
}

fn complete(request: &ReceivedRequest, mut result: Value) -> Reply {
    put(&mut result, "resultType", "complete");
    let server = json!({ "name": "client-check", "version": "1.0.0" });
    put(&mut result, "_meta", json!({ "io.modelcontextprotocol/serverInfo": server }));
    Reply::result(request, &result)
}

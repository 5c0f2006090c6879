//! Servers of 2026-07-28 alone.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::super::seen::{Heard, META_VERSION};
use super::{MODERN, QUESTION, Reply, STATE, TOOL, UNUSABLE, called, tool};

/// The member of `_meta` with a client's capabilities.
pub(in super::super) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub(super) fn reply(scene: Scene, heard: &Heard) -> Reply {
    if heard.method != Method::POST {
        return Reply::status(StatusCode::METHOD_NOT_ALLOWED);
    }
    let refused =
        |code, message, data| Reply::error(heard, StatusCode::BAD_REQUEST, code, message, data);
    if heard.message.is_none() {
        return refused(-32700, "not JSON", Value::Null);
    }
    match heard.meta(META_VERSION).and_then(Value::as_str) {
        Some(MODERN) => {}
        Some(other) => return refused(-32022, "Unsupported protocol version", versions(other)),
        None if heard.rpc() == Some("initialize") => {
            let asked = heard.param("protocolVersion").and_then(Value::as_str);
            return refused(
                -32022,
                "Unsupported protocol version",
                versions(asked.unwrap_or_default()),
            );
        }
        None => return refused(-32602, "_meta has no protocol version", Value::Null),
    }
    if heard.id().is_none() {
        return Reply::status(StatusCode::ACCEPTED);
    }
    match heard.rpc() {
        Some("server/discover") => complete(
            heard,
            json!({ "supportedVersions": [MODERN], "capabilities": { "tools": {} }, "ttlMs": 0, "cacheScope": "private" }),
        ),
        Some("tools/list") => complete(
            heard,
            json!({ "tools": tools(), "ttlMs": 0, "cacheScope": "private" }),
        ),
        Some("tools/call") if scene == Scene::Asks && heard.param("requestState").is_none() => {
            asks(heard)
        }
        Some("tools/call") => complete(heard, called()),
        _ => Reply::error(
            heard,
            StatusCode::NOT_FOUND,
            -32601,
            "Method not found",
            Value::Null,
        ),
    }
}

fn versions(requested: &str) -> Value {
    json!({ "supported": [MODERN], "requested": requested })
}

fn tools() -> Value {
    let text = json!({ "type": "string" });
    json!([
        tool(
            TOOL,
            &json!({ "text": text, "region": { "type": "string", "x-mcp-header": "Region" } })
        ),
        tool(
            UNUSABLE,
            &json!({ "text": { "type": "string", "x-mcp-header": "no token" } })
        ),
    ])
}

/// A result that needs input: a form where the client can show one, and the state alone otherwise.
fn asks(heard: &Heard) -> Reply {
    let mut result = json!({ "resultType": "input_required", "requestState": STATE });
    let can = heard
        .meta(META_CAPABILITIES)
        .and_then(|it| it.get("elicitation"));
    if let (Some(_), Some(members)) = (can, result.as_object_mut()) {
        let form = json!({
            "mode": "form",
            "message": "Who are you?",
            "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
        });
        let question = json!({ "method": "elicitation/create", "params": form });
        members.insert("inputRequests".to_owned(), json!({ QUESTION: question }));
    }
    Reply::result(heard, &result)
}

fn complete(heard: &Heard, mut result: Value) -> Reply {
    if let Some(members) = result.as_object_mut() {
        members.insert("resultType".to_owned(), json!("complete"));
        let server = json!({ "name": "client-check", "version": "1.0.0" });
        members.insert(
            "_meta".to_owned(),
            json!({ "io.modelcontextprotocol/serverInfo": server }),
        );
    }
    Reply::result(heard, &result)
}

//! What the servers say: their answers to each request, by the scene.

mod legacy;
pub(super) mod modern;

use std::net::SocketAddr;

use http::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;
use super::seen::ReceivedRequest;
use crate::json::put;

/// The tool that every scene has.
pub(super) const TOOL: &str = "probe";
/// The tool in an answer that no request asked for.
pub(super) const TRAP: &str = "trap";
/// The tool that clients must drop for its annotations.
pub(super) const UNUSABLE: &str = "unusable";
/// Names the second page; nothing that a client could make up.
pub(super) const CURSOR: &str = "seite 2/ä?==";
/// What a request is made again with: nothing that a client could make up.
pub(super) const STATE: &str = "zu\u{7e}stand \"é\"/+==";
/// The key of the question in a result.
pub(super) const QUESTION: &str = "who are you?";
/// Names the event after which a stream broke off.
pub(super) const EVENT: &str = "ev-1/a";
/// The revision of the servers with a handshake.
pub(super) const LEGACY: &str = "2025-11-25";
/// The revision of the servers without one.
pub(super) const MODERN: &str = "2026-07-28";

/// What a server remembers while it plays.
#[derive(Debug, Default)]
pub(super) struct State {
    /// How many sessions were opened.
    pub(super) sessions: usize,
    /// Whether the session that was forgotten once is.
    pub(super) forgotten: bool,
    /// The answer to the call whose stream broke off.
    pub(super) owed: Option<Value>,
    /// How many answers of the client have come.
    pub(super) answers: usize,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Nothing,
    Json(Value),
    Raw(Vec<u8>),
    Events(Vec<StreamPart>),
    Endless,
}

/// A part of an event stream, written at once.
#[derive(Debug)]
pub(super) struct StreamPart {
    pub(super) bytes: Vec<u8>,
    /// Not before this many answers of the client.
    pub(super) after: Option<usize>,
}

/// The answer to a request. `elsewhere` is another origin.
pub(super) fn reply(
    scene: Scene,
    elsewhere: SocketAddr,
    state: &mut State,
    request: &ReceivedRequest,
) -> Reply {
    match scene {
        Scene::Redirects => Reply {
            headers: vec![("location", format!("http://{elsewhere}/mcp"))],
            ..Reply::status(StatusCode::TEMPORARY_REDIRECT)
        },
        _ if scene.is_modern() => modern::reply(scene, request),
        _ => legacy::reply(scene, state, request),
    }
}

impl Reply {
    pub(super) fn status(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), content: Content::Nothing }
    }

    fn json(status: StatusCode, message: Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            content: Content::Json(message),
        }
    }

    fn result(request: &ReceivedRequest, result: &Value) -> Self {
        Self::json(StatusCode::OK, answer(request, result))
    }

    fn error(request: &ReceivedRequest, status: StatusCode, code: i64, message: &str) -> Self {
        let id = request.id().cloned().unwrap_or_default();
        let error = json!({ "code": code, "message": message });
        Self::json(status, json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }

    /// The same error with these data.
    fn with_data(mut self, data: Value) -> Self {
        if let Content::Json(message) = &mut self.content
            && let Some(error) = message.get_mut("error")
        {
            put(error, "data", data);
        }
        self
    }

    fn events(parts: Vec<StreamPart>) -> Self {
        Self {
            status: StatusCode::OK,
            headers: vec![("content-type", "text/event-stream".to_owned())],
            content: Content::Events(parts),
        }
    }

    /// As reports show it.
    pub(super) fn shown(&self) -> String {
        match &self.content {
            Content::Nothing => String::new(),
            Content::Json(message) => message.to_string(),
            Content::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Content::Events(parts) => {
                let all = parts.iter().flat_map(|part| part.bytes.iter().copied());
                String::from_utf8_lossy(&all.collect::<Vec<u8>>()).into_owned()
            }
            Content::Endless => "data: xxxx… (without an end)".to_owned(),
        }
    }
}

impl StreamPart {
    fn of(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), after: None }
    }

    /// An event with one message.
    fn message(message: &Value) -> Self {
        Self::of(format!("data: {message}\n\n"))
    }
}

/// The message that answers a request.
fn answer(request: &ReceivedRequest, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request.id(), "result": result })
}

/// A tool as lists have it.
fn tool(name: &str, properties: &Value) -> Value {
    json!({
        "name": name,
        "description": "Prüft, was Clients schicken.",
        "inputSchema": { "type": "object", "properties": properties },
        "annotations": { "readOnlyHint": true },
    })
}

fn plain_tool(name: &str) -> Value {
    tool(name, &json!({ "text": { "type": "string" } }))
}

/// What a tool answers.
fn called() -> Value {
    json!({ "content": [{ "type": "text", "text": "grüß dich" }] })
}

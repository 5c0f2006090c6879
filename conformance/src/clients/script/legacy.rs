//! Servers of 2025-11-25, with sessions.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::super::seen::ReceivedRequest;
use super::{
    CURSOR, Content, EVENT, LEGACY, Reply, State, StreamPart, TOOL, TRAP, answer, called,
    plain_tool,
};

/// An unknown revision.
const UNSPOKEN: &str = "1999-01-01";

pub(super) fn reply(scene: Scene, state: &mut State, request: &ReceivedRequest) -> Reply {
    match request.method {
        Method::POST => post(scene, state, request),
        Method::DELETE if in_session(state, request) => Reply::status(StatusCode::OK),
        Method::GET if request.header("last-event-id") == Some(EVENT) => match state.owed.take() {
            Some(owed) => Reply::events(vec![StreamPart::message(&owed)]),
            None => Reply::status(StatusCode::METHOD_NOT_ALLOWED),
        },
        _ => Reply::status(StatusCode::METHOD_NOT_ALLOWED),
    }
}

fn session(state: &State) -> String {
    format!("session-{}-!~", state.sessions)
}

fn in_session(state: &State, request: &ReceivedRequest) -> bool {
    request.header("mcp-session-id") == Some(session(state).as_str())
}

fn post(scene: Scene, state: &mut State, request: &ReceivedRequest) -> Reply {
    if request.message.is_none() {
        return Reply::error(request, StatusCode::BAD_REQUEST, -32700, "not JSON");
    }
    if request.rpc() == Some("initialize") {
        state.sessions += 1;
        let version = match scene {
            Scene::Unspoken => UNSPOKEN,
            _ => LEGACY,
        };
        let result = json!({
            "protocolVersion": version,
            "capabilities": { "tools": {} },
            "serverInfo": { "name": scene.name(), "version": "1.0.0" },
        });
        let mut reply = respond(scene, request, &result);
        reply.headers.push(("mcp-session-id", session(state)));
        return reply;
    }
    // So do servers that know nothing of revisions without sessions.
    if !in_session(state, request) {
        let message = "Bad Request: no valid session id";
        return match request.header("mcp-session-id") {
            Some(_) => lost(request),
            None => Reply::error(request, StatusCode::BAD_REQUEST, -32000, message),
        };
    }
    if request.id().is_none() || request.is_response() {
        return Reply::status(StatusCode::ACCEPTED);
    }
    if scene == Scene::Forgets && request.rpc() == Some("tools/call") && !state.forgotten {
        // The current session is lost.
        state.forgotten = true;
        state.sessions += 1;
        return lost(request);
    }
    match request.rpc() {
        Some("ping") => respond(scene, request, &json!({})),
        Some("tools/list") => list(scene, request),
        Some("tools/call") => call(scene, state, request),
        _ => Reply::error(request, StatusCode::OK, -32601, "Method not found"),
    }
}

/// The refusal of a session that the server does not know.
fn lost(request: &ReceivedRequest) -> Reply {
    Reply::error(request, StatusCode::NOT_FOUND, -32001, "Session not found")
}

fn list(scene: Scene, request: &ReceivedRequest) -> Reply {
    let page = match request.param("cursor") {
        None => json!({ "tools": [plain_tool("first")], "nextCursor": CURSOR }),
        Some(cursor) if cursor == CURSOR => json!({ "tools": [plain_tool(TOOL)] }),
        Some(_) => {
            return Reply::error(request, StatusCode::OK, -32602, "Unknown cursor");
        }
    };
    let whole = json!({ "tools": [plain_tool(TOOL)] });
    match scene {
        Scene::Legacy => Reply::result(request, &page),
        Scene::WrongId => {
            let trap = json!({ "tools": [plain_tool(TRAP)] });
            let trap = json!({ "jsonrpc": "2.0", "id": "not-yours", "result": trap });
            Reply::events(vec![
                StreamPart::message(&trap),
                StreamPart::message(&answer(request, &whole)),
            ])
        }
        Scene::Endless => Reply { content: Content::Endless, ..Reply::events(Vec::new()) },
        Scene::Garbage => Reply {
            content: Content::Raw(
                b"{\"jsonrpc\":\"2.0\",\"result\":{\"tools\":[\"\xff\xfe".to_vec(),
            ),
            ..Reply::json(StatusCode::OK, Value::Null)
        },
        _ => respond(scene, request, &whole),
    }
}

fn call(scene: Scene, state: &mut State, request: &ReceivedRequest) -> Reply {
    match scene {
        Scene::Streams => {
            let ping = json!({ "jsonrpc": "2.0", "id": "srv-1", "method": "ping" });
            let unknown = json!({ "jsonrpc": "2.0", "id": 7, "method": "x/unknown", "params": {} });
            let news = json!({ "jsonrpc": "2.0", "method": "notifications/x-unknown" });
            let mut last = StreamPart::message(&answer(request, &called()));
            last.after = Some(state.answers + 2);
            Reply::events(vec![
                StreamPart::message(&ping),
                StreamPart::message(&news),
                StreamPart::message(&unknown),
                last,
            ])
        }
        Scene::Breaks if state.owed.is_none() => {
            state.owed = Some(answer(request, &called()));
            Reply::events(vec![StreamPart::of(format!("id: {EVENT}\nretry: 20\ndata:\n\n"))])
        }
        _ => respond(scene, request, &called()),
    }
}

/// A result, in JSON or as an event stream with everything that such a stream may have.
fn respond(scene: Scene, request: &ReceivedRequest, result: &Value) -> Reply {
    if scene != Scene::Streams {
        return Reply::result(request, result);
    }
    let text = answer(request, result).to_string();
    // A message may be on several lines, where JSON has room for their ends.
    let data = text.replacen(',', ",\r\ndata: ", 2);
    let event = format!(": welcome\r\n\r\nevent: message\r\nid: e\r\ndata:{data}\r\n\r\n");
    // Two parts that meet within a character, where there is one of several bytes.
    let middle = event.find('ü').map_or(event.len() / 2, |at| at + 1);
    let (first, second) = event.as_bytes().split_at(middle);
    Reply::events(vec![StreamPart::of(first), StreamPart::of(second)])
}

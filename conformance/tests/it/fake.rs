//! A stand-in for the universe server, just enough of it to develop transcripts against.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use mcp_conformance::Target;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Body = UnsyncBoxBody<Bytes, Infallible>;

#[derive(Default)]
struct World {
    universes: BTreeMap<String, Universe>,
    sessions: BTreeMap<String, Option<UnboundedSender<String>>>,
    next: u64,
}

struct Universe {
    name: String,
    state: Value,
    revision: u64,
    listeners: Vec<UnboundedSender<String>>,
}

pub(crate) fn target(fixture: Option<&str>) -> Target {
    let world = Arc::new(Mutex::new(World::default()));
    let fixture = fixture.map(str::to_owned);
    Target::in_process(move |request: Request<Full<Bytes>>| {
        let (world, fixture) = (world.clone(), fixture.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            Ok::<_, Infallible>(
                world
                    .lock()
                    .unwrap()
                    .answer(&head, &body, fixture.as_deref()),
            )
        }
    })
}

fn reply(status: u16, body: &Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Full::from(body.to_string()).boxed_unsync())
        .unwrap()
}

fn empty(status: u16) -> Response<Body> {
    Response::builder()
        .status(status)
        .body(Full::default().boxed_unsync())
        .unwrap()
}

fn sse(receiver: UnboundedReceiver<String>) -> Response<Body> {
    let frames = stream::unfold(receiver, |mut receiver| async {
        let text = receiver.recv().await?;
        Some((Ok(http_body::Frame::data(Bytes::from(text))), receiver))
    });
    let body = StreamBody::new(frames).boxed_unsync();
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(body)
        .unwrap()
}

fn not_found(id: &str) -> Value {
    json!({"code": "UNIVERSE_NOT_FOUND", "message": format!("universe not found: {id}"), "data": {"universeId": id}})
}

fn tool_ok(value: &Value) -> Value {
    json!({"content": [{"type": "text", "text": value.to_string()}], "structuredContent": value})
}

fn tool_error(error: &Value) -> Value {
    let value = json!({"error": error});
    json!({"content": [{"type": "text", "text": value.to_string()}], "structuredContent": value, "isError": true})
}

const CATEGORIES: &[(&str, &[&str])] = &[
    ("Simulation", &["tick"]),
    ("Star CRUD", &["addStar", "updateStar", "removeStar"]),
    ("Star hierarchy", &["attachStar", "detachStar"]),
    ("Group CRUD", &["addGroup", "updateGroup", "removeGroup"]),
    (
        "Group hierarchy",
        &["addToGroup", "removeFromGroup", "moveToGroup"],
    ),
    (
        "Small body fields",
        &[
            "setSmallBodyFields",
            "updateSmallBodyField",
            "removeSmallBodyField",
        ],
    ),
    (
        "Protoplanetary disks",
        &[
            "setProtoplanetaryDisks",
            "addProtoplanetaryDisk",
            "updateProtoplanetaryDisk",
            "removeProtoplanetaryDisk",
        ],
    ),
    ("Nebulae", &["setNebulae", "updateNebula", "removeNebula"]),
    ("Rings", &["updateRing", "removeRing"]),
    ("Snapshot", &["replaceSnapshot"]),
];

enum Outcome {
    Done(Value),
    Malformed(String),
    Refused(Value),
    Broken,
}

impl World {
    fn answer(
        &mut self,
        head: &http::request::Parts,
        body: &[u8],
        fixture: Option<&str>,
    ) -> Response<Body> {
        let path = head.uri.path().to_owned();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let json_body = || serde_json::from_slice::<Value>(body).unwrap_or_default();
        match (&head.method, parts.as_slice()) {
            (_, ["mcp"]) => self.mcp(head, &json_body(), fixture),
            (&Method::GET, ["health"]) => reply(200, &json!({"ok": true, "uptime": 1})),
            (&Method::GET, ["universes"]) => {
                let all: Vec<Value> = self.universes.keys().map(|id| self.record(id)).collect();
                reply(200, &all.into())
            }
            (&Method::POST, ["universes"]) => {
                let body = json_body();
                let name = body["name"].as_str().unwrap_or_default().trim().to_owned();
                if name.is_empty() {
                    return reply(400, &json!({"error": "name must not be blank"}));
                }
                self.next += 1;
                let id = format!("f-{}", self.next);
                let universe = Universe {
                    name,
                    state: body["state"].clone(),
                    revision: 0,
                    listeners: Vec::new(),
                };
                self.universes.insert(id.clone(), universe);
                reply(201, &self.record(&id))
            }
            (_, ["universes", id, ..]) if !self.universes.contains_key(*id) => {
                reply(404, &json!({"error": format!("universe not found: {id}")}))
            }
            (&Method::GET, ["universes", id]) => reply(200, &self.record(id)),
            (&Method::PUT, ["universes", id]) => {
                self.universes.get_mut(*id).unwrap().name =
                    json_body()["name"].as_str().unwrap().to_owned();
                reply(200, &self.record(id))
            }
            (&Method::DELETE, ["universes", id]) => {
                for listener in &self.universes.remove(*id).unwrap().listeners {
                    let _ = listener.send("event: deleted\ndata: {}\n\n".to_owned());
                }
                empty(204)
            }
            (&Method::GET, ["universes", id, "events"]) => {
                let (sender, receiver) = unbounded_channel();
                let _ = sender.send(":connected\n\n".to_owned());
                self.universes.get_mut(*id).unwrap().listeners.push(sender);
                sse(receiver)
            }
            (&Method::POST, ["universes", id, "commands"]) => {
                match self.process(id, &json_body(), fixture) {
                    Outcome::Done(result) => reply(200, &result),
                    Outcome::Malformed(error) => reply(400, &json!({"error": error})),
                    Outcome::Refused(event) => {
                        reply(422, &json!({"error": "refused", "events": [event]}))
                    }
                    Outcome::Broken => reply(500, &json!({"error": "internal server error"})),
                }
            }
            _ => reply(404, &json!({"error": "no such path"})),
        }
    }

    fn record(&self, id: &str) -> Value {
        let universe = &self.universes[id];
        let time = "2026-01-01T00:00:00.000Z";
        json!({"id": id, "name": universe.name, "state": universe.state, "createdAt": time, "updatedAt": time})
    }

    fn process(&mut self, id: &str, command: &Value, fixture: Option<&str>) -> Outcome {
        let universe = self.universes.get_mut(id).unwrap();
        let mut state = universe.state.clone();
        let mut events = Vec::new();
        match command["type"].as_str() {
            Some("tick") => {
                let dt = command.get("dt").cloned().unwrap_or(json!(1));
                let Some(dt) = dt.as_f64() else {
                    return Outcome::Malformed("dt is not a number".into());
                };
                if fixture.is_some() && dt == 666.0 {
                    return Outcome::Broken;
                }
                state["time"] = json!(state["time"].as_f64().unwrap() + dt);
            }
            Some("addStar") => {
                let (Some(star), Some(mut payload)) = (
                    command["id"].as_str(),
                    command["payload"].as_object().cloned(),
                ) else {
                    return Outcome::Malformed("id and payload are required".into());
                };
                payload.insert("id".into(), star.into());
                payload.insert("children".into(), json!([]));
                state["stars"][star] = payload.into();
                state["rootIds"].as_array_mut().unwrap().push(star.into());
                events.push(json!({"type": "starAdded", "id": star}));
            }
            Some("removeStar") => {
                return Outcome::Refused(json!({"type": "starNotFound", "id": command["id"]}));
            }
            _ => return Outcome::Malformed("type is not a known command".into()),
        }
        universe.state = state.clone();
        universe.revision += 1;
        let frame = format!(
            "event: command\nid: {}\ndata: {command}\n\n",
            universe.revision
        );
        universe
            .listeners
            .retain(|listener| listener.send(frame.clone()).is_ok());
        Outcome::Done(json!({"nextState": state, "events": events}))
    }

    fn mcp(
        &mut self,
        head: &http::request::Parts,
        message: &Value,
        fixture: Option<&str>,
    ) -> Response<Body> {
        let header = |name: &str| {
            head.headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        let id = &message["id"];
        let refusal = |status, text: &str| {
            reply(
                status,
                &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": text}}),
            )
        };
        let modern = message["params"]["_meta"]
            .get("io.modelcontextprotocol/protocolVersion")
            .is_some();
        let session = header("mcp-session-id");
        let method = message["method"].as_str().unwrap_or_default();
        if !matches!(head.method, Method::GET | Method::POST | Method::DELETE) {
            return refusal(405, "method not allowed");
        }
        if !modern && method != "initialize" {
            match &session {
                None => return refusal(400, "a session id is needed"),
                Some(id) if !self.sessions.contains_key(id) => {
                    return refusal(404, "unknown session");
                }
                Some(_) => {}
            }
        }
        match head.method {
            Method::GET => {
                let slot = self.sessions.get_mut(&session.unwrap()).unwrap();
                if slot.as_ref().is_some_and(|sender| !sender.is_closed()) {
                    return refusal(409, "the session has a stream already");
                }
                let (sender, receiver) = unbounded_channel();
                *slot = Some(sender);
                return sse(receiver);
            }
            Method::DELETE => {
                self.sessions.remove(&session.unwrap());
                return empty(204);
            }
            _ => {}
        }
        if method == "subscriptions/listen" {
            let (sender, receiver) = unbounded_channel();
            let ack = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}});
            let _ = sender.send(format!("data: {ack}\n\n"));
            self.sessions
                .insert(format!("listen-{}", self.next), Some(sender));
            self.next += 1;
            return sse(receiver);
        }
        if id.is_null() {
            return empty(202);
        }
        let mut result = match method {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "fake", "version": "0"}}),
            "server/discover" => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            }
            "ping" => json!({}),
            "tools/list" => tools(),
            _ => self.call(&message["params"], fixture),
        };
        if modern {
            result["resultType"] = "complete".into();
            result["_meta"] =
                json!({"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "0"}});
        }
        let mut response = reply(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}));
        if method == "initialize" {
            self.next += 1;
            let session = format!("session-{}", self.next);
            response
                .headers_mut()
                .insert("mcp-session-id", session.parse().unwrap());
            self.sessions.insert(session, None);
        }
        response
    }

    fn call(&mut self, params: &Value, fixture: Option<&str>) -> Value {
        let arguments = &params["arguments"];
        let findings =
            |text: &str| tool_error(&json!({"code": "INVALID_ARGUMENTS", "message": text}));
        let Some(id) = arguments["universeId"].as_str() else {
            return findings("/universeId: a string is required");
        };
        if params["name"] == "send_universe_command" && !arguments["command"]["type"].is_string() {
            return findings("/command/type: a string is required");
        }
        if !self.universes.contains_key(id) {
            return tool_error(&not_found(id));
        }
        match params["name"].as_str().unwrap() {
            "get_universe_state" => tool_ok(&self.universes[id].state),
            "list_universe_commands" => {
                let listing: serde_json::Map<_, _> = CATEGORIES
                    .iter()
                    .map(|(name, types)| ((*name).to_owned(), json!(types)))
                    .collect();
                tool_ok(&listing.into())
            }
            _ => match self.process(id, &arguments["command"], fixture) {
                Outcome::Done(result) => tool_ok(&result),
                Outcome::Malformed(text) => {
                    tool_error(&json!({"code": "MALFORMED_COMMAND", "message": text}))
                }
                Outcome::Refused(event) => tool_error(&json!({
                    "code": "REFUSED", "message": format!("universe {id} refused it"), "data": {"events": [event]}})),
                Outcome::Broken => tool_error(&json!({
                    "code": "INTERNAL", "message": format!("the command could not be processed in universe {id}")})),
            },
        }
    }
}

fn tools() -> Value {
    let id = json!({"type": "string"});
    let plain =
        json!({"type": "object", "properties": {"universeId": id}, "required": ["universeId"]});
    let command =
        json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]});
    json!({"tools": [
        {"name": "get_universe_state", "description": "Reads.", "inputSchema": plain},
        {"name": "list_universe_commands", "description": "Lists.", "inputSchema": plain},
        {"name": "send_universe_command", "description": "Sends.", "inputSchema": {"type": "object",
            "properties": {"universeId": id, "command": command}, "required": ["universeId", "command"]}},
    ]})
}

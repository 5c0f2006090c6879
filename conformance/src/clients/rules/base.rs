//! JSON-RPC and the transport, in every scene.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::rule::Judge::All;
use super::super::rule::{ClientRule, each, finding, last, never};
use super::super::scene::Scene;
use super::super::seen::{Ended, ReceivedRequest, Runs, SceneRun};
use super::{CALM, MUST, PRACTICE, posts};
use crate::check::{Outcome, applies};

pub(super) const RULES: &[ClientRule] = &[
    ClientRule {
        id: "client.speaks",
        level: MUST,
        section: "Lifecycle; Discovery",
        title: "The client connects and requests the list of tools",
        fix: "connect to the given URL, and list the tools",
        scenes: CALM,
        judge: All(speaks),
    },
    ClientRule {
        id: "client.frame",
        level: MUST,
        section: "Base protocol, Messages",
        title: "A message is one JSON object with jsonrpc \"2.0\" and a method, or a result or an error",
        fix: "send each message by itself, as {\"jsonrpc\":\"2.0\",…}",
        scenes: &Scene::ALL,
        judge: All(|runs| each(posts(runs), NOTHING, frame)),
    },
    ClientRule {
        id: "client.request-id",
        level: MUST,
        section: "Base protocol, Requests",
        title: "The id of a request is a string or an integer that was not used before in the session",
        fix: "increment ids, and never use one twice",
        scenes: &Scene::ALL,
        judge: All(request_id),
    },
    ClientRule {
        id: "client.accept",
        level: MUST,
        section: "Transports, Streamable HTTP, Sending messages",
        title: "Each POST accepts application/json and text/event-stream",
        fix: "send Accept: application/json, text/event-stream",
        scenes: &Scene::ALL,
        judge: All(|runs| each(posts(runs), NOTHING, accept)),
    },
    ClientRule {
        id: "client.content-type",
        level: PRACTICE,
        section: "Transports, Streamable HTTP",
        title: "Each POST has the content type application/json",
        fix: "send Content-Type: application/json",
        scenes: &Scene::ALL,
        judge: All(|runs| each(posts(runs), NOTHING, content_type)),
    },
    ClientRule {
        id: "client.ends",
        level: PRACTICE,
        section: "Lifecycle, Shutdown",
        title: "The client exits when its work is done",
        fix: "close the session, and everything that keeps the program running, such as streams and timers",
        scenes: CALM,
        judge: All(ends),
    },
];

const NOTHING: &str = "the client sent no message";

fn speaks(runs: &Runs) -> Outcome {
    let calm = || CALM.iter().filter_map(|scene| runs.of(*scene));
    if calm().any(|seen| seen.calls("tools/list").next().is_some()) {
        return Ok(());
    }
    let request = calm().flat_map(|seen| seen.requests.last()).last();
    let seen = "the client never requested tools/list; this is its last request";
    last(request, seen, "the client sent no request")
}

fn frame(request: &ReceivedRequest) -> Option<String> {
    let Some(message) = &request.message else {
        return Some("the body is not JSON".to_owned());
    };
    if message.is_array() {
        return Some("several messages in one body".to_owned());
    }
    let is_message = message.get("jsonrpc") == Some(&json!("2.0"))
        && (message.get("method").is_some_and(Value::is_string) || request.is_response());
    if !is_message {
        return Some("the body is not a JSON-RPC 2.0 message".to_owned());
    }
    let params = message.get("params");
    params.is_some_and(|it| !it.is_object()).then(|| "params is not an object".to_owned())
}

fn request_id(runs: &Runs) -> Outcome {
    let mut any = false;
    for (_, seen) in runs.all() {
        let mut used = HashSet::new();
        for request in seen.requests.iter().filter(|request| request.rpc().is_some()) {
            let Some(id) = request.id() else { continue };
            any = true;
            if !(id.is_string() || id.is_i64() || id.is_u64()) {
                return finding(format!("the id is {id}"), request);
            }
            let session = request.header("mcp-session-id").unwrap_or_default();
            if !used.insert((session.to_owned(), id.to_string())) {
                return finding(format!("the id {id} was used before in this session"), request);
            }
        }
    }
    applies(any, "the client sent no request")
}

fn accept(request: &ReceivedRequest) -> Option<String> {
    let values = request.headers.get_all("accept").iter();
    let text: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    let text = text.join(",").to_ascii_lowercase();
    let has = |wanted: &str| text.split(',').any(|it| media(it) == wanted);
    let both = has("application/json") && has("text/event-stream");
    (!both).then(|| format!("Accept is {text:?}"))
}

fn content_type(request: &ReceivedRequest) -> Option<String> {
    let given = request.header("content-type").unwrap_or_default();
    let is_json = media(given).eq_ignore_ascii_case("application/json");
    (!is_json).then(|| format!("Content-Type is {given:?}"))
}

/// A media type without its parameters.
fn media(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

fn ends(runs: &Runs) -> Outcome {
    for scene in CALM {
        if let Some(SceneRun { ended: Ended::Late(after), requests }) = runs.of(*scene) {
            let after = after.as_secs_f64();
            let seen = format!(
                "in the scene {scene} the client was still running after {after} s; this is its last request"
            );
            never(requests.last(), seen)?;
        }
    }
    Ok(())
}

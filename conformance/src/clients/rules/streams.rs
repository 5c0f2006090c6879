//! Event streams of servers with a handshake (2025-11-25): reading them, questions on them, and taking them up again.

use http::Method;
use serde_json::{Value, json};

use super::super::rule::Judge::{After, All};
use super::super::rule::{ClientRule, NOT_RUN, each, finding, missing};
use super::super::scene::Scene;
use super::super::script::EVENT;
use super::super::seen::{Runs, SceneRun};
use super::legacy::NO_HANDSHAKE;
use super::{MUST, SHOULD};
use crate::check::Verdict;

pub(super) const RULES: &[ClientRule] = &[
    ClientRule {
        id: "client.event-stream",
        level: MUST,
        section: "Transports, Streamable HTTP, Sending messages (HTML, Server-sent events)",
        title: "The client reads event streams with comments, CRLF, several data lines, and chunks that end anywhere",
        fix: "parse the stream by the rules of server-sent events, and decode UTF-8 across chunks",
        scenes: &[Scene::Streams],
        judge: All(event_stream),
    },
    ClientRule {
        id: "client.ping",
        level: MUST,
        section: "Utilities, Ping",
        title: "A ping from the server is answered promptly with an empty result and the same id",
        fix: "send {\"jsonrpc\":\"2.0\",\"id\":…,\"result\":{}} in a POST while the call is open",
        scenes: &[Scene::Streams],
        judge: After("initialize", NO_HANDSHAKE, |seen| {
            asked(seen, &Value::from("srv-1"), |answer| answer.get("result") == Some(&json!({})))
        }),
    },
    ClientRule {
        id: "client.unknown-request",
        level: MUST,
        section: "Base protocol, Responses (JSON-RPC 2.0 §5.1)",
        title: "An unknown request from the server is answered with error −32601 and the same id",
        fix: "answer every request with an unknown method with code −32601",
        scenes: &[Scene::Streams],
        judge: After("initialize", NO_HANDSHAKE, |seen| {
            asked(seen, &Value::from(7), |answer| {
                answer.pointer("/error/code").and_then(Value::as_i64) == Some(-32601)
            })
        }),
    },
    ClientRule {
        id: "client.resume",
        level: SHOULD,
        section: "Transports, Streamable HTTP, Resumability and redelivery",
        title: "A stream that broke off after an event with an id is resumed with GET and the unchanged Last-Event-ID",
        fix: "wait for the time in retry, then send GET with Accept: text/event-stream and Last-Event-ID",
        scenes: &[Scene::Breaks],
        judge: After("initialize", NO_HANDSHAKE, resume),
    },
    ClientRule {
        id: "client.resume-accept",
        level: MUST,
        section: "Transports, Streamable HTTP, Listening for messages",
        title: "A GET accepts text/event-stream",
        fix: "send Accept: text/event-stream with every GET",
        scenes: &Scene::ALL,
        judge: All(|runs| {
            each(
                super::own_requests(runs).filter(|request| request.method == Method::GET),
                "the client sent no GET",
                |request| {
                    let accept = request.header("accept").unwrap_or_default();
                    (!accept.contains("text/event-stream")).then(|| format!("Accept is {accept:?}"))
                },
            )
        }),
    },
];

fn event_stream(runs: &Runs) -> Verdict {
    let Some(seen) = runs.of(Scene::Streams) else {
        return Verdict::Unclear(NOT_RUN.to_owned());
    };
    if seen.calls("initialize").next().is_none() {
        return Verdict::Inapplicable(NO_HANDSHAKE.to_owned());
    }
    if seen.calls("tools/call").next().is_some() {
        return Verdict::Holds;
    }
    // A client that calls nothing anywhere shows nothing here.
    let calls = runs.of(Scene::Legacy);
    if calls.is_some_and(|seen| seen.calls("tools/call").next().is_none()) {
        return Verdict::Inapplicable("the client calls no tools".to_owned());
    }
    match seen.requests.iter().rev().find(|request| request.id().is_some()) {
        Some(request) => finding("the client did not call a tool after this answer", request),
        None => missing("the client sent no request"),
    }
}

/// Judges the answer to a question of the server.
fn asked(seen: &SceneRun, id: &Value, is_right: impl Fn(&Value) -> bool) -> Verdict {
    let Some(call) = seen.calls("tools/call").next() else {
        return Verdict::Inapplicable("the client called no tool".to_owned());
    };
    let mut answers = seen.requests.iter().filter(|request| request.is_response());
    match answers.find(|request| request.id() == Some(id)) {
        Some(request) if request.message.as_ref().is_some_and(&is_right) => Verdict::Holds,
        Some(request) => finding("the answer is wrong", request),
        None => finding(
            format!("the client did not answer the server's request with the id {id} within 3 s"),
            call,
        ),
    }
}

fn resume(seen: &SceneRun) -> Verdict {
    let Some(call) = seen.calls("tools/call").next() else {
        return Verdict::Inapplicable("the client called no tool".to_owned());
    };
    let mut gets = seen.requests.iter().filter(|request| request.header("last-event-id").is_some());
    match gets.next() {
        Some(request) if request.header("last-event-id") == Some(EVENT) => Verdict::Holds,
        Some(request) => finding(format!("the id of the last event was {EVENT:?}"), request),
        None => finding(
            "the client sent no request with Last-Event-ID after the stream broke off",
            call,
        ),
    }
}

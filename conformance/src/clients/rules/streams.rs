//! Event streams of servers with a handshake (2025-11-25): reading them, questions on them, and taking them up again.

use http::Method;
use serde_json::{Value, json};

use super::super::rule::Judge::{After, All};
use super::super::rule::{ClientRule, each, finding, last};
use super::super::scene::Scene;
use super::super::script::EVENT;
use super::super::seen::{ReceivedRequest, Runs, SceneRun};
use super::legacy::NO_HANDSHAKE;
use super::{MUST, SHOULD};
use crate::check::{Outcome, Verdict, applies, inapplicable, unclear};

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

fn event_stream(runs: &Runs) -> Outcome {
    let calls = |seen: &SceneRun| seen.calls("tools/call").next().is_some();
    let seen = runs.of(Scene::Streams).ok_or_else(|| unclear("the scene was not run"))?;
    applies(seen.calls("initialize").next().is_some(), NO_HANDSHAKE)?;
    if calls(seen) {
        return Ok(());
    }
    // A client that calls nothing anywhere shows nothing here.
    applies(runs.of(Scene::Legacy).is_none_or(calls), "the client calls no tools")?;
    let request = seen.requests.iter().rev().find(|request| request.id().is_some());
    let seen = "the client did not call a tool after this answer";
    last(request, seen, "the client sent no request")
}

/// The first call of a tool.
fn first_call(seen: &SceneRun) -> Result<&ReceivedRequest, Verdict> {
    let none = || inapplicable("the client called no tool");
    seen.calls("tools/call").next().ok_or_else(none)
}

/// Judges the answer to a question of the server.
fn asked(seen: &SceneRun, id: &Value, is_right: impl Fn(&Value) -> bool) -> Outcome {
    let call = first_call(seen)?;
    let mut answers = seen.requests.iter().filter(|request| request.is_response());
    match answers.find(|request| request.id() == Some(id)) {
        Some(request) if request.message.as_ref().is_some_and(&is_right) => Ok(()),
        Some(request) => finding("the answer is wrong", request),
        None => finding(
            format!("the client did not answer the server's request with the id {id} within 3 s"),
            call,
        ),
    }
}

fn resume(seen: &SceneRun) -> Outcome {
    let call = first_call(seen)?;
    let mut given = seen.requests.iter().filter_map(|it| Some((it, it.header("last-event-id")?)));
    match given.next() {
        Some((_, EVENT)) => Ok(()),
        Some((request, _)) => finding(format!("the id of the last event was {EVENT:?}"), request),
        None => finding(
            "the client sent no request with Last-Event-ID after the stream broke off",
            call,
        ),
    }
}

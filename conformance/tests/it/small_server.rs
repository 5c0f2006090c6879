//! Servers of a few lines, and transcripts of a few lines to replay against them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use mcp_conformance::{Body, BoxError, Era, Failure, Replay, Target, Transcript};
use serde_json::{Value, json};

/// What a server was asked, in order.
pub(crate) type RequestLog = Arc<Mutex<Vec<(String, HeaderMap, Value)>>>;

/// A server that answers every request by a function of its path and JSON body, and what it was asked.
pub(crate) fn server(answer: fn(&str, &Value) -> Response<Body>) -> (Target, RequestLog) {
    let asked = RequestLog::default();
    let log = asked.clone();
    let target = Target::in_process(move |request: Request<Full<Bytes>>| {
        let log = log.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let path = head.uri.path().to_owned();
            let response = answer(&path, &body);
            log.lock().unwrap().push((format!("{} {path}", head.method), head.headers, body));
            Ok::<_, BoxError>(response)
        }
    });
    (target, asked)
}

pub(crate) fn json(status: u16, body: &Value) -> Response<Body> {
    let body = Full::from(body.to_string()).map_err(BoxError::from).boxed_unsync();
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(body)
        .unwrap()
}

/// An event stream of these pieces, which then ends or stays open.
pub(crate) fn events(pieces: &[&str], open: bool) -> Response<Body> {
    let pieces: Vec<_> = pieces
        .iter()
        .map(|piece| Ok::<_, BoxError>(http_body::Frame::data(Bytes::from((*piece).to_owned()))))
        .collect();
    let rest = if open { stream::pending().left_stream() } else { stream::empty().right_stream() };
    let body = StreamBody::new(stream::iter(pieces).chain(rest)).boxed_unsync();
    Response::builder()
        .header("content-type", "text/event-stream; charset=utf-8")
        .body(body)
        .unwrap()
}

/// The members that a result must have, by the method that it answers; nothing is in them.
pub(crate) fn whole(method: &Value) -> Value {
    match method.as_str() {
        Some("initialize") => {
            let info = json!({"name": "small", "version": "1"});
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info})
        }
        Some("tools/list") => json!({"tools": []}),
        Some("tools/call") => json!({"content": []}),
        Some("prompts/get") => json!({"messages": []}),
        Some("resources/read") => json!({"contents": []}),
        _ => json!({}),
    }
}

/// Answers any MCP request with a result of what it must have alone, as its era wants it.
pub(crate) fn echo(_: &str, body: &Value) -> Response<Body> {
    if body["id"].is_null() {
        return Response::builder()
            .status(202)
            .body(Full::default().map_err(BoxError::from).boxed_unsync())
            .unwrap();
    }
    let modern = body["params"]["_meta"].is_object();
    let mut result = whole(&body["method"]);
    if modern {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({});
        result["ttlMs"] = 5.into();
        result["cacheScope"] = "public".into();
    }
    let mut response = json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}));
    response.headers_mut().insert("mcp-session-id", "s-1".parse().unwrap());
    response
}

pub(crate) async fn replay(target: &Target, era: Era, steps: &str) -> Result<(), Failure> {
    let transcript =
        Transcript::parse("t.jsonl", &format!("{{\"transcript\":1,\"name\":\"t\"}}\n{steps}"));
    let transcript = transcript.unwrap_or_else(|error| panic!("{error}"));
    Replay::new(target.clone())
        .step_timeout(Duration::from_millis(200))
        .run_one(&transcript, era)
        .await
}

#[track_caller]
pub(crate) fn fails(outcome: Result<(), Failure>, line: usize, says: &str) {
    let failure = outcome.unwrap_err();
    assert_eq!(failure.line, line, "{failure:?}");
    assert!(format!("{failure:?}").contains(says), "{failure:?}");
}

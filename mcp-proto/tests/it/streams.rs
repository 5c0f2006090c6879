//! One JSON body or an event stream: which of them follows from what the handler does and the client takes.

use http_body_util::BodyExt as _;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::EventReader;
use serde_json::{Value, json};

use crate::common::{Raw, every_client, open_session, say, server, service};

fn steps(steps: u32) -> Value {
    json!({ "name": "progress", "arguments": { "steps": steps }, "_meta": { "progressToken": "token" } })
}

/// Both eras ask the same thing.
async fn ask(service: &StreamableHttpService, params: &Value) -> [Raw; 2] {
    let session = open_session(service).await;
    [Raw::modern("tools/call", params.clone()), Raw::legacy(&session, "tools/call", params)]
}

#[tokio::test]
async fn a_handler_that_only_answers_is_answered_in_json_with_a_length() {
    let service = service();
    for raw in ask(&service, &say("x")).await {
        let reply = service.handle(raw.request()).await;
        assert_eq!(reply.headers()["content-type"], "application/json");
        let length = http_body::Body::size_hint(reply.body()).exact();
        let body = reply.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(length, Some(body.len() as u64));
    }
}

#[tokio::test]
async fn progress_turns_the_answer_into_a_stream_and_comes_in_order_before_it() {
    let service = service();
    // More than the outbox holds, so that the handler has to wait for its reader.
    for raw in ask(&service, &steps(50)).await {
        let reply = raw.send(&service).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("cache-control"), Some("no-cache, no-transform"));
        assert_eq!(reply.header("x-accel-buffering"), Some("no"));
        let mut events = reply.events();
        let answer = events.pop().unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["structuredContent"]),
            (&json!(7), &json!({"done": true}))
        );
        assert_eq!(events.len(), 50);
        for (step, event) in (1..).zip(&events) {
            assert_eq!(event["method"], "notifications/progress");
            assert_eq!(
                event["params"],
                json!({"progressToken": "token", "progress": f64::from(step), "total": 50.0})
            );
        }
    }
}

#[tokio::test]
async fn a_client_that_takes_json_alone_gets_the_answer_alone() {
    let service = service();
    for raw in ask(&service, &steps(50)).await {
        let reply = raw.set("accept", "application/json").send(&service).await;
        assert_eq!(reply.result()["structuredContent"], json!({"done": true}));
    }
}

#[tokio::test]
async fn a_client_that_takes_events_alone_gets_every_answer_as_an_event() {
    let service = service();
    for raw in ask(&service, &say("x")).await {
        let events = raw.set("accept", "text/event-stream").send(&service).await.events();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0]["result"]["structuredContent"]["text"], "x");
    }
    let reply =
        Raw::initialize("2025-11-25").set("accept", "text/event-stream").send(&service).await;
    assert!(reply.header("mcp-session-id").is_some());
    assert_eq!(reply.events()[0]["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn without_a_progress_token_nothing_is_reported() {
    let service = service();
    let params = json!({ "name": "progress", "arguments": { "steps": 3 } });
    for raw in ask(&service, &params).await {
        assert_eq!(raw.send(&service).await.result()["structuredContent"], json!({"done": true}));
    }
}

#[tokio::test]
async fn every_transport_tells_progress_before_the_answer() {
    let (clients, served) = every_client(&server()).await;
    for (way, client) in clients {
        let mut told = client.notifications();
        let result = client.request("tools/call", steps(20)).await.unwrap();
        assert_eq!(result["structuredContent"], json!({"done": true}), "{way}");
        for step in 1..=20 {
            // Already there: no waiting.
            let notification = told.try_recv().unwrap();
            assert_eq!(notification.params["progress"], f64::from(step), "{way}");
        }
        assert!(told.try_recv().is_err(), "{way}");
        client.close().await.unwrap();
    }
    served.ended().await;
}

#[test]
fn comments_belong_to_no_event_and_count_for_none() {
    let mut reader = EventReader::new(50);
    assert!(reader.push(b"data: one\n").unwrap().is_empty());
    for _ in 0..1_000 {
        assert!(reader.push(b":\r\n: keep-alive\n").unwrap().is_empty());
    }
    let events = reader.push(b"data: two\n\n").unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data, "one\ntwo");
    // One that does not end is too large as any other line.
    assert!(reader.push(&[b':'; 51]).is_err());
}

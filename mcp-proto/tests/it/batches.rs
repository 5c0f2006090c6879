//! Batches: taken in sessions and connections of 2025-03-26, refused everywhere else.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_proto::http::HttpConfig;
use mcp_proto::{Server, StreamableHttpService};
use serde_json::{Value, json};

use crate::common::{Raw, builder, call, probe, request, say, server, service, with_meta};
use crate::events::{get, open};
use crate::peer::Peer;
use crate::resume::{arguments, paced, session_of};

const BATCHES: &str = "2025-03-26";

fn batch(session: &str, messages: &Value) -> Raw {
    Raw::post(messages.to_string()).set("mcp-session-id", session)
}

fn ping(id: impl serde::Serialize) -> Value {
    request(id, "ping", &json!({}))
}

/// The answers of a batch by id, and its errors without one.
fn sorted(answers: &Value) -> Vec<(String, i64)> {
    let mut sorted: Vec<_> = answers
        .as_array()
        .expect("no array")
        .iter()
        .map(|answer| {
            assert_eq!(answer["jsonrpc"], "2.0");
            assert_eq!(answer.get("result").is_none(), answer.get("error").is_some());
            let id = answer.get("id").map(Value::to_string);
            (id.unwrap_or_default(), answer["error"]["code"].as_i64().unwrap_or_default())
        })
        .collect();
    sorted.sort();
    sorted
}

#[tokio::test]
async fn quiet_calls_are_answered_by_one_array() {
    let service = service();
    let session = session_of(&service, BATCHES).await;
    let messages = json!([
        request(1, "tools/call", &say("one")),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("two", "tools/call", &say("two")),
        request(3, "nothing/such", &json!({})),
        {"jsonrpc": "2.0", "id": 77, "result": {}},
    ]);
    for raw in [
        batch(&session, &messages),
        batch(&session, &messages).set("accept", "application/json"),
        // With white space before it, and the header that this revision does not have yet.
        Raw::post(format!(" \r\n\t{messages} "))
            .set("mcp-session-id", &session)
            .set("mcp-protocol-version", BATCHES),
    ] {
        let reply = raw.send(&service).await;
        assert_eq!(reply.status, 200);
        let answers = reply.json();
        let wanted = [("\"two\"", 0), ("1", 0), ("3", -32601)];
        assert_eq!(sorted(&answers), wanted.map(|(id, code)| (id.to_owned(), code)));
        for answer in answers.as_array().unwrap() {
            if answer["id"] == "two" {
                assert_eq!(answer["result"]["content"][0]["text"], "{\"text\":\"two\"}");
            }
        }
    }
}

#[tokio::test]
async fn messages_that_want_no_answer_get_none() {
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(builder(&probe).build().unwrap());
    let session = session_of(&service, BATCHES).await;
    let cancel = |id: i64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let response = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}});
    let reply = batch(&session, &json!([cancel(1), response])).send(&service).await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (202, 0));
    // A cancellation is heard wherever it stands; the call it is for gets no answer.
    let hang = json!([request(5, "tools/call", &call("hang")), ping(6)]);
    let running = tokio::spawn({
        let (service, raw) = (service.clone(), batch(&session, &hang));
        async move { raw.send(&service).await }
    });
    events.expect("started").await;
    batch(&session, &json!([cancel(5)])).send(&service).await;
    events.expect("dropped").await;
    assert_eq!(sorted(&running.await.unwrap().json()), [("6".to_owned(), 0)]);
    let reply = batch(&session, &json!([request(5, "tools/call", &call("hang")), cancel(5)]))
        .send(&service)
        .await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (202, 0));
}

#[tokio::test]
async fn each_broken_member_is_told_and_spoils_no_other() {
    let service = service();
    let session = session_of(&service, BATCHES).await;
    let text = format!(
        r#"[1, "x", null, [], [{ping}], {{"jsonrpc":"2.0","id":2,"method":5}}, {{"jsonrpc":"2.0","id":3,"method":"ping","params":{{"a":1,"a":2}}}}, {ping}, {init}, {modern}, {ping}]"#,
        ping = ping(1),
        init = request(8, "initialize", &json!({})),
        modern = request(9, "tools/list", &with_meta(json!({}))),
    );
    let reply = Raw::post(text).set("mcp-session-id", &session).send(&service).await;
    assert_eq!(reply.status, 200);
    let wanted: Vec<_> = [("", -32600); 5]
        .into_iter()
        // The id 1 was given twice: the first is served, the second is not.
        .chain([
            ("1", -32600),
            ("1", 0),
            ("2", -32600),
            ("3", -32600),
            ("8", -32600),
            ("9", -32600),
        ])
        .map(|(id, code)| (id.to_owned(), code))
        .collect();
    assert_eq!(sorted(&reply.json()), wanted);
    // Nothing was any good.
    let reply = batch(&session, &json!([1, 2])).send(&service).await;
    assert_eq!(reply.status, 400);
    assert_eq!(sorted(&reply.json()).len(), 2);
    // No initialize took effect.
    assert_eq!(Raw::legacy(&session, "ping", &json!({})).send(&service).await.status, 200);
}

#[tokio::test]
async fn an_empty_batch_one_too_long_and_text_that_is_no_json_are_refused_whole() {
    let service = service();
    let session = session_of(&service, BATCHES).await;
    let of = |length: usize| json!((0..length).map(ping).collect::<Vec<_>>()).to_string();
    assert_eq!(HttpConfig::default().legacy.max_batch_messages, 50);
    for (text, wanted) in [
        ("[]".to_owned(), -32600),
        (of(51), -32600),
        (of(500), -32600),
        ("[".to_owned(), -32700),
        (format!("{},", of(2)), -32700),
        ("[\u{0}]".to_owned(), -32700),
    ] {
        let raw = Raw::post(text.clone()).set("mcp-session-id", &session);
        let refusal = raw.send(&service).await.refusal();
        assert_eq!(refusal, (400, wanted, None), "{text}");
    }
    let reply = Raw::post(of(50)).set("mcp-session-id", &session).send(&service).await;
    assert_eq!(reply.json().as_array().unwrap().len(), 50);
    let deep = format!("[{}1{}]", "[".repeat(5_000), "]".repeat(5_000));
    let reply = Raw::post(deep).set("mcp-session-id", &session).send(&service).await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn a_call_that_speaks_makes_the_answer_a_stream_with_one_event_for_each_message() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server);
    let session = session_of(&service, BATCHES).await;
    let messages = json!([
        request("a", "tools/call", &arguments("steps", &json!({"tag": "a"}))),
        ping(1),
        request("b", "tools/call", &arguments("steps", &json!({"tag": "b"}))),
        5,
    ]);
    let mut stream = open(&service, batch(&session, &messages)).await;
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    let mut ids = BTreeSet::new();
    let mut seen = Vec::new();
    // The connection breaks in the middle.
    let first = stream.event().await.unwrap();
    seen.push(first.data);
    ids.insert(first.id.unwrap());
    let last = stream.last.clone();
    drop(stream);
    (0..3).for_each(|_| paces.step("b"));
    (0..3).for_each(|_| paces.step("a"));
    let mut stream = open(&service, get(&session, Some(&last))).await;
    while let Some(event) = stream.event().await {
        assert!(ids.insert(event.id.unwrap()));
        seen.push(event.data);
    }
    let seen: Vec<Value> = seen.iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    // Six reports, three answers, one refusal.
    assert_eq!(seen.len(), 10);
    let answers = seen.into_iter().filter(|message| message.get("method").is_none());
    let answers = Value::Array(answers.collect());
    let wanted = [("", -32600), ("\"a\"", 0), ("\"b\"", 0), ("1", 0)];
    assert_eq!(sorted(&answers), wanted.map(|(id, code)| (id.to_owned(), code)));
}

#[tokio::test]
async fn a_client_that_takes_events_alone_gets_each_answer_as_an_event() {
    let service = service();
    let session = session_of(&service, BATCHES).await;
    let raw = batch(&session, &json!([ping(1), 5, ping(2)])).set("accept", "text/event-stream");
    let answers = raw.send(&service).await.events();
    assert_eq!(sorted(&Value::Array(answers)).len(), 3);
    let note = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    let raw = batch(&session, &note).set("accept", "text/event-stream");
    assert_eq!(raw.send(&service).await.status, 202);
}

#[tokio::test]
async fn the_calls_of_a_batch_run_side_by_side_and_within_the_bounds_of_all_calls() {
    let (probe, mut events) = probe();
    let mut config = HttpConfig::default();
    config.legacy.max_calls_per_session = 2;
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let session = session_of(&service, BATCHES).await;
    let gates = json!([
        request(1, "tools/call", &call("gate")),
        request(2, "tools/call", &call("gate")),
        ping(3),
    ]);
    let running = tokio::spawn({
        let (service, raw) = (service.clone(), batch(&session, &gates));
        async move { raw.send(&service).await }
    });
    events.expect("started").await;
    events.expect("started").await;
    probe.gate.notify_one();
    probe.gate.notify_one();
    let answers = sorted(&running.await.unwrap().json());
    let wanted = [("1", 0), ("2", 0), ("3", -32600)];
    assert_eq!(answers, wanted.map(|(id, code)| (id.to_owned(), code)));
    assert_eq!(Raw::legacy(&session, "ping", &json!({})).send(&service).await.status, 200);
}

#[tokio::test]
async fn large_batches_of_one_client_are_all_answered() {
    let service = service();
    let text = "n".repeat(100_000);
    let messages =
        json!([request(1, "tools/call", &say(&text)), request(2, "tools/call", &say(&text)),]);
    let mut running = Vec::new();
    for accept in ["application/json", "text/event-stream", "application/json, text/event-stream"] {
        for _ in 0..3 {
            let session = session_of(&service, BATCHES).await;
            let (service, raw) =
                (service.clone(), batch(&session, &messages).set("accept", accept));
            running.push(tokio::spawn(async move { raw.send(&service).await }));
        }
    }
    for answer in running {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status, 200);
        // Each says it twice: as text and structured.
        let said = String::from_utf8_lossy(&answer.body).matches(&text).count();
        assert_eq!(said, 4);
    }
}

/// Each result is written in a turn of its client, of which there are fewer than results.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_many_large_results_is_answered() {
    let service = service();
    let text = "n".repeat(200_000);
    let calls: Vec<_> = (0..12).map(|id| request(id, "tools/call", &say(&text))).collect();
    let session = session_of(&service, BATCHES).await;
    let raw = batch(&session, &json!(calls)).set("accept", "application/json");
    let answer = tokio::time::timeout(Duration::from_secs(60), raw.send(&service)).await;
    let answer = answer.expect("an answer: no call waits for another");
    assert_eq!(sorted(&answer.json()).len(), 12);
    // Others are still answered with as much.
    let alone = Raw::legacy(&session, "tools/call", &say(&text));
    assert_eq!(alone.send(&service).await.status, 200);
}

#[tokio::test]
async fn every_other_revision_and_era_refuses_batches() {
    let service = service();
    let messages = json!([ping(1)]);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let session = session_of(&service, version).await;
        // The header is not the session's revision.
        let raw = batch(&session, &messages).set("mcp-protocol-version", BATCHES);
        let reply = raw.send(&service).await;
        assert_eq!(reply.refusal(), (400, -32600, None), "{version}");
        assert!(reply.message().contains("batch"), "{}", reply.message());
    }
    let session = session_of(&service, BATCHES).await;
    for raw in [
        Raw::post(messages.to_string()),
        Raw::post(messages.to_string()).set("mcp-protocol-version", BATCHES),
        batch(&session, &messages).set("mcp-protocol-version", "2026-07-28"),
        Raw { body: messages.to_string().into(), ..Raw::modern("ping", json!({})) },
    ] {
        assert_eq!(raw.send(&service).await.refusal(), (400, -32600, None));
    }
    // Whoever has no session any more has to know.
    let reply = batch("none", &messages).send(&service).await;
    assert_eq!(reply.refusal(), (404, -32600, None));
}

async fn connected(server: Server, version: &str) -> Peer {
    let mut peer = Peer::new(server);
    let initialize = serde_json::from_slice(&Raw::initialize(version).body).unwrap();
    peer.send(&initialize).await;
    assert_eq!(peer.next().await["result"]["protocolVersion"], version);
    peer
}

#[tokio::test]
async fn over_stdio_the_answers_of_a_batch_are_one_line() {
    let (server, paces) = paced();
    let mut peer = connected(server, BATCHES).await;
    let steps = |tag: &str| request(tag, "tools/call", &arguments("steps", &json!({"tag": tag})));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c"}});
    peer.send(&json!([
        steps("a"),
        ping(1),
        5,
        request(8, "initialize", &json!({})),
        steps("c"),
        cancel
    ]))
    .await;
    // What a call says comes at once, and another request is answered before the batch.
    assert_eq!(peer.next().await["params"]["message"], "a1");
    peer.send(&ping(2)).await;
    assert_eq!(peer.next().await["id"], 2);
    (0..3).for_each(|_| paces.step("a"));
    assert_eq!(peer.next().await["params"]["message"], "a2");
    assert_eq!(peer.next().await["params"]["message"], "a3");
    let wanted = [("", -32600), ("\"a\"", 0), ("1", 0), ("8", -32600)];
    assert_eq!(sorted(&peer.next().await), wanted.map(|(id, code)| (id.to_owned(), code)));
    // Nothing but refusals; nothing to answer; the last call of a batch cancelled.
    peer.send(&json!([5])).await;
    assert_eq!(sorted(&peer.next().await), [(String::new(), -32600)]);
    peer.send(&json!([])).await;
    assert_eq!(peer.next().await["error"]["code"], -32600);
    peer.send(&json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}])).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "b"}});
    peer.send(&json!([ping(3), steps("b")])).await;
    assert_eq!(peer.next().await["params"]["message"], "b1");
    peer.send(&cancel).await;
    assert_eq!(sorted(&peer.next().await), [("3".to_owned(), 0)]);
    assert_eq!(peer.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn over_stdio_other_revisions_take_no_batch() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut peer = connected(server(), version).await;
        peer.send(&json!([ping(1)])).await;
        peer.send(&ping(2)).await;
        assert_eq!(peer.next().await["error"]["code"], -32600);
        assert_eq!(peer.next().await["id"], 2);
        assert_eq!(peer.end().await, Vec::<Value>::new());
    }
}

//! Legacy sessions: how they open, who may use them, how they end, and that nothing else makes any.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use mcp_proto::http::{HttpConfig, ResponseBody};
use mcp_proto::session::{MemorySessions, MemorySessionsConfig, SessionStore};
use mcp_proto::{CallToolResult, Change, Context, Principal, StreamableHttpService, Tool};
use serde_json::json;

use crate::common::{
    PATIENCE, Raw, builder, call, open_session, probe, request, say, server, service,
};

/// A service and its sessions to count.
fn counted() -> (StreamableHttpService, Arc<MemorySessions>) {
    let sessions = Arc::new(MemorySessions::default());
    (over(&sessions), sessions)
}

fn over(sessions: &Arc<MemorySessions>) -> StreamableHttpService {
    let store: Arc<dyn SessionStore> = sessions.clone();
    StreamableHttpService::with_sessions(server(), HttpConfig::default(), store)
}

async fn ping(service: &StreamableHttpService, session: &str) -> u16 {
    let reply = Raw::legacy(session, "ping", &json!({})).send(service).await;
    reply.status.as_u16()
}

fn get(session: &str) -> Raw {
    Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", session)
}

fn delete(session: &str) -> Raw {
    Raw::bare(Method::DELETE).set("mcp-session-id", session)
}

#[tokio::test]
async fn every_legacy_version_is_negotiated_and_any_other_gets_the_newest() {
    let service = service();
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let reply = Raw::initialize(asked).send(&service).await;
        let result = reply.result();
        assert_eq!(result["protocolVersion"], given, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "bench");
        assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}}));
        let session = reply.header("mcp-session-id").unwrap();
        assert!(session.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
        assert_eq!(ping(&service, session).await, 200);
    }
}

#[tokio::test]
async fn a_broken_initialize_opens_nothing() {
    let (service, sessions) = counted();
    for params in [
        json!({}),
        json!({"protocolVersion": 1, "clientInfo": {}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": 1}),
    ] {
        let raw = Raw::post(request(7, "initialize", &params).to_string());
        assert_eq!(raw.send(&service).await.refusal(), (400, -32602, Some(7.into())));
    }
    assert!(sessions.is_empty());
}

#[tokio::test]
async fn initialize_on_a_live_session_opens_another_one() {
    let (service, sessions) = counted();
    let first = open_session(&service).await;
    let reply = Raw::initialize("2025-06-18").set("mcp-session-id", &first).send(&service).await;
    let second = reply.header("mcp-session-id").unwrap();
    assert_ne!(first, second);
    assert_eq!((ping(&service, &first).await, ping(&service, second).await), (200, 200));
    assert_eq!(sessions.len(), 2);
}

#[tokio::test]
async fn a_missing_session_is_400_and_an_unknown_one_404_for_every_verb() {
    let service = service();
    let message = |raw: Raw| Raw {
        body: r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
        ..raw
    };
    let response = |raw: Raw| Raw { body: r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), ..raw };
    let verbs = || [get("no-such"), delete("no-such"), Raw::legacy("no-such", "ping", &json!({}))];
    for raw in verbs().into_iter().chain([message(Raw::legacy("no-such", "", &json!({})))]) {
        let (status, code, _) = raw.clone().unset("mcp-session-id").send(&service).await.refusal();
        assert_eq!((status, code), (400, -32600), "{raw:?}");
        let (status, code, _) = raw.send(&service).await.refusal();
        assert_eq!((status, code), (404, -32600));
    }
    let reply = response(Raw::legacy("no-such", "", &json!({}))).send(&service).await;
    assert_eq!(reply.refusal().0, 404);
    // What to do is in the message.
    let reply = Raw::legacy("no-such", "ping", &json!({})).send(&service).await;
    assert!(
        reply.message().contains("initialize without an mcp-session-id"),
        "{}",
        reply.message()
    );
    // Bytes that no session id has.
    let reply = Raw::legacy("sch\u{f6}n", "ping", &json!({})).send(&service).await;
    assert_eq!(reply.refusal().0, 404);
}

#[tokio::test]
async fn a_deleted_session_is_gone() {
    let (service, sessions) = counted();
    let session = open_session(&service).await;
    assert_eq!(delete(&session).send(&service).await.status, 204);
    assert!(sessions.is_empty());
    assert_eq!(ping(&service, &session).await, 404);
    assert_eq!(delete(&session).send(&service).await.refusal().0, 404);
    assert_eq!(get(&session).send(&service).await.refusal().0, 404);
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_session_looks_like_none() {
    let service = service();
    let by = |raw: Raw, who: Option<&str>| -> Request<Full<bytes::Bytes>> {
        let mut request = raw.request();
        if let Some(who) = who {
            request.extensions_mut().insert(Principal(who.to_owned()));
        }
        request
    };
    let reply = service.handle(by(Raw::initialize("2025-11-25"), Some("anna"))).await;
    let session = reply.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    for (who, status) in
        [(Some("anna"), 200), (Some("bert"), 404), (None, 404), (Some("anna"), 200)]
    {
        let raw = Raw::legacy(&session, "ping", &json!({}));
        assert_eq!(service.handle(by(raw, who)).await.status().as_u16(), status, "{who:?}");
    }
    assert_eq!(service.handle(by(get(&session), Some("bert"))).await.status(), 404);
    assert_eq!(service.handle(by(delete(&session), Some("bert"))).await.status(), 404);
    let stream = service.handle(by(get(&session), Some("anna"))).await;
    assert_eq!(stream.status(), 200);
    // Not even that it has a stream.
    let mut open = Vec::new();
    for (who, status) in [("bert", 404), ("anna", 200), ("bert", 404), ("anna", 200)] {
        let reply = service.handle(by(get(&session), Some(who))).await;
        assert_eq!(reply.status(), status, "{who}");
        open.push(reply);
    }
    // A session that nobody owns is not for those with a name.
    let open = open_session(&service).await;
    let raw = Raw::legacy(&open, "ping", &json!({}));
    assert_eq!(service.handle(by(raw, Some("anna"))).await.status(), 404);
    assert_eq!(service.handle(by(delete(&session), Some("anna"))).await.status(), 204);
}

#[tokio::test(start_paused = true)]
async fn a_session_may_have_several_get_streams_and_each_message_is_on_one() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    let open = async || {
        let opened = service.handle(get(&session).request()).await;
        assert_eq!(opened.headers()["content-type"], "text/event-stream");
        let mut opened = opened.into_body();
        let opening = next(&mut opened).await.unwrap();
        assert!(opening.starts_with(b"id: s"), "{opening:?}");
        opened
    };
    let changed = |event: Option<Bytes>| {
        let method = crate::common::messages(&event.unwrap())[0]["method"].clone();
        assert_eq!(method, "notifications/tools/list_changed");
    };
    let mut old = open().await;
    let mut new = open().await;
    // What the old one was sent may be lost.
    changed(next(&mut new).await);
    server.notify(Change::ToolsListChanged);
    changed(next(&mut new).await);
    // The old one stays, and no proxy gives it up.
    for _ in 0..3 {
        let start = tokio::time::Instant::now();
        assert_eq!(next(&mut old).await.unwrap(), ": keep-alive\n\n");
        assert!(start.elapsed() <= Duration::from_secs(15));
        server.notify(Change::ToolsListChanged);
        changed(next(&mut new).await);
    }
    drop(new);
    // With the id of what it has not read.
    assert!(next(&mut old).await.unwrap().starts_with(b"id: s"));
    changed(next(&mut old).await);
    server.notify(Change::ToolsListChanged);
    changed(next(&mut old).await);
    // Four are the most: the oldest is closed for a fifth.
    let mut newer = Vec::new();
    for _ in 0..4 {
        newer.push(open().await);
    }
    assert_eq!(next(&mut old).await, None);
    // Another session has its own, and the end of the session ends all.
    let other = open_session(&service).await;
    assert_eq!(service.handle(get(&other).request()).await.status(), 200);
    assert_eq!(service.handle(delete(&session).request()).await.status(), 204);
    for mut stream in newer {
        while let Some(rest) = next(&mut stream).await {
            assert!(rest != ": keep-alive\n\n", "it is still open");
        }
    }
}

async fn next(stream: &mut ResponseBody) -> Option<Bytes> {
    let frame = tokio::time::timeout(PATIENCE, stream.frame()).await.expect("nothing came");
    frame.map(|frame| frame.unwrap().into_data().unwrap())
}

#[tokio::test]
async fn delete_and_close_end_the_get_stream() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let (deleted, closed) = (open_session(&service).await, open_session(&service).await);
    let open = async |session: &str| {
        let mut stream = service.handle(get(session).request()).await.into_body();
        let opening = stream.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(opening.starts_with(b"id: s"), "{opening:?}");
        stream
    };
    let (of_deleted, of_closed) = (open(&deleted).await, open(&closed).await);
    assert_eq!(delete(&deleted).send(&service).await.status, 204);
    assert_eq!(of_deleted.collect().await.unwrap().to_bytes(), "");
    service.close();
    // Its client is to come back, to another process if there is one.
    let last = of_closed.collect().await.unwrap().to_bytes();
    assert!(last.starts_with(b"id: s"), "{last:?}");
    assert!(last.ends_with(b"\nretry: 1000\ndata: \n\n"), "{last:?}");
}

#[tokio::test]
async fn an_undeclared_change_is_told_to_nobody() {
    // The same tools, but no promise to tell of changes.
    let quiet = mcp_proto::Server::builder("quiet", "1", ()).build().unwrap();
    let service = StreamableHttpService::new(quiet.clone());
    let session = open_session(&service).await;
    let stream = service.handle(get(&session).request()).await.into_body();
    quiet.notify(Change::ToolsListChanged);
    quiet.close();
    let told = stream.collect().await.unwrap().to_bytes();
    assert_eq!(crate::common::messages(&told), Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn stray_requests_open_no_session() {
    let (service, sessions) = counted();
    for index in 0..100 {
        let stray = format!("stray-{index}");
        get(&stray).send(&service).await;
        delete(&stray).send(&service).await;
        Raw::post("{").set("mcp-session-id", &stray).send(&service).await;
        Raw::modern("server/discover", json!({})).send(&service).await;
        Raw::legacy(&stray, "tools/list", &json!({})).send(&service).await;
    }
    assert_eq!(sessions.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn sessions_without_delete_are_bounded() {
    let (service, sessions) = counted();
    let first = open_session(&service).await;
    let mut last = String::new();
    for _ in 0..30_000 {
        last = open_session(&service).await;
        // The first is in use all the time, so it is never the one that has been idle longest.
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(ping(&service, &first).await, 200);
    }
    assert_eq!(sessions.len(), 24_000);
    assert_eq!(ping(&service, &last).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_session_lives_for_30_minutes_after_its_last_use() {
    let (service, sessions) = counted();
    let session = open_session(&service).await;
    for _ in 0..3 {
        tokio::time::advance(Duration::from_secs(30 * 60 - 1)).await;
        assert_eq!(ping(&service, &session).await, 200);
    }
    tokio::time::advance(Duration::from_secs(30 * 60)).await;
    assert_eq!(ping(&service, &session).await, 404);
    // Whoever comes next sweeps it out.
    open_session(&service).await;
    assert_eq!(sessions.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_and_a_stream_hold_their_session() {
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(builder(&probe).build().unwrap());
    let (calling, listening) = (open_session(&service).await, open_session(&service).await);
    let stream = service.handle(get(&listening).request()).await.into_body();
    let reading = tokio::spawn(stream.collect());
    let long = Raw::legacy(&calling, "tools/call", &call("gate"));
    let running = tokio::spawn({
        let service = service.clone();
        async move {
            let reply = service.handle(long.request()).await;
            reply.into_body().collect().await.unwrap().to_bytes()
        }
    });
    events.expect("started").await;
    for _ in 0..(2 * 60 * 4) {
        tokio::time::sleep(Duration::from_secs(15)).await;
    }
    probe.gate.notify_one();
    let answer = running.await.unwrap();
    assert!(!crate::common::messages(&answer).is_empty());
    assert_eq!(ping(&service, &calling).await, 200);
    assert_eq!(ping(&service, &listening).await, 200);
    reading.abort();
    // From now on nothing holds them.
    tokio::time::sleep(Duration::from_secs(30 * 60)).await;
    assert_eq!(ping(&service, &calling).await, 404);
    assert_eq!(ping(&service, &listening).await, 404);
}

#[tokio::test(start_paused = true)]
async fn a_call_and_a_stream_that_talk_hold_their_session_too() {
    // Never quiet for as long as the keep-alive interval.
    let server = builder(&probe().0)
        .raw_tool(
            Tool::new("hour", "").with_input_schema(json!({"type": "object"})),
            async |_, _, context: Context| {
                for step in 0..360 {
                    context.progress(f64::from(step), None, None).await;
                    tokio::time::sleep(Duration::from_secs(10)).await;
                }
                Ok(CallToolResult::text("done"))
            },
        )
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let (calling, listening) = (open_session(&service).await, open_session(&service).await);
    let stream = service.handle(get(&listening).request()).await.into_body();
    let reading = tokio::spawn(stream.collect());
    let raw = Raw::legacy(&calling, "tools/call", &call("hour"));
    let running = tokio::spawn({
        let service = service.clone();
        async move { service.handle(raw.request()).await.into_body().collect().await }
    });
    for _ in 0..360 {
        server.notify(Change::ToolsListChanged);
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    running.await.unwrap().unwrap();
    assert_eq!(ping(&service, &calling).await, 200);
    assert_eq!(ping(&service, &listening).await, 200);
    reading.abort();
}

#[tokio::test]
async fn a_restart_is_404_without_a_shared_store_and_not_noticed_with_one() {
    let before = service();
    let session = open_session(&before).await;
    let after = service();
    assert_eq!(ping(&after, &session).await, 404);

    let (one, sessions) = counted();
    let two = over(&sessions);
    let session = open_session(&one).await;
    for service in [&two, &one, &two] {
        let raw = Raw::legacy(&session, "tools/call", &say("x"));
        assert_eq!(raw.send(service).await.result()["structuredContent"]["text"], "x");
    }
    drop(one);
    assert_eq!(ping(&two, &session).await, 200);
    assert_eq!(delete(&session).send(&two).await.status, 204);
}

#[tokio::test]
async fn a_session_has_a_bound_of_running_calls() {
    let (probe, mut events) = probe();
    let mut config = HttpConfig::default();
    config.legacy.max_calls_per_session = 2;
    let service = StreamableHttpService::with_config(builder(&probe).build().unwrap(), config);
    let session = open_session(&service).await;
    for id in 0..2 {
        let body = request(id, "tools/call", &call("hang"));
        let raw = Raw { body: body.to_string().into(), ..Raw::legacy(&session, "", &json!({})) };
        let service = service.clone();
        tokio::spawn(async move { service.handle(raw.request()).await });
        events.expect("started").await;
    }
    let reply = Raw::legacy(&session, "ping", &json!({})).send(&service).await;
    assert_eq!(reply.refusal(), (429, -32600, Some(7.into())));
    let cancel = Raw::notification("notifications/cancelled", &json!({"requestId": 0}));
    assert_eq!(cancel.set("mcp-session-id", &session).send(&service).await.status, 202);
    events.expect("dropped").await;
    assert_eq!(ping(&service, &session).await, 200);
}

#[tokio::test]
async fn the_store_has_the_bounds_it_is_given() {
    let mut config = MemorySessionsConfig::default();
    config.max_sessions = 2;
    let sessions = Arc::new(MemorySessions::new(config));
    let service = over(&sessions);
    let (one, two) = (open_session(&service).await, open_session(&service).await);
    assert_eq!(ping(&service, &one).await, 200);
    let three = open_session(&service).await;
    assert_eq!(sessions.len(), 2);
    assert_eq!(ping(&service, &two).await, 404);
    assert_eq!((ping(&service, &one).await, ping(&service, &three).await), (200, 200));
}

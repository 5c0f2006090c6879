//! Quiet calls and quiet streams under paused time: a comment every 10 s, and nothing for who takes JSON alone.

use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::ResponseBody;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::common::{Raw, builder, call, open_session, probe, service};

/// The next bytes and how long after `start` they came.
async fn next(body: &mut ResponseBody, start: Instant) -> (String, u64) {
    let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
    (String::from_utf8(data.to_vec()).unwrap(), start.elapsed().as_secs())
}

/// elastic/docs-builder#2715: a client ended streams that were quiet for some ten seconds.
#[tokio::test(start_paused = true)]
async fn a_quiet_call_becomes_a_stream_that_is_kept_alive() {
    let (probe, _events) = probe();
    let service = StreamableHttpService::new(builder(&probe).build().unwrap());
    let session = open_session(&service).await;
    let older = Raw::initialize("2025-06-18").send(&service).await;
    let older = older.header("mcp-session-id").unwrap();
    let keep_alive = ": keep-alive\n\n";
    for (raw, first) in [
        (Raw::modern("tools/call", call("gate")), keep_alive),
        (Raw::legacy(older, "tools/call", &call("gate")), keep_alive),
        (Raw::legacy(&session, "tools/call", &call("gate")), "id: c"),
    ] {
        let start = Instant::now();
        let reply = service.handle(raw.request()).await;
        assert_eq!(start.elapsed().as_secs(), 10);
        assert_eq!(reply.headers()["content-type"], "text/event-stream");
        let mut body = reply.into_body();
        let (opening, seconds) = next(&mut body, start).await;
        assert!(opening.starts_with(first) && seconds == 10, "{opening}");
        for seconds in [20, 30] {
            assert_eq!(next(&mut body, start).await, (keep_alive.to_owned(), seconds));
        }
        probe.gate.notify_one();
        let (answer, seconds) = next(&mut body, start).await;
        assert_eq!(seconds, 30);
        assert!(answer.contains("\"text\":\"through\""), "{answer}");
        assert!(body.frame().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_for_json_alone_waits_in_silence() {
    let (probe, _events) = probe();
    let service = StreamableHttpService::new(builder(&probe).build().unwrap());
    let raw = Raw::modern("tools/call", call("gate")).set("accept", "application/json");
    let mut answer = Box::pin(service.handle(raw.request()));
    assert!(timeout(Duration::from_secs(600), &mut answer).await.is_err());
    probe.gate.notify_one();
    let reply = answer.await;
    assert_eq!(reply.headers()["content-type"], "application/json");
}

#[tokio::test(start_paused = true)]
async fn listening_streams_are_kept_alive() {
    let service = service();
    let session = open_session(&service).await;
    let listen =
        Raw::modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let get = Raw::bare(Method::GET).set("mcp-session-id", &session);
    for raw in [listen, get] {
        let start = Instant::now();
        let mut body = service.handle(raw.request()).await.into_body();
        // The acknowledgement, or the comment that opens the stream.
        assert_eq!(next(&mut body, start).await.1, 0);
        for seconds in [10, 20, 30] {
            assert_eq!(next(&mut body, start).await, (": keep-alive\n\n".to_owned(), seconds));
        }
    }
}

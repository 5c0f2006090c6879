//! Calls that let their connection go and are polled for (2025-11-25, SEP-1699).

use std::time::Duration;

use mcp_proto::StreamableHttpService;
use mcp_proto::http::HttpConfig;
use serde_json::{Value, json};

use crate::common::{Raw, Served, open_session, request};
use crate::events::{dial, get, open, text_of};
use crate::peer::Peer;
use crate::resume::{arguments, paced, session_of};

fn leave(session: &str) -> Raw {
    Raw::legacy(session, "tools/call", &arguments("leave", &json!({})))
}

#[tokio::test]
async fn a_call_that_lets_its_connection_go_is_polled_for() {
    let (server, paces) = paced();
    let served = Served::new(server).await;
    let session = open_session(&served.service).await;
    // What the session negotiated counts: clients in use name another version here.
    for version in ["2025-11-25", "2025-03-26"] {
        let raw = leave(&session).set("mcp-protocol-version", version);
        let mut stream = dial(&served, raw).await;
        assert_eq!(stream.headers["content-type"], "text/event-stream");
        let first = stream.event().await.unwrap();
        assert_eq!((first.data.as_str(), first.retry), ("", None));
        let second = stream.event().await.unwrap();
        assert_eq!((second.data.as_str(), second.retry), ("", Some(500)));
        assert_ne!(first.id.unwrap(), second.id.unwrap());
        assert_eq!(stream.event().await, None);
        let resume = get(&session, Some(&stream.last)).set("mcp-protocol-version", version);
        let mut again = dial(&served, resume).await;
        paces.step("a");
        let rest = again.rest().await;
        assert_eq!(text_of(&rest[0]), "while away");
        assert_eq!(rest[1]["result"]["content"][0]["text"], "reconnected");
        assert_eq!(rest.len(), 2);
    }
    served.ended().await;
}

#[tokio::test]
async fn whoever_comes_back_has_an_id_at_once_to_come_back_again_with() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server);
    let session = open_session(&service).await;
    let mut stream = open(&service, leave(&session)).await;
    while stream.event().await.is_some() {}
    for _ in 0..3 {
        // Each connection breaks before anything was said; some clients forget their last id with it.
        let mut again = open(&service, get(&session, Some(&stream.last))).await;
        let event = again.event().await.unwrap();
        assert_eq!((event.data.as_str(), event.retry), ("", None));
        assert_ne!(again.last, stream.last);
        stream = again;
    }
    paces.step("a");
    let last = stream.last.clone();
    let rest = open(&service, get(&session, Some(&last))).await.rest().await;
    assert_eq!(rest.len(), 2);
}

#[tokio::test]
async fn where_a_client_would_not_come_back_nothing_is_let_go() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server.clone());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let session = session_of(&service, version).await;
        paces.step("a");
        // The header is not the session's revision.
        let raw = leave(&session).set("mcp-protocol-version", "2025-11-25");
        let mut stream = open(&service, raw).await;
        // The first event, and no other before it.
        let said: Value = serde_json::from_str(&stream.event().await.unwrap().data).unwrap();
        assert_eq!(said["params"]["progress"], 1.0);
        assert_eq!(stream.rest().await.len(), 1);
    }
    let session = open_session(&service).await;
    paces.step("a");
    let raw = leave(&session).set("accept", "application/json");
    let result = raw.send(&service).await.result();
    assert_eq!(result["content"][0]["text"], "reconnected");
    // Over stdio there is no connection to let go.
    let mut peer = Peer::new(server);
    peer.send(&serde_json::from_slice(&Raw::initialize("2025-11-25").body).unwrap()).await;
    peer.next().await;
    paces.step("a");
    peer.send(&request(1, "tools/call", &arguments("leave", &json!({})))).await;
    assert_eq!(peer.next().await["params"]["message"], "while away");
    assert_eq!(peer.next().await["id"], 1);
    peer.end().await;
}

#[tokio::test]
async fn a_call_that_has_no_place_without_its_client_keeps_its_connection() {
    let (server, paces) = paced();
    let mut config = HttpConfig::default();
    config.legacy.max_detached_calls_per_session = 1;
    let service = StreamableHttpService::with_config(server, config);
    let session = open_session(&service).await;
    let mut first = open(&service, leave(&session)).await;
    while first.event().await.is_some() {}
    let mut second = open(&service, leave(&session)).await;
    assert_eq!(second.event().await.unwrap().data, "");
    paces.step("a");
    paces.step("a");
    assert_eq!(second.rest().await.len(), 2);
    let rest = open(&service, get(&session, Some(&first.last))).await.rest().await;
    assert_eq!(rest.len(), 2);
    // The place is free again, and once more when whoever took it is heard again, though it goes on.
    let mut third = open(&service, leave(&session)).await;
    while third.event().await.is_some() {}
    let mut third = open(&service, get(&session, Some(&third.last))).await;
    third.event().await.unwrap();
    let mut fourth = open(&service, leave(&session)).await;
    while fourth.event().await.is_some() {}
    paces.step("a");
    assert_eq!(third.rest().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_in_time_keeps_its_call_for_as_long_as_it_takes() {
    let (server, paces) = paced();
    let mut config = HttpConfig::default();
    config.legacy.max_detached_time = Duration::from_secs(60);
    let service = StreamableHttpService::with_config(server, config);
    let session = open_session(&service).await;
    let mut stream = open(&service, leave(&session)).await;
    while stream.event().await.is_some() {}
    let mut last = stream.last.clone();
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_secs(50)).await;
        let mut again = open(&service, get(&session, Some(&last))).await;
        assert_eq!(again.event().await.unwrap().data, "");
        last.clone_from(&again.last);
    }
    tokio::time::sleep(Duration::from_secs(61)).await;
    paces.step("a");
    let (status, _) = open(&service, get(&session, Some(&last))).await.refusal().await;
    assert_eq!(status, 400);
}

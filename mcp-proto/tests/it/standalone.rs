//! The GET stream of a session when its connection drops: nothing that changes meanwhile is lost, for a while.

use std::time::Duration;

use mcp_proto::budget::Bound;
use mcp_proto::http::HttpConfig;
use mcp_proto::{Change, StreamableHttpService};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::common::{Served, builder, open_session, probe, server};
use crate::events::{get, open, stream_of};
use crate::resume::session_of;

const CHANGED: &str = "notifications/tools/list_changed";

fn changes(messages: &[Value]) -> usize {
    assert!(messages.iter().all(|message| message["method"] == CHANGED));
    messages.len()
}

#[tokio::test(start_paused = true)]
async fn what_changes_while_the_client_is_away_is_told_when_it_is_back() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    for version in ["2025-03-26", "2025-11-25"] {
        let session = session_of(&service, version).await;
        let mut stream = open(&service, get(&session, None)).await;
        server.notify(Change::ToolsListChanged);
        stream.message().await.unwrap();
        let last = stream.last.clone();
        drop(stream);
        for _ in 0..3 {
            sleep(Duration::from_secs(15)).await;
            server.notify(Change::ToolsListChanged);
        }
        let mut stream = open(&service, get(&session, Some(&last))).await;
        for _ in 0..3 {
            stream.message().await.unwrap();
        }
        assert_eq!(stream_of(&stream.last), stream_of(&last));
        // Live again, and the time starts anew.
        server.notify(Change::ToolsListChanged);
        stream.message().await.unwrap();
        let last = stream.last.clone();
        drop(stream);
        sleep(Duration::from_secs(59)).await;
        server.notify(Change::ToolsListChanged);
        let mut stream = open(&service, get(&session, Some(&last))).await;
        stream.message().await.unwrap();
        assert_eq!(stream_of(&stream.last), stream_of(&last));
    }
}

/// A client whose connection has died without an end comes back and must not be refused: danny-avila/LibreChat#14816,
/// anthropics/claude-code#31752, render-oss/render-mcp-server#26, modelcontextprotocol/kotlin-sdk#715. One that keeps
/// two must not be made to open each for the other without end: UsefulSoftwareCo/executor#1754.
#[tokio::test(start_paused = true)]
async fn a_living_client_reads_beside_a_dead_connection() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = session_of(&service, version).await;
        let mut dead = open(&service, get(&session, None)).await;
        server.notify(Change::ToolsListChanged);
        dead.message().await.unwrap();
        let mut all = vec![dead];
        for _ in 0..3 {
            let start = Instant::now();
            let mut living = open(&service, get(&session, None)).await;
            let waited = start.elapsed().as_millis();
            assert_eq!(living.status, 200);
            assert!((100..110).contains(&waited), "{waited}");
            // What the dead connection was sent is lost, so that everything may have changed.
            assert_eq!(living.message().await.unwrap()["method"], CHANGED);
            server.notify(Change::ToolsListChanged);
            living.message().await.unwrap();
            all.push(living);
        }
        // The newest that is left reads.
        while let Some(last) = all.pop() {
            drop(last);
            if let Some(before) = all.last_mut() {
                assert_eq!(before.message().await.unwrap()["method"], CHANGED);
                server.notify(Change::ToolsListChanged);
                assert_eq!(before.message().await.unwrap()["method"], CHANGED);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_meanwhile_is_waited_for() {
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    for _ in 0..3 {
        let old = open(&service, get(&session, None)).await;
        let coming = tokio::spawn({
            let (service, raw) = (service.clone(), get(&session, None));
            async move { open(&service, raw).await }
        });
        sleep(Duration::from_millis(50)).await;
        assert!(!coming.is_finished());
        let start = Instant::now();
        drop(old);
        let new = coming.await.unwrap();
        assert_eq!((new.status.as_u16(), start.elapsed()), (200, Duration::ZERO));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_back_at_once_is_never_refused() {
    let served = Served::new(server()).await;
    for version in ["2025-06-18", "2025-11-25"] {
        let session = session_of(&served.service, version).await;
        let request = format!(
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\
             mcp-session-id: {session}\r\n\r\n"
        );
        for _ in 0..200 {
            // The end of the connection before and this request arrive together.
            let mut stream = TcpStream::connect(served.address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut head = [0; 12];
            stream.read_exact(&mut head).await.unwrap();
            assert_eq!(&head, b"HTTP/1.1 200");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_minute_a_fresh_stream_is_opened() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let session = open_session(&service).await;
    let mut stream = open(&service, get(&session, None)).await;
    stream.event().await.unwrap();
    let last = stream.last.clone();
    drop(stream);
    sleep(HttpConfig::default().legacy.keep_listening + Duration::from_secs(1)).await;
    assert_eq!(HttpConfig::default().legacy.keep_listening, Duration::from_secs(60));
    server.notify(Change::ToolsListChanged);
    let mut stream = open(&service, get(&session, Some(&last))).await;
    assert_eq!(stream.event().await.unwrap().data, "");
    assert_ne!(stream_of(&stream.last), stream_of(&last));
    server.close();
    // What was told meanwhile is lost, so that it says of the tools, all that this server tells of, that they may have
    // changed.
    assert_eq!(changes(&stream.rest().await), 1);
}

#[tokio::test(start_paused = true)]
async fn a_get_without_an_id_hears_what_nobody_was_told() {
    let server = server();
    let service = StreamableHttpService::new(server.clone());
    let session = session_of(&service, "2025-06-18").await;
    // No event yet, so the client has no id to come back with.
    drop(open(&service, get(&session, None)).await);
    sleep(Duration::from_secs(1)).await;
    server.notify(Change::ToolsListChanged);
    let mut stream = open(&service, get(&session, None)).await;
    stream.message().await.unwrap();
    server.notify(Change::ToolsListChanged);
    stream.message().await.unwrap();
    drop(stream);
    sleep(Duration::from_secs(1)).await;
    // What was told is not told again.
    let mut stream = open(&service, get(&session, None)).await;
    server.close();
    assert_eq!(changes(&stream.rest().await), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_misses_more_than_is_kept_is_told_what_is_left_and_that_it_missed_some() {
    let server = server();
    let mut config = HttpConfig::default();
    config.legacy.max_kept_events = 10;
    let service = StreamableHttpService::with_config(server.clone(), config);
    let session = open_session(&service).await;
    let mut stream = open(&service, get(&session, None)).await;
    stream.event().await.unwrap();
    let last = stream.last.clone();
    drop(stream);
    for _ in 0..1_000 {
        server.notify(Change::ToolsListChanged);
        tokio::task::yield_now().await;
    }
    let mut stream = open(&service, get(&session, Some(&last))).await;
    for _ in 0..10 {
        stream.message().await.unwrap();
    }
    // The listener could not keep up either: the list may have changed once more.
    stream.message().await.unwrap();
    server.close();
    assert!(changes(&stream.rest().await) <= 256);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_listen_for_clients_that_are_away() {
    let server = server();
    let mut config = HttpConfig::default();
    config.legacy.kept_streams = Bound::of(2);
    let service = StreamableHttpService::with_config(server.clone(), config);
    let mut away = Vec::new();
    for _ in 0..3 {
        let session = open_session(&service).await;
        let mut stream = open(&service, get(&session, None)).await;
        stream.event().await.unwrap();
        away.push((session, stream.last.clone()));
        drop(stream);
        sleep(Duration::from_secs(1)).await;
    }
    server.notify(Change::ToolsListChanged);
    let (mut heard, mut back) = (Vec::new(), Vec::new());
    for (session, last) in away {
        let mut stream = open(&service, get(&session, Some(&last))).await;
        let event = stream.event().await.unwrap();
        // A fresh stream has not heard of it.
        let fresh = stream_of(&stream.last) != stream_of(&last);
        if !fresh && event.data.is_empty() {
            stream.message().await.unwrap();
        }
        heard.push(!fresh);
        back.push(stream);
    }
    assert_eq!(heard, [false, true, true]);
}

/// Whoever drops many streams takes no place from those who listen.
#[tokio::test(start_paused = true)]
async fn a_client_that_is_away_leaves_its_place_to_others() {
    let server = builder(&probe().0).tools_list_changed().max_listeners(1).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let (one, two) = (open_session(&service).await, open_session(&service).await);
    let mut away = open(&service, get(&one, None)).await;
    away.event().await.unwrap();
    server.notify(Change::ToolsListChanged);
    away.message().await.unwrap();
    let last = away.last.clone();
    drop(away);
    // Its end is noticed when its task runs.
    sleep(Duration::from_millis(1)).await;
    let mut here = open(&service, get(&two, None)).await;
    here.event().await.unwrap();
    server.notify(Change::ToolsListChanged);
    here.message().await.unwrap();
    // With every place taken the one that comes back is told what it missed, and then it ends.
    let mut back = open(&service, get(&one, Some(&last))).await;
    assert_eq!(changes(&back.rest().await), 1);
    drop(here);
    sleep(Duration::from_millis(1)).await;
    let mut back = open(&service, get(&one, None)).await;
    back.event().await.unwrap();
    server.notify(Change::ToolsListChanged);
    back.message().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_back_makes_no_room_for_another() {
    let server = server();
    let mut config = HttpConfig::default();
    config.legacy.kept_streams = Bound::of(1);
    let service = StreamableHttpService::with_config(server.clone(), config);
    let (one, two) = (open_session(&service).await, open_session(&service).await);
    let mut stream = open(&service, get(&one, None)).await;
    stream.event().await.unwrap();
    let last = stream.last.clone();
    drop(stream);
    sleep(Duration::from_secs(1)).await;
    let mut back = open(&service, get(&one, Some(&last))).await;
    back.event().await.unwrap();
    drop(open(&service, get(&two, None)).await);
    sleep(Duration::from_secs(1)).await;
    server.notify(Change::ToolsListChanged);
    assert!(back.message().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_connection_does_not_hold_its_session() {
    let server = server();
    let mut config = HttpConfig::default();
    config.legacy.keep_listening = Duration::from_secs(3_600);
    let service = StreamableHttpService::with_config(server, config);
    let session = open_session(&service).await;
    let mut stream = open(&service, get(&session, None)).await;
    stream.event().await.unwrap();
    let last = stream.last.clone();
    drop(stream);
    sleep(Duration::from_secs(30 * 60)).await;
    let (status, _) = open(&service, get(&session, Some(&last))).await.refusal().await;
    assert_eq!(status, 404);
}

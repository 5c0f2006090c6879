//! What is kept of streams for clients that come back, for how long, and what goes first.

use std::time::Duration;

use http::Method;
use mcp_proto::StreamableHttpService;
use mcp_proto::budget::Bound;
use mcp_proto::http::HttpConfig;
use serde_json::json;
use tokio::time::sleep;

use crate::common::{Raw, open_session};
use crate::events::{get, open, text_of};
use crate::resume::{answer_of, arguments, paced, steps_of};

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_heard_is_kept_for_five_minutes() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server);
    let session = open_session(&service).await;
    let mut ids = Vec::new();
    for tag in ["a", "b"] {
        let mut stream = open(&service, steps_of(&session, tag)).await;
        stream.next_text().await;
        ids.push(stream.last.clone());
        drop(stream);
        (0..3).for_each(|_| paces.step(tag));
    }
    for id in &ids {
        sleep(Duration::from_secs(149)).await;
        let rest = open(&service, get(&session, Some(id))).await.rest().await;
        assert_eq!(rest.len(), 3);
    }
    sleep(Duration::from_secs(3)).await;
    for id in &ids {
        let (status, message) = open(&service, get(&session, Some(id))).await.refusal().await;
        assert_eq!(status, 400);
        assert!(message.contains("send the request again"), "{message}");
    }
    assert_eq!(HttpConfig::default().legacy.keep_ended_streams, Duration::from_secs(300));
}

#[tokio::test]
async fn what_is_kept_ends_with_its_session() {
    let (server, paces) = paced();
    let service = StreamableHttpService::new(server);
    let session = open_session(&service).await;
    let mut stream = open(&service, steps_of(&session, "a")).await;
    stream.next_text().await;
    let id = stream.last.clone();
    drop(stream);
    (0..3).for_each(|_| paces.step("a"));
    let mut running = open(&service, steps_of(&session, "b")).await;
    running.next_text().await;
    let delete = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(delete.send(&service).await.status, 204);
    assert_eq!(running.event().await, None);
    let (status, _) = open(&service, get(&session, Some(&id))).await.refusal().await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn the_ring_keeps_the_last_events_and_always_the_answer() {
    let (server, paces) = paced();
    let mut config = HttpConfig::default();
    assert_eq!(
        (config.legacy.max_kept_events, config.legacy.max_kept_bytes_per_stream),
        (256, 1 << 20)
    );
    config.legacy.max_kept_bytes_per_stream = 72 * 1024;
    let service = StreamableHttpService::with_config(server, config);
    let session = open_session(&service).await;
    for (messages, bytes, wanted) in [
        (1_000, 1, 256..=256),
        // The answer alone is more than all that is kept.
        (1_000, 100_000, 1..=1),
        // Some 250 bytes for each message.
        (250, 30_000, 100..=200),
    ] {
        let params = arguments("much", &json!({"messages": messages, "bytes": bytes}));
        let raw = Raw::legacy(&session, "tools/call", &params);
        let mut stream = open(&service, raw).await;
        stream.next_text().await;
        let first = stream.last.clone();
        drop(stream);
        paces.step("a");
        // Waits for the end of the call.
        let rest = open(&service, get(&session, Some(&first))).await.rest().await;
        assert_eq!(answer_of(&rest).len(), bytes);
        // What was kept for that reader goes once its end is noticed.
        tokio::task::yield_now().await;
        let mut replayed = open(&service, get(&session, Some(&first))).await.rest().await;
        assert_eq!(answer_of(&replayed).len(), bytes);
        assert!(wanted.contains(&replayed.len()), "{messages} {bytes}: {}", replayed.len());
        // No gap in what is left.
        replayed.pop();
        for (message, step) in replayed.iter().rev().zip((1..=messages).rev()) {
            assert_eq!(text_of(message), step.to_string());
        }
    }
}

#[tokio::test]
async fn only_so_many_streams_are_kept_for_a_session_and_in_all() {
    let (server, paces) = paced();
    let mut config = HttpConfig::default();
    assert_eq!(
        (config.legacy.kept_streams.total, config.legacy.max_kept_streams_per_session),
        (1_024, 16)
    );
    config.legacy.kept_streams = Bound::of(3);
    config.legacy.max_kept_streams_per_session = 2;
    let service = StreamableHttpService::with_config(server, config);
    let mut ended = Vec::new();
    let sessions = [open_session(&service).await, open_session(&service).await];
    for session in [&sessions[0], &sessions[0], &sessions[0], &sessions[1], &sessions[1]] {
        (0..3).for_each(|_| paces.step("a"));
        let mut stream = open(&service, steps_of(session, "a")).await;
        stream.next_text().await;
        let first = stream.last.clone();
        stream.rest().await;
        ended.push((session, first));
    }
    let mut kept = Vec::new();
    for (session, id) in ended {
        let stream = open(&service, get(session, Some(&id))).await;
        kept.push(stream.status.as_u16());
    }
    // The first went for the third of its session, the second for the last of all.
    assert_eq!(kept, [400, 400, 200, 200, 200]);
}

#[tokio::test]
async fn only_so_many_bytes_are_kept_in_all_and_none_that_are_needed_now() {
    let (server, paces) = paced();
    let mut config = HttpConfig::default();
    assert_eq!(config.legacy.kept_bytes.total, 64 << 20);
    config.legacy.kept_bytes = Bound::of(100_000);
    let service = StreamableHttpService::with_config(server, config);
    let session = open_session(&service).await;
    let mut ended = Vec::new();
    for bytes in [60_000, 30_000, 60_000, 200_000] {
        paces.step("a");
        let params = arguments("much", &json!({"messages": 1, "bytes": bytes}));
        let mut stream = open(&service, Raw::legacy(&session, "tools/call", &params)).await;
        stream.next_text().await;
        let first = stream.last.clone();
        // Whoever reads gets everything, also what is more than may be kept.
        assert_eq!(answer_of(&stream.rest().await).len(), bytes);
        ended.push(first);
        let mut kept = Vec::new();
        for id in &ended {
            let mut again = open(&service, get(&session, Some(id))).await;
            kept.push(if again.status == 200 { again.rest().await.len() } else { 0 });
        }
        let wanted: &[usize] = match bytes {
            30_000 => &[2, 2],
            60_000 if ended.len() == 1 => &[2],
            60_000 => &[0, 2, 2],
            // Nothing is left for anybody; of this one, at most its end.
            _ => &[0, 0, 0, 0],
        };
        assert_eq!(kept, wanted);
    }
}

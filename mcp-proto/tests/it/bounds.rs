//! What one client cannot take from the others: sessions, memory for bodies, calls, places to listen.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::http::HttpConfig;
use mcp_proto::{MemorySessions, MemorySessionsConfig, StreamableHttpService};
use serde_json::json;

use crate::common::{Raw, open_session, server};

async fn ping(service: &StreamableHttpService, session: &str) -> u16 {
    let reply = Raw::legacy(session, "ping", &json!({})).send(service).await;
    reply.status.as_u16()
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_openings_ends_none_that_is_in_use() {
    let mut config = MemorySessionsConfig::default();
    config.max_sessions = 80;
    let sessions = Arc::new(MemorySessions::new(config));
    let service =
        StreamableHttpService::with_sessions(server(), HttpConfig::default(), sessions.clone());
    let mut in_use = Vec::new();
    for _ in 0..40 {
        in_use.push(open_session(&service).await);
        assert_eq!(ping(&service, in_use.last().unwrap()).await, 200);
    }
    for _ in 0..1_000 {
        open_session(&service).await;
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    assert_eq!(sessions.len(), 80);
    for session in &in_use {
        assert_eq!(ping(&service, session).await, 200);
    }
    // One that is used as soon as it is open stays, too, when all others are in use.
    for _ in 0..1_000 {
        let session = open_session(&service).await;
        let other = open_session(&service).await;
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(ping(&service, &session).await, 200);
        assert_eq!(ping(&service, &other).await, 200);
    }
    assert_eq!(sessions.len(), 80);
}

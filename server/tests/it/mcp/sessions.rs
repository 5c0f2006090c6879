//! Clients that open sessions and never end them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::wire::open_session;
use crate::harness::{Client, Era, Server};

/// What one client may have.
const CAP: usize = 12_000;
/// Enough for another full table, and some more.
const ROUND: usize = 13_000;
const CONNECTIONS: usize = 8;
/// What the resident memory may differ between one full table and the next, in KiB: the allocator's own slack, which
/// was 0.1 MiB when measured. With a table that lets nothing go it grew by 8 MiB.
const MARGIN: u64 = 3 * 1024;

/// A session, and when its opening began and was over, by a clock that counts these moments.
struct Opened {
    id: String,
    begun: usize,
    over: usize,
}

/// Opens sessions over a few connections.
async fn open(client: Client, count: usize) -> Vec<Opened> {
    let opened = Arc::new(Mutex::new(Vec::new()));
    let clock = Arc::new(AtomicUsize::new(0));
    let workers = (0..CONNECTIONS).map(|_| {
        let (opened, clock) = (Arc::clone(&opened), Arc::clone(&clock));
        tokio::spawn(async move {
            let mut connection = client.connect().await;
            for _ in 0..count / CONNECTIONS {
                let begun = clock.fetch_add(1, Ordering::SeqCst);
                let id = open_session(&mut connection).await;
                let over = clock.fetch_add(1, Ordering::SeqCst);
                opened.lock().unwrap().push(Opened { id, begun, over });
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    std::mem::take(&mut opened.lock().unwrap())
}

/// Which of these sessions are answered; the others are unknown.
async fn alive(client: Client, sessions: impl Iterator<Item = &Opened>) -> Vec<bool> {
    let mut connection = client.connect().await;
    let ping = Era::Legacy.request(&json!(1), "ping", json!({}));
    let mut alive = Vec::new();
    for session in sessions {
        let headers = [("mcp-session-id", session.id.as_str())];
        let reply = connection.call("POST", "/mcp", &headers, &ping).await;
        assert!(matches!(reply.status, 200 | 404), "{reply:?}");
        alive.push(reply.status == 200);
    }
    alive
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.unwrap().trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_that_are_never_ended_are_bounded() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--store", "memory"]).await;
    let client = server.client;
    let first = open(client, ROUND).await;
    let before = resident_kib(server.pid());
    let second = open(client, ROUND).await;
    let after = resident_kib(server.pid());
    println!("resident: {before} KiB after {ROUND} sessions, {after} KiB after {}", 2 * ROUND);
    assert!(after <= before + MARGIN, "{before} KiB grew to {after} KiB");
    let first = alive(client, first.iter().step_by(10)).await;
    assert!(!first.contains(&true), "the old ones are gone");
    let alive = alive(client, second.iter()).await;
    assert_eq!(alive.iter().filter(|alive| **alive).count(), CAP);
    // Whatever is gone was not opened after what is there.
    let of = |wanted: bool| {
        let sessions = second.iter().zip(&alive);
        sessions.filter_map(move |(session, alive)| (*alive == wanted).then_some(session))
    };
    let last_gone = of(false).map(|session| session.begun).max().unwrap();
    let first_alive = of(true).map(|session| session.over).min().unwrap();
    assert!(last_gone < first_alive, "{last_gone} {first_alive}");
}

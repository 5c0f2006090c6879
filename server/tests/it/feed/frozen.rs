//! Readers of a feed that do not read: what they make the server hold, and that they lose nothing.

use hyper::body::Incoming;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Client, Feed, Server, tick};

/// A command of some size, with an event as large.
fn large(n: u64, bytes: usize) -> Value {
    let name = "x".repeat(bytes);
    json!({"type": "setNebulae", "nebulae": {}, "n": n, "filler": name})
}

async fn send(client: Client, id: &str, command: &Value) {
    let path = format!("/universes/{id}/commands?result=events");
    assert_eq!(client.post(&path, command).await.status, 200);
}

/// The most memory that a process has had so far, in MiB.
#[cfg(target_os = "linux")]
fn peak(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: usize = line.unwrap().trim().trim_end_matches(" kB").parse().unwrap();
    kib / 1024
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_large_event_is_in_memory_once_however_many_do_not_read_it() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    // Before, what one such command takes by itself.
    send(client, &id, &large(0, 4 << 20)).await;
    let before = peak(&server);
    let mut feeds = Vec::new();
    for _ in 0..40 {
        feeds.push(client.feed(&id, None).await);
    }
    send(client, &id, &large(1, 4 << 20)).await;
    // One of them reads: by now the others were given what they take.
    let mut reader = feeds.pop().unwrap();
    assert_eq!(reader.event().await.unwrap().id, Some(2));
    send(client, &id, &tick()).await;
    assert_eq!(reader.event().await.unwrap().id, Some(3));
    // 40 copies would be 160 MiB.
    let grown = peak(&server) - before;
    assert!(grown < 64, "{grown} MiB more");
    for feed in &mut feeds {
        let event = feed.event().await.unwrap();
        assert_eq!((event.id, &event.data["n"]), (Some(2), &json!(1)));
        assert_eq!(feed.event().await.unwrap().id, Some(3));
    }
}

/// Reads on until `last`, coming back as often as the feed ends. Gives how often that was.
async fn read_on(client: Client, id: &str, mut feed: Feed<Incoming>, last: u64) -> usize {
    let (mut seen, mut returns) = (0, 0);
    while seen < last {
        match feed.event().await {
            Some(event) => {
                assert_eq!(event.id, Some(seen + 1));
                seen += 1;
            }
            None => {
                returns += 1;
                assert!(returns < 20, "it gets nowhere after {seen}");
                feed = client.feed(id, Some(seen)).await;
            }
        }
    }
    returns
}

#[tokio::test]
async fn a_reader_in_the_middle_of_what_had_to_go_comes_back_for_it() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let frozen = client.feed(&id, None).await;
    // More than is kept for all feeds together, and each more than a connection takes.
    for n in 1..=5 {
        send(client, &id, &large(n, 8 << 20)).await;
    }
    let returns = read_on(client, &id, frozen, 5).await;
    assert_eq!(returns, 1, "its event had gone, and the others are read from the log");
}

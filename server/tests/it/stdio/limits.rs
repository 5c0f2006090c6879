//! What a joined client may do, and what it has to put up with: full pipes, a holder that hangs, a holder that is full.

use std::collections::HashSet;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::UnixStream;

use super::directory;
use crate::harness::process::{binary, run, signal};
use crate::harness::{Era, Server, Stdio, soon};

/// A read of `sol`, in a line of some length.
fn read(id: usize, filler: usize) -> Value {
    let params = json!({"name": "get_universe_state", "arguments": {"universeId": "sol"}});
    let mut request = Era::Modern.request(&json!(id), "tools/call", params);
    request["params"]["_meta"]["com.example/filler"] = json!("x".repeat(filler));
    request
}

/// Both directions are full at once: what is asked is more than all pipes on the way hold, and so is what is answered.
#[tokio::test]
async fn a_joined_client_may_ask_much_at_once() {
    const READS: usize = 200;
    let dir = TempDir::new().unwrap();
    let _server = Server::with(dir.path(), &["--demo"]).await;
    let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
    let lines: String = (0..READS).map(|id| format!("{}\n", read(id, 8 * 1024))).collect();
    let mut answered = HashSet::new();
    for answer in stdio.ask_all(&lines).await {
        assert!(answer["result"].is_object(), "{answer}");
        assert!(answered.insert(answer["id"].as_u64().unwrap()));
    }
    assert_eq!(answered.len(), READS);
}

#[tokio::test]
async fn sigterm_ends_it_also_when_its_client_does_not_read() {
    let dir = TempDir::new().unwrap();
    let _server = Server::with(dir.path(), &["--demo"]).await;
    let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
    for id in 0..100 {
        stdio.write(&read(id, 0)).await;
    }
    // One answer is read, so that the rest is on its way.
    stdio.read().await;
    signal(stdio.pid(), "TERM");
    assert_eq!(stdio.wait().await.code(), Some(0));
}

/// Waits until a process that has just been started would not be ended by SIGTERM alone (proc(5): `SigCgt`).
async fn minds_sigterm(pid: u32) {
    soon(async {
        loop {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
            if mask & (1 << (15 - 1)) != 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_holder_that_hangs_is_reported_and_sigterm_ends_the_wait() {
    let dir = directory().await;
    let server = Server::on(dir.path()).await;
    let mut joined = Stdio::on(dir.path(), Era::Modern).await;
    joined.state("sol").await;
    signal(server.pid(), "STOP");

    let mut waiting = Stdio::on(dir.path(), Era::Modern).await;
    for stdio in [&mut joined, &mut waiting] {
        stdio.write(&read(1, 0)).await;
        minds_sigterm(stdio.pid()).await;
        signal(stdio.pid(), "TERM");
        assert_eq!(stdio.wait().await.code(), Some(0));
    }
    for arguments in [&["--stdio"][..], &["--listen", "127.0.0.1:0"]] {
        let mut command = binary();
        command.arg("--data-dir").arg(dir.path()).args(arguments);
        let ended = run(&mut command).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains("another server"), "{}", ended.stderr);
    }
    signal(server.pid(), "CONT");
    let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
    stdio.state("sol").await;
}

#[tokio::test]
async fn one_process_too_many_is_refused_and_has_a_place_when_another_goes() {
    let dir = directory().await;
    let _server = Server::on(dir.path()).await;
    let socket = dir.path().join("universe.sock");
    let mut peers = Vec::new();
    for _ in 0..64 {
        peers.push(soon(UnixStream::connect(&socket)).await.unwrap());
    }
    let mut late = BufReader::new(soon(UnixStream::connect(&socket)).await.unwrap());
    let mut line = String::new();
    soon(late.read_line(&mut line)).await.unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("64 processes"), "{told}");
    assert_eq!(soon(late.read(&mut [0])).await.unwrap(), 0);
    // It tries again by itself for a while.
    let mut stdio = Stdio::on(dir.path(), Era::Modern).await;
    peers.pop();
    stdio.state("sol").await;
}

//! What the system refuses, as far as it can be made to: a disk that takes no more, and no more open files.

use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::harness::process::{binary, done};
use crate::harness::{Server, soon, tick};

/// A server under a limit that this shell sets.
async fn limited(dir: &TempDir, limit: &str) -> Server {
    let mut limited = Command::new("bash");
    limited
        .args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")])
        .arg(binary().as_std().get_program())
        .args(["--listen", "127.0.0.1:0", "--data-dir"])
        .arg(dir.path())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    Server::start(limited).await
}

/// Connections that were accepted before the files ran out must start, or none of them ever ends.
#[tokio::test]
async fn a_server_whose_open_files_ran_out_answers_once_clients_have_left() {
    let dir = TempDir::new().unwrap();
    let server = limited(&dir, "ulimit -n 120").await;
    let mut clients = Vec::new();
    for _ in 0..300 {
        clients.push(soon(TcpStream::connect(server.client.0)).await.unwrap());
    }
    drop(clients);
    assert_eq!(soon(server.client.get("/readyz")).await.status, 200);
}

/// A process that may write only so much into a file: beyond that the system answers with an error.
#[tokio::test]
async fn an_error_of_the_system_ends_the_server_and_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    server.stop().await;
    // In blocks of 1,024 bytes. The signal would kill the process before it can answer.
    let mut server = limited(&dir, "trap '' XFSZ; ulimit -f 200").await;
    let mut connection = server.client.connect().await;
    let path = format!("/universes/{id}/commands?result=events");
    let mut acknowledged = 0;
    loop {
        let Some(reply) = connection.try_call("POST", &path, &[], &tick()).await else {
            break;
        };
        if reply.status != 200 {
            assert!([500, 503, 507].contains(&reply.status), "{reply:?}");
            break;
        }
        acknowledged += 1;
        assert!(acknowledged < 10_000, "it can write on");
    }
    assert!(acknowledged > 0);
    assert_eq!(server.wait().await.code(), Some(1), "the store has failed");
    let told = done(dir.path(), &["check"]).await;
    assert!(told.trim_end().ends_with(": sound"), "{told}");
    let server = Server::on(dir.path()).await;
    let universe = server.client.universe(&id).await;
    let revision = universe["revision"].as_u64().unwrap();
    assert!((acknowledged..=acknowledged + 1).contains(&revision), "{acknowledged} {revision}");
    server.client.command(&id, &tick()).await;
}

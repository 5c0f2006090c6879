//! I/O errors of a real disk, as far as they can be made: the system refuses to write on.

use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;

use crate::harness::process::{binary, done};
use crate::harness::{Server, tick};

/// A process that may write only so much into a file: beyond that the system answers with an error.
#[tokio::test]
async fn an_error_of_the_system_ends_the_server_and_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    server.stop().await;
    let program = binary();
    let program = program.as_std().get_program().to_owned();
    let mut limited = tokio::process::Command::new("bash");
    limited
        // In blocks of 1,024 bytes. The signal would kill the process before it can answer.
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""])
        .arg(program)
        .args(["--listen", "127.0.0.1:0", "--data-dir"])
        .arg(dir.path())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let mut server = Server::start(limited).await;
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

//! Disks that are only read, and disks that are full.

use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{on, only_read, small};
use crate::harness::process::{Server, done, run};
use crate::harness::{soon, tick};

/// A directory that a server has used and closed.
async fn used() -> (TempDir, Value) {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    let sol = server.client.universe("sol").await;
    server.stop().await;
    (dir, sol)
}

/// bacalhau-project/bacalhau#2406, atuinsh/atuin#2999, kuzudb/kuzu#2276, simonw/datasette#124
#[tokio::test]
async fn what_only_reads_works_where_nothing_can_be_written() {
    let (dir, sol) = used().await;
    for arguments in
        [&["list", "--json"][..], &["get", "sol", "--json"], &["export", "sol"], &["check"]]
    {
        let Some(command) = only_read(dir.path()).await else {
            return;
        };
        let ended = run(&mut on(command, dir.path(), arguments)).await;
        assert!(ended.status.success(), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
        match arguments[0] {
            "check" => assert!(ended.stdout.trim_end().ends_with(": sound"), "{}", ended.stdout),
            "export" => assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap(), sol),
            _ => assert!(ended.stdout.contains("\"sol\""), "{}", ended.stdout),
        }
    }
    let file = TempDir::new().unwrap();
    let file = file.path().join("copy.db");
    let backup =
        on(only_read(dir.path()).await.unwrap(), dir.path(), &["backup", file.to_str().unwrap()]);
    assert!(run(&mut { backup }).await.status.success());
    let restored = TempDir::new().unwrap();
    done(restored.path(), &["restore", file.to_str().unwrap()]).await;
    // What writes says why it cannot.
    let mut send = on(
        only_read(dir.path()).await.unwrap(),
        dir.path(),
        &["send", "sol", "{\"type\":\"tick\",\"dt\":1}"],
    );
    let refused = run(&mut send).await;
    assert!(!refused.status.success() && refused.stderr.contains("read"), "{}", refused.stderr);
    let mut serve =
        on(only_read(dir.path()).await.unwrap(), dir.path(), &["--listen", "127.0.0.1:0"]);
    let refused = run(&mut serve).await;
    assert_eq!(refused.status.code(), Some(1));
    let told = "cannot be written (Read-only file system (os error 30)): what only reads works there, and `--read-only` serves it";
    assert!(refused.stderr.contains(told), "{}", refused.stderr);
}

#[tokio::test]
async fn what_cannot_be_written_is_served_read_only() {
    let (dir, sol) = used().await;
    let Some(command) = only_read(dir.path()).await else {
        return;
    };
    let arguments = ["--listen", "127.0.0.1:0", "--read-only", "--demo"];
    let server = Server::start(on(command, dir.path(), &arguments)).await;
    let client = server.client;
    assert_eq!(client.universe("sol").await, sol);
    assert_eq!(client.get("/readyz").await.status, 200);
    assert_eq!(client.get("/universes/sol/history?after=0").await.status, 200);
    assert_eq!(client.get("/universes/sol?revision=0").await.json()["revision"], 0);
    assert_eq!(client.post("/universes/sol/commands", &tick()).await.status, 405);
    // Two may read.
    let second = on(only_read(dir.path()).await.unwrap(), dir.path(), &arguments);
    assert_eq!(Server::start(second).await.client.universe("sol").await, sol);
}

/// fr-ser/grafana-sqlite-datasource#168
#[tokio::test]
async fn what_is_only_in_the_write_ahead_log_is_not_passed_over() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    server.kill().await;
    std::fs::remove_file(dir.path().join("universes.db-shm")).unwrap();
    for arguments in [&["check"][..], &["get", "sol"], &["--listen", "127.0.0.1:0", "--read-only"]]
    {
        let Some(command) = only_read(dir.path()).await else {
            return;
        };
        let ended = run(&mut on(command, dir.path(), arguments)).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
        assert!(ended.stderr.contains("copy the directory to where it can"), "{}", ended.stderr);
    }
}

/// rustfs/rustfs#2658, getnora-io/nora#629, morrow-project/morrow#89
#[tokio::test]
async fn a_full_disk_is_one_line_and_shows_in_readiness() {
    let dir = TempDir::new().unwrap();
    let Some(command) = small(dir.path(), "1m").await else {
        return;
    };
    let log = TempDir::new().unwrap();
    let log = log.path().join("log");
    // The log is seen by the test besides.
    let mut shell = tokio::process::Command::new("bash");
    shell.args(["-c", "log=$1; shift; exec \"$@\" 2> >(tee \"$log\" >&2)", "bash"]).arg(&log);
    let command = on(command, dir.path(), &["--listen", "127.0.0.1:0"]);
    for (name, value) in command.as_std().get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.arg(command.as_std().get_program()).args(command.as_std().get_args());
    shell.stdin(Stdio::null()).kill_on_drop(true);
    let server = Server::start(shell).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands?result=events");
    let many = json!((0..500).map(|_| tick()).collect::<Vec<_>>());
    let full = async {
        loop {
            let reply = client.post(&path, &many).await;
            if reply.status != 200 {
                return reply;
            }
        }
    };
    let refused = soon(full).await;
    assert_eq!(refused.status, 507, "{refused:?}");
    for _ in 0..200 {
        assert_eq!(client.post(&path, &many).await.status, 507);
    }
    let ready = client.get("/readyz").await;
    assert_eq!((ready.status, ready.json()), (200, json!({"ok": true, "writable": false})));
    let url = format!("http://{}", client.0);
    let health = done(dir.path(), &["health", "--url", &url]).await;
    assert!(health.contains("found no room"), "{health}");
    let before = client.universe(&id).await;
    assert_eq!(client.universe(&id).await, before, "reads go on");
    let told = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<_> = told.lines().filter(|line| line.contains("the store is full")).collect();
    assert_eq!(lines.len(), 1, "{told}");
    let after = told.lines().skip_while(|line| !line.contains("the store is full"));
    let writes = after.skip(1).filter(|line| !line.contains("method=GET"));
    assert_eq!(writes.collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn a_backup_without_room_blames_its_own_disk() {
    let (dir, _) = used().await;
    let full = TempDir::new().unwrap();
    let Some(command) = small(full.path(), "16k").await else {
        return;
    };
    let file = full.path().join("backup");
    let ended = run(&mut on(command, dir.path(), &["backup", file.to_str().unwrap()])).await;
    assert!(!ended.status.success());
    assert!(ended.stderr.contains("its disk is full: name a file"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("damaged"), "{}", ended.stderr);
}

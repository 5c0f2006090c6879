//! Universes in streams of NATS JetStream: moving there and back, and what is said of them.

use serde_json::json;
use tempfile::TempDir;

use crate::fleet::shared;
use crate::harness::process::{Ended, binary, run};
use crate::harness::{Server, add_star, tick};
use crate::nodes::{SECRET, node, with_password};

async fn migrate(from: &str, to: &str) -> Ended {
    let mut command = binary();
    command.env("UNIVERSE_FROM", from).env("UNIVERSE_TO", to).arg("migrate");
    let ended = run(&mut command).await;
    assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET));
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn universes_move_there_and_back() {
    let Some(fleet) = shared() else {
        return;
    };
    let (url, dir, back) =
        (with_password(&fleet.url()), TempDir::new().unwrap(), TempDir::new().unwrap());
    let at = |dir: &TempDir| dir.path().to_str().unwrap().to_owned();
    let mut server = Server::on(dir.path()).await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(server.client.create(&format!("u-{n}"), json!({})).await);
    }
    for n in 0..300 {
        let star = add_star(&format!("star-{n}"));
        server.client.command(&ids[n % 2], &star).await;
    }
    let path = format!("/universes/{}/commands", ids[0]);
    let keyed = [("idempotency-key", "once")];
    let first = server.client.call("POST", &path, &keyed, &tick()).await;
    let mut before = Vec::new();
    for id in &ids {
        before.push(server.client.universe(id).await);
    }
    server.stop().await;
    let moved = migrate(&at(&dir), &url).await;
    assert!(moved.status.success(), "{}", moved.stderr);
    let mut server = node(&url.replace(&format!("u:{SECRET}@"), "")).await;
    let ready = server.client.get("/readyz").await;
    assert_eq!((ready.status, ready.json()), (200, json!({"ok": true, "copies": 1})));
    for (id, before) in ids.iter().zip(&before) {
        assert_eq!(server.client.universe(id).await, *before);
    }
    let again = server.client.call("POST", &path, &keyed, &tick()).await;
    assert_eq!(again.json(), first.json());
    server.client.command(&ids[2], &tick()).await;
    let changed = server.client.universe(&ids[2]).await;
    server.stop().await;
    let moved = migrate(&url, &at(&back)).await;
    assert!(moved.status.success(), "{}", moved.stderr);
    let server = Server::on(back.path()).await;
    assert_eq!(server.client.universe(&ids[2]).await, changed);
    assert_eq!(server.client.universe(&ids[0]).await, before[0]);
}

#[tokio::test]
async fn what_cannot_be_meant_is_said_without_the_password() {
    for url in ["nats://u:geheim@h:x/p", "nats://u:geheim@h/p?what=1", "mysql://u:geheim@h/p"] {
        let ended = run(binary().args(["--store", url, "check-config"])).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
        assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
    }
    let backup = run(binary().args(["--store", "nats://h/p", "backup", "file"])).await;
    assert!(backup.stderr.contains("migrate"), "{}", backup.stderr);
}

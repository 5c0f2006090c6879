//! Universes that move from a data directory into a database and back, with servers that go on meanwhile.

use std::path::Path;
use std::process::Stdio;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use universe_store::sqlite::Options;
use universe_store::{Base, Revision, SqliteStore, UniverseId, UniverseLog as _};

use super::{SECRET, node, with_password};
use crate::cluster::shared;
use crate::harness::process::{Ended, binary, run};
use crate::harness::{Client, Reply, Server, add_star, soon, tick};

async fn migrate(from: &str, to: &str) -> Ended {
    let mut command = binary();
    command.env("UNIVERSE_FROM", from).env("UNIVERSE_TO", to).arg("migrate");
    let ended = run(&mut command).await;
    assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET));
    ended
}

async fn keyed(client: Client, id: &str, key: &str) -> Reply {
    let path = format!("/universes/{id}/commands");
    client.post_keyed(&path, key, &add_star(key)).await
}

/// All that can be read of some universes.
async fn states(client: Client, ids: &[String]) -> Vec<Value> {
    let mut told = vec![client.get("/universes?limit=1000").await.json()];
    for id in ids {
        told.push(client.universe(id).await);
        let history = client.get(&format!("/universes/{id}/history?limit=500")).await;
        told.push(json!({"status": history.status, "history": history.json()}));
    }
    told
}

/// Lets the log of a universe begin at a revision.
async fn trim(dir: &Path, id: &str, revision: u64, state: &Value) {
    let store = SqliteStore::open(dir, Options::default()).unwrap();
    let (id, revision) = (UniverseId::new(id).unwrap(), Revision(revision));
    let mut before = store.tail(&id, Revision(revision.0 - 1));
    let entry = before.next().await.unwrap().unwrap();
    drop(before);
    let base = Base { revision, at: entry.at, body: state.to_string().into() };
    store.trim(&id, entry.command_id, base).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn universes_move_into_a_database_and_back() {
    let Some(cluster) = shared() else {
        return;
    };
    let (url, dir, back) =
        (with_password(&cluster.database()), TempDir::new().unwrap(), TempDir::new().unwrap());
    let at = |dir: &TempDir| dir.path().to_str().unwrap().to_owned();
    let mut server = Server::on(dir.path()).await;
    let client = server.client;
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(client.create(&format!("u-{n}"), json!({})).await);
    }
    for n in 0..300 {
        client.command(&ids[0], &add_star(&format!("star-{n}"))).await;
        client.command(&ids[1], &tick()).await;
    }
    let first = keyed(client, &ids[1], "once").await;
    let renamed =
        client.put(&format!("/universes/{}", ids[2]), &json!({"name": "new \u{e4}"})).await;
    assert_eq!(renamed.status, 200, "{renamed:?}");
    let then = client.get(&format!("/universes/{}?revision=200", ids[1])).await.json();
    server.stop().await;
    trim(dir.path(), &ids[1], 200, &then["state"]).await;
    let mut server = Server::on(dir.path()).await;
    let before = states(server.client, &ids).await;
    assert_eq!(server.client.get(&format!("/universes/{}?revision=199", ids[1])).await.status, 410);
    server.stop().await;

    for _ in 0..2 {
        let ended = migrate(&at(&dir), &url).await;
        assert!(ended.status.success(), "{}", ended.stderr);
        assert!(ended.stdout.starts_with("4 universes with "), "{}", ended.stdout);
    }
    let mut server = node(&url).await;
    assert_eq!(states(server.client, &ids).await, before);
    assert_eq!(server.client.get(&format!("/universes/{}?revision=199", ids[1])).await.status, 410);
    let again = keyed(server.client, &ids[1], "once").await;
    assert_eq!((again.status, again.json()), (200, first.json()));
    assert_eq!(states(server.client, &ids).await, before);
    server.client.command(&ids[3], &tick()).await;
    keyed(server.client, &ids[0], "twice").await;
    let after = states(server.client, &ids).await;

    // The database has gone on, so the directory is not what it is a copy of any more.
    let refused = migrate(&at(&dir), &url).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stderr.contains("differs in its"), "{}", refused.stderr);
    server.stop().await;
    let ended = migrate(&url, &at(&back)).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    let mut server = Server::on(back.path()).await;
    assert_eq!(states(server.client, &ids).await, after);
    let again = keyed(server.client, &ids[0], "twice").await;
    assert_eq!(again.status, 200);
    assert_eq!(states(server.client, &ids).await, after);
    server.stop().await;
    // The old directory is the beginning of what there is now.
    let ended = migrate(&at(&back), &at(&dir)).await;
    assert!(ended.status.success(), "{}", ended.stderr);
    let other = TempDir::new().unwrap();
    let mut server = Server::on(other.path()).await;
    server.client.create("mine", json!({})).await;
    server.stop().await;
    let refused = migrate(&at(&back), &at(&other)).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(refused.stderr.contains("is not the source's"), "{}", refused.stderr);
    let refused = migrate("/nowhere/at/all", &at(&other)).await;
    assert_eq!(refused.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_goes_on_while_its_universes_move() {
    let Some(cluster) = shared() else {
        return;
    };
    let (url, dir) = (with_password(&cluster.database()), TempDir::new().unwrap());
    let mut server = Server::on(dir.path()).await;
    let client = server.client;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(client.create(&format!("u-{n}"), json!({})).await);
    }
    for _ in 0..100 {
        client.command(&ids[0], &tick()).await;
    }
    let mut command = binary();
    command.args(["migrate", "--from"]).arg(dir.path()).args(["--to", &url, "--follow"]);
    // One that is killed leaves the beginning of a copy, with which the next one goes on.
    let mut killed = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines();
    soon(lines.next_line()).await.unwrap().unwrap();
    soon(killed.kill()).await.unwrap();
    client.command(&ids[1], &tick()).await;
    let mut moving = command.spawn().unwrap();
    let mut lines = BufReader::new(moving.stdout.take().unwrap()).lines();
    let line = soon(lines.next_line()).await.unwrap().unwrap();
    assert!(line.contains("let the server of the directory end"), "{line}");
    for n in 0..50 {
        client.command(&ids[0], &add_star(&format!("star-{n}"))).await;
    }
    assert_eq!(client.delete(&format!("/universes/{}", ids[2])).await.status, 204);
    let ids = [ids[0].clone(), ids[1].clone(), client.create("late", json!({})).await];
    let first = keyed(client, &ids[2], "once").await;
    let before = states(client, &ids).await;
    server.stop().await;
    let ended = soon(moving.wait_with_output()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let line = soon(lines.next_line()).await.unwrap().unwrap();
    assert!(line.starts_with("3 universes with ") && line.contains("are the same in"), "{line}");
    assert_eq!(soon(lines.next_line()).await.unwrap(), None);
    let server = node(&url).await;
    assert_eq!(states(server.client, &ids).await, before);
    let again = keyed(server.client, &ids[2], "once").await;
    assert_eq!((again.status, again.json()), (200, first.json()));
}

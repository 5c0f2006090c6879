//! Servers that share streams of NATS JetStream: what one does the others read, and moving there and back.

use futures_util::future::join_all;
use serde_json::json;
use tempfile::TempDir;

use crate::fleet::{Fleet, Settings, shared};
use crate::harness::process::{Ended, binary, run};
use crate::harness::{Era, Mcp, Server, add_star, tick};

/// The password of the URLs here, which nothing may show. The servers of NATS do not ask for it.
const SECRET: &str = "geheim";

fn with_password(url: &str) -> String {
    url.replacen("://", &format!("://u:{SECRET}@"), 1)
}

async fn node(url: &str) -> Server {
    let mut command = binary();
    command.env("UNIVERSE_STORE", with_password(url)).args([
        "--listen",
        "127.0.0.1:0",
        "--extra-tools",
        "--drain-wait",
        "0",
    ]);
    Server::start(command).await
}

async fn migrate(from: &str, to: &str) -> Ended {
    let mut command = binary();
    command
        .env("UNIVERSE_FROM", from)
        .env("UNIVERSE_TO", to)
        .arg("migrate");
    let ended = run(&mut command).await;
    assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET));
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_does_the_other_reads_at_once() {
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let (a, b) = (node(&url).await, node(&url).await);
    assert!(a.greeting.iter().any(|line| line.contains("nats://u:***@")));
    assert!(!a.greeting.iter().any(|line| line.contains(SECRET)));
    let ready = a.client.get("/readyz").await;
    assert_eq!(
        (ready.status, ready.json()),
        (200, json!({"ok": true, "copies": 1}))
    );
    let id = a.client.create("u", json!({})).await;
    let uri = format!("universe://{id}");
    for era in Era::BOTH {
        let (at_a, at_b) = (Mcp::new(a.client, era).await, Mcp::new(b.client, era).await);
        let mut heard = at_b.subscribe(&[&uri]).await;
        let (before, star) = (b.client.universe(&id).await, format!("{era:?}"));
        let revision = before["revision"].as_u64().unwrap();
        let mut feed = b.client.feed(&id, Some(revision)).await;
        // By MCP at the one, read by REST, by MCP and by the feed at the other.
        at_a.command(&id, &add_star(&star)).await;
        let now = b.client.universe(&id).await;
        assert_eq!(now["revision"], revision + 1);
        assert!(now["state"]["stars"][&star].is_object(), "{now}");
        assert!(at_b.read_json(&uri).await["stars"][&star].is_object());
        let [updated] = heard.updates().await;
        assert_eq!(updated, uri);
        let event = feed.event().await.unwrap();
        assert_eq!(
            (event.id, &event.data["id"]),
            (Some(revision + 1), &json!(star))
        );
        // By REST at the other, under a key, and again at the one.
        let path = format!("/universes/{id}/commands");
        let keyed = [("idempotency-key", star.as_str())];
        let first = b.client.call("POST", &path, &keyed, &tick()).await;
        let again = a.client.call("POST", &path, &keyed, &tick()).await;
        assert_eq!((first.status, again.status), (200, 200), "{again:?}");
        assert_eq!(again.json(), first.json());
        assert_eq!(feed.event().await.unwrap().id, Some(revision + 2));
        assert_eq!(a.client.universe(&id).await["revision"], revision + 2);
    }
    let renamed = b
        .client
        .put(&format!("/universes/{id}"), &json!({"name": "v"}))
        .await;
    assert_eq!(renamed.status, 200, "{renamed:?}");
    assert_eq!(a.client.universe(&id).await["name"], "v");
    let listed = a.client.get("/universes").await.json();
    assert_eq!(listed, b.client.get("/universes").await.json());
    let path = format!("/universes/{id}");
    assert_eq!(b.client.delete(&path).await.status, 204);
    assert_eq!(a.client.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_write_one_universe_nothing_is_lost_or_doubled() {
    const EACH: usize = 40;
    let Some(fleet) = shared() else {
        return;
    };
    let url = fleet.url();
    let nodes = [node(&url).await, node(&url).await];
    let id = nodes[0].client.create("u", json!({})).await;
    let writers = (0..2 * EACH).map(|n| {
        let (client, id) = (nodes[n % 2].client, id.clone());
        tokio::spawn(async move { client.command(&id, &add_star(&format!("star-{n}"))).await })
    });
    for written in join_all(writers.collect::<Vec<_>>()).await {
        written.unwrap();
    }
    let (state, same) = (
        nodes[0].client.universe(&id).await,
        nodes[1].client.universe(&id).await,
    );
    assert_eq!(state, same);
    assert_eq!(state["revision"], 2 * EACH);
    assert_eq!(state["state"]["stars"].as_object().unwrap().len(), 2 * EACH);
    let head = 2 * EACH as u64;
    let history = nodes[0].client.history(&id, head).await;
    assert_eq!(history, nodes[1].client.history(&id, head).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn universes_move_there_and_back() {
    let Some(fleet) = shared() else {
        return;
    };
    let (url, dir, back) = (
        with_password(&fleet.url()),
        TempDir::new().unwrap(),
        TempDir::new().unwrap(),
    );
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_die_and_come_back_are_said_to_be_away() {
    let start = || Fleet::start(1, &Settings::default());
    let Some(fleet) = tokio::task::spawn_blocking(start).await.unwrap() else {
        return;
    };
    let server = node(&fleet.url()).await;
    let id = server.client.create("u", json!({})).await;
    server.client.command(&id, &tick()).await;
    let aside = |mut fleet: Fleet, work: fn(&mut Fleet)| {
        tokio::task::spawn_blocking(move || {
            work(&mut fleet);
            fleet
        })
    };
    let fleet = aside(fleet, |fleet| fleet.kill(0)).await.unwrap();
    assert_eq!(server.client.get("/readyz").await.status, 503);
    assert_eq!(server.client.get("/livez").await.status, 200);
    let path = format!("/universes/{id}/commands");
    let refused = server.client.post(&path, &tick()).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    let _fleet = aside(fleet, |fleet| fleet.restart(0)).await.unwrap();
    // As soon as there is a connection.
    let mut ready = 503;
    for _ in 0..1_200 {
        ready = server.client.get("/readyz").await.status;
        if ready == 200 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(ready, 200);
    assert_eq!(server.client.universe(&id).await["revision"], 1);
    server.client.command(&id, &tick()).await;
    assert_eq!(server.client.universe(&id).await["revision"], 2);
}

#[tokio::test]
async fn what_cannot_be_meant_is_said_without_the_password() {
    for url in [
        "nats://u:geheim@h:x/p",
        "nats://u:geheim@h/p?what=1",
        "mysql://u:geheim@h/p",
    ] {
        let ended = run(binary().args(["--store", url, "check-config"])).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
        assert!(!ended.stderr.contains(SECRET), "{}", ended.stderr);
    }
    let backup = run(binary().args(["--store", "nats://h/p", "backup", "file"])).await;
    assert!(backup.stderr.contains("migrate"), "{}", backup.stderr);
}

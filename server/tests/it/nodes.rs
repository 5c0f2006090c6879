//! Servers that share a store: what one does the others read, and what becomes of commands when the store is away.

mod balancer;
mod drain;
mod keys;
mod migrate;
mod sessions;
mod streams;
mod tasks;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cluster::shared;
use crate::engines::{Servers, urls};
use crate::harness::process::{Ended, binary, run};
use crate::harness::{Era, Mcp, Server, add_star, tick};

/// The password of the URLs here, which nothing may show. No server asks for it.
pub(crate) const SECRET: &str = "geheim";

pub(crate) fn with_password(url: &str) -> String {
    if url.contains('@') {
        url.replacen('@', &format!(":{SECRET}@"), 1)
    } else {
        url.replacen("://", &format!("://u:{SECRET}@"), 1)
    }
}

pub(crate) async fn node(url: &str) -> Server {
    // The tests here have nothing in front of a node that would have to be told of its end.
    node_with(url, &["--drain-wait", "0"]).await
}

async fn node_with(url: &str, arguments: &[&str]) -> Server {
    let mut command = binary();
    command.env("UNIVERSE_STORE", with_password(url)).args([
        "--listen",
        "127.0.0.1:0",
        "--extra-tools",
    ]);
    command.args(arguments);
    Server::start(command).await
}

/// Waits until something is so, which it will be soon.
async fn until(mut done: impl AsyncFnMut() -> bool) {
    for _ in 0..1_200 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not come to that");
}

async fn verb(url: &str, arguments: &[&str]) -> Ended {
    let mut command = binary();
    command.env("UNIVERSE_STORE", with_password(url)).args(arguments);
    let ended = run(&mut command).await;
    assert!(!ended.stderr.contains(SECRET) && !ended.stdout.contains(SECRET));
    ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_does_the_other_reads_at_once() {
    for url in urls() {
        let (a, b) = (node(&url).await, node(&url).await);
        assert!(a.greeting.iter().any(|line| line.contains(":***@")));
        assert!(!a.greeting.iter().any(|line| line.contains(SECRET)));
        let id = a.client.create("u", json!({})).await;
        let uri = format!("universe://{id}");
        for era in Era::BOTH {
            let mcp = Mcp::new(b.client, era).await;
            let mut heard = mcp.subscribe(&[&uri]).await;
            let (before, star) = (b.client.universe(&id).await, format!("{era:?}"));
            let revision = before["revision"].as_u64().unwrap();
            let mut feed = b.client.feed(&id, Some(revision)).await;
            // Both know the universe by now, and one of them changes it.
            a.client.command(&id, &add_star(&star)).await;
            let now = b.client.universe(&id).await;
            assert_eq!(now["revision"], revision + 1);
            assert!(now["state"]["stars"][&star].is_object(), "{now}");
            assert!(mcp.read_json(&uri).await["stars"][&star].is_object());
            let [updated] = heard.updates().await;
            assert_eq!(updated, uri);
            let event = feed.event().await.unwrap();
            assert_eq!((event.id, &event.data["id"]), (Some(revision + 1), &json!(star)));
            // It is judged by what the other did, not by what this one knew.
            let refused = mcp
                .refusal(
                    "send_universe_command",
                    json!({"universeId": id, "command": add_star(&star)}),
                )
                .await;
            assert!(refused.contains(&star), "{refused}");
            let path = format!("/universes/{id}/commands");
            a.client.command(&id, &tick()).await;
            let (stale, present) =
                (format!("\"{}\"", revision + 1), format!("\"{}\"", revision + 2));
            for (tag, status) in [(stale, 412), (present, 200)] {
                let headers = [("if-match", tag.as_str())];
                let reply = b.client.call("POST", &path, &headers, &tick()).await;
                assert_eq!(reply.status, status, "{reply:?}");
            }
            let keyed = [("idempotency-key", star.as_str())];
            let first = a.client.call("POST", &path, &keyed, &tick()).await;
            let again = b.client.call("POST", &path, &keyed, &tick()).await;
            assert_eq!((first.status, again.status), (200, 200));
            assert_eq!(again.json(), first.json());
            assert_eq!(a.client.universe(&id).await["revision"], revision + 4);
        }
        let renamed = b.client.put(&format!("/universes/{id}"), &json!({"name": "v"})).await;
        assert_eq!(renamed.status, 200, "{renamed:?}");
        assert_eq!(a.client.universe(&id).await["name"], "v");
        assert_eq!(b.client.delete(&format!("/universes/{id}")).await.status, 204);
        assert_eq!(a.client.get(&format!("/universes/{id}")).await.status, 404);
        assert_eq!(a.client.post(&format!("/universes/{id}/commands"), &tick()).await.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_write_one_universe_nothing_is_lost_or_doubled() {
    const EACH: usize = 60;
    for url in urls() {
        let nodes = [node(&url).await, node(&url).await];
        let id = nodes[0].client.create("u", json!({})).await;
        let writers = nodes.iter().enumerate().flat_map(|(at, node)| {
            let client = node.client;
            (0..EACH).map(move |n| (client, format!("star-{at}-{n}")))
        });
        let writers = writers.map(|(client, star)| {
            let id = id.clone();
            tokio::spawn(async move {
                client.command(&id, &add_star(&star)).await;
                star
            })
        });
        let written = join_all(writers).await.into_iter().map(Result::unwrap);
        let written: BTreeSet<String> = written.collect();
        let (one, other) = (nodes[0].client, nodes[1].client);
        let (state, same) = (one.universe(&id).await, other.universe(&id).await);
        assert_eq!(state, same);
        assert_eq!(state["revision"], 2 * EACH);
        let stars = state["state"]["stars"].as_object().unwrap();
        assert_eq!(stars.keys().cloned().collect::<BTreeSet<_>>(), written);
        let head = 2 * EACH as u64;
        let history = one.history(&id, head).await;
        assert_eq!(history, other.history(&id, head).await);
        let told: Vec<_> = history.iter().map(|event| event.data["id"].as_str().unwrap()).collect();
        assert_eq!(told.len(), written.len());
        assert_eq!(told.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), written);
        let ids: Vec<_> = history.iter().map(|event| event.id.unwrap()).collect();
        assert_eq!(ids, (1..=head).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_dies_and_comes_back_is_said_to_be_away() {
    for (servers, url) in Servers::start().await {
        let server = node(&url).await;
        let client = server.client;
        let id = client.create("u", json!({})).await;
        assert_eq!(client.get("/readyz").await.status, 200);
        client.command(&id, &tick()).await;
        let servers = servers.kill().await;
        assert_eq!(client.get("/livez").await.status, 200);
        assert_eq!(client.get("/readyz").await.status, 503);
        // One that is sent while it is away is done once, or not at all and says so.
        let (path, ticked) = (format!("/universes/{id}/commands"), tick());
        let (sent, _servers) = tokio::join!(client.post(&path, &ticked), servers.restart());
        let done = match sent.status {
            200 => 2..=2,
            503 => 1..=1,
            _ => 1..=2,
        };
        while client.get("/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let revision = client.universe(&id).await["revision"].as_u64().unwrap();
        assert!(done.contains(&revision), "{revision} after {sent:?}");
        client.command(&id, &tick()).await;
        assert_eq!(client.universe(&id).await["revision"], revision + 1);
    }
}

#[tokio::test]
async fn verbs_say_what_they_are_for() {
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("universe.json");
    let file = file.to_str().unwrap();
    for (arguments, instead) in [
        (&["backup", file][..], "use pg_dump"),
        (&["restore", file], "use pg_restore"),
        (&["compact"], "use VACUUM"),
        (&["list"], "with --url"),
        (&["get", "sol"], "with --url"),
    ] {
        let ended = verb(&url, arguments).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(instead), "{}", ended.stderr);
    }
    let made = verb(&url, &["generate", "--seed", "1", "--name", "g", "--id", "g"]).await;
    assert!(made.status.success(), "{}", made.stderr);
    let server = node(&url).await;
    server.client.command("g", &tick()).await;
    let exported = verb(&url, &["export", "g", file]).await;
    assert!(exported.status.success(), "{}", exported.stderr);
    let told: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(told, server.client.universe("g").await);
    for arguments in [&["check"][..], &["check", "--repair"]] {
        let told = verb(&url, arguments).await.stdout;
        assert_eq!(told, "1 universe, 1 entries: sound\n");
    }
    let before = verb(&url, &["export", "g", "--revision", "0"]).await;
    let before: Value = serde_json::from_str(&before.stdout).unwrap();
    assert_eq!(before["revision"], 0);
    let imported = verb(&url, &["import", file, "--id", "h"]).await;
    assert_eq!(imported.stdout, "h\n", "{}", imported.stderr);
    assert_eq!(server.client.universe("h").await["state"], told["state"]);
    let missing = verb(&url, &["export", "gg"]).await;
    assert!(missing.stderr.contains("universe not found: gg"), "{}", missing.stderr);
}

#[tokio::test]
async fn a_password_is_never_shown() {
    for url in [
        "postgres://u:geheim@nowhere.invalid/d?sslmode=require",
        "postgres://u@nowhere.invalid/d?password=geheim",
        "postgres://u:ge@geheim@nowhere.invalid/d",
        "mysql://u:geheim@nowhere.invalid/d",
    ] {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("universe.toml");
        std::fs::write(&file, format!("store = {url:?}\n")).unwrap();
        let file = file.to_str().unwrap();
        for arguments in [
            &["check-config", "--config", file][..],
            &["--store", url, "check-config", "--json"],
            &["--config", file, "--help"],
            &["--config", file, "--listen", "127.0.0.1:0"],
        ] {
            let ended = run(binary().args(arguments)).await;
            let told = format!("{}{}", ended.stdout, ended.stderr);
            assert!(!told.contains(SECRET), "{told}");
            assert_eq!(ended.status.success(), !told.contains("universe-server: "), "{told}");
        }
    }
    let config = run(binary().args(["--store", "postgres://u:geheim@h/d", "check-config"])).await;
    assert!(config.stdout.contains("postgres://u:***@h/d"), "{}", config.stdout);
}

#[tokio::test]
async fn a_server_without_a_database_does_not_start() {
    let mut command = binary();
    command.args(["--listen", "127.0.0.1:0", "--store", "postgres://u@%2Fnowhere/d"]);
    let ended = run(&mut command).await;
    assert_eq!(ended.status.code(), Some(1));
    let told = "universe-server: postgres://u@%2Fnowhere/d: the database cannot be reached";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

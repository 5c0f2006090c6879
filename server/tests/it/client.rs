//! The verbs for people, by a URL, by the socket of a server that listens or serves a pipe, and without a server.

mod send;
mod watch;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{Ended, done, verb};
use crate::harness::{Era, Server, Stdio, add_star, remove_star, tick};

/// What a verb prints as JSON.
async fn json_of(dir: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<_> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&done(dir, &arguments).await).unwrap()
}

/// One sentence on stderr that has all of this, and exit code 1.
fn assert_refused(ended: &Ended, told: &[&str]) {
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
    let last = ended.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("universe-server: "), "{}", ended.stderr);
    for told in told {
        assert!(last.contains(told), "{told:?} in {last}");
    }
}

#[tokio::test]
async fn a_list_is_the_same_in_every_way() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.client.create("second", json!({})).await;
    let expected = server.client.get("/universes?view=summary").await.json();
    let url = format!("http://{}", server.client.0);
    let elsewhere = TempDir::new().unwrap();
    let by_url = json_of(elsewhere.path(), &["list", "--url", &url]).await;
    assert_eq!(by_url, expected);
    assert_eq!(json_of(dir.path(), &["list"]).await, expected);
    let table = done(dir.path(), &["list"]).await;
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("ID ") && lines[2].starts_with("sol "));
    server.stop().await;
    assert_eq!(json_of(dir.path(), &["list"]).await, expected);

    let mut holder = Stdio::on(dir.path(), Era::Modern).await;
    // It holds the directory once it answers.
    holder.ask(&json!(1), "tools/list", json!({})).await;
    assert_eq!(json_of(dir.path(), &["list"]).await, expected);
}

#[tokio::test]
async fn places_are_shown_by_a_server_and_without_one() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    let empty = server.client.create("empty", json!({})).await;
    let asked = ["places", "sol", "--at", "2026-11-27", "--from", "sun", "--bodies", "mars,earth"];
    let query = "/universes/sol/places?at=2026-11-27&from=sun&bodies=mars,earth";
    let expected = server.client.get(query).await.json();
    assert_eq!(json_of(dir.path(), &asked).await, expected);
    server.stop().await;
    assert_eq!(json_of(dir.path(), &asked).await, expected);
    let table = done(dir.path(), &asked).await;
    assert!(
        table.starts_with("sol, 2026-11-27T00:00:00Z, seen from sun, in au and degrees\n"),
        "{table}"
    );
    assert!(table.lines().nth(2).is_some_and(|line| line.starts_with("mars ")), "{table}");
    let ended = verb(dir.path(), &["places", "sol", "--bodies", "marz"]).await;
    assert_refused(&ended, &["did you mean mars?"]);
    let told = done(dir.path(), &["places", &empty]).await;
    let expected = "time 0.0 s, seen from the origin\nthere are no bodies\n";
    assert_eq!(told, format!("{empty}, {expected}"));
}

#[tokio::test]
async fn health_is_an_exit_code() {
    let dir = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let url = format!("http://{}", server.client.0);
    let ready = json!({"ready": true});
    assert_eq!(json_of(dir.path(), &["health"]).await, ready);
    assert_eq!(json_of(elsewhere.path(), &["health", "--url", &url]).await, ready);
    let ended = verb(elsewhere.path(), &["health"]).await;
    assert_refused(&ended, &["no server uses the data directory"]);
    server.stop().await;
    // It never reads the directory itself: universes without a server are not healthy.
    let ended = verb(dir.path(), &["health"]).await;
    assert_refused(&ended, &["no server uses the data directory"]);
    let ended = verb(dir.path(), &["health", "--url", &url]).await;
    assert_refused(&ended, &[&url, "refused"]);
}

#[tokio::test]
async fn more_universes_than_a_page_are_listed() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let mut connection = server.client.connect().await;
    for _ in 0..501 {
        let body = json!({"name": "one", "state": {}});
        let reply = connection.call("POST", "/universes", &[], &body).await;
        assert_eq!(reply.status, 201);
    }
    let listed = json_of(dir.path(), &["list"]).await;
    assert_eq!(listed.as_array().unwrap().len(), 501);
}

#[tokio::test]
async fn a_universe_is_shown_whole_or_in_part() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    let whole = json_of(dir.path(), &["get", "sol"]).await;
    assert_eq!(whole, server.client.universe("sol").await);
    server.client.command("sol", &tick()).await;
    let before = json_of(dir.path(), &["get", "sol", "--revision", "0"]).await;
    assert_eq!(before["revision"], 0);

    let below = json_of(dir.path(), &["get", "sol", "--below", "earth"]).await;
    let stars = below["found"]["stars"].as_object().unwrap();
    let ids: Vec<_> = stars.keys().collect();
    assert_eq!(ids, ["earth", "moon"]);
    let time = whole["state"]["time"].as_f64().unwrap() + 1.0;
    assert_eq!((&below["revision"], &below["time"]), (&json!(1), &json!(time)));
    let arguments = ["get", "sol", "--family", "belts,stars", "--entity", "moon"];
    let one = json_of(dir.path(), &arguments).await;
    assert_eq!(one["found"]["stars"]["moon"], whole["state"]["stars"]["moon"]);
    let table = done(dir.path(), &["get", "sol", "--below", "earth", "--depth", "0"]).await;
    assert!(table.contains("1 entities") && table.contains("earth"), "{table}");

    let ended = verb(dir.path(), &["get", "sol", "--entity", "eart"]).await;
    assert_refused(&ended, &["\"eart\"; did you mean earth?"]);
    let ended = verb(dir.path(), &["get", "sol", "--family", "star"]).await;
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.stderr.contains("'stars'"), "{}", ended.stderr);
}

#[tokio::test]
async fn what_is_misspelt_is_answered_with_the_nearest() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    let named = server.client.create("My Home", json!({})).await;
    for arguments in [
        &["get", "soll"][..],
        &["send", "soll", "{\"type\":\"tick\",\"dt\":1}"],
        &["watch", "soll"],
        &["diff", "sol", "soll"],
    ] {
        let ended = verb(dir.path(), arguments).await;
        assert_refused(&ended, &["universe not found: soll", "did you mean sol?"]);
    }
    let ended = verb(dir.path(), &["get", "my home"]).await;
    assert_refused(&ended, &[&format!("did you mean {named} (My Home)?")]);
    server.stop().await;
    let ended = verb(dir.path(), &["get", "soll"]).await;
    assert_refused(&ended, &["universe not found: soll; did you mean sol?"]);
}

#[tokio::test]
async fn what_cannot_be_reached_is_reported() {
    let dir = TempDir::new().unwrap();
    let none = dir.path().join("none");
    assert_refused(&verb(&none, &["list"]).await, &["cannot be used", "none"]);
    assert!(!none.exists(), "a directory is not made for this");
    for url in ["http://127.0.0.1:1", "https://127.0.0.1:1"] {
        let ended = verb(&none, &["list", "--url", url]).await;
        assert_refused(&ended, &[url, "refused"]);
    }
    for url in ["127.0.0.1:1", "ftp://x", "http://ann@127.0.0.1:1", ""] {
        let ended = verb(&none, &["list", "--url", url]).await;
        assert_refused(&ended, &["such as http://127.0.0.1:3001"]);
    }
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.stop().await;
    for arguments in [&["watch", "sol"][..], &["top", "--once"]] {
        let ended = verb(dir.path(), arguments).await;
        assert_refused(&ended, &["no server uses the data directory", "--url"]);
    }
}

#[tokio::test]
async fn names_command_no_terminal() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let name = "\u{1b}[31mred\u{9b}2J\u{202e}\nnext";
    let id = server.client.create(name, json!({})).await;
    server.client.command(&id, &add_star("a")).await;
    let rename = json!({"type": "updateStar", "id": "a", "payload": {"name": name}});
    server.client.command(&id, &rename).await;
    for arguments in [
        &["list"][..],
        &["get", &id],
        &["diff", &id, "--from", "1"],
        &["top", "--once", "--interval", "0.1"],
    ] {
        for json in [false, true] {
            let mut command = crate::harness::process::binary();
            command.args(arguments).arg("--data-dir").arg(dir.path());
            if json {
                command.arg("--json");
            }
            let ended = crate::harness::process::run(&mut command).await;
            let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!ended.stdout.contains(obeyed), "{:?}", ended.stdout);
            assert!(ended.stdout.contains("red"), "{:?}", ended.stdout);
            assert!(!ended.stdout.contains("\nnext"), "{:?}", ended.stdout);
        }
    }
    let listed = json_of(dir.path(), &["list"]).await;
    assert_eq!(listed[0]["name"], name, "JSON keeps what it says");
}

#[tokio::test]
async fn differences_are_found_between_universes_and_revisions() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let one = server.client.create("one", json!({})).await;
    let same = verb(dir.path(), &["diff", &one, &one]).await;
    assert_eq!(same.status.code(), Some(0), "{}", same.stderr);
    assert!(same.stdout.ends_with("no difference\n"));

    for id in ["a", "b"] {
        server.client.command(&one, &add_star(id)).await;
    }
    let change = json!({"type": "updateStar", "id": "a", "payload": {"mass": 2.5}});
    server.client.command(&one, &change).await;
    let remove = remove_star("b");
    server.client.command(&one, &remove).await;
    let arguments = ["diff", &one, "--from", "2", "--json"];
    let ended = verb(dir.path(), &arguments).await;
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(found["removed"], json!({"stars": ["b"]}));
    assert_eq!(found["added"], Value::Null);
    assert_eq!(found["changed"]["stars"]["a"]["mass"], json!([1, 2.5]));
    assert_eq!((&found["from"]["revision"], &found["to"]["revision"]), (&json!(2), &json!(4)));

    let other = server.client.create("other", json!({})).await;
    let ended = verb(dir.path(), &["diff", &other, &one, "--to", "3"]).await;
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
    let lines: Vec<_> = ended.stdout.lines().skip(2).collect();
    assert_eq!(lines, ["+ stars/a", "+ stars/b"]);
    assert_eq!(verb(dir.path(), &["diff", &one]).await.status.code(), Some(2));
    let ended = verb(dir.path(), &["diff", &one, "--from", "99"]).await;
    assert_refused(&ended, &["99"]);
}

#[tokio::test]
async fn top_counts_what_happens_meanwhile() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    server.client.create("idle", json!({})).await;
    let client = server.client;
    let busy = tokio::spawn(async move {
        loop {
            client.command("sol", &tick()).await;
        }
    });
    let _feed = client.feed("sol", None).await;
    // A slow disk may take longer for one command than an interval lasts.
    let shown = loop {
        assert!(!busy.is_finished());
        let shown = json_of(dir.path(), &["top", "--once", "--interval", "0.5"]).await;
        if shown["commandsPerSecond"].as_f64().unwrap() > 0.0 && shown["appendSeconds"].is_f64() {
            break shown;
        }
    };
    busy.abort();
    assert!(shown["appendSeconds"].as_f64().unwrap() > 0.0, "{shown}");
    assert!(shown["memoryBytes"].as_u64().unwrap() > 1_000_000, "{shown}");
    assert!(shown["storeBytes"].as_u64().unwrap() > 4_096, "{shown}");
    assert!(shown["storeFreeBytes"].is_u64(), "{shown}");
    let told = done(dir.path(), &["top", "--once", "--interval", "0.1"]).await;
    assert!(told.contains("iB on the disk ("), "{told}");
    assert_eq!((&shown["universes"], &shown["feedReaders"]), (&json!(2), &json!(1.0)));
    assert_eq!(shown["active"][0]["id"], "sol");
    assert_eq!(shown["active"][1]["perSecond"], 0.0);
}

#[tokio::test]
async fn top_says_that_there_are_no_figures() {
    let dir = TempDir::new().unwrap();
    let _server = Server::with(dir.path(), &["--metrics", "off"]).await;
    let ended = verb(dir.path(), &["top", "--once"]).await;
    assert_refused(&ended, &["--metrics off"]);
}

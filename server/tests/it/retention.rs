//! How much of the history is kept, and that what is no longer kept leaves room.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{binary, run};
use crate::harness::{Client, Server, Ways, soon, tick};

/// So many ticks of one second, a thousand at a time.
pub(crate) async fn ticks(client: Client, id: &str, count: usize) {
    let path = format!("/universes/{id}/commands?result=events");
    let mut connection = client.connect().await;
    for _ in 0..count / 1_000 {
        let some: Vec<Value> = (0..1_000).map(|_| tick()).collect();
        let reply = connection.call("POST", &path, &[], &json!(some)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
}

/// Waits until the history begins at a revision or later; gives the sentence that says so.
pub(crate) async fn trimmed_to(client: Client, id: &str, revision: u64) -> (u64, String) {
    let path = format!("/universes/{id}/history?after=0&limit=1");
    soon(async {
        loop {
            let reply = client.get(&path).await;
            if reply.status == 410 {
                let told = reply.error();
                let oldest = reply.json()["oldest"].as_u64().unwrap();
                if oldest >= revision {
                    return (oldest, told);
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// A universe of 4,000 ticks under a server that keeps 500 revisions.
async fn long(client: Client) -> (String, u64) {
    let id = client.create("u", json!({})).await;
    ticks(client, &id, 4_000).await;
    let (oldest, told) = trimmed_to(client, &id, 2_000).await;
    assert!(oldest <= 3_500, "500 are kept: {oldest}");
    let sentence = format!(
        "universe {id} keeps its history from revision {oldest} on: what was at revision 0 is no longer kept"
    );
    assert_eq!(told, sentence);
    (id, oldest)
}

async fn time_at(client: Client, id: &str, revision: u64) -> f64 {
    let reply = client.get(&format!("/universes/{id}?revision={revision}")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["state"]["time"].as_f64().unwrap()
}

#[tokio::test]
async fn the_history_is_trimmed_and_says_where_it_begins() {
    for store in ["memory", "embedded"] {
        let dir = TempDir::new().unwrap();
        let arguments = ["--keep-history", "500", "--store", store];
        let server = Server::with(dir.path(), &arguments).await;
        let client = server.client;
        let (id, oldest) = long(client).await;
        for revision in [oldest, oldest + 1, 3_999, 4_000] {
            assert_eq!(time_at(client, &id, revision).await, revision as f64);
        }
        let below = oldest - 1;
        for path in [
            format!("/universes/{id}?revision={below}"),
            format!("/universes/{id}/history?after={below}"),
        ] {
            let reply = client.get(&path).await;
            assert_eq!(reply.status, 410, "{path}");
            let names = format!("from revision {oldest} on: what was at revision {below}");
            assert!(reply.error().contains(&names), "{}", reply.error());
        }
        let undo = json!({ "revision": below });
        let undo = client.post(&format!("/universes/{id}/undo"), &undo).await;
        assert_eq!(undo.status, 410, "{undo:?}");
        let page =
            client.get(&format!("/universes/{id}/history?after={oldest}&limit=1")).await.json();
        assert_eq!(page["entries"][0]["revision"], oldest + 1);

        // A reader that comes back from before the beginning reads the universe as it is.
        let mut feed = client.feed(&id, Some(below)).await;
        let event = feed.event().await.unwrap();
        assert_eq!((event.kind.as_str(), event.id), ("reset", Some(4_000)));
        let mut feed = client.feed(&id, Some(oldest)).await;
        assert_eq!(feed.event().await.unwrap().id, Some(oldest + 1));
    }
}

#[tokio::test]
async fn a_trimmed_history_is_reported_over_mcp_and_survives_a_restart() {
    let mut ways = Ways::start(&["--keep-history", "500", "--extra-tools"]).await;
    let (id, oldest) = long(ways.client).await;
    for (_, caller) in ways.each() {
        let asked = json!({"universeId": id, "after": 7});
        let error = caller.error("get_universe_history", asked).await;
        assert_eq!(error["code"], "REVISION_TRIMMED", "{error}");
        assert_eq!(error["data"]["oldest"], oldest, "{error}");
        let asked = json!({"universeId": id, "after": oldest, "limit": 1});
        let page = caller.content("get_universe_history", asked).await;
        assert_eq!(page["entries"][0]["revision"], oldest + 1);
    }
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--keep-history", "500"]).await;
    let (id, oldest) = long(server.client).await;
    server.stop().await;
    let server = Server::on(dir.path()).await;
    assert_eq!(time_at(server.client, &id, oldest).await, oldest as f64);
    let universe = server.client.universe(&id).await;
    assert_eq!(universe["state"]["time"], 4_000.0);
    ticks(server.client, &id, 3_000).await;
    assert_eq!(time_at(server.client, &id, oldest).await, oldest as f64);
}

/// A log that is long when the server starts is trimmed, too, by age as well.
#[tokio::test]
async fn what_is_older_than_a_time_is_trimmed_at_the_start() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    ticks(server.client, &id, 3_000).await;
    server.stop().await;
    let database = rusqlite::Connection::open(dir.path().join("universes.db")).unwrap();
    // As if all but the last 800 had been appended a day earlier, by a version that made no sums.
    let day = 24 * 60 * 60 * 1_000;
    let sql = "UPDATE log SET at = at - ?1, sum = NULL WHERE rev <= 2200";
    assert_eq!(database.execute(sql, [day]).unwrap(), 2_200);
    drop(database);
    let server = Server::with(dir.path(), &["--keep-history", "12h"]).await;
    let (oldest, _) = trimmed_to(server.client, &id, 1).await;
    assert_eq!(oldest, 2_200);
    assert_eq!(time_at(server.client, &id, 2_200).await, 2_200.0);
}

/// What was promised to retries is kept for a day, whatever else is.
#[tokio::test]
async fn a_retry_is_answered_as_it_was_though_the_history_is_trimmed() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--keep-history", "10"]).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let other = client.create("other", json!({})).await;
    ticks(client, &id, 3_000).await;
    let path = format!("/universes/{id}/commands");
    let key = [("idempotency-key", "k")];
    let first = client.call("POST", &path, &key, &tick()).await;
    assert_eq!(first.status, 200, "{first:?}");
    ticks(client, &id, 3_000).await;
    // The other one is looked at after the first.
    ticks(client, &other, 3_000).await;
    let _ = trimmed_to(client, &other, 1).await;
    let again = client.call("POST", &path, &key, &tick()).await;
    assert_eq!((again.status, again.body), (200, first.body));
    assert_eq!(time_at(client, &id, 3_000).await, 3_000.0);

    let made = json!({"name": "made", "state": {}});
    let key = [("idempotency-key", "make")];
    let first = client.call("POST", "/universes", &key, &made).await;
    let id = first.json()["id"].as_str().unwrap().to_owned();
    ticks(client, &id, 3_000).await;
    ticks(client, &other, 3_000).await;
    let _ = trimmed_to(client, &other, 3_001).await;
    let again = client.call("POST", "/universes", &key, &made).await;
    assert_eq!((again.status, again.body), (201, first.body));
}

fn size(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("universes.db")).unwrap().len()
}

async fn shrinks_below(dir: &Path, bytes: u64) {
    let shrunk = async {
        while size(dir) > bytes {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let shrunk = tokio::time::timeout(Duration::from_secs(60), shrunk).await;
    assert!(shrunk.is_ok(), "{} bytes remain", size(dir));
}

#[tokio::test]
async fn what_is_deleted_gives_its_room_back() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    let other = server.client.create("other", json!({})).await;
    ticks(server.client, &id, 40_000).await;
    server.client.command(&other, &tick()).await;
    server.stop().await;
    assert!(size(dir.path()) > 3 << 20);
    let server = Server::on(dir.path()).await;
    let deleted = server.client.delete(&format!("/universes/{id}")).await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    shrinks_below(dir.path(), 2 << 20).await;
    assert_eq!(server.client.universe(&other).await["revision"], 1);
}

#[tokio::test]
async fn what_is_trimmed_gives_its_room_back() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = server.client.create("u", json!({})).await;
    ticks(server.client, &id, 40_000).await;
    server.stop().await;
    assert!(size(dir.path()) > 3 << 20);
    let server = Server::with(dir.path(), &["--keep-history", "1000"]).await;
    shrinks_below(dir.path(), 2 << 20).await;
    assert_eq!(time_at(server.client, &id, 40_000).await, 40_000.0);
    assert_eq!(time_at(server.client, &id, 39_000).await, 39_000.0);
}

/// A store that is never at rest has to give the room of what was trimmed to what comes. How far the trimming is behind
/// depends on the machine, and the room with it: so writing goes on only as far as the history was trimmed, while
/// another universe keeps the store from its rest.
#[tokio::test]
async fn a_log_that_never_rests_does_not_grow() {
    const TICKS: usize = 240_000;
    const BEHIND: u64 = 16_000;
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--keep-history", "1000"]).await;
    let id = server.client.create("u", json!({})).await;
    let other = server.client.create("restless", json!({})).await;
    let restless: Vec<_> = (0..2)
        .map(|_| {
            let (client, path) =
                (server.client, format!("/universes/{other}/commands?result=events"));
            tokio::spawn(async move {
                let mut connection = client.connect().await;
                loop {
                    connection.call("POST", &path, &[], &tick()).await;
                }
            })
        })
        .collect();
    for written in 1..=TICKS as u64 / 8_000 {
        let writing = (0..8).map(|_| ticks(server.client, &id, 1_000));
        futures_util::future::join_all(writing).await;
        if let Some(wanted) = (written * 8_000).checked_sub(BEHIND).filter(|it| *it > 0) {
            let _ = trimmed_to(server.client, &id, wanted).await;
        }
    }
    for writer in restless {
        writer.abort();
    }
    let (kept, all) = (size(dir.path()), TICKS as u64 * 88);
    assert!(kept < all / 4, "{kept} of {all} bytes");
}

#[tokio::test]
async fn what_is_to_be_kept_is_said_in_words_that_are_explained() {
    for wrong in ["0", "some", "12", "1x", "0d", "3 d", "99999999999999999999"] {
        let mut command = binary();
        command.args(["--stdio", "--store", "memory", "--keep-history", wrong]);
        let ended = run(&mut command).await;
        if wrong == "12" {
            assert!(ended.status.success(), "{}", ended.stderr);
            continue;
        }
        assert_eq!(ended.status.code(), Some(2), "{wrong}: {}", ended.stderr);
        let all = ended.stderr.replace('\n', " ");
        assert!(all.contains("a time such as 90m, 12h, 30d or 1y"), "{all}");
    }
}

//! Damage: named by `check`, reported to readers, and kept from spreading.

use serde_json::json;
use tempfile::TempDir;

use super::{at, some, sound, tamper};
use crate::harness::process::verb;
use crate::harness::{Server, Ways, soon, tick};

const GARBAGE: &str = "UPDATE log SET body = x'7b22', sum = NULL WHERE uni = 1 AND rev = 5";
const GONE: &str = "DELETE FROM log WHERE uni = 1 AND rev = 5";
const OTHER: &str = "UPDATE log SET body = CAST(replace(body, '\"dt\":1', '\"dt\":2') AS BLOB) WHERE uni = 1 AND rev = 5";

/// What `check` says of a directory that must be damaged.
async fn damaged(dir: &TempDir) -> String {
    let ended = verb(dir.path(), &["check"]).await;
    assert_eq!(ended.status.code(), Some(3), "{}{}", ended.stdout, ended.stderr);
    ended.stdout
}

#[tokio::test]
async fn what_is_sound_is_said_to_be() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    some(server.client, "u", 1_000).await;
    let told = sound(dir.path()).await;
    assert!(told.starts_with("1 universe, 1001 entries, "), "{told}");
    server.stop().await;
    sound(dir.path()).await;
}

#[tokio::test]
async fn each_damaged_entry_is_named_and_what_to_do() {
    for (damage, what) in [
        (GARBAGE, "the entry of revision 5 is damaged: EOF while parsing"),
        (GONE, "the entry of revision 5 is damaged: missing, or not what was written"),
        (OTHER, "the entry of revision 5 is damaged: missing, or not what was written"),
        (
            "UPDATE log SET sum = NULL, body = CAST(replace(body, '\"events\":[', '\"events\":[1') AS BLOB) \
             WHERE uni = 1 AND rev = 5",
            "the entry of revision 5 is damaged: its command does something else than it says",
        ),
        (
            "UPDATE genesis SET body = x'00' WHERE uni = 1",
            "the state at its beginning, revision 0, is damaged",
        ),
    ] {
        let dir = TempDir::new().unwrap();
        let mut server = Server::on(dir.path()).await;
        let id = some(server.client, "u", 20).await;
        some(server.client, "other", 20).await;
        server.stop().await;
        tamper(dir.path(), damage);
        let told = damaged(&dir).await;
        assert!(told.contains(&format!("universe {id}: {what}")), "{told}");
        assert!(told.contains("what to do: `universe-server restore FILE --replace`"), "{told}");
        assert_eq!(told.contains("--revision 4"), !damage.contains("genesis"), "{told}");
        assert!(told.starts_with("universe ") && told.contains("2 universes, "), "{told}");
        assert!(told.trim_end().ends_with("1 problem"), "{told}");
    }
}

#[tokio::test]
async fn a_snapshot_is_compared_with_the_log() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    some(server.client, "u", 1_000).await;
    server.stop().await;
    tamper(
        dir.path(),
        "UPDATE snap SET sum = NULL, body = CAST(replace(body, '\"time\":', '\"time\":1') AS BLOB)",
    );
    let told = damaged(&dir).await;
    assert!(told.contains("is not what its log comes to"), "{told}");
    tamper(dir.path(), "UPDATE snap SET body = x'00', sum = NULL");
    let told = damaged(&dir).await;
    assert!(told.contains("its snapshot of revision "), "{told}");
    assert!(told.contains("what to do: nothing; it is ignored"), "{told}");
    tamper(dir.path(), "UPDATE snap SET sum = 1");
    let told = damaged(&dir).await;
    assert!(told.contains("its snapshot is damaged: "), "{told}");
}

#[tokio::test]
async fn a_damaged_file_is_said_to_be() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    some(server.client, "u", 5_000).await;
    server.stop().await;
    let file = dir.path().join("universes.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4_096 * 4_096;
    bytes[middle..middle + 2 * 4_096].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    let told = damaged(&dir).await;
    assert!(told.contains("the file is damaged: "), "{told}");
    assert!(
        told.contains("`universe-server restore FILE --replace` goes back to a backup"),
        "{told}"
    );
}

/// What no database is found in is as damaged as can be.
#[tokio::test]
async fn a_destroyed_head_is_damage() {
    let dir = TempDir::new().unwrap();
    Server::with(dir.path(), &["--demo"]).await.stop().await;
    let file = dir.path().join("universes.db");
    let whole = std::fs::read(&file).unwrap();
    let garbled = |from: usize, to: usize| {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    let cut = whole[..50].to_vec();
    for bytes in [garbled(0, 100), garbled(0, 4_096), garbled(56, 72), cut, Vec::new()] {
        std::fs::write(&file, bytes).unwrap();
        let told = damaged(&dir).await;
        assert!(told.starts_with("the file is damaged: "), "{told}");
        let help = "what to do: `universe-server restore FILE --replace` goes back to a backup";
        assert!(told.contains(help) && told.ends_with("1 problem\n"), "{told}");
    }
    // Where there was never anything, nothing is damaged.
    let nowhere = verb(&dir.path().join("nowhere"), &["check"]).await;
    assert_eq!(nowhere.status.code(), Some(1));
}

/// Readers are notified of it, and everything else goes on.
#[tokio::test]
async fn a_damaged_entry_is_reported_and_the_rest_goes_on() {
    for damage in [GARBAGE, GONE, OTHER] {
        let dir = TempDir::new().unwrap();
        let mut server = Server::on(dir.path()).await;
        let id = some(server.client, "u", 20).await;
        let other = some(server.client, "other", 20).await;
        server.stop().await;
        tamper(dir.path(), damage);
        let server = Server::on(dir.path()).await;
        let client = server.client;

        let mut feed = client.feed(&id, Some(3)).await;
        let mut told = Vec::new();
        for _ in 4..=21 {
            let event = feed.event().await.expect("the feed goes on");
            told.push((event.kind, event.id.unwrap()));
        }
        let kind = |n| if n == 5 { "damaged" } else { "command" };
        let expected: Vec<_> = (4..=21).map(|n| (kind(n).to_owned(), n)).collect();
        assert_eq!(told, expected);

        let page = client.get(&format!("/universes/{id}/history?after=3&limit=3")).await.json();
        assert_eq!(page["entries"][1], json!({"revision": 5, "damaged": true}));
        assert_eq!(page["entries"][2]["revision"], 6);
        assert_eq!(at(client, &id, 4).await["revision"], 4);
        let now = client.get(&format!("/universes/{id}")).await;
        assert_eq!(now.status, 500);
        let error = now.error();
        for words in [id.as_str(), "damaged at revision 5", "`universe-server check`"] {
            assert!(error.contains(words), "{error}");
        }
        let refused = client.post(&format!("/universes/{id}/commands"), &tick()).await;
        assert_eq!(refused.status, 500, "{refused:?}");

        // The others, and all of them together.
        client.command(&other, &tick()).await;
        let listed = client.get("/universes").await.json();
        let listed = listed.as_array().unwrap();
        assert_eq!(listed.len(), 2, "{listed:?}");
        let one = listed.iter().find(|one| one["id"] == id.as_str()).unwrap();
        assert!(one["error"].as_str().unwrap().contains("damaged at revision 5"), "{one}");
        // What the message says helps.
        let fork = json!({"name": "saved", "fork": {"id": id, "revision": 4}});
        let forked = client.post("/universes", &fork).await;
        assert_eq!((forked.status, &forked.json()["state"]["time"]), (201, &json!(3.0)));
    }
}

/// A snapshot after the damage has the present state; models learn of the damage, too.
#[tokio::test]
async fn a_universe_goes_on_from_a_snapshot_after_the_damage() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let id = some(server.client, "u", 1_000).await;
    server.stop().await;
    tamper(dir.path(), GARBAGE);
    let told = damaged(&dir).await;
    assert!(told.contains("what to do: nothing for its present state"), "{told}");
    let server = Server::with(dir.path(), &["--keep-history", "10"]).await;
    server.client.command(&id, &tick()).await;
    assert_eq!(server.client.universe(&id).await["revision"], 1_002);
    let before = server.client.get(&format!("/universes/{id}?revision=7")).await;
    assert_eq!(before.status, 500);

    let mut ways = Ways::start(&["--extra-tools"]).await;
    let id = some(ways.client, "u", 20).await;
    tamper(ways.dir(), GARBAGE);
    for (_, caller) in ways.each() {
        let asked = json!({"universeId": id, "after": 3, "limit": 3});
        let page = soon(caller.content("get_universe_history", asked)).await;
        assert_eq!(page["entries"][1], json!({"revision": 5, "damaged": true}));
    }
}

//! One stored value changed, as a table: `check` finds it, the universe is refused with 500 and never served wrongly,
//! and `check --repair` puts right what the log says.

use serde_json::json;
use tempfile::TempDir;

use crate::harness::process::{done, verb};
use crate::harness::{Server, Ways, add_star, tick};

/// What is changed, and whether that keeps the universe from being served.
const CHANGES: &[(&str, bool)] = &[
    ("DELETE FROM universe WHERE uni = 1", true),
    ("DELETE FROM head WHERE uni = 1", true),
    ("UPDATE head SET uni = 9 WHERE uni = 1", true),
    ("UPDATE head SET rev = 32 WHERE uni = 1", true),
    ("UPDATE head SET rev = 39 WHERE uni = 1", true),
    ("UPDATE head SET rev = 48 WHERE uni = 1", true),
    ("UPDATE head SET oldest = 8 WHERE uni = 1", true),
    ("UPDATE head SET seq = seq - 1 WHERE uni = 1", true),
    ("UPDATE head SET command = zeroblob(16) WHERE uni = 1", true),
    ("UPDATE genesis SET rev = 8 WHERE uni = 1", true),
    ("UPDATE universe SET uni = 9 WHERE uni = 1", true),
    ("UPDATE universe SET id = 'other' WHERE uni = 1", true),
    ("UPDATE log SET prev = prev - 1 WHERE uni = 1 AND rev = 20", true),
    ("UPDATE log SET rev = 50 WHERE uni = 1 AND rev = 20", true),
    ("UPDATE identity SET name = 'other' WHERE uni = 1", false),
];

fn tamper(dir: &TempDir, sql: &str) {
    let database = rusqlite::Connection::open(dir.path().join("universes.db")).unwrap();
    assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
}

#[tokio::test]
async fn what_does_not_fit_is_found_refused_and_put_right() {
    let made = TempDir::new().unwrap();
    let mut server = Server::on(made.path()).await;
    let id = server.client.create("u", json!({})).await;
    let other = server.client.create("other", json!({})).await;
    let mut commands = vec![add_star("a")];
    commands.extend((0..39).map(|_| tick()));
    for of in [&id, &other] {
        let sent = server.client.post(&format!("/universes/{of}/commands"), &json!(commands)).await;
        assert_eq!(sent.status, 200, "{sent:?}");
    }
    let right = server.client.universe(&id).await;
    assert_eq!(right["revision"], 40);
    server.stop().await;
    for (change, is_refused) in CHANGES {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("universes.db");
        std::fs::copy(made.path().join("universes.db"), file).unwrap();
        tamper(&dir, change);
        let checked = verb(dir.path(), &["check"]).await;
        assert_eq!(
            checked.status.code(),
            Some(3),
            "{change}: {}{}",
            checked.stdout,
            checked.stderr
        );
        assert!(checked.stdout.contains("`universe-server check --repair`"), "{}", checked.stdout);

        let mut server = Server::on(dir.path()).await;
        let client = server.client;
        let paths = ["", "/history?after=0", "/tree", ".svg", "?revision=3"];
        for path in paths.map(|path| format!("/universes/{id}{path}")) {
            let reply = client.get(&path).await;
            // A log that is damaged in the middle is read before that, and its history says where it is.
            if *is_refused && (!change.contains("log") || path.ends_with(&id)) {
                assert_eq!(reply.status, 500, "{change}: {path}: {reply:?}");
            } else if path.ends_with(&id) {
                assert_eq!(reply.json(), right, "{change}");
            }
        }
        assert_eq!(client.universe(&other).await["revision"], 40, "{change}");
        if *is_refused {
            let sent = client.post(&format!("/universes/{id}/commands"), &tick()).await;
            assert_eq!(sent.status, 500, "{change}: {sent:?}");
            let listed = client.get("/universes").await.json();
            assert!(listed.as_array().unwrap().iter().any(|one| one["id"] == other.as_str()));
        }
        assert_eq!(client.get("/readyz").await.status, 200);
        // Not while it is used.
        let used = verb(dir.path(), &["check", "--repair"]).await;
        assert!(used.stderr.contains("in use by another server"), "{}", used.stderr);
        server.stop().await;

        let told = done(dir.path(), &["check", "--repair"]).await;
        assert!(told.starts_with("repaired: universe "), "{change}: {told}");
        assert!(told.trim_end().ends_with(": sound"), "{change}: {told}");
        let server = Server::on(dir.path()).await;
        assert_eq!(server.client.universe(&id).await, right, "{change}");
        server.client.command(&id, &tick()).await;
    }
}

/// Models learn of it, too.
#[tokio::test]
async fn a_model_is_told_what_is_wrong_and_what_helps() {
    let mut ways = Ways::start(&[]).await;
    let id = ways.client.create("u", json!({})).await;
    let database = rusqlite::Connection::open(ways.dir().join("universes.db")).unwrap();
    database.execute("UPDATE head SET oldest = 8", []).unwrap();
    for (_, caller) in ways.each() {
        let error = caller.error("get_universe_state", json!({"universeId": id})).await;
        assert_eq!(error["code"], "UNIVERSE_DAMAGED", "{error}");
        assert!(error["message"].as_str().unwrap().contains("check --repair"), "{error}");
    }
}

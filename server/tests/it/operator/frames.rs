//! One stored value changed, as a table: `check` finds it, the universe is refused with 500 and never served wrongly,
//! and `check --repair` puts right what the log says.

use serde_json::json;
use tempfile::TempDir;

use super::{on, only_read};
use crate::harness::process::{done, run, verb};
use crate::harness::{Era, Mcp, Server, Ways, add_star, tick};

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

/// A head from before the end of its log, as a page that was never written leaves it: its sum is right.
#[tokio::test]
async fn a_head_from_before_is_not_read_either() {
    let made = TempDir::new().unwrap();
    let file = made.path().join("universes.db");
    let mut server = Server::on(made.path()).await;
    let id = server.client.create("u", json!({})).await;
    let other = server.client.create("other", json!({})).await;
    server.client.command(&id, &tick()).await;
    let open = || rusqlite::Connection::open(&file).unwrap();
    open().execute_batch("CREATE TABLE old AS SELECT * FROM head WHERE uni = 1").unwrap();
    for _ in 0..8 {
        server.client.command(&id, &tick()).await;
    }
    let right = server.client.universe(&id).await;
    server.stop().await;
    open()
        .execute_batch(
            "DELETE FROM head WHERE uni = 1; INSERT INTO head SELECT * FROM old; DROP TABLE old; \
             PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE",
        )
        .unwrap();
    let told = "its head is at revision 1, and its log goes on to 9";

    let out = TempDir::new().unwrap();
    let exported = out.path().join("u.json");
    for arguments in [&["export", &id][..], &["export", &id, exported.to_str().unwrap()]] {
        let ended = verb(made.path(), arguments).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
        let said = &ended.stderr;
        assert!(said.contains(told) && said.contains("check --repair"), "{said}");
        assert!(ended.stdout.is_empty() && !exported.exists(), "{}", ended.stdout);
    }
    let copy = out.path().join("copy.db");
    let copied = verb(made.path(), &["backup", copy.to_str().unwrap()]).await;
    assert_eq!(copied.status.code(), Some(3), "{}{}", copied.stdout, copied.stderr);
    let said = &copied.stdout;
    assert!(said.contains(&format!("universe {id}: {told}")), "{said}");
    assert!(said.contains("2 universes") && said.contains("check --repair"), "{said}");

    // In both formats that can be read as they are.
    for older in [false, true] {
        if older {
            let sql =
                "ALTER TABLE head DROP COLUMN sum; DROP TABLE identity; PRAGMA user_version = 2";
            open().execute_batch(sql).unwrap();
        }
        if let Some(command) = only_read(made.path()).await {
            let arguments = ["--listen", "127.0.0.1:0", "--read-only"];
            let mut server = Server::start(on(command, made.path(), &arguments)).await;
            let paths = ["", "/history?after=0", "/tree", "/places", ".svg", "?revision=1"];
            for path in paths.map(|path| format!("/universes/{id}{path}")) {
                let reply = server.client.get(&path).await;
                assert_eq!(reply.status, 500, "{path}: {reply:?}");
                assert!(reply.error().contains("check --repair"), "{reply:?}");
            }
            let model = Mcp::new(server.client, Era::Modern).await;
            let error = model.refusal("get_universe_state", json!({ "universeId": id })).await;
            assert!(error.contains("check --repair"), "{error}");
            assert_eq!(server.client.universe(&other).await["revision"], 0);
            let get = on(only_read(made.path()).await.unwrap(), made.path(), &["get", &id]);
            let got = run(&mut { get }).await;
            assert!(
                !got.status.success() && got.stderr.contains("check --repair"),
                "{}",
                got.stderr
            );
            // Dropped, it would still hold the directory for a moment.
            server.kill().await;
        }
    }

    let restored = verb(made.path(), &["restore", copy.to_str().unwrap(), "--replace"]).await;
    assert_eq!(restored.status.code(), Some(3), "{}", restored.stderr);
    assert!(restored.stdout.contains(told), "{}", restored.stdout);
    done(made.path(), &["check", "--repair"]).await;
    let server = Server::on(made.path()).await;
    assert_eq!(server.client.universe(&id).await, right);
}

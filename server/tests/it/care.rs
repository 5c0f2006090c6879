//! The verbs for the care of the data, on the command line, with and without a server.

mod backup;
mod check;
mod kills;
mod transfer;

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::process::done;
use crate::harness::{Client, Server, add_star, tick};

/// Changes the database behind the server's back.
fn tamper(dir: &Path, sql: &str) {
    let database = Connection::open(dir.join("universes.db")).unwrap();
    assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
}

/// A universe with a star and so many ticks.
async fn some(client: Client, name: &str, ticks: usize) -> String {
    let id = client.create(name, json!({})).await;
    let path = format!("/universes/{id}/commands?result=events");
    let mut commands = vec![add_star("a")];
    commands.extend((0..ticks).map(|_| tick()));
    for some in commands.chunks(1_000) {
        let reply = client.post(&path, &json!(some)).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    id
}

/// What `check` says of a directory that must be sound.
async fn sound(dir: &Path) -> String {
    let told = done(dir, &["check"]).await;
    assert!(told.trim_end().ends_with(": sound"), "{told}");
    told
}

async fn at(client: Client, id: &str, revision: u64) -> Value {
    let reply = client.get(&format!("/universes/{id}?revision={revision}")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

#[tokio::test]
async fn help_names_the_verbs_and_their_exit_codes() {
    let mut command = crate::harness::process::binary();
    let ended = crate::harness::process::run(command.arg("--help")).await;
    for word in
        ["backup", "restore", "check", "compact", "export", "import", "3 `check` found damage"]
    {
        assert!(ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
}

#[tokio::test]
async fn room_is_given_back_with_and_without_a_server() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let kept = some(server.client, "kept", 1_000).await;
    let gone = some(server.client, "gone", 20_000).await;
    let deleted = server.client.delete(&format!("/universes/{gone}")).await;
    assert_eq!(deleted.status, 204);
    let free = |told: &str| -> u64 {
        let (before, _) = told.split_once(" of them free").unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let told = done(dir.path(), &["compact"]).await;
    // What is being written meanwhile may leave a page.
    assert!(free(&told) <= 64 << 10, "{told}");
    sound(dir.path()).await;
    server.stop().await;

    // A file of an older version cannot shrink in steps.
    let database = Connection::open(dir.path().join("universes.db")).unwrap();
    let older = "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM;";
    database.execute_batch(older).unwrap();
    drop(database);
    let mut server = Server::on(dir.path()).await;
    let ended = crate::harness::process::verb(dir.path(), &["compact"]).await;
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        ended.stderr.contains("stop the server, and run `universe-server compact`"),
        "{}",
        ended.stderr
    );
    server.stop().await;
    let told = done(dir.path(), &["compact"]).await;
    assert_eq!(free(&told), 0, "{told}");
    let server = Server::on(dir.path()).await;
    done(dir.path(), &["compact"]).await;
    assert_eq!(server.client.universe(&kept).await["revision"], 1_001);
}

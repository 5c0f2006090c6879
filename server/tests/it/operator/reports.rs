//! Backups, upgrades and appends as users of other stores met them. Each test names its thread.

use std::collections::BTreeSet;
use std::path::Path;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{on, small};
use crate::cluster::Cluster;
use crate::harness::process::{binary, done, run, verb};
use crate::harness::{Server, add_star, soon, tick};

/// A backup of `sol` at revision 1, in a directory.
async fn backed_up(dir: &Path) -> String {
    let data = TempDir::new().unwrap();
    let server = Server::with(data.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    let file = dir.join("backup.db").to_str().unwrap().to_owned();
    done(data.path(), &["backup", &file]).await;
    file
}

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// A write-ahead log of a database that is gone is not replayed over the one that takes its place:
/// DeusData/codebase-memory-mcp#897, maxpert/marmot#8
#[tokio::test]
async fn a_log_that_was_left_behind_is_not_played_into_a_backup() {
    let kept = TempDir::new().unwrap();
    let backup = backed_up(kept.path()).await;
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    for _ in 0..20 {
        server.client.command("sol", &tick()).await;
    }
    server.kill().await;
    std::fs::remove_file(dir.path().join("universes.db")).unwrap();
    let told = done(dir.path(), &["restore", &backup]).await;
    assert!(told.contains("replaced-1"), "{told}");
    assert!(names(&dir.path().join("replaced-1")).contains("universes.db-wal"));
    let told = done(dir.path(), &["check"]).await;
    assert!(told.trim_end().ends_with(": sound"), "{told}");
    let server = Server::on(dir.path()).await;
    assert_eq!(server.client.universe("sol").await["revision"], 1);
}

/// The same for a new database: tursodatabase/turso#8103
#[tokio::test]
async fn a_log_that_was_left_behind_does_not_bring_back_what_was_removed() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    server.client.create("secret", json!({})).await;
    server.kill().await;
    std::fs::remove_file(dir.path().join("universes.db")).unwrap();
    let server = Server::on(dir.path()).await;
    assert_eq!(server.client.get("/universes").await.json(), json!([]));
    server.client.create("new", json!({})).await;
    let told = done(dir.path(), &["check"]).await;
    assert!(told.starts_with("1 universe, ") && told.trim_end().ends_with(": sound"), "{told}");
}

/// What is checked of a backup is what is restored, also of a file whose last writes lie beside it:
/// theoriclabs/LeanDB#60
#[tokio::test]
async fn the_file_of_a_killed_server_is_restored_with_its_last_writes() {
    let killed = TempDir::new().unwrap();
    let mut server = Server::with(killed.path(), &["--demo"]).await;
    for _ in 0..5 {
        server.client.command("sol", &tick()).await;
    }
    server.kill().await;
    let (dir, file) = (TempDir::new().unwrap(), killed.path().join("universes.db"));
    done(dir.path(), &["restore", file.to_str().unwrap()]).await;
    let server = Server::on(dir.path()).await;
    assert_eq!(server.client.universe("sol").await["revision"], 5);
}

/// benbjohnson/litestream#528
#[tokio::test]
async fn nothing_is_left_beside_what_is_restored() {
    let kept = TempDir::new().unwrap();
    let backup = backed_up(kept.path()).await;
    assert_eq!(names(kept.path()), BTreeSet::from(["backup.db".to_owned()]));
    let dir = TempDir::new().unwrap();
    done(dir.path(), &["restore", &backup]).await;
    let expected = ["universes.db", "universes.lock"].map(str::to_owned);
    assert_eq!(names(dir.path()), BTreeSet::from(expected));
}

/// Basekick-Labs/arc#635, vavallee/bindery#2337
#[tokio::test]
async fn nothing_is_restored_over_what_a_server_uses() {
    let kept = TempDir::new().unwrap();
    let backup = backed_up(kept.path()).await;
    let dir = TempDir::new().unwrap();
    let mut server = Server::with(dir.path(), &["--demo"]).await;
    let writing = async {
        for _ in 0..50 {
            server.client.command("sol", &tick()).await;
        }
    };
    let arguments = ["restore", &backup, "--replace"];
    let (ended, ()) = tokio::join!(verb(dir.path(), &arguments), writing);
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("in use by another server"), "{}", ended.stderr);
    assert_eq!(server.client.universe("sol").await["revision"], 50);
    server.stop().await;
    let told = done(dir.path(), &["check"]).await;
    assert!(told.contains(" 50 entries, "), "{told}");
}

/// A backup for which there is no room is none: backup/backup#123, usmannasir/cyberpanel#1855
#[tokio::test]
async fn a_backup_for_which_there_is_no_room_fails_and_leaves_nothing() {
    let data = TempDir::new().unwrap();
    let mut server = Server::with(data.path(), &["--demo"]).await;
    for n in 0..5 {
        let made = json!({"name": n.to_string(), "generate": {"seed": n}});
        assert_eq!(server.client.post("/universes", &made).await.status, 201);
    }
    server.stop().await;
    let target = TempDir::new().unwrap();
    let Some(command) = small(target.path(), "64k").await else {
        return;
    };
    let file = target.path().join("backup.db");
    // Where the disk is mounted it is looked at, too.
    let mut arguments: Vec<_> = command.as_std().get_args().map(ToOwned::to_owned).collect();
    let program = arguments.pop().unwrap();
    let looking = ["sh", "-c", "\"$@\"; code=$?; ls -A \"$DIR\"; exit $code", "sh"];
    arguments.extend(looking.map(Into::into));
    arguments.push(program);
    let mut shell = tokio::process::Command::new("unshare");
    shell.args(&arguments).env("DIR", target.path());
    let ended = run(&mut on(shell, data.path(), &["backup", file.to_str().unwrap()])).await;
    assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
    assert_eq!(ended.stdout, "", "something is left");
    assert!(ended.stderr.contains("full"), "{}", ended.stderr);
}

/// The directory and the backups of a newer version: openobserve/openobserve#14129, BradGroux/veritas-kanban#643
#[tokio::test]
async fn what_a_newer_version_has_written_is_refused_with_a_sentence() {
    let kept = TempDir::new().unwrap();
    let backup = backed_up(kept.path()).await;
    let newer = "PRAGMA user_version = 99";
    rusqlite::Connection::open(&backup).unwrap().execute_batch(newer).unwrap();
    let dir = TempDir::new().unwrap();
    Server::with(dir.path(), &["--demo"]).await.stop().await;
    let before = std::fs::read(dir.path().join("universes.db")).unwrap();
    let told = |ended: &crate::harness::process::Ended| {
        assert_eq!(ended.status.code(), Some(1));
        assert!(
            ended.stderr.contains("has format 99, but this server knows formats up to 3"),
            "{}",
            ended.stderr
        );
    };
    told(&verb(dir.path(), &["restore", &backup, "--replace"]).await);
    assert_eq!(std::fs::read(dir.path().join("universes.db")).unwrap(), before, "it has changed");
    let database = rusqlite::Connection::open(dir.path().join("universes.db")).unwrap();
    // Only in the write-ahead log as yet.
    database.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99").unwrap();
    let mut serve = binary();
    serve.args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(dir.path());
    told(&run(&mut serve).await);
    told(&verb(dir.path(), &["check"]).await);
    told(&verb(dir.path(), &["list"]).await);
}

/// Eventuous/eventuous#553
#[tokio::test]
async fn of_many_that_write_at_once_none_is_told_of_success_in_vain() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    let sent = (0..40).map(|n| {
        let path = path.clone();
        async move { client.post(&path, &add_star(&format!("s{n}"))).await.status }
    });
    assert!(join_all(sent).await.iter().all(|status| *status == 200));
    let universe = client.universe(&id).await;
    assert_eq!(universe["revision"], 40);
    assert_eq!(universe["state"]["stars"].as_object().unwrap().len(), 40);
}

/// NEventStore/NEventStore#415
#[tokio::test]
async fn of_two_that_write_the_first_revision_one_is_refused() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    for round in 0..10 {
        let id = client.create(&round.to_string(), json!({})).await;
        let path = format!("/universes/{id}/commands");
        let first = |star: &'static str| {
            let path = path.clone();
            async move {
                let headers = [("if-match", "\"0\"")];
                client.call("POST", &path, &headers, &add_star(star)).await.status
            }
        };
        let (one, other) = tokio::join!(first("a"), first("b"));
        assert_eq!(BTreeSet::from([one, other]), BTreeSet::from([200, 412]));
        assert_eq!(client.universe(&id).await["revision"], 1);
    }
}

/// kurrent-io/KurrentDB#2274
#[tokio::test]
async fn what_is_sent_twice_under_one_key_is_done_once_though_others_come_between() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands");
    let star = add_star("a");
    let send = || client.post_keyed(&path, "once", &star);
    let first = send().await;
    for _ in 0..3 {
        client.command(&id, &tick()).await;
    }
    let again = send().await;
    assert_eq!((first.status, again.status), (200, 200));
    assert_eq!(first.json(), again.json());
    assert_eq!(client.universe(&id).await["revision"], 4);
}

/// n8n-io/n8n#14582, openshift/lightspeed-service#3067: a database that is away is said to be, at once, and is found
/// again by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_database_is_away_requests_are_refused_at_once() {
    let started = tokio::task::spawn_blocking(|| Cluster::start(&["fsync=off"])).await.unwrap();
    let Some(mut cluster) = started else {
        return;
    };
    let server = crate::nodes::node(&cluster.database()).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    client.command(&id, &tick()).await;
    cluster = tokio::task::spawn_blocking(move || {
        cluster.kill();
        cluster
    })
    .await
    .unwrap();
    // As soon as it is known that it is away for longer than a moment.
    soon(async {
        loop {
            let begun = tokio::time::Instant::now();
            let refused = client.get(&format!("/universes/{id}")).await;
            assert_eq!(refused.status, 503, "{refused:?}");
            if begun.elapsed().as_millis() < 500 {
                break;
            }
        }
    })
    .await;
    assert_eq!(client.get("/readyz").await.status, 503);
    let begun = tokio::time::Instant::now();
    let path = format!("/universes/{id}/commands");
    for _ in 0..20 {
        assert_eq!(client.get(&format!("/universes/{id}")).await.status, 503);
        assert_eq!(client.get("/universes").await.status, 503);
        assert_eq!(client.post(&path, &tick()).await.status, 503);
    }
    // Each of them alone took ten seconds, or five.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let _cluster = tokio::task::spawn_blocking(move || {
        cluster.restart();
        cluster
    })
    .await
    .unwrap();
    soon(async {
        while client.get("/readyz").await.status != 200 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    let universe: Value = client.universe(&id).await;
    assert_eq!(universe["revision"], 1);
    client.command(&id, &tick()).await;
}

//! A backup taken while everybody writes, and put back elsewhere.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{at, some, sound};
use crate::harness::process::{done, verb};
use crate::harness::{Client, Server, add_star, soon, tick};

/// Changes a universe until it is stopped.
async fn write(client: Client, id: String, stop: Arc<AtomicBool>) {
    let mut connection = client.connect().await;
    let path = format!("/universes/{id}/commands?result=events");
    let mut n = 0;
    while !stop.load(Ordering::Relaxed) {
        n += 1;
        let star = json!({"type": "updateStar", "id": "a", "payload": {"name": format!("{n}")}});
        let command = match n % 3 {
            0 => add_star(&format!("s{n}")),
            1 => star,
            _ => tick(),
        };
        let reply = connection.call("POST", &path, &[], &command).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
}

async fn history(client: Client, id: &str, head: u64) -> Vec<Value> {
    let mut entries = Vec::new();
    while (entries.len() as u64) < head {
        let after = entries.len();
        let path = format!("/universes/{id}/history?after={after}&limit=100");
        let page = client.get(&path).await.json();
        entries.extend(page["entries"].as_array().unwrap().iter().cloned());
    }
    entries.truncate(usize::try_from(head).unwrap());
    entries
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_taken_under_load_is_the_same_elsewhere_revision_by_revision() {
    let (dir, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = elsewhere.path().join("backup");
    let name = file.to_str().unwrap();
    let server = Server::on(dir.path()).await;
    let client = server.client;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(some(client, &format!("u{n}"), 200).await);
    }
    let stop = Arc::<AtomicBool>::default();
    let writers = ids.iter().map(|id| {
        let write = write(client, id.clone(), Arc::clone(&stop));
        tokio::spawn(write)
    });
    let writers: Vec<_> = writers.collect();
    // The writers are under way before it and still after it.
    let grown = |id: String, from: u64| async move {
        soon(async { while client.universe(&id).await["revision"].as_u64().unwrap() < from {} })
            .await;
    };
    grown(ids[0].clone(), 220).await;
    let before: u64 = client.universe(&ids[0]).await["revision"].as_u64().unwrap();
    let told = done(dir.path(), &["backup", name]).await;
    assert!(told.starts_with("3 universes, "), "{told}");
    let after: u64 = client.universe(&ids[0]).await["revision"].as_u64().unwrap();
    grown(ids[0].clone(), after + 10).await;
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }

    let restored = elsewhere.path().join("data");
    done(&restored, &["restore", name]).await;
    sound(&restored).await;
    sound(dir.path()).await;
    let other = Server::on(&restored).await;
    for (n, id) in ids.iter().enumerate() {
        let head = other.client.universe(id).await["revision"].as_u64().unwrap();
        if n == 0 {
            assert!((before..=after).contains(&head), "{before} {head} {after}");
        }
        assert_eq!(history(other.client, id, head).await, history(client, id, head).await);
        for revision in 0..=head {
            assert_eq!(at(other.client, id, revision).await, at(client, id, revision).await);
        }
    }
}

/// What cannot be done leaves everything as it was.
#[tokio::test]
async fn a_backup_is_put_back_only_where_that_is_meant() {
    let (dir, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let file = elsewhere.path().join("backup");
    let name = file.to_str().unwrap();
    let refused = async |dir: &Path, arguments: &[&str], why: &str| {
        let ended = verb(dir, arguments).await;
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stdout);
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
    };
    refused(dir.path(), &["backup", name], "universes.db: No such file").await;
    refused(dir.path(), &["backup", name], "name that directory with --data-dir").await;
    assert!(!file.exists());
    let mut server = Server::on(dir.path()).await;
    let id = some(server.client, "u", 10).await;
    done(dir.path(), &["backup", name]).await;
    refused(dir.path(), &["backup", name], "exists already; name a new file").await;
    refused(dir.path(), &["restore", name, "--replace"], "in use by another server").await;
    server.client.command(&id, &tick()).await;
    server.kill().await;
    refused(dir.path(), &["restore", name], "add --replace").await;
    let diary = elsewhere.path().join("diary");
    std::fs::write(&diary, "dear diary").unwrap();
    let restore = ["restore", diary.to_str().unwrap(), "--replace"];
    refused(dir.path(), &restore, "diary is not a store of universes: no backup").await;
    refused(dir.path(), &restore, "`universe-server import` takes one universe as JSON").await;
    refused(dir.path(), &["import", name], "a JSON object with name and state was expected").await;
    let mut torn = std::fs::read(&file).unwrap();
    torn.truncate(torn.len() / 2);
    std::fs::write(&diary, &torn).unwrap();
    let torn = verb(dir.path(), &restore).await;
    assert!(!torn.status.success() && torn.stderr.contains("no backup, or a damaged one"));
    assert!(!torn.stderr.contains("goes back to a backup"), "{}", torn.stderr);

    let told = done(dir.path(), &["restore", name, "--replace"]).await;
    assert!(told.contains("replaced-1"), "{told}");
    let server = Server::on(dir.path()).await;
    assert_eq!(server.client.universe(&id).await["revision"], 11);
    // What was there is whole, too, with what only the write-ahead log had.
    let aside = Server::on(&dir.path().join("replaced-1")).await;
    assert_eq!(aside.client.universe(&id).await["revision"], 12);
}

//! Sudden death while logs are trimmed and the file is made smaller: nothing acknowledged is lost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::sound;
use crate::harness::process::{done, verb};
use crate::harness::{Client, Server, scatter, tick};

/// How often by default; as often as `UNIVERSE_KILLS` says in the full test.
const KILLS: u64 = 4;
const UNIVERSES: usize = 3;
const SEED: u64 = 0x7e57;
const KEPT: &str = "100";

/// Ticks a universe until the server is gone: three hundred at a time, so that there is much to trim.
async fn write(client: Client, id: String, acknowledged: Arc<AtomicU64>) {
    let path = format!("/universes/{id}/commands?result=events");
    let some: Vec<Value> = (0..300).map(|_| tick()).collect();
    let Some(mut connection) = client.try_connect().await else {
        return;
    };
    while let Some(reply) = connection.try_call("POST", &path, &[], &json!(some)).await {
        assert_eq!(reply.status, 200, "{reply:?}");
        acknowledged.fetch_add(some.len() as u64, Ordering::Relaxed);
    }
}

/// Makes and deletes a universe over and over, so that there is much to give back.
async fn churn(client: Client, n: u64) {
    let mut round = 0;
    while let Some(mut connection) = client.try_connect().await {
        let body = json!({"name": format!("churn {n} {round}"), "state": {}});
        round += 1;
        let Some(made) = connection.try_call("POST", "/universes", &[], &body).await else {
            return;
        };
        let path = format!("/universes/{}", made.json()["id"].as_str().unwrap());
        let some: Vec<Value> = (0..1_000).map(|_| tick()).collect();
        let commands = format!("{path}/commands?result=events");
        let ticked = connection.try_call("POST", &commands, &[], &json!(some)).await;
        if ticked.is_none() {
            return;
        }
        let _gone = connection.try_call("DELETE", &path, &[], &Value::Null).await;
    }
}

/// Asks for the file to be made smaller, again and again.
async fn compact(dir: PathBuf, stop: Arc<AtomicBool>) -> u64 {
    let mut done = 0;
    while !stop.load(Ordering::Relaxed) {
        // The server may die meanwhile, which is reported.
        done += u64::from(verb(&dir, &["compact"]).await.status.success());
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_while_it_trims_and_compacts_loses_nothing() {
    let kills = std::env::var("UNIVERSE_KILLS");
    let kills = kills.map_or(KILLS, |kills| kills.parse().unwrap());
    let dir = TempDir::new().unwrap();
    let mut ids: Vec<String> = Vec::new();
    let acknowledged: Vec<_> = (0..UNIVERSES).map(|_| Arc::<AtomicU64>::default()).collect();
    let (mut oldest, mut compacted) = (0, 0);
    for kill in 0..=kills {
        // One that trims nothing meanwhile.
        let mut server = Server::on(dir.path()).await;
        for n in ids.len()..UNIVERSES {
            let id = server.client.create(&format!("u-{n}"), json!({})).await;
            ids.push(id);
        }
        oldest = 0;
        for (id, acknowledged) in ids.iter().zip(&acknowledged) {
            oldest += verify(server.client, id, acknowledged).await;
        }
        server.stop().await;
        if kill == kills {
            break;
        }
        let mut server = Server::with(dir.path(), &["--keep-history", KEPT]).await;
        let client = server.client;
        let mut tasks = vec![tokio::spawn(churn(client, kill))];
        for (id, acknowledged) in ids.iter().zip(&acknowledged) {
            let write = write(client, id.clone(), Arc::clone(acknowledged));
            tasks.push(tokio::spawn(write));
        }
        let stop = Arc::<AtomicBool>::default();
        let compacting = compact(dir.path().to_owned(), Arc::clone(&stop));
        let compacting = tokio::spawn(compacting);
        // Some moment or other; no verdict depends on which.
        let moment = 100 + scatter(SEED + kill) % 2_400;
        tokio::time::sleep(Duration::from_millis(moment)).await;
        stop.store(true, Ordering::Relaxed);
        server.kill().await;
        for task in tasks {
            task.await.unwrap();
        }
        compacted += compacting.await.unwrap();
        // No process holds the directory, so this writes the whole file afresh, or is killed at it.
        if kill % 3 == 2 {
            let mut command = crate::harness::process::binary();
            command.arg("compact").arg("--data-dir").arg(dir.path());
            let mut child = command.spawn().unwrap();
            tokio::time::sleep(Duration::from_millis(scatter(kill) % 60)).await;
            child.kill().await.unwrap();
        }
        sound(dir.path()).await;
    }
    let total: u64 = acknowledged.iter().map(|n| n.load(Ordering::Relaxed)).sum();
    println!("{kills} kills, {total} acknowledged, {oldest} trimmed, {compacted} times compacted");
    assert!(oldest > 0, "something was trimmed");
    done(dir.path(), &["compact"]).await;
}

/// The state is the sum of all that was acknowledged, and of at most one request more for each life. Gives where the
/// history begins.
async fn verify(client: Client, id: &str, acknowledged: &AtomicU64) -> u64 {
    let universe = client.universe(id).await;
    let head = universe["revision"].as_u64().unwrap();
    assert_eq!(universe["state"]["time"].as_f64(), Some(head as f64));
    let known = acknowledged.load(Ordering::Relaxed);
    assert!(head >= known, "{known} acknowledged, {head} there");
    assert!(head <= known + 300, "{known} acknowledged, {head} there");
    acknowledged.store(head, Ordering::Relaxed);
    let page = client.get(&format!("/universes/{id}/history?after=0&limit=1")).await;
    if page.status == 200 {
        return 0;
    }
    let oldest = page.json()["oldest"].as_u64().unwrap();
    for revision in [oldest, (oldest + head) / 2] {
        let then = super::at(client, id, revision).await;
        assert_eq!(then["state"]["time"].as_f64(), Some(revision as f64));
    }
    oldest
}

//! Leases of nodes in a database.

use std::time::{Duration, Instant};

use universe_store::postgres::{PostgresOptions, PostgresStore};
use uuid::Uuid;

use crate::HANG;
use crate::cluster::shared;

async fn node(url: &str, lease: Duration) -> PostgresStore {
    let mut options = PostgresOptions::default();
    options.lease = lease;
    PostgresStore::open(url, &options).await.unwrap()
}

/// Asks until a node says that exactly these are alive.
async fn until(node: &PostgresStore, asked: &[Uuid], alive: &[Uuid]) {
    let begun = Instant::now();
    while node.nodes().alive(asked).await.unwrap() != alive {
        assert!(begun.elapsed() < HANG, "it does not say so");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_has_ended_is_known_to_have_and_only_by_one_that_can_tell() {
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let judge = node(&url, Duration::from_millis(400)).await;
    // Its own lease has not held for its whole length: anything may be alive.
    let unknown = Uuid::new_v4();
    assert_eq!(judge.nodes().alive(&[unknown]).await, Ok(vec![unknown]));
    let lasting = node(&url, Duration::from_secs(600)).await;
    let short = node(&url, Duration::from_millis(300)).await;
    let [lasting_id, short_id] = [&lasting, &short].map(|node| node.nodes().id());
    until(&judge, &[unknown], &[]).await;
    until(&judge, &[lasting_id, unknown], &[lasting_id]).await;
    until(&judge, &[short_id, unknown], &[short_id]).await;
    // One that is gone without a word, and one that ends its lease.
    drop(short);
    until(&judge, &[short_id], &[]).await;
    lasting.nodes().end().await.unwrap();
    until(&judge, &[lasting_id], &[]).await;
    let own = judge.nodes().id();
    until(&judge, &[own], &[own]).await;
}

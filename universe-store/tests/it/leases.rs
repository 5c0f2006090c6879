//! Leases of nodes in a store.

use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::HANG;
use crate::engines::{self, Kind, Node, until_there_are, urls};

/// Asks until a node says that exactly these are alive.
async fn until(node: &Node, asked: &[Uuid], alive: &[Uuid]) {
    let begun = Instant::now();
    while node.nodes().alive(asked).await.unwrap() != alive {
        assert!(begun.elapsed() < HANG, "it does not say so");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_has_ended_is_known_to_have_and_only_by_one_that_can_tell() {
    for url in urls() {
        let judge = engines::with_lease(&url, Duration::from_millis(400)).await;
        // Its own lease has not held for its whole length: anything may be alive.
        let unknown = Uuid::new_v4();
        assert_eq!(judge.nodes().alive(&[unknown]).await, Ok(vec![unknown]));
        let lasting = engines::with_lease(&url, Duration::from_secs(600)).await;
        let short = engines::with_lease(&url, Duration::from_millis(300)).await;
        let [lasting_id, short_id] = [&lasting, &short].map(|node| node.nodes().id());
        until_there_are(&url, Kind::Nodes, 3).await;
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
}

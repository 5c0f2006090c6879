//! Servers that end while others take their place: nothing is lost and nothing done twice, and feeds go on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use serde_json::json;

use super::balancer::Balancer;
use super::{node_with, until};
use crate::engines::urls;
use crate::harness::process::signal;
use crate::harness::{Client, add_star, soon, tick};

const WRITERS: usize = 6;
/// What each writer has done between one change of servers and the next, at least.
const SOME: usize = 10;

/// Sends commands until it is progress to stop; each as often as it takes, under one key. Gives what it has sent.
async fn write(client: Client, id: String, name: usize, progress: Arc<Progress>) -> Vec<String> {
    let path = format!("/universes/{id}/commands");
    let mut sent = Vec::new();
    while !progress.enough.load(Ordering::Relaxed) {
        let star = format!("star-{name}-{}", sent.len());
        let keyed = [("idempotency-key", star.as_str())];
        loop {
            let reply = match client.try_connect().await {
                Some(mut connection) => {
                    connection.try_call("POST", &path, &keyed, &add_star(&star)).await
                }
                None => None,
            };
            match reply.map(|reply| reply.status) {
                Some(200) => break,
                None | Some(500..) => {
                    progress.failures.fetch_add(1, Ordering::Relaxed);
                    tokio::task::yield_now().await;
                }
                Some(other) => panic!("{other}"),
            }
        }
        progress.done.fetch_add(1, Ordering::Relaxed);
        sent.push(star);
    }
    sent
}

/// Reads a feed, and comes back with the last event whenever it ends; gives the revisions that it saw.
async fn read(client: Client, id: String, progress: Arc<Progress>) -> Vec<u64> {
    let (mut seen, path) = (Vec::new(), format!("/universes/{id}/events"));
    loop {
        let last = seen.last().copied().unwrap_or(0_u64).to_string();
        let Some(mut connection) = client.try_connect().await else {
            continue;
        };
        progress.connections.fetch_add(1, Ordering::Relaxed);
        let Some(mut feed) = connection.stream(&path, &[("last-event-id", &last)]).await else {
            tokio::task::yield_now().await;
            continue;
        };
        while let Some(event) = feed.event().await {
            seen.push(event.id.unwrap());
            let is_over = progress.enough.load(Ordering::Relaxed);
            if is_over && seen.len() as u64 == progress.head.load(Ordering::Relaxed) as u64 {
                return seen;
            }
        }
    }
}

#[derive(Default)]
struct Progress {
    enough: AtomicBool,
    done: AtomicUsize,
    failures: AtomicUsize,
    connections: AtomicUsize,
    head: AtomicUsize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_loses_and_doubles_nothing() {
    for url in urls() {
        let balancer = Balancer::start().await;
        let start = || node_with(&url, &["--drain-wait", "1s"]);
        let mut old = [start().await, start().await];
        for server in &old {
            balancer.add(server.client);
        }
        let id = old[0].client.create("u", json!({})).await;
        let progress = Arc::<Progress>::default();
        let writers = (0..WRITERS)
            .map(|n| tokio::spawn(write(balancer.client, id.clone(), n, Arc::clone(&progress))));
        let writers: Vec<_> = writers.collect();
        let reader = tokio::spawn(read(balancer.client, id.clone(), Arc::clone(&progress)));
        let some_more = async || {
            let before = progress.done.load(Ordering::Relaxed);
            until(async || progress.done.load(Ordering::Relaxed) >= before + SOME * WRITERS).await;
        };
        some_more().await;
        let mut new = Vec::new();
        for server in &mut old {
            let fresh = start().await;
            balancer.add(fresh.client);
            new.push(fresh);
            server.stop().await;
            some_more().await;
        }
        let head = new[0].client.universe(&id).await["revision"].as_u64().unwrap();
        assert!(head > 0);
        progress.enough.store(true, Ordering::Relaxed);
        let sent = soon(join_all(writers)).await.into_iter().flat_map(Result::unwrap);
        let sent: BTreeSet<String> = sent.collect();
        let universe = new[1].client.universe(&id).await;
        let stars: BTreeSet<String> =
            universe["state"]["stars"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(stars, sent);
        assert_eq!(universe["revision"], sent.len());
        // The reader looks at the end of things whenever it sees an event.
        progress.head.store(sent.len() + 1, Ordering::Relaxed);
        new[0].client.command(&id, &tick()).await;
        let seen = soon(reader).await.unwrap();
        assert_eq!(seen, (1..=sent.len() as u64 + 1).collect::<Vec<_>>());
        eprintln!(
            "{} commands, {} requests sent again, {} connections of the reader",
            sent.len(),
            progress.failures.load(Ordering::Relaxed),
            progress.connections.load(Ordering::Relaxed)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_to_end_says_so_first_and_answers_until_then() {
    for url in urls() {
        let mut server = node_with(&url, &["--drain-wait", "4s"]).await;
        let client = server.client;
        let id = client.create("u", json!({})).await;
        let mut feed = client.feed(&id, None).await;
        assert_eq!(client.get("/readyz").await.status, 200);
        signal(server.pid(), "TERM");
        let mut last = String::new();
        until(async || {
            let reply = client.get("/readyz").await;
            last = format!("{reply:?}");
            reply.status == 503
        })
        .await;
        assert!(last.contains("will end soon, and answers until then"), "{last}");
        // It is alive and does its work, and so do its feeds.
        assert_eq!(client.get("/livez").await.status, 200);
        client.command(&id, &tick()).await;
        assert_eq!(feed.event().await.unwrap().id, Some(1));
        let mut blocks = Vec::new();
        while let Some(block) = feed.block().await {
            blocks.push(block);
        }
        assert!(blocks.last().unwrap().starts_with("retry: "), "{blocks:?}");
        assert!(server.wait().await.success());
    }
}

//! How fast durable commands are on NATS, beside messages that a plain client publishes and has acknowledged.
//!
//! 64 clients wait for every acknowledgement, at one node or at three. Either each has a universe of its own, and its
//! command is a message; or all write one universe, and a node appends what waits as one message, as the writer of the
//! universe server does. The plain client does what `nats bench js pub sync` does: it publishes messages with bodies of
//! the same size, over as many connections, each waiting for its acknowledgement, and says nothing of what it expects.
//! That tool itself is in no package of Debian.
//!
//! `cargo bench -p universe-store --features nats --bench nats -- 9 5` makes 9 rounds of 5 seconds for each side.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its table, and no caller takes its errors"
)]

mod beside;
#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../tests/it/fleet.rs"]
mod fleet;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use bytes::Bytes;
use tokio::runtime::Builder;
use universe_store::UniverseLog;
use universe_store::nats::{NatsOptions, NatsStore};

use self::beside::{BODY, Rounds, Work, commands, rate};
use self::fleet::{Fleet, Settings};

fn main() {
    let Some(rounds) = Rounds::wanted(5, Duration::from_secs(2)) else {
        return;
    };
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("servers  sync    nodes  universes    plain/s    ours/s  ratio (min-max)");
    for (count, is_durable) in [(1, true), (3, true), (1, false), (3, false)] {
        let settings = Settings {
            is_durable,
            ..Settings::default()
        };
        let Some(fleet) = Fleet::start(count, &settings) else {
            return;
        };
        let sync = if is_durable { "always" } else { "2 min" };
        for work in Work::SHARED {
            let url = RefCell::new(String::new());
            let (nodes, universes) = (work.nodes, work.universes);
            let row = format!("{count:>7}  {sync:<6}  {nodes:>5}  {universes:>9}");
            let ours = || {
                url.replace(fleet.url());
                runtime.block_on(appends(&url.borrow(), work, rounds.each))
            };
            // The stream of the universes was made just now, with as many copies.
            let plain = || runtime.block_on(messages(&url.borrow(), count, work, rounds.each));
            rounds.compare(&row, ours, plain);
        }
    }
}

/// Commands a second by the port.
async fn appends(url: &str, work: Work, time: Duration) -> f64 {
    let options = NatsOptions::default();
    let mut opened: Vec<Arc<dyn UniverseLog>> = Vec::new();
    for _ in 0..work.nodes {
        opened.push(Arc::new(NatsStore::open(url, &options).await.unwrap()));
    }
    commands(opened, work, time).await
}

/// The same in messages of a plain client.
async fn messages(url: &str, replicas: usize, work: Work, time: Duration) -> f64 {
    let (servers, prefix) = url.rsplit_once('/').unwrap();
    let servers: Vec<async_nats::ServerAddr> = servers
        .trim_start_matches("nats://")
        .split(',')
        .map(|server| server.parse().unwrap())
        .collect();
    let mut connections = Vec::new();
    for _ in 0..work.nodes {
        let client = async_nats::connect(servers.clone()).await.unwrap();
        connections.push(jetstream::new(client));
    }
    let config = jetstream::stream::Config {
        name: format!("{prefix}_plain"),
        subjects: vec![format!("plain.{prefix}.*")],
        num_replicas: replicas,
        ..jetstream::stream::Config::default()
    };
    connections[0].create_stream(config).await.unwrap();
    let (writers, batch) = work.writers();
    let body = Bytes::from(BODY.repeat(batch));
    rate(time, writers, |n, until| {
        let streams = connections[n % connections.len()].clone();
        let subject = format!("plain.{prefix}.{}", n % work.universes);
        let body = body.clone();
        async move {
            let mut done = 0;
            while Instant::now() < until {
                let sent = streams.publish(subject.clone(), body.clone());
                sent.await.unwrap().await.unwrap();
                done += batch;
            }
            done
        }
    })
    .await
}

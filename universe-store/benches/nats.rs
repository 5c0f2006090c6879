//! How fast commands are on NATS, beside messages that a plain client publishes and has acknowledged.
//!
//! Each of 64 producers has a universe, or a subject, of its own, and waits for every acknowledgement. Both run in turn
//! on the same servers, so that a noisy machine disturbs them alike; what counts is the ratio within a round, of which
//! the median is given. Servers and clients share the processors of this machine.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its table and has nobody to hand an error to"
)]

#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../tests/it/fleet.rs"]
mod fleet;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use bytes::Bytes;
use tokio::runtime::Builder;
use universe_store::nats::{NatsOptions, NatsStore};
use universe_store::{
    Append, CommandId, Meta, NewEntry, Revision, Timestamp, UniverseId, UniverseLog,
};

use self::fleet::{Fleet, Settings};

const BODY: &[u8] = &[b'x'; 300];
const PRODUCERS: usize = 64;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);

fn main() {
    // `cargo test` runs benchmarks too, without this argument and in a hurry.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("servers  sync    plain/s  universes/s  ratio (min-max)");
    for (count, is_durable) in [(1, false), (1, true), (3, false), (3, true)] {
        let settings = Settings {
            is_durable,
            ..Settings::default()
        };
        let Some(fleet) = Fleet::start(count, &settings) else {
            return;
        };
        let (mut plain, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let url = fleet.url();
            let rate = runtime.block_on(universes(&url));
            // The stream of the universes was made just now, with as many copies.
            let floor = runtime.block_on(messages(&url, count));
            plain.push(floor);
            ours.push(rate);
            ratios.push(rate / floor);
        }
        let (plain, ours, ratio) = (median(&mut plain), median(&mut ours), median(&mut ratios));
        let (least, most) = (ratios[0], ratios[ROUNDS - 1]);
        let sync = if is_durable { "always" } else { "2 min" };
        println!(
            "{count:>7}  {sync}  {plain:>7.0}  {ours:>11.0}  {ratio:.2} ({least:.2}-{most:.2})"
        );
    }
}

/// The median, of what is sorted in passing.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

async fn universes(url: &str) -> f64 {
    let store = Arc::new(NatsStore::open(url, &NatsOptions::default()).await.unwrap());
    let ids: Vec<_> = (0..PRODUCERS)
        .map(|n| UniverseId::new(format!("universe {n}")).unwrap())
        .collect();
    for id in &ids {
        let meta = Meta {
            id: id.clone(),
            name: String::new(),
            created_at: Timestamp::now(),
        };
        store.create(meta, Bytes::from_static(BODY)).await.unwrap();
    }
    rate(ids.into_iter().map(|id| {
        let store = Arc::clone(&store);
        move |until| async move {
            let mut head = Revision::GENESIS;
            while Instant::now() < until {
                let entry = NewEntry {
                    command_id: CommandId::random(),
                    at: Timestamp::now(),
                    body: Bytes::from_static(BODY),
                    keyed: false,
                };
                let append = Append {
                    expected: head,
                    entries: vec![entry],
                    name: None,
                };
                head = store.append(&id, append).await.unwrap().revision;
            }
            head.0
        }
    }))
    .await
}

async fn messages(url: &str, replicas: usize) -> f64 {
    let (servers, prefix) = url.rsplit_once('/').unwrap();
    let servers: Vec<async_nats::ServerAddr> = servers
        .trim_start_matches("nats://")
        .split(',')
        .map(|server| server.parse().unwrap())
        .collect();
    let streams = jetstream::new(async_nats::connect(servers).await.unwrap());
    let config = jetstream::stream::Config {
        name: format!("{prefix}_plain"),
        subjects: vec![format!("plain.{prefix}.*")],
        num_replicas: replicas,
        ..jetstream::stream::Config::default()
    };
    streams.create_stream(config).await.unwrap();
    let rate = rate((0..PRODUCERS).map(|n| {
        let (streams, subject) = (streams.clone(), format!("plain.{prefix}.{n}"));
        move |until| async move {
            let mut done = 0;
            while Instant::now() < until {
                let sent = streams.publish(subject.clone(), Bytes::from_static(BODY));
                sent.await.unwrap().await.unwrap();
                done += 1;
            }
            done
        }
    }));
    rate.await
}

/// Commands per second of all producers together. Each gets the time to stop and gives its count.
async fn rate<P, F>(producers: impl Iterator<Item = P>) -> f64
where
    P: FnOnce(Instant) -> F,
    F: Future<Output = u64> + Send + 'static,
{
    let start = Instant::now();
    let tasks: Vec<_> = producers
        .map(|producer| tokio::spawn(producer(start + ROUND)))
        .collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.unwrap();
    }
    total as f64 / start.elapsed().as_secs_f64()
}

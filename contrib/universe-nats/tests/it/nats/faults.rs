//! What becomes of entries when servers of NATS die, and when connections to them are cut.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::{HeaderMap, jetstream};
use bytes::Bytes;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use universe_nats::{NatsError, NatsOptions, NatsStore};
use universe_store::{AppendError, ReadError, Revision, UniverseLog};
use uuid::Uuid;

use super::{open, pair};
use crate::fleet::{Fleet, Settings};
use crate::load::{Load, WHILE};
use crate::{HANG, after, aside, engines, entry, id, meta, next_entry};

fn durable() -> Settings {
    Settings { is_durable: true, ..Settings::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_death_of_the_server() {
    const KILLS: u64 = 6;
    let Some(mut fleet) = aside(|| Fleet::start(1, &durable())).await else {
        return;
    };
    let load = Load::start(pair(&fleet.url()).await).await;
    for _ in 0..KILLS {
        tokio::time::sleep(WHILE).await;
        fleet = aside(move || {
            fleet.kill(0);
            fleet.restart(0);
            fleet
        })
        .await;
    }
    tokio::time::sleep(WHILE).await;
    load.judge().await;
}

/// The one that leads is among them, whichever it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_the_death_of_each_server_of_a_cluster() {
    let Some(mut fleet) = aside(|| Fleet::start(3, &durable())).await else {
        return;
    };
    let url = fleet.url();
    let nodes = pair(&url).await;
    let load = Load::start(nodes).await;
    for n in 0..fleet.count() {
        tokio::time::sleep(WHILE).await;
        fleet = aside(move || {
            fleet.kill(n);
            fleet
        })
        .await;
        // Until the others have gone on without it.
        let node = open(&format!("{url}?replicas=3")).await;
        write_one(&node, &format!("without {n}")).await;
        fleet = aside(move || {
            fleet.restart(n);
            fleet
        })
        .await;
        write_one(&node, &format!("again with {n}")).await;
    }
    // And all of them at once.
    fleet = aside(move || {
        (0..fleet.count()).for_each(|n| fleet.kill(n));
        (0..fleet.count()).for_each(|n| fleet.restart(n));
        fleet
    })
    .await;
    let node = open(&url).await;
    assert_eq!(node.copies(), Some(3));
    write_one(&node, "after all").await;
    tokio::time::sleep(WHILE).await;
    load.judge().await;
    drop(fleet);
}

/// Makes a universe, however long that takes.
async fn write_one(node: &dyn UniverseLog, name: &str) {
    let made = async {
        while node.create(meta(&id(name), 1), Bytes::new()).await.is_err() {
            if node.record(&id(name)).await.is_ok() {
                break;
            }
        }
    };
    tokio::time::timeout(HANG, made).await.unwrap();
}

/// Between a node and its server.
struct Proxy {
    port: u16,
    /// A number for each time that all connections are cut.
    cuts: watch::Sender<u64>,
    is_open: Arc<AtomicBool>,
}

impl Proxy {
    async fn start(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (cuts, cut) = watch::channel(0);
        let is_open = Arc::new(AtomicBool::new(true));
        let open = Arc::clone(&is_open);
        tokio::spawn(async move {
            loop {
                let (mut one, _) = listener.accept().await.unwrap();
                let (server, mut cut) = (server.clone(), cut.clone());
                cut.mark_unchanged();
                if !open.load(Ordering::Relaxed) {
                    continue;
                }
                tokio::spawn(async move {
                    let Ok(mut other) = TcpStream::connect(server).await else {
                        return;
                    };
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut one, &mut other) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self { port, cuts, is_open }
    }

    fn cut(&self) {
        self.cuts.send_modify(|times| *times += 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_cut_of_the_connections() {
    const CUTS: u64 = 20;
    let Some(fleet) = aside(|| Fleet::start(1, &Settings::default())).await else {
        return;
    };
    let proxy = Proxy::start(fleet.host(0)).await;
    let url = format!("nats://127.0.0.1:{}/cut", proxy.port);
    let load = Load::start(pair(&url).await).await;
    for _ in 0..CUTS {
        tokio::time::sleep(WHILE / 2).await;
        proxy.cut();
    }
    tokio::time::sleep(WHILE).await;
    load.judge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_are_away_are_said_to_be_and_readers_go_on_after_that() {
    let Some(fleet) = aside(|| Fleet::start(1, &Settings::default())).await else {
        return;
    };
    let proxy = Proxy::start(fleet.host(0)).await;
    let (url, sol) = (format!("nats://127.0.0.1:{}/away", proxy.port), id("sol"));
    let mut options = NatsOptions::default();
    options.connect_timeout = WHILE;
    let node = NatsStore::open(&url, &options).await.unwrap();
    node.create(meta(&sol, 1), Bytes::new()).await.unwrap();
    let mut tail = node.tail(&sol, Revision(0));
    node.append(&sol, after(0, vec![entry("x")])).await.unwrap();
    next_entry(&mut tail).await;
    proxy.is_open.store(false, Ordering::Relaxed);
    proxy.cut();
    // It may notice only after the first of them is on its way.
    let refused = node.append(&sol, after(1, vec![entry("x")])).await;
    assert!(matches!(refused, Err(AppendError::Unknown | AppendError::Unavailable)), "{refused:?}");
    let refused = node.append(&sol, after(1, vec![entry("x")])).await;
    assert_eq!(refused, Err(AppendError::Unavailable));
    assert_eq!(node.record(&sol).await, Err(ReadError::Unavailable));
    assert_eq!(node.count().await, Err(ReadError::Unavailable));
    let unreachable = NatsStore::open(&url, &options).await.expect_err("it opens");
    assert!(matches!(unreachable, NatsError::Unreachable(_)), "{unreachable}");
    proxy.is_open.store(true, Ordering::Relaxed);
    // What was on its way when the connection was cut may have landed.
    let second = open(&format!("nats://{}/away", fleet.host(0))).await;
    let head = second.record(&sol).await.unwrap().head.revision.0;
    second.append(&sol, after(head, vec![entry("y")])).await.unwrap();
    for revision in 2..=head + 1 {
        assert_eq!(next_entry(&mut tail).await.revision, Revision(revision));
    }
    assert_eq!(node.count().await, Ok(1));
}

/// One that was about to make its lease longer when the servers went away loses it sooner than one that had just done
/// so, and is not taken for dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_takes_none_for_dead_whose_lease_ends_while_the_servers_are_away() {
    const LEASE: Duration = Duration::from_secs(3);
    let Some(mut fleet) = aside(|| Fleet::start(1, &Settings::default())).await else {
        return;
    };
    let url = fleet.url();
    let node = engines::with_lease(&url, LEASE).await.nodes();
    let unknown = Uuid::new_v4();
    loop {
        until(|| async { node.alive(&[unknown]).await.unwrap().is_empty() }).await;
        // As if it had made its lease longer just before that interval began.
        let begun = Instant::now();
        let (other, left) = (Uuid::new_v4(), LEASE * 4 / 5);
        let label = json!({ "by": other, "node": other, "until": left.as_millis() as u64 });
        let mut headers = HeaderMap::new();
        headers.insert("Universe", label.to_string());
        let subject = format!("{}.record.node.{}", url.rsplit('/').next().unwrap(), other.simple());
        let client = async_nats::connect(fleet.host(0)).await.unwrap();
        let streams = jetstream::new(client);
        let sent = streams.publish_with_headers(subject, headers, Bytes::new());
        sent.await.unwrap().await.unwrap();
        until(|| async { node.alive(&[other, unknown]).await.unwrap() == [other] }).await;
        fleet = aside(move || {
            fleet.kill(0);
            fleet
        })
        .await;
        // Otherwise the lease of the other was not made longer for more than an interval when the servers went.
        let was_quick = begun.elapsed() < LEASE * 2 / 5;
        until(|| async {
            let alive = node.alive(&[other, unknown]).await.unwrap();
            assert!(!was_quick || alive.contains(&other), "it is taken for dead");
            alive.contains(&unknown)
        })
        .await;
        if was_quick {
            break;
        }
        fleet = aside(move || {
            fleet.restart(0);
            fleet
        })
        .await;
    }
}

/// Asks until it is so.
async fn until<F: Future<Output = bool>>(asked: impl Fn() -> F) {
    let begun = Instant::now();
    while !asked().await {
        assert!(begun.elapsed() < HANG, "it does not come to it");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

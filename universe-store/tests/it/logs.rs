//! What nodes share of sessions at work: inboxes and streams in a store.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use universe_store::clients::logs::{Event, Fate, LogBounds, LogError, Logs, Tailed, Write};
use universe_store::clients::records::Records;
use universe_store::clients::sessions::{SessionBounds, Sessions};

use crate::HANG;
use crate::engines::{self, Kind, Servers, age, dump, records_urls, until_there_are};

/// A node, as far as sessions go. What it had of the store ends with it.
struct Node {
    sessions: Sessions,
    logs: Logs,
    records: Arc<dyn Records>,
}

impl Node {
    async fn new(url: &str) -> Self {
        Self::with(url, LogBounds::default(), Duration::from_secs(600)).await
    }

    async fn with(url: &str, bounds: LogBounds, lease: Duration) -> Self {
        let records = engines::records_with_lease(url, lease).await;
        Self {
            sessions: Sessions::new(Arc::clone(&records), SessionBounds::default()),
            logs: Logs::new(Arc::clone(&records), bounds),
            records,
        }
    }

    async fn begin(&self, session: &str, owner: Option<&str>) {
        self.sessions.insert(session, owner, b"").await.unwrap();
    }

    async fn write(&self, fate: Fate, first: u64, events: &[(u64, &[u8])]) {
        let write = Write {
            session: "s",
            stream: "c1",
            fate,
            about: b"[1]",
            first,
            events: events.to_vec(),
        };
        self.logs.write(&[write]).await.unwrap();
    }

    async fn tail(&self, after: u64) -> BoxStream<'static, Tailed> {
        self.logs.tail("s", "c1", after).await.unwrap().unwrap()
    }
}

async fn next<T>(stream: &mut BoxStream<'static, T>) -> Option<T> {
    let next = tokio::time::timeout(HANG, stream.next()).await;
    next.expect("nothing comes")
}

fn events(numbers: impl IntoIterator<Item = u64>) -> Option<Tailed> {
    let event = |number: u64| Event { number, text: Bytes::from(number.to_string()) };
    Some(Tailed::Events(numbers.into_iter().map(event).collect()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_reach_every_other_node_that_reads_and_end_with_the_session() {
    for url in records_urls() {
        let (a, b, c) = (Node::new(&url).await, Node::new(&url).await, Node::new(&url).await);
        a.begin("s", Some("ann")).await;
        a.begin("other", Some("ann")).await;
        let (mut at_a, mut at_c) = (a.logs.inbox("s"), c.logs.inbox("s"));
        let mut elsewhere = c.logs.inbox("other");
        for n in 0..20 {
            b.logs.send("s", format!("{n}").as_bytes()).await.unwrap();
        }
        for inbox in [&mut at_a, &mut at_c] {
            for n in 0..20 {
                assert_eq!(next(inbox).await, Some(Bytes::from(format!("{n}"))));
            }
        }
        b.logs.send("other", b"there").await.unwrap();
        assert_eq!(next(&mut elsewhere).await, Some(Bytes::from_static(b"there")));
        // One for a session that there is not is dropped.
        b.logs.send("none", b"x").await.unwrap();
        b.sessions.remove("s").await.unwrap();
        assert_eq!(next(&mut at_a).await, None);
        assert_eq!(next(&mut at_c).await, None);
        assert_eq!(dump(&url, Kind::Letters).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_are_bounded_for_a_session_and_for_an_owner() {
    for url in records_urls() {
        let mut bounds = LogBounds::default();
        bounds.of_session.letters = 3;
        bounds.of_session.bytes = 10;
        bounds.of_owner.letters = 5;
        bounds.of_owner.bytes = 12;
        let node = Node::with(&url, bounds, Duration::from_secs(600)).await;
        for (session, owner) in [("1", "ann"), ("2", "ann"), ("3", "ann"), ("4", "bob")] {
            node.begin(session, Some(owner)).await;
        }
        let send = async |session, bytes: usize| node.logs.send(session, &vec![b'x'; bytes]).await;
        assert_eq!(send("1", 11).await, Err(LogError::Full));
        for _ in 0..3 {
            send("1", 1).await.unwrap();
        }
        assert_eq!(send("1", 1).await, Err(LogError::Full));
        assert_eq!(send("2", 10).await, Err(LogError::Full));
        send("2", 1).await.unwrap();
        send("3", 1).await.unwrap();
        assert_eq!(send("3", 1).await, Err(LogError::Full));
        // Another owner has a share of its own.
        send("4", 10).await.unwrap();
        // What is old makes room: at the latest when another node looks.
        age(&url, Kind::Letters, 600, None).await;
        let _looks = Node::with(&url, bounds, Duration::from_secs(600)).await;
        let begun = std::time::Instant::now();
        while send("3", 1).await.is_err() {
            assert!(begun.elapsed() < HANG, "it is not taken away");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_is_read_on_at_another_node_each_event_once() {
    for url in records_urls() {
        let (a, b) = (Node::new(&url).await, Node::new(&url).await);
        a.begin("s", None).await;
        assert!(b.logs.tail("s", "c1", 0).await.unwrap().is_none());
        a.write(Fate::Open, 1, &[(1, b"1"), (2, b"2")]).await;
        assert!(b.logs.tail("other", "c1", 0).await.unwrap().is_none());
        let (mut all, mut rest) = (b.tail(0).await, b.tail(2).await);
        assert_eq!(next(&mut all).await, events([1, 2]));
        let mut seen = 2;
        // Written again, as by a node that did not know that it was, and gone on with.
        for number in 3..=30 {
            let texts = [number - 1, number].map(|number: u64| (number, number.to_string()));
            let texts = texts.each_ref().map(|(number, text)| (*number, text.as_bytes()));
            a.write(Fate::Open, 1, &texts).await;
            if number % 7 == 0 {
                while seen < number {
                    let Some(Tailed::Events(found)) = next(&mut all).await else {
                        panic!("it ends at {seen}");
                    };
                    for event in found {
                        seen += 1;
                        assert_eq!((event.number, event.text), (seen, seen.to_string().into()));
                    }
                }
            }
        }
        a.write(Fate::Ended, 29, &[(31, b"31")]).await;
        while let Some(tailed) = next(&mut all).await {
            let Tailed::Events(found) = tailed else {
                panic!("{tailed:?}");
            };
            seen += found.len() as u64;
        }
        assert_eq!(seen, 31);
        while next(&mut rest).await.is_some() {}
        // What went is not read any more, and the end is the end.
        assert_eq!(next(&mut b.tail(0).await).await, events([29, 30, 31]));
        assert_eq!(next(&mut b.tail(31).await).await, None);
        a.write(Fate::Forgotten, 1, &[]).await;
        assert!(b.logs.tail("s", "c1", 0).await.unwrap().is_none());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_events_come_a_few_at_a_time_and_end_with_the_session() {
    for url in records_urls() {
        let (a, b) = (Node::new(&url).await, Node::new(&url).await);
        a.begin("s", None).await;
        let (large, small) = (vec![b'x'; 4 << 20], vec![b'y'; 100 << 10]);
        let texts: Vec<(u64, &[u8])> =
            (1..=9).map(|n| (n, if n == 1 { &large[..] } else { &small[..] })).collect();
        a.write(Fate::Open, 1, &texts).await;
        let mut tail = b.tail(0).await;
        for wanted in [1, 3, 3, 2] {
            let Some(Tailed::Events(found)) = next(&mut tail).await else {
                panic!("it ends");
            };
            assert_eq!(found.len(), wanted);
        }
        b.sessions.remove("s").await.unwrap();
        // It is asked for at the latest when it was quiet for a while, and when the writer says something.
        a.write(Fate::Open, 1, &[(10, b"late")]).await;
        assert!(a.logs.tail("s", "c1", 0).await.unwrap().is_none());
        assert_eq!(dump(&url, Kind::Events).await.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_whose_node_has_ended_is_abandoned_and_goes_with_time() {
    for url in records_urls() {
        let lease = Duration::from_millis(500);
        let a = Node::with(&url, LogBounds::default(), lease).await;
        let b = Node::with(&url, LogBounds::default(), lease).await;
        a.begin("s", None).await;
        a.write(Fate::Open, 1, &[(1, b"1")]).await;
        let mut tail = b.tail(0).await;
        assert_eq!(next(&mut tail).await, events([1]));
        a.write(Fate::Open, 1, &[(2, b"2")]).await;
        // It is cut off from the others, and does not know.
        a.records.end().await.unwrap();
        assert_eq!(next(&mut tail).await, events([2]));
        let about = Bytes::from_static(b"[1]");
        assert_eq!(next(&mut tail).await, Some(Tailed::Abandoned(about)));
        assert_eq!(next(&mut tail).await, None);
        // The node that finds it ends it, and that counts.
        b.write(Fate::Ended, 1, &[(3, b"3")]).await;
        a.write(Fate::Open, 3, &[(3, b"late"), (4, b"4")]).await;
        let mut rest = b.tail(1).await;
        assert_eq!(next(&mut rest).await, events([2, 3]));
        assert_eq!(next(&mut rest).await, None);
        age(&url, Kind::Streams, 600, None).await;
        // Each node looks when it begins.
        let _looks = Node::new(&url).await;
        until_there_are(&url, Kind::Streams, 0).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_was_away_is_read_again() {
    for (servers, url) in Servers::start().await {
        let (a, b) = (Node::new(&url).await, Node::new(&url).await);
        a.begin("s", None).await;
        let mut inbox = a.logs.inbox("s");
        a.write(Fate::Open, 1, &[(1, b"1")]).await;
        let mut tail = b.tail(0).await;
        assert_eq!(next(&mut tail).await, events([1]));
        let servers = servers.kill().await;
        assert_eq!(b.logs.send("s", b"lost").await, Err(LogError::Unavailable));
        assert!(b.logs.tail("s", "c1", 0).await.is_err());
        let _servers = servers.restart().await;
        while b.logs.send("s", b"letter").await.is_err() {}
        assert_eq!(next(&mut inbox).await, Some(Bytes::from_static(b"letter")));
        a.write(Fate::Ended, 1, &[(2, b"2")]).await;
        assert_eq!(next(&mut tail).await, events([2]));
        assert_eq!(next(&mut tail).await, None);
    }
}

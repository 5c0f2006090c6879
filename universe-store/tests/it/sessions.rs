//! Sessions of clients in a store, on several nodes.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use universe_store::clients::sessions::{SessionBounds, SessionError, Sessions};

use crate::HANG;
use crate::engines::{self, Kind, Servers, age, records_urls};

async fn nodes(url: &str, bounds: SessionBounds) -> [Sessions; 2] {
    let nodes = [engines::records(url).await, engines::records(url).await];
    nodes.map(|records| Sessions::new(records, bounds))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_node_does_to_a_session_the_other_sees() {
    for url in records_urls() {
        let [a, b] = nodes(&url, SessionBounds::default()).await;
        a.insert("name", Some("ann"), b"0").await.unwrap();
        assert_eq!(b.load("name").await, Ok(Some(b"0".to_vec())));
        assert_eq!(b.load("another").await, Ok(None));
        // Of many changes at once none is lost.
        let add = |body: &[u8]| {
            let number: u32 = std::str::from_utf8(body).unwrap().parse().unwrap();
            Some((number + 1).to_string().into_bytes())
        };
        let changes = (0..8).map(|n| [&a, &b][n % 2].change("name", &add));
        for changed in join_all(changes).await {
            assert!(matches!(changed, Ok(Some(_))), "{changed:?}");
        }
        assert_eq!(a.load("name").await, Ok(Some(b"8".to_vec())));
        // Each sees what the other does, and not what it does itself.
        let (mut at_a, mut at_b) = (a.hints("name"), b.hints("name"));
        b.insert("other", None, b"0").await.unwrap();
        b.change("other", &add).await.unwrap();
        b.change("name", &add).await.unwrap();
        tokio::time::timeout(HANG, at_a.next()).await.unwrap().unwrap();
        assert_eq!(a.remove("name").await, Ok(true));
        tokio::time::timeout(HANG, at_b.next()).await.unwrap().unwrap();
        assert_eq!(b.load("name").await, Ok(None));
        assert_eq!(b.change("name", &add).await, Ok(None));
        assert_eq!(b.remove("name").await, Ok(false));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_uses_ends_and_use_at_any_node_counts() {
    for url in records_urls() {
        let mut bounds = SessionBounds::default();
        bounds.max_idle = Duration::from_secs(1_000);
        let [a, b] = nodes(&url, bounds).await;
        for (name, owner) in [("used", "ann"), ("idle", "bob")] {
            a.insert(name, Some(owner), b"").await.unwrap();
        }
        age(&url, Kind::Sessions, 600, None).await;
        assert!(b.load("used").await.unwrap().is_some());
        age(&url, Kind::Sessions, 600, None).await;
        assert!(a.load("used").await.unwrap().is_some());
        assert_eq!(a.load("idle").await, Ok(None));
        assert_eq!(b.remove("idle").await, Ok(false));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_are_so_many_at_the_most_on_all_nodes_together() {
    for url in records_urls() {
        let mut bounds = SessionBounds::default();
        (bounds.sessions, bounds.sessions_per_owner) = (4, 2);
        let [a, b] = nodes(&url, bounds).await;
        a.insert("1", Some("ann"), b"").await.unwrap();
        b.insert("2", Some("ann"), b"").await.unwrap();
        let share = SessionError::Full { is_share: true, max: 2 };
        assert_eq!(a.insert("3", Some("ann"), b"").await, Err(share));
        // One that is not in use gives its place up.
        age(&url, Kind::Sessions, 600, Some("ann")).await;
        assert!(a.load("1").await.unwrap().is_some());
        b.insert("3", Some("ann"), b"").await.unwrap();
        assert_eq!(a.load("2").await, Ok(None));
        a.insert("4", None, b"").await.unwrap();
        a.insert("5", Some("bob"), b"").await.unwrap();
        // What others have made is counted from time to time, one's own at once.
        let [c, _] = nodes(&url, bounds).await;
        let begun = std::time::Instant::now();
        while c.count() < 4 {
            assert!(begun.elapsed() < HANG, "they are not counted");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let full = SessionError::Full { is_share: false, max: 4 };
        assert_eq!(c.insert("6", Some("cid"), b"").await, Err(full));
        age(&url, Kind::Sessions, 600, Some("ann")).await;
        c.insert("6", Some("cid"), b"").await.unwrap();
        assert!(c.load("5").await.unwrap().is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_away_is_said_to_be_and_sessions_outlive_that() {
    for (servers, url) in Servers::start().await {
        let [a, b] = nodes(&url, SessionBounds::default()).await;
        a.insert("name", None, b"body").await.unwrap();
        let mut hints = b.hints("name");
        let servers = servers.kill().await;
        assert_eq!(a.load("name").await, Err(SessionError::Unavailable));
        let _servers = servers.restart().await;
        // What was notified of meanwhile is not known, so that all are to look.
        tokio::time::timeout(HANG, hints.next()).await.unwrap().unwrap();
        // A store that has been away is refused at once until it is reached again.
        let begun = std::time::Instant::now();
        let mut found = b.load("name").await;
        while found == Err(SessionError::Unavailable) && begun.elapsed() < HANG {
            tokio::time::sleep(Duration::from_millis(20)).await;
            found = b.load("name").await;
        }
        assert_eq!(found, Ok(Some(b"body".to_vec())));
    }
}

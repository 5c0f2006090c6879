//! Tasks of clients in a store, on several nodes.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use universe_store::clients::tasks::{Found, TaskBounds, TaskError, Tasks};

use crate::HANG;
use crate::engines::{self, Kind, age, dump, records_urls, until_there_are};

const HOUR: Duration = Duration::from_secs(3_600);

async fn nodes(url: &str, bounds: TaskBounds) -> [Tasks; 2] {
    let nodes = [engines::records(url).await, engines::records(url).await];
    nodes.map(|records| Tasks::new(records, bounds))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_node_does_to_a_task_the_other_sees() {
    for url in records_urls() {
        let [a, b] = nodes(&url, TaskBounds::default()).await;
        let (ann, bob) = (Some("ann"), Some("bob"));
        let first = a.insert("one", ann, ann, HOUR, b"0").await.unwrap();
        let second = b.insert("two", ann, ann, HOUR, b"0").await.unwrap();
        let third = a.insert("three", None, None, HOUR, b"0").await.unwrap();
        assert!(first < second && second < third);
        let found = b.load("one", ann).await.unwrap().unwrap();
        assert_eq!((&*found.body, found.version), (&b"0"[..], 0));
        assert_eq!(found.number, first);
        assert!(!found.is_orphaned);
        assert!(found.ttl > HOUR - HANG && found.ttl <= HOUR, "{found:?}");
        // It is its owner's alone.
        for (name, owner) in [("one", bob), ("one", None), ("three", ann), ("four", ann)] {
            assert_eq!(b.load(name, owner).await, Ok(None), "{name} {owner:?}");
        }
        let nameless = b.load("three", None).await.unwrap().unwrap();
        assert_eq!(nameless.name, None);
        let listed = a.list("ann", 0, 10).await.unwrap();
        let names: Vec<_> = listed.iter().map(|task| task.name.as_deref()).collect();
        assert_eq!(names, [Some("one"), Some("two")]);
        let [page, rest] = [a.list("ann", 0, 1).await, b.list("ann", first, 10).await];
        let numbers = |listed: Result<Vec<Found>, _>| {
            listed.unwrap()[..].iter().map(|task| task.number).collect::<Vec<_>>()
        };
        assert_eq!((numbers(page), numbers(rest)), (vec![first], vec![second]));
        assert_eq!(b.list("bob", 0, 10).await, Ok(Vec::new()));

        // Of two changes at once one is made.
        let mut hints = a.hints("one");
        let changes = [&a, &b].map(|node| node.replace("one", 0, b"1", None));
        let changed: Vec<_> = join_all(changes).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(changed.iter().filter(|done| **done).count(), 1, "{changed:?}");
        assert_eq!(a.load("one", ann).await.unwrap().unwrap().version, 1);
        // Each is notified of what the other does.
        assert!(b.replace("one", 1, b"2", Some(b"result")).await.unwrap());
        tokio::time::timeout(HANG, hints.next()).await.unwrap().unwrap();
        assert_eq!(a.result("one").await, Ok(Some(b"result".to_vec())));
        assert_eq!(a.result("two").await, Ok(None));
        b.remove("one").await.unwrap();
        assert_eq!(a.load("one", ann).await, Ok(None));
        assert_eq!(a.replace("one", 2, b"3", None).await, Ok(false));
        // No name of a task without an owner, and no owner's name, is in the database.
        let dump = dump(&url, Kind::Tasks).await.concat();
        assert!(dump.contains("two"), "{dump}");
        assert!(!dump.contains("three") && !dump.contains("ann"), "{dump}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_has_its_share_over_all_nodes_until_their_time_is_over() {
    for url in records_urls() {
        let mut bounds = TaskBounds::default();
        (bounds.tasks_per_client, bounds.bytes_per_client, bounds.record_bytes) = (2, 8, 10);
        let [a, b] = nodes(&url, bounds).await;
        let (ann, bob) = (Some("ann"), Some("bob"));
        a.insert("1", ann, ann, HOUR, b"").await.unwrap();
        b.insert("2", ann, ann, HOUR, b"").await.unwrap();
        let full = Err(TaskError::Full { tasks: 2, bytes: 8 });
        assert_eq!(a.insert("3", ann, ann, HOUR, b"").await, full);
        a.insert("3", bob, bob, HOUR, &[0; 8]).await.unwrap();
        assert_eq!(b.insert("4", bob, bob, HOUR, b"").await, full);
        let too_large = TaskError::TooLarge { max: 10 };
        assert_eq!(b.replace("3", 0, &[0; 6], Some(&[0; 5])).await, Err(too_large));
        // What is over counts no more, before it is swept out and after that.
        age(&url, Kind::Tasks, 7_200, None).await;
        assert_eq!(a.load("1", ann).await, Ok(None));
        assert_eq!(a.list("ann", 0, 10).await, Ok(Vec::new()));
        assert_eq!(a.replace("1", 0, b"", None).await, Ok(false));
        b.insert("4", bob, bob, HOUR, b"").await.unwrap();
        let _sweeps = engines::records(&url).await;
        until_there_are(&url, Kind::Tasks, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_whose_node_has_ended_is_known_to_be_an_orphan() {
    for url in records_urls() {
        let lease = Duration::from_millis(300);
        let ending = engines::records_with_lease(&url, lease).await;
        let lasting = engines::records_with_lease(&url, lease).await;
        let [a, b] = [ending, lasting].map(|node| Tasks::new(node, TaskBounds::default()));
        a.insert("one", None, None, HOUR, b"").await.unwrap();
        b.insert("two", None, None, HOUR, b"").await.unwrap();
        assert!(!b.load("one", None).await.unwrap().unwrap().is_orphaned);
        drop(a);
        let begun = Instant::now();
        while !b.load("one", None).await.unwrap().unwrap().is_orphaned {
            assert!(begun.elapsed() < HANG, "it is not");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!b.load("two", None).await.unwrap().unwrap().is_orphaned);
    }
}

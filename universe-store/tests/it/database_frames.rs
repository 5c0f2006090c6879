//! One stored value changed in a database behind the stores' back: found, never served wrongly, put right where the
//! rest proves it.

use bytes::Bytes;
use universe_store::{
    Base, PostgresStore, ReadError, Revision, Snapshot, TailError, Timestamp, UniverseLog,
};

use crate::cluster::shared;
use crate::database::{connect, open};
use crate::{after, entry, id, meta, next, next_entry};

/// A universe of 40 entries, one that was trimmed to revision 10, and one of none.
async fn fill(store: &PostgresStore) {
    for name in ["sol", "vega"] {
        store.create(meta(&id(name), 1), Bytes::from_static(b"genesis")).await.unwrap();
        let entries = (1..=40).map(|n: u64| entry(n.to_string())).collect();
        store.append(&id(name), after(0, entries)).await.unwrap();
    }
    store.create(meta(&id("new"), 2), Bytes::from_static(b"new")).await.unwrap();
    let last = next_entry(&mut store.tail(&id("vega"), Revision(9))).await.command_id;
    let (revision, at) = (Revision(10), Timestamp::from_millis(7));
    let base = Base { revision, at, body: Bytes::from_static(b"base") };
    store.trim(&id("vega"), last, base).await.unwrap();
    let body = Bytes::from_static(b"snapshot");
    store.put_snapshot(&id("vega"), Snapshot { revision: Revision(30), body }).await.unwrap();
}

/// Whether `sol` is served wholly, as it was written.
async fn is_served(store: &PostgresStore) -> bool {
    let loaded = async {
        store.snapshot(&id("sol")).await?;
        store.base(&id("sol")).await
    };
    match loaded.await {
        Ok(base) => assert_eq!((base.revision, &base.body[..]), (Revision(0), &b"genesis"[..])),
        Err(ReadError::Damaged | ReadError::NotFound) => return false,
        Err(error) => panic!("{error}"),
    }
    let record = store.record(&id("sol")).await.unwrap();
    assert_eq!(record.oldest, Revision(0));
    let mut tail = store.tail(&id("sol"), Revision(0));
    for revision in 1..=record.head.revision.0 {
        match next(&mut tail).await.expect("it goes on") {
            Ok(entry) => assert_eq!(entry.body, revision.to_string()),
            Err(TailError::Damaged { .. }) => return false,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(record.head.revision, Revision(40));
    true
}

#[tokio::test]
async fn each_changed_value_is_found_never_served_wrongly_and_put_right() {
    let Some(cluster) = shared() else {
        return;
    };
    let sol = "uni = (SELECT uni FROM universe WHERE id = 'sol')";
    // What is changed, whether a look at the frames finds it, and whether the rest proves what it was.
    let changes = [
        ("UPDATE universe SET rev = 32 WHERE id = 'sol'".to_owned(), true, true),
        ("UPDATE universe SET rev = 48 WHERE id = 'sol'".to_owned(), true, false),
        ("UPDATE universe SET oldest = 8 WHERE id = 'sol'".to_owned(), true, true),
        ("UPDATE universe SET command = gen_random_uuid() WHERE id = 'sol'".to_owned(), true, true),
        ("UPDATE universe SET updated_at = 1 WHERE id = 'sol'".to_owned(), true, true),
        ("UPDATE universe SET id = 'lost' WHERE id = 'sol'".to_owned(), false, false),
        (format!("UPDATE base SET rev = 8 WHERE {sol}"), true, true),
        (format!("UPDATE base SET body = 'x' WHERE {sol}"), false, false),
        (format!("DELETE FROM base WHERE {sol}"), true, false),
        (format!("UPDATE log SET rev = 99 WHERE rev = 20 AND {sol}"), true, false),
        (format!("UPDATE log SET at = 1 WHERE rev = 20 AND {sol}"), false, false),
        (format!("UPDATE log SET body = 'x' WHERE rev = 20 AND {sol}"), false, false),
        (format!("UPDATE log SET uni = 99 WHERE rev = 20 AND {sol}"), true, false),
        (format!("DELETE FROM log WHERE rev = 40 AND {sol}"), true, false),
    ];
    for (change, is_seen, can_repair) in changes {
        let url = cluster.database();
        let store = open(&url).await;
        fill(&store).await;
        assert_eq!(store.findings().await.unwrap(), Some(Vec::new()));
        assert!(is_served(&store).await);
        let client = connect(&url).await;
        assert_eq!(client.execute(&change, &[]).await.unwrap(), 1, "{change}");
        let found = store.findings().await.unwrap().unwrap();
        assert_eq!(!found.is_empty(), is_seen, "{change}: {found:?}");
        assert!(!is_served(&store).await, "{change}");
        store.base(&id("vega")).await.expect("the others are served");
        let done = store.repair().await.unwrap();
        assert_eq!(!done.is_empty() && is_served(&store).await, can_repair, "{change}: {done:?}");
        if can_repair {
            assert_eq!(store.findings().await.unwrap(), Some(Vec::new()), "{change}");
        }
    }
}

/// The tables as they were in format 6: opened, and what is in them has no sums and is right.
#[tokio::test]
async fn format_6_is_brought_to_the_present_one() {
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let store = open(&url).await;
    fill(&store).await;
    drop(store);
    let client = connect(&url).await;
    let older = "ALTER TABLE log DROP sum; ALTER TABLE base DROP sum; ALTER TABLE snap DROP sum; \
                 UPDATE universe_format SET format = 6";
    client.batch_execute(older).await.unwrap();
    let store = open(&url).await;
    assert!(is_served(&store).await);
    assert_eq!(store.findings().await.unwrap(), Some(Vec::new()));
    // A server of the version before may run on for a while: it writes no sums, and over those that there are.
    store.append(&id("vega"), after(40, vec![entry("41")])).await.unwrap();
    let last = next_entry(&mut store.tail(&id("vega"), Revision(19))).await.command_id;
    let (revision, at) = (Revision(20), Timestamp::from_millis(7));
    let base = Base { revision, at, body: Bytes::from_static(b"newer") };
    store.trim(&id("vega"), last, base).await.unwrap();
    let trim = "WITH moved AS (UPDATE universe SET oldest = 25 WHERE id = 'vega' RETURNING uni) \
                UPDATE base SET rev = 25, body = 'newest' FROM moved WHERE base.uni = moved.uni";
    client.batch_execute(trim).await.unwrap();
    assert_eq!(store.base(&id("vega")).await.unwrap().body, "newest");
    assert_eq!(store.findings().await.unwrap(), Some(Vec::new()));
}

//! One stored value changed behind the store's back, each in turn: it is found, what does not fit is not served, others
//! are, and what the rest proves is put right.
//!
//! From reports of streams that are physically there and not seen: proteanhq/protean#1359, nats-io/nats-server#4195,
//! nats-io/nats-server#5876.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use rusqlite::Connection;
use tempfile::TempDir;
use universe_store::sqlite::{Inspector, Options, care};
use universe_store::{
    Append, Base, CreateError, Finding, Page, ReadError, Revision, Snapshot, SqliteStore,
    TailError, Timestamp, UniverseLog,
};

use super::{after, entry, id, meta, next, next_entry};

const ENTRIES: u64 = 300;

/// Two universes of 300 entries, of which one was trimmed to revision 20, and one of none.
async fn filled() -> TempDir {
    let dir = TempDir::new().unwrap();
    let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
    for (n, name) in ["sol", "vega", "new"].into_iter().enumerate() {
        store
            .create(meta(&id(name), n as i64), Bytes::from(format!("genesis of {name}")))
            .await
            .unwrap();
    }
    // In turn, so that their entries lie between each other.
    for n in 0..ENTRIES / 10 {
        for name in ["sol", "vega"] {
            let entries = (1..=10).map(|m| entry(format!("{name} {}", n * 10 + m))).collect();
            let append = Append {
                name: (n == 3).then(|| format!("{name} again")),
                ..after(n * 10, entries)
            };
            store.append(&id(name), append).await.unwrap();
        }
    }
    let mut tail = store.tail(&id("vega"), Revision(19));
    let last = next_entry(&mut tail).await.command_id;
    let (revision, at) = (Revision(20), Timestamp::from_millis(7));
    let base = Base { revision, at, body: Bytes::from_static(b"base of vega") };
    store.trim(&id("vega"), last, base).await.unwrap();
    let snapshot = Snapshot { revision: Revision(250), body: Bytes::from_static(b"snapshot") };
    store.put_snapshot(&id("vega"), snapshot).await.unwrap();
    dir
}

fn copy(dir: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    fs::copy(dir.join("universes.db"), copy.path().join("universes.db")).unwrap();
    copy
}

fn tamper(dir: &Path, sql: &str) {
    let database = Connection::open(dir.join("universes.db")).unwrap();
    assert_eq!(database.execute(sql, []).unwrap(), 1, "{sql}");
}

fn findings(dir: &Path) -> Vec<Finding> {
    Inspector::open(dir).unwrap().view().unwrap().findings().unwrap()
}

/// Whether a universe is served wholly, as it was written. What is served otherwise is an error.
async fn is_served(store: &SqliteStore, name: &str) -> bool {
    let record = match store.record(&id(name)).await {
        Ok(record) => record,
        Err(ReadError::Damaged) => return false,
        Err(error) => panic!("{name}: {error}"),
    };
    let (oldest, begin) = if name == "vega" { (20, "base of vega") } else { (0, "genesis of sol") };
    assert_eq!(record.meta.name, format!("{name} again"));
    assert_eq!(
        (record.oldest, record.head.revision),
        (Revision(oldest), Revision(ENTRIES)),
        "{name}"
    );
    match store.base(&id(name)).await {
        Ok(base) => assert_eq!((base.revision, &base.body[..]), (record.oldest, begin.as_bytes())),
        Err(ReadError::Damaged) => return false,
        // Only what is wholly gone.
        Err(error) => assert_eq!(error, ReadError::NotFound),
    }
    let mut tail = store.tail(&id(name), record.oldest);
    for revision in oldest + 1..=ENTRIES {
        match next(&mut tail).await.expect("it goes on") {
            Ok(entry) => {
                assert_eq!(entry.revision, Revision(revision));
                assert_eq!(entry.body, format!("{name} {revision}"));
            }
            Err(TailError::Damaged { .. } | TailError::Unavailable) => return false,
            Err(error) => panic!("{name}: {error}"),
        }
    }
    true
}

/// A change, and whether `sol` cannot be served with it, and whether it can be put right.
const CHANGES: &[(&str, bool, bool)] = &[
    ("DELETE FROM universe WHERE id = 'sol'", true, true),
    ("UPDATE universe SET uni = 77 WHERE id = 'sol'", true, true),
    ("UPDATE universe SET id = 'lost' WHERE id = 'sol'", true, true),
    ("UPDATE universe SET id = '' WHERE id = 'sol'", true, true),
    ("UPDATE universe SET name = 'other' WHERE id = 'sol'", true, true),
    ("UPDATE universe SET created_at = 5 WHERE id = 'sol'", true, true),
    ("DELETE FROM identity WHERE uni = 1", false, true),
    ("UPDATE identity SET uni = 77 WHERE uni = 1", false, true),
    ("UPDATE identity SET id = 'lost' WHERE uni = 1", false, true),
    ("UPDATE identity SET sum = 1 WHERE uni = 1", false, true),
    ("DELETE FROM head WHERE uni = 1", true, true),
    ("UPDATE head SET uni = 77 WHERE uni = 1", true, true),
    ("UPDATE head SET rev = 292 WHERE uni = 1", true, true),
    ("UPDATE head SET rev = 299 WHERE uni = 1", true, true),
    ("UPDATE head SET rev = 308 WHERE uni = 1", true, true),
    ("UPDATE head SET seq = seq - 20 WHERE uni = 1", true, true),
    ("UPDATE head SET command = zeroblob(16) WHERE uni = 1", true, true),
    ("UPDATE head SET command = NULL WHERE uni = 1", true, true),
    ("UPDATE head SET at = 8 WHERE uni = 1", true, true),
    ("UPDATE head SET oldest = 8 WHERE uni = 1", true, true),
    ("UPDATE head SET sum = 1 WHERE uni = 1", true, true),
    ("UPDATE genesis SET rev = 8 WHERE uni = 1", true, true),
    ("UPDATE genesis SET uni = 77 WHERE uni = 1", false, true),
    ("UPDATE log SET rev = 1000 WHERE uni = 1 AND rev = 40", true, true),
    ("UPDATE log SET rev = 41 WHERE uni = 1 AND rev = 40", true, true),
    ("UPDATE log SET uni = 2 WHERE uni = 1 AND rev = 40", true, true),
    ("UPDATE log SET uni = 2 WHERE uni = 1 AND rev = 300", true, true),
    ("UPDATE log SET uni = 77 WHERE uni = 1 AND rev = 1", true, true),
    ("UPDATE log SET prev = prev - 1 WHERE uni = 1 AND rev = 40", true, true),
    ("UPDATE log SET seq = 100000 WHERE uni = 1 AND rev = 40", true, true),
    ("UPDATE log SET seq = 100000 WHERE uni = 1 AND rev = 300", true, true),
    ("DELETE FROM mark WHERE uni = 1", false, true),
    ("UPDATE mark SET seq = 7 WHERE uni = 1", false, true),
    ("UPDATE mark SET rev = 257 WHERE uni = 1", false, true),
    ("UPDATE mark SET uni = 77 WHERE uni = 1", false, true),
];

#[tokio::test]
async fn each_changed_value_is_found_never_served_wrongly_and_put_right() {
    let sound = filled().await;
    assert_eq!(findings(sound.path()), []);
    for (change, is_refused, can_repair) in CHANGES {
        let dir = copy(sound.path());
        tamper(dir.path(), change);
        let found = findings(dir.path());
        assert!(!found.is_empty(), "{change}: not found");
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        let is_served = is_served(&store, "sol").await;
        assert_eq!(is_served, !is_refused, "{change}: {found:?}");
        assert!(self::is_served(&store, "vega").await, "{change}: the others are served");
        // Nothing is written over it either.
        if let Err(ReadError::Damaged) = store.record(&id("sol")).await {
            let more = after(ENTRIES, vec![entry("more")]);
            store.append(&id("sol"), more).await.expect_err(change);
            let made = store.create(meta(&id("sol"), 9), Bytes::new()).await;
            assert_eq!(made, Err(CreateError::Exists), "{change}");
        }
        let listed = store.list(Page { after: None, limit: 9 }).await.unwrap();
        assert!(listed.iter().any(|record| record.meta.id == id("vega")), "{change}");
        drop(store);
        let done = care::repair(dir.path()).unwrap();
        assert_eq!(!done.is_empty(), *can_repair, "{change}");
        let found = findings(dir.path());
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        let is_served = self::is_served(&store, "sol").await;
        assert_eq!(
            (is_served, found.is_empty()),
            (*can_repair, *can_repair),
            "{change}: {done:?}: {found:?}"
        );
        store.append(&id("sol"), after(ENTRIES, vec![entry("more")])).await.unwrap();
        assert_eq!(care::repair(copy(sound.path()).path()).unwrap(), [""; 0]);
    }
}

/// The same for a universe whose log begins later, and for one that has none.
#[tokio::test]
async fn a_trimmed_and_a_new_universe_are_guarded_as_well() {
    let sound = filled().await;
    for change in [
        "UPDATE head SET oldest = 0 WHERE uni = 2",
        "UPDATE head SET rev = 250 WHERE uni = 2",
        "UPDATE genesis SET rev = 0 WHERE uni = 2",
        "DELETE FROM universe WHERE uni = 2",
        "UPDATE log SET rev = 22 WHERE uni = 2 AND rev = 21",
        // The last entry of the file, which the other universe does not end with.
        "UPDATE log SET uni = 1 WHERE uni = 2 AND rev = 300",
        "UPDATE head SET rev = 1 WHERE uni = 3",
        "DELETE FROM head WHERE uni = 3",
        "UPDATE genesis SET rev = 1 WHERE uni = 3",
    ] {
        let dir = copy(sound.path());
        tamper(dir.path(), change);
        assert!(!findings(dir.path()).is_empty(), "{change}");
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        let are_served = is_served(&store, "vega").await && store.record(&id("new")).await.is_ok();
        assert!(!are_served, "{change}");
        assert!(is_served(&store, "sol").await, "{change}");
        drop(store);
        let done = care::repair(dir.path()).unwrap();
        assert_eq!(findings(dir.path()), [], "{change}: {done:?}");
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        assert!(is_served(&store, "vega").await, "{change}");
        let new = store.record(&id("new")).await.unwrap();
        assert_eq!((new.head.revision, new.oldest), (Revision(0), Revision(0)));
        store.append(&id("new"), after(0, vec![entry("first")])).await.unwrap();
    }
}

/// What is not proved is not made up.
#[tokio::test]
async fn what_cannot_be_proved_is_left_as_it_is() {
    let sound = filled().await;
    for change in [
        "UPDATE log SET at = 8 WHERE uni = 1 AND rev = 40",
        "UPDATE log SET body = x'00' WHERE uni = 1 AND rev = 40",
        "UPDATE log SET command = zeroblob(16) WHERE uni = 1 AND rev = 40",
        "UPDATE log SET sum = 1 WHERE uni = 1 AND rev = 40",
        "UPDATE genesis SET at = 8 WHERE uni = 1",
        "UPDATE genesis SET body = x'00' WHERE uni = 1",
    ] {
        let dir = copy(sound.path());
        tamper(dir.path(), change);
        assert_eq!(care::repair(dir.path()).unwrap(), [""; 0], "{change}");
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        assert!(!is_served(&store, "sol").await, "{change}");
        assert!(is_served(&store, "vega").await, "{change}");
    }
    // The last entry is damaged: the one before it is not the end of the log.
    let dir = copy(sound.path());
    tamper(dir.path(), "UPDATE log SET body = x'00' WHERE uni = 1 AND rev = 300");
    tamper(dir.path(), "DELETE FROM head WHERE uni = 1");
    assert_eq!(care::repair(dir.path()).unwrap(), [""; 0]);
    let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
    assert_eq!(store.record(&id("sol")).await, Err(ReadError::Damaged));
    drop(store);
    // A snapshot that is not what was written is none.
    for change in [
        "UPDATE snap SET rev = 249 WHERE uni = 2",
        "UPDATE snap SET uni = 1 WHERE uni = 2",
        "UPDATE snap SET body = x'00' WHERE uni = 2",
    ] {
        let dir = copy(sound.path());
        tamper(dir.path(), change);
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        for name in ["sol", "vega"] {
            assert_eq!(store.snapshot(&id(name)).await, Ok(None), "{change}");
            assert!(is_served(&store, name).await, "{change}");
        }
    }
}

/// A head that was written to the disk never, or is from before, though its sum is right.
#[tokio::test]
async fn a_head_that_is_old_is_found_and_brought_to_the_end_of_its_log() {
    let dir = TempDir::new().unwrap();
    let open = || SqliteStore::open(dir.path(), Options::default()).unwrap();
    let store = open();
    store.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    store.append(&id("sol"), after(0, vec![entry("one")])).await.unwrap();
    let database = Connection::open(dir.path().join("universes.db")).unwrap();
    database.execute_batch("CREATE TABLE old AS SELECT * FROM head").unwrap();
    store.append(&id("sol"), after(1, vec![entry("two")])).await.unwrap();
    drop(store);
    database
        .execute_batch("DELETE FROM head; INSERT INTO head SELECT * FROM old; DROP TABLE old;")
        .unwrap();
    drop(database);
    let found = findings(dir.path());
    assert_eq!(found[0].problem, "its head is at revision 1, and its log ends at 2");
    assert_eq!(found.len(), 1, "{found:?}");
    let store = open();
    assert_eq!(store.record(&id("sol")).await, Err(ReadError::Damaged));
    store
        .append(&id("sol"), after(1, vec![entry("over it")]))
        .await
        .expect_err("it is written over");
    drop(store);
    let done = care::repair(dir.path()).unwrap();
    assert_eq!(done, ["universe sol: its head is at revision 2, the end of its log"]);
    assert_eq!(open().record(&id("sol")).await.unwrap().head.revision, Revision(2));
}

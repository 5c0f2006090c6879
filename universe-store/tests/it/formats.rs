//! Older formats of the data directory: opened as they were written, with nothing lost.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;
use universe_store::sqlite::{Inspector, Options, Stretch, care};
use universe_store::{ReadError, Revision, SqliteStore, Timestamp, UniverseLog};

use super::{HANG, after, entry, id, next_entry};

/// Format 1, as it was written until histories could be trimmed.
const FORMAT_1: &str = "
PRAGMA synchronous = FULL; BEGIN IMMEDIATE;
CREATE TABLE universe (
    uni INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX universe_by_age ON universe (created_at, id);
CREATE TABLE head (
    uni INTEGER PRIMARY KEY,
    rev INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    command BLOB,
    at INTEGER NOT NULL
) STRICT;
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    uni INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    prev INTEGER NOT NULL,
    at INTEGER NOT NULL,
    command BLOB NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE mark (
    uni INTEGER NOT NULL,
    rev INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (uni, rev)
) STRICT, WITHOUT ROWID;
CREATE TABLE genesis (uni INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE snap (uni INTEGER PRIMARY KEY, rev INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE doomed (uni INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
PRAGMA application_id = 1433299318; PRAGMA user_version = 1; COMMIT;
PRAGMA journal_mode = WAL;
";

/// Format 2, as it was written until rows were compared with each other: a universe `sol` that was trimmed to revision
/// 300 and has 600 entries, one that is new, and one that is being removed.
const FORMAT_2: &str = "
PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = FULL; BEGIN IMMEDIATE;
CREATE TABLE universe (
    uni INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX universe_by_age ON universe (created_at, id);
CREATE TABLE head (
    uni INTEGER PRIMARY KEY, rev INTEGER NOT NULL, seq INTEGER NOT NULL, command BLOB, at INTEGER NOT NULL,
    oldest INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE log (
    seq INTEGER PRIMARY KEY, uni INTEGER NOT NULL, rev INTEGER NOT NULL, prev INTEGER NOT NULL, at INTEGER NOT NULL,
    command BLOB NOT NULL, body BLOB NOT NULL, sum INTEGER
) STRICT;
CREATE TABLE mark (
    uni INTEGER NOT NULL, rev INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (uni, rev)
) STRICT, WITHOUT ROWID;
CREATE TABLE genesis (
    uni INTEGER PRIMARY KEY, body BLOB NOT NULL, rev INTEGER NOT NULL DEFAULT 0, at INTEGER, sum INTEGER
) STRICT;
CREATE TABLE snap (uni INTEGER PRIMARY KEY, rev INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER) STRICT;
CREATE TABLE doomed (seq INTEGER PRIMARY KEY, uni INTEGER NOT NULL) STRICT;
PRAGMA application_id = 1433299318; PRAGMA user_version = 2; COMMIT;
PRAGMA journal_mode = WAL;
";

fn write_format_2(dir: &Path) {
    let database = Connection::open(dir.join("universes.db")).unwrap();
    database.execute_batch(FORMAT_2).unwrap();
    database
        .execute_batch(
            "BEGIN;
             INSERT INTO universe VALUES (1, 'sol', 'Sol', 17), (3, 'new', 'New', 18);
             WITH RECURSIVE n(rev) AS (SELECT 1 UNION ALL SELECT rev + 1 FROM n WHERE rev < 600)
             INSERT INTO log SELECT rev * 2, 1, rev, max(rev * 2 - 2, 0), rev, randomblob(16), CAST(rev AS BLOB), NULL
               FROM n;
             INSERT INTO mark SELECT 1, rev, seq FROM log WHERE rev % 256 = 0;
             INSERT INTO genesis VALUES (1, CAST('base' AS BLOB), 300, 300, NULL), (3, CAST('new' AS BLOB), 0, 18, NULL);
             INSERT INTO head SELECT 1, 600, 1200, command, 600, 300 FROM log WHERE seq = 1200;
             INSERT INTO head VALUES (3, 0, 0, NULL, 18, 0);
             INSERT INTO doomed VALUES (600, 1);
             WITH RECURSIVE n(rev) AS (SELECT 1 UNION ALL SELECT rev + 1 FROM n WHERE rev < 300)
             INSERT INTO log SELECT rev * 2 - 1, 2, rev, max(rev * 2 - 3, 0), rev, randomblob(16), CAST('gone' AS BLOB),
               NULL FROM n;
             INSERT INTO mark VALUES (2, 256, 511);
             INSERT INTO doomed VALUES (599, 2);
             COMMIT;",
        )
        .unwrap_or_else(|error| panic!("{error}"));
    // With the sums of that time, over command and body.
    let sums = "SELECT seq, command, body FROM log";
    let mut sums = database.prepare(sums).unwrap();
    let rows = sums.query_map([], |row| {
        let (command, body): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(2)?);
        Ok((row.get::<_, i64>(0)?, i64::from(crc32fast::hash(&[command, body].concat()))))
    });
    for (seq, sum) in rows.unwrap().map(Result::unwrap).collect::<Vec<_>>() {
        database.execute("UPDATE log SET sum = ?2 WHERE seq = ?1", [seq, sum]).unwrap();
    }
    for (uni, body) in [(1, &b"base"[..]), (3, b"new")] {
        let sum = i64::from(crc32fast::hash(body));
        database.execute("UPDATE genesis SET sum = ?2 WHERE uni = ?1", [uni, sum]).unwrap();
    }
}

#[tokio::test]
async fn format_2_is_read_as_it_is_and_brought_to_the_present_one() {
    let dir = TempDir::new().unwrap();
    write_format_2(dir.path());
    // Who only reads changes nothing.
    let inspector = Inspector::open(dir.path()).unwrap();
    let view = inspector.view().unwrap();
    assert_eq!(view.findings().unwrap(), []);
    let record = view.record(&id("sol")).unwrap().unwrap();
    assert_eq!((record.oldest, record.head.revision), (Revision(300), Revision(600)));
    assert!(
        matches!(view.after(&id("sol"), Revision(300)), Ok(Stretch::Entries(some)) if some.len() > 100)
    );
    assert_eq!(inspector.format().unwrap(), 2);
    drop(view);
    drop(inspector);
    for round in 0..2 {
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        let record = store.record(&id("sol")).await.unwrap();
        assert_eq!(record.meta.name, "Sol");
        assert_eq!((record.oldest, record.head.revision), (Revision(300), Revision(600 + round)));
        assert_eq!(store.base(&id("sol")).await.unwrap().body, "base");
        assert_eq!(store.base(&id("new")).await.unwrap().body, "new");
        let mut tail = store.tail(&id("sol"), Revision(300));
        for revision in 301..=600_u64 {
            assert_eq!(next_entry(&mut tail).await.body, revision.to_string());
        }
        store.append(&id("sol"), after(600 + round, vec![entry("on")])).await.unwrap();
        drop(store);
        // An older program reads the format from the file alone.
        let header = std::fs::read(dir.path().join("universes.db")).unwrap();
        assert_eq!(header[60..64], [0, 0, 0, 3]);
        let inspector = Inspector::open(dir.path()).unwrap();
        assert_eq!(inspector.view().unwrap().findings().unwrap(), []);
    }
    // What was there before is compared from now on, too.
    for damage in
        ["UPDATE head SET rev = 599 WHERE uni = 1", "UPDATE genesis SET rev = 299 WHERE uni = 1"]
    {
        let copy = TempDir::new().unwrap();
        std::fs::copy(dir.path().join("universes.db"), copy.path().join("universes.db")).unwrap();
        let database = Connection::open(copy.path().join("universes.db")).unwrap();
        assert_eq!(database.execute(damage, []).unwrap(), 1);
        let store = SqliteStore::open(copy.path(), Options::default()).unwrap();
        assert_eq!(store.record(&id("sol")).await, Err(ReadError::Damaged), "{damage}");
        assert_eq!(store.record(&id("new")).await.unwrap().head.revision, Revision(0));
    }
}

/// A store of format 2 that had lost a head's revisions before: not sealed as if it were right.
#[tokio::test]
async fn what_was_wrong_in_format_2_is_not_taken_for_right() {
    let dir = TempDir::new().unwrap();
    write_format_2(dir.path());
    let database = Connection::open(dir.path().join("universes.db")).unwrap();
    database.execute("UPDATE head SET rev = 590 WHERE uni = 1", []).unwrap();
    drop(database);
    for _ in 0..2 {
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        assert_eq!(store.record(&id("sol")).await, Err(ReadError::Damaged));
    }
    let done = care::repair(dir.path()).unwrap();
    assert_eq!(done, ["universe sol: its head is at revision 600, the end of its log"]);
    let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
    assert_eq!(store.record(&id("sol")).await.unwrap().head.revision, Revision(600));
}

/// A universe `sol` of 600 entries, each its revision as text, a snapshot of it, and one that is being removed.
fn write_format_1(dir: &Path) {
    let database = Connection::open(dir.join("universes.db")).unwrap();
    database.execute_batch(FORMAT_1).unwrap();
    database
        .execute_batch(
            "BEGIN;
             INSERT INTO universe VALUES (1, 'sol', 'Sol', 17);
             INSERT INTO genesis VALUES (1, CAST('genesis' AS BLOB));
             WITH RECURSIVE n(rev) AS (SELECT 1 UNION ALL SELECT rev + 1 FROM n WHERE rev < 600)
             INSERT INTO log SELECT rev * 2, 1, rev, max(rev * 2 - 2, 0), rev, randomblob(16), CAST(rev AS BLOB) FROM n;
             INSERT INTO mark SELECT 1, rev, seq FROM log WHERE rev % 256 = 0;
             INSERT INTO head SELECT 1, 600, 1200, command, 600 FROM log WHERE seq = 1200;
             INSERT INTO snap VALUES (1, 500, CAST('snapshot' AS BLOB));
             WITH RECURSIVE n(rev) AS (SELECT 1 UNION ALL SELECT rev + 1 FROM n WHERE rev < 300)
             INSERT INTO log SELECT rev * 2 - 1, 2, rev, max(rev * 2 - 3, 0), rev, randomblob(16), CAST('gone' AS BLOB) FROM n;
             INSERT INTO mark VALUES (2, 256, 511);
             INSERT INTO doomed VALUES (2, 599);
             COMMIT;",
        )
        .unwrap_or_else(|error| panic!("{error}"));
}

#[tokio::test]
async fn format_1_is_brought_to_the_present_one() {
    let dir = TempDir::new().unwrap();
    write_format_1(dir.path());
    for round in 0..2 {
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        let record = store.record(&id("sol")).await.unwrap();
        assert_eq!(record.meta.name, "Sol");
        assert_eq!(record.oldest, Revision(0));
        assert_eq!(record.head.revision, Revision(600 + round));
        let base = store.base(&id("sol")).await.unwrap();
        assert_eq!((base.revision, base.at), (Revision(0), Timestamp::from_millis(17)));
        assert_eq!(base.body, "genesis");
        let snapshot = store.snapshot(&id("sol")).await.unwrap().unwrap();
        assert_eq!((snapshot.revision, &snapshot.body[..]), (Revision(500), &b"snapshot"[..]));
        let mut tail = store.tail(&id("sol"), Revision(0));
        for revision in 1..=600_u64 {
            let entry = next_entry(&mut tail).await;
            assert_eq!(entry.body, revision.to_string());
        }
        store.append(&id("sol"), after(600 + round, vec![entry("on")])).await.unwrap();
    }
    let database = Connection::open(dir.path().join("universes.db")).unwrap();
    let number = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("PRAGMA user_version"), 3);
    assert_eq!(number("PRAGMA auto_vacuum"), 2, "it can shrink");
    let start = std::time::Instant::now();
    while number("SELECT count(*) FROM log WHERE uni = 2") > 0 {
        assert!(start.elapsed() < HANG, "what was being removed stays");
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        tokio::task::yield_now().await;
        drop(store);
    }
}

//! Older formats of the data directory: opened as they were written, with nothing lost.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;
use universe_store::sqlite::Options;
use universe_store::{Revision, SqliteStore, Timestamp, UniverseLog};

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
    assert_eq!(number("PRAGMA user_version"), 2);
    assert_eq!(number("PRAGMA auto_vacuum"), 2, "it can shrink");
    let start = std::time::Instant::now();
    while number("SELECT count(*) FROM log WHERE uni = 2") > 0 {
        assert!(start.elapsed() < HANG, "what was being removed stays");
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        tokio::task::yield_now().await;
        drop(store);
    }
}

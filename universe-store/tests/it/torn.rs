//! Torn writes of a real disk, as far as they can be made: the write-ahead log is cut off anywhere.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use tempfile::TempDir;
use universe_store::sqlite::Options;
use universe_store::{Base, Revision, SqliteStore, Timestamp, UniverseLog};

use super::{OnDisk, Subject, after, entry, id, meta, next_entry, stored};

const BATCH: u64 = 20;

/// What is in the directory as it lies there now, with the write-ahead log cut off after so many bytes, followed by
/// others.
fn torn(dir: &Path, length: usize, rest: &[u8]) -> TempDir {
    let copy = TempDir::new().unwrap();
    fs::copy(dir.join("universes.db"), copy.path().join("universes.db")).unwrap();
    let mut log = fs::read(dir.join("universes.db-wal")).unwrap();
    log.truncate(length);
    log.extend(rest);
    fs::write(copy.path().join("universes.db-wal"), log).unwrap();
    copy
}

#[tokio::test]
async fn a_torn_write_is_there_wholly_or_not_at_all() {
    let subject = OnDisk::new();
    let log = subject.log();
    let sol = id("sol");
    log.create(meta(&sol, 1), Bytes::from_static(b"genesis")).await.unwrap();
    // A reader of what is there now: while it reads, nothing later leaves the write-ahead log.
    let reader = rusqlite::Connection::open(subject.dir.path().join("universes.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM universe;").unwrap();
    for batch in 0..20 {
        let entries = (1..=BATCH).map(|n| entry((batch * BATCH + n).to_string()));
        let append = after(batch * BATCH, entries.collect());
        log.append(&sol, append).await.unwrap();
        if batch == 10 {
            let mut tail = log.tail(&sol, Revision(99));
            let last = next_entry(&mut tail).await.command_id;
            let base = Base {
                revision: Revision(100),
                at: Timestamp::from_millis(7),
                body: Bytes::from_static(b"base"),
            };
            log.trim(&sol, last, base).await.unwrap();
        }
    }
    let dir = subject.dir.path();
    let whole = fs::metadata(dir.join("universes.db-wal")).unwrap().len() as usize;
    let (mut heads, mut bases) = (Vec::new(), Vec::new());
    for part in 0..=40 {
        // Not at the borders of pages.
        let length = (whole * part / 40).saturating_sub(usize::from(part < 40) * 13);
        for rest in [&b""[..], &[0xa5; 5_000]] {
            let copy = torn(dir, length, rest);
            let store = SqliteStore::open(copy.path(), Options::default()).unwrap();
            let Ok(record) = store.record(&sol).await else {
                assert!(part < 20, "the universe is gone");
                continue;
            };
            let (head, oldest) = (record.head.revision, record.oldest);
            assert_eq!(head.0 % BATCH, 0, "a batch is there wholly or not at all");
            let base = store.base(&sol).await.unwrap();
            assert_eq!(base.revision, oldest);
            assert_eq!(base.body, if oldest.0 == 0 { "genesis" } else { "base" });
            let mut tail = store.tail(&sol, oldest);
            for revision in oldest.0 + 1..=head.0 {
                assert_eq!(next_entry(&mut tail).await.body, revision.to_string());
            }
            // It goes on from there.
            let next = after(head.0, vec![entry("next")]);
            assert_eq!(store.append(&sol, next).await, stored(head.next()));
            heads.push(head.0);
            bases.push(oldest.0);
        }
    }
    assert!(heads.is_sorted() && bases.is_sorted(), "{heads:?} {bases:?}");
    assert_eq!(heads.last(), Some(&(20 * BATCH)), "all of it, if nothing is cut off");
    heads.dedup();
    assert!(heads.len() > 5, "{heads:?}");
    assert!(bases.contains(&0) && bases.contains(&100), "{bases:?}");
}

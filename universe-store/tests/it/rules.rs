//! What random histories do not reach: limits, competition, live readers, the text forms.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::join_all;
use futures_util::stream::StreamExt;
use universe_store::{
    AppendError, CommandId, CreateError, InvalidId, KEY_TIME, MAX_WRITE, MemoryLimits, MemoryStore,
    NewEntry, Position, ReadError, Revision, Snapshot, SnapshotError, TailError, Timestamp,
    UniverseId, UniverseLog,
};

use super::{HANG, Subject, after, before, entry, id, meta, next, next_entry, stored, subjects};

async fn with_sol(subject: &dyn Subject) -> &dyn UniverseLog {
    let log = subject.log();
    log.create(meta(&id("sol"), 1), Bytes::from_static(b"genesis")).await.unwrap();
    log
}

#[tokio::test]
async fn of_many_who_expect_the_same_head_one_wins() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        for round in 0..20 {
            let rivals = (0..16).map(|_| log.append(&id("sol"), after(round, vec![entry("x")])));
            let answers = join_all(rivals).await;
            let won =
                answers.iter().filter(|answer| **answer == stored(Revision(round + 1))).count();
            assert_eq!(won, 1);
            for answer in answers.into_iter().filter_map(Result::err) {
                let AppendError::Conflict { head } = answer else { panic!("{answer}") };
                assert_eq!(head.revision, Revision(round + 1));
            }
        }
    }
}

#[tokio::test]
async fn of_many_who_append_the_same_batch_one_stores_it() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        for round in 0..20 {
            let batch = vec![entry("x")];
            let rivals = (0..16).map(|_| log.append(&id("sol"), after(round, batch.clone())));
            let mut answers = join_all(rivals).await;
            let at = Revision(round + 1);
            answers.sort_by_key(|answer| *answer != stored(at));
            assert_eq!(answers[0], stored(at), "one of them stores it");
            for answer in &answers[1..] {
                assert_eq!(answer, &before(at), "the others find it there");
            }
            let again = log.append(&id("sol"), after(round + 1, batch)).await;
            assert_eq!(again, before(at), "whatever is expected");
            let empty = log.append(&id("sol"), after(round + 1, Vec::new())).await;
            assert_eq!(empty, stored(at), "an empty batch that fits");
        }
    }
}

#[tokio::test]
async fn what_is_acknowledged_is_there_for_whoever_looks_next() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        for revision in 0..300 {
            // Large, so that an answer given before the commit would come well before it.
            let append = after(revision, vec![entry(vec![b'x'; 200_000])]);
            let acknowledged = log.append(&id("sol"), append).await.unwrap();
            assert_eq!(log.record(&id("sol")).await.unwrap().head.revision, acknowledged.revision);
        }
    }
}

#[tokio::test]
async fn readers_see_every_entry_once_while_it_is_written() {
    const ENTRIES: u64 = 1_000;
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        let write = async {
            for revision in 0..ENTRIES {
                // Some too large to be passed on, so that readers go back to the log.
                let size = if revision % 50 == 7 { 20_000 } else { 10 };
                let append = after(revision, vec![entry(vec![b'x'; size])]);
                log.append(&id("sol"), append).await.unwrap();
            }
        };
        let readers = (0..8u64).map(|reader| async move {
            // One starts at once, the others as the log grows.
            while log.record(&id("sol")).await.unwrap().head.revision.0 < reader * 100 {
                // Not at every turn: a question costs a database more than an entry.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let start = reader * 30;
            let mut tail = log.tail(&id("sol"), Revision(start));
            for revision in start + 1..=ENTRIES {
                assert_eq!(next_entry(&mut tail).await.revision, Revision(revision));
            }
            assert_eq!(tail.next().now_or_never(), None);
        });
        tokio::time::timeout(HANG, async { tokio::join!(write, join_all(readers)) }).await.unwrap();
    }
}

#[tokio::test]
async fn a_reader_that_sleeps_is_cut_over_to_the_log() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        let mut tail = log.tail(&id("sol"), Revision(0));
        log.append(&id("sol"), after(0, vec![entry("first")])).await.unwrap();
        assert_eq!(next_entry(&mut tail).await.revision, Revision(1));
        for revision in 1..500 {
            log.append(&id("sol"), after(revision, vec![entry("more")])).await.unwrap();
        }
        for revision in 2..=500 {
            assert_eq!(next_entry(&mut tail).await.revision, Revision(revision));
        }
    }
}

#[tokio::test]
async fn a_waiting_reader_is_told_of_the_end() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        let mut tail = log.tail(&id("sol"), Revision(0));
        log.append(&id("sol"), after(0, vec![entry("only")])).await.unwrap();
        assert_eq!(next_entry(&mut tail).await.revision, Revision(1));
        let (end, deleted) = tokio::join!(next(&mut tail), log.delete(&id("sol"), None));
        assert_eq!(deleted, Ok(()));
        assert_eq!(end, Some(Err(TailError::Deleted)));
        with_sol(subject.as_ref()).await;
        assert_eq!(next(&mut tail).await, None, "another universe of that id is not its concern");
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused_and_what_just_fits_is_kept() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        let sol = id("sol");
        let huge = Bytes::from(vec![b'x'; MAX_WRITE + 1]);
        let max = MAX_WRITE;
        let refused = log.append(&sol, after(0, vec![entry(huge.clone())])).await;
        assert_eq!(refused, Err(AppendError::TooLarge { max }));
        let refused = log.create(meta(&id("huge"), 1), huge.clone()).await;
        assert_eq!(refused, Err(CreateError::TooLarge { max }));
        let snapshot = Snapshot { revision: Revision(0), body: huge.clone() };
        let refused = log.put_snapshot(&sol, snapshot).await;
        assert_eq!(refused, Err(SnapshotError::TooLarge { max }));
        let fits = huge.slice(..MAX_WRITE - 64);
        log.append(&sol, after(0, vec![entry(fits.clone())])).await.unwrap();
        let mut tail = log.tail(&sol, Revision(0));
        assert!(next_entry(&mut tail).await.body == fits);
    }
}

#[tokio::test]
async fn memory_is_bounded() {
    let log = MemoryStore::new(MemoryLimits { universes: 2, bytes: 10_000 });
    log.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    let large = entry(vec![b'x'; 9_000]);
    log.append(&id("sol"), after(0, vec![large.clone()])).await.unwrap();
    let full = log.append(&id("sol"), after(1, vec![entry(vec![b'x'; 9_000])])).await;
    assert_eq!(full, Err(AppendError::Full));
    let full = log.create(meta(&id("a"), 1), Bytes::from(vec![b'x'; 9_000])).await;
    assert_eq!(full, Err(CreateError::Full));
    log.delete(&id("sol"), None).await.unwrap();
    log.create(meta(&id("a"), 1), Bytes::from(vec![b'x'; 9_000])).await.unwrap();
    log.create(meta(&id("b"), 1), Bytes::new()).await.unwrap();
    let full = log.create(meta(&id("c"), 1), Bytes::new()).await;
    assert_eq!(full, Err(CreateError::Full));
}

#[test]
fn ids_say_what_is_wrong_with_them() {
    assert_eq!(UniverseId::new(""), Err(InvalidId::Length { len: 0 }));
    assert_eq!(UniverseId::new("x".repeat(201)), Err(InvalidId::Length { len: 201 }));
    assert_eq!(UniverseId::new("so\nl"), Err(InvalidId::Control { at: 2 }));
    assert_eq!(UniverseId::new("x".repeat(200)).unwrap().as_str().len(), 200);
    let ids: BTreeSet<_> = (0..9).map(|_| UniverseId::random()).collect();
    assert_eq!(ids.len(), 9);
}

#[test]
fn positions_that_no_store_gave_are_refused() {
    for text in ["", "~", "1", "~sol", "x~sol", "1~", "99999999999999999999~sol"] {
        assert!(text.parse::<Position>().is_err(), "{text:?}");
    }
}

#[test]
fn timestamps_are_iso_8601() {
    let shown = |millis| Timestamp::from_millis(millis).to_string();
    assert_eq!(shown(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(shown(1_795_302_000_000), "2026-11-21T23:00:00.000Z");
    assert_eq!(shown(951_782_400_000), "2000-02-29T00:00:00.000Z");
    assert_eq!(shown(-1), "1969-12-31T23:59:59.999Z");
    assert_eq!(shown(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
    assert_eq!(shown(253_402_300_800_000), "+010000-01-01T00:00:00.000Z");
    assert_eq!(shown(-62_167_219_200_001), "-000001-12-31T23:59:59.999Z");
    assert!(shown(i64::MAX).starts_with("+292278994-08-17"));
    assert!(shown(i64::MIN).starts_with("-292275055-05-16"));
    let json = serde_json::to_string(&Timestamp::from_millis(12)).unwrap();
    assert_eq!(json, "\"1970-01-01T00:00:00.012Z\"");
    assert!(Timestamp::now().as_millis() > 1_700_000_000_000);
}

#[tokio::test]
async fn keyed_entries_are_found_by_their_command_for_a_day() {
    for subject in subjects().await {
        let log = with_sol(subject.as_ref()).await;
        let keyed = |key: &str, at: Timestamp| NewEntry {
            command_id: CommandId::of_key(key).unwrap(),
            at,
            keyed: true,
            ..entry("x")
        };
        let old = Timestamp::now().before(KEY_TIME + HANG);
        let entries = vec![keyed("old", old), entry("y"), keyed("new", Timestamp::now())];
        let plain = entries[1].command_id;
        log.append(&id("sol"), after(0, entries)).await.unwrap();
        for (command, found) in [
            (CommandId::of_key("old").unwrap(), None),
            (plain, None),
            (CommandId::of_key("new").unwrap(), Some(Revision(3))),
            (CommandId::of_key("other").unwrap(), None),
        ] {
            assert_eq!(log.landed(&id("sol"), command).await, Ok(found));
        }
        let unknown = log.landed(&id("nowhere"), plain).await;
        assert_eq!(unknown, Err(ReadError::NotFound));
        log.delete(&id("sol"), None).await.unwrap();
        let again = with_sol(subject.as_ref()).await;
        let command = CommandId::of_key("new").unwrap();
        assert_eq!(again.landed(&id("sol"), command).await, Ok(None));
    }
}

//! Writers of one log take turns: each has its share, and none waits for long.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tokio::time::{Instant, sleep};
use universe_store::{
    Append, AppendError, CommandId, MemoryStore, Meta, NewEntry, Revision, Timestamp, Turns,
    UniverseId, UniverseLog,
};

/// How long a request or its answer travels.
const WAY: Duration = Duration::from_millis(1);

const TIME: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Done {
    appended: u32,
    conflicts: u32,
    longest: Duration,
}

async fn write(store: Arc<MemoryStore>, id: UniverseId) -> Done {
    let (end, mut last) = (Instant::now() + TIME, Instant::now());
    let (mut done, mut turns, mut head) = (Done::default(), Turns::default(), Revision::GENESIS);
    let tail = store.tail(&id, Revision::GENESIS);
    let mut hints = tail.map(|entry| entry.unwrap().revision).boxed();
    while Instant::now() < end {
        let entry = NewEntry {
            command_id: CommandId::random(),
            at: Timestamp::now(),
            body: Bytes::from_static(b"{}"),
            keyed: false,
        };
        let append = Append { expected: head, entries: vec![entry], name: None };
        turns.begin().await;
        sleep(WAY).await;
        let appended = store.append(&id, append).await;
        sleep(WAY).await;
        match appended {
            Ok(appended) => {
                turns.won();
                head = appended.revision;
                done.appended += 1;
                done.longest = done.longest.max(last.elapsed());
                last = Instant::now();
            }
            Err(AppendError::Conflict { .. }) => {
                done.conflicts += 1;
                turns.lost(&mut hints).await;
                sleep(WAY).await;
                head = store.record(&id).await.unwrap().head.revision;
                sleep(WAY).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
    done
}

async fn written(writers: usize) -> Vec<Done> {
    fastrand::seed(1);
    let store = Arc::new(MemoryStore::default());
    let id = UniverseId::new("sol").unwrap();
    let meta = Meta { id: id.clone(), name: String::new(), created_at: Timestamp::now() };
    store.create(meta, Bytes::from_static(b"{}")).await.unwrap();
    join_all((0..writers).map(|_| write(Arc::clone(&store), id.clone()))).await
}

#[tokio::test(start_paused = true)]
async fn each_writer_has_its_share_and_waits_little() {
    for writers in [2, 3, 5] {
        let done = written(writers).await;
        let total: u32 = done.iter().map(|done| done.appended).sum();
        let conflicts: u32 = done.iter().map(|done| done.conflicts).sum();
        // Alone, one would append 10,000 in this time.
        assert!(total > 5_000, "{total} of {writers}");
        assert!(conflicts < total / 2, "{conflicts} with {total}");
        for done in done {
            assert!(done.appended > total / (2 * writers as u32), "{}", done.appended);
            assert!(
                done.longest < Duration::from_millis(300 * writers as u64),
                "{:?}",
                done.longest
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_writer_without_others_hardly_waits() {
    let done = written(1).await;
    // 10,000 without its pauses.
    assert!(done[0].appended > 9_300, "{}", done[0].appended);
    assert!(done[0].longest < Duration::from_millis(30), "{:?}", done[0].longest);
}

//! Universes come into memory and leave it without anybody noticing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::{FutureExt as _, join_all};
use universe_server::commands::{CommandService, ServiceError, ServiceLimits};
use universe_server::store::UniverseLog as _;

use super::{add, create, id, now, tick_once};
use crate::harness::faulty::Faulty;
use crate::harness::{Local, add_star, scatter};

fn small() -> ServiceLimits {
    ServiceLimits { max_loaded: 2, ..ServiceLimits::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_universes_than_places_lose_nothing() {
    let store = Faulty::new();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, small());
    let mut ids = Vec::new();
    for n in 0..8 {
        ids.push(create(&service, &format!("u-{n}")).await);
    }
    // Each caller sees its own command in what it reads afterwards, however often its universe left in between.
    let callers = (0..32_u64).map(|caller| {
        let (service, ids) = (service.clone(), ids.clone());
        tokio::spawn(async move {
            for n in 0..25 {
                let id = &ids[scatter(caller * 25 + n) as usize % ids.len()];
                let done = tick_once(&service, id).await.unwrap();
                let (time, revision) = now(&service, id).await;
                assert!(revision >= done.revision.0, "{id}: a read is behind its own write");
                assert_eq!(time, revision as f64);
            }
        })
    });
    for caller in join_all(callers).await {
        caller.unwrap();
    }
    let mut total = 0;
    for id in &ids {
        total += now(&service, id).await.1;
    }
    assert_eq!(total, 32 * 25);
    assert!(store.loads.load(Ordering::Relaxed) > 8, "universes did leave");
}

#[tokio::test]
async fn a_universe_that_leaves_with_work_waiting_is_not_read_behind_it() {
    let store = Faulty::new();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, small());
    let busy = create(&service, "busy").await;
    let others = [create(&service, "a").await, create(&service, "b").await];
    tick_once(&service, &busy).await.unwrap();
    let held = store.gate.write().await;
    let waiting = tick_once(&service, &busy);
    tokio::pin!(waiting);
    assert!(waiting.as_mut().now_or_never().is_none());
    tokio::task::yield_now().await;
    for other in &others {
        service.get(other).await.unwrap();
    }
    // The busy one has lost its place. A client that reads it now must see what was asked for before.
    let read = now(&service, &busy);
    tokio::pin!(read);
    assert!(read.as_mut().now_or_never().is_none());
    drop(held);
    assert_eq!(waiting.await.unwrap().revision.0, 2);
    assert_eq!(read.await, (2.0, 2));
}

#[tokio::test]
async fn asking_for_what_is_not_there_pushes_nothing_out() {
    let store = Faulty::new();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, small());
    let ids = [create(&service, "a").await, create(&service, "b").await];
    for id in &ids {
        tick_once(&service, id).await.unwrap();
    }
    let loads = store.loads.load(Ordering::Relaxed);
    for n in 0..50 {
        let nothing = service.get(&id(&format!("nothing-{n}"))).await;
        assert!(matches!(nothing, Err(ServiceError::NotFound(_))));
    }
    for id in &ids {
        assert_eq!(now(&service, id).await, (1.0, 1));
    }
    assert_eq!(store.loads.load(Ordering::Relaxed), loads);
}

#[tokio::test(start_paused = true)]
async fn a_universe_stays_while_there_is_room_and_comes_back_as_it_was() {
    let store = Faulty::new();
    let limits = ServiceLimits { max_loaded_bytes: 8 << 10, ..ServiceLimits::default() };
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, limits);
    let id = create(&service, "u").await;
    add(&service, &id, "sun").await.unwrap();
    let before = service.get(&id).await.unwrap();
    assert_eq!(store.loads.load(Ordering::Relaxed), 1);
    tokio::time::sleep(Duration::from_secs(24 * 60 * 60)).await;
    service.get(&id).await.unwrap();
    assert_eq!(store.loads.load(Ordering::Relaxed), 1);
    // Another one grows, and needs the room.
    let other = create(&service, "other").await;
    for n in 0..50 {
        add(&service, &other, &format!("star-{n}")).await.unwrap();
    }
    let loads = store.loads.load(Ordering::Relaxed);
    assert_eq!(loads, 2, "what is used stays, though it is too large alone");
    let after = service.get(&id).await.unwrap();
    assert_eq!(store.loads.load(Ordering::Relaxed), 3);
    assert_eq!(after.state.to_value(), before.state.to_value());
    assert_eq!((after.revision, after.updated_at), (before.revision, before.updated_at));
    assert_eq!(after.name, before.name);
}

#[tokio::test]
async fn snapshots_make_coming_back_short_and_are_few() {
    let store = Faulty::new();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    let id = create(&service, "u").await;
    const ENTRIES: usize = 2_000;
    for n in 0..ENTRIES {
        add(&service, &id, &format!("star-{n}")).await.unwrap();
        // Lets a snapshot that is being kept get done.
        if n % 64 == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    // Every snapshot of a universe that only grows is at least twice the one before.
    let snapshots = store.snapshots.load(Ordering::Relaxed);
    assert!((3..=10).contains(&snapshots), "{snapshots} snapshots of {ENTRIES} entries");
    let before = service.get(&id).await.unwrap();
    let fresh = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    store.replayed.store(0, Ordering::Relaxed);
    let after = fresh.get(&id).await.unwrap();
    let replayed = store.replayed.load(Ordering::Relaxed);
    assert!(replayed < ENTRIES * 3 / 4, "{replayed} of {ENTRIES} entries were replayed");
    assert_eq!(after.state.to_value(), before.state.to_value());
    assert_eq!((after.revision, after.updated_at), (before.revision, before.updated_at));
    // The same without any snapshot.
    let replay = crate::harness::local::memory();
    let record = store.inner.record(&id).await.unwrap();
    let genesis = store.inner.base(&id).await.unwrap().body;
    replay.create(record.meta, genesis).await.unwrap();
    let mut entries = store.inner.tail(&id, universe_server::store::Revision::GENESIS);
    for expected in 0..record.head.revision.0 {
        use futures_util::StreamExt as _;
        let entry = entries.next().await.unwrap().unwrap();
        let append = universe_server::store::Append {
            expected: universe_server::store::Revision(expected),
            entries: vec![universe_server::store::NewEntry {
                command_id: entry.command_id,
                at: entry.at,
                body: entry.body,
                keyed: false,
            }],
            name: None,
        };
        replay.append(&id, append).await.unwrap();
    }
    let replayed = CommandService::new(replay, ServiceLimits::default()).get(&id).await.unwrap();
    assert_eq!(replayed.state.to_value(), before.state.to_value());
}

#[tokio::test]
async fn a_snapshot_never_lands_in_a_later_universe_of_the_same_id() {
    let store = Faulty::new();
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    let universe = create(&service, "u").await;
    add(&service, &universe, "old").await.unwrap();
    let held = store.snapshot_gate.write().await;
    while store.snapshots.load(Ordering::Relaxed) == 0 {
        tick_once(&service, &universe).await.unwrap();
        tokio::task::yield_now().await;
    }
    let ticks = now(&service, &universe).await.1;
    let deletion = service.delete(&universe, None);
    tokio::pin!(deletion);
    for _ in 0..100 {
        let deleted = deletion.as_mut().now_or_never();
        assert!(deleted.is_none(), "deleted while its snapshot is on the way");
        tokio::task::yield_now().await;
    }
    drop(held);
    deletion.await.unwrap();
    create(&service, "u").await;
    for _ in 0..=ticks {
        tick_once(&service, &universe).await.unwrap();
    }
    let fresh = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    let read = fresh.get(&universe).await.unwrap();
    assert_eq!(read.state.star_count(), 0);
    assert_eq!((read.state.time(), read.revision.0), ((ticks + 1) as f64, ticks + 1));
}

/// A body with an unknown member of so many levels.
fn nested(levels: usize) -> serde_json::Value {
    let mut star = add_star("deep");
    let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    star["payload"]["nested"] = serde_json::from_str(&nested).unwrap();
    star
}

#[tokio::test]
async fn what_was_taken_can_be_read_again_however_deep() {
    let store = Faulty::new();
    let limits = ServiceLimits::default();
    let local = Local::with_store(Arc::clone(&store) as Arc<_>, limits).await;
    let universe = local.client.create("u", serde_json::json!({})).await;
    let path = format!("/universes/{universe}/commands?result=events");
    let deepest = (1..120).rev().map(nested);
    let mut taken = 0;
    for star in deepest {
        if local.client.post(&path, &star).await.status == 200 {
            taken += 1;
            break;
        }
    }
    assert_eq!(taken, 1);
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, limits);
    let id = id(&universe);
    while store.snapshots.load(Ordering::Relaxed) == 0 {
        tick_once(&service, &id).await.unwrap();
        tokio::task::yield_now().await;
    }
    let before = service.get(&id).await.unwrap();
    let fresh = CommandService::new(Arc::clone(&store) as Arc<_>, limits);
    let after = fresh.get(&id).await.unwrap();
    assert_eq!(after.revision, before.revision);
    assert_eq!(after.state.to_value(), before.state.to_value());
}

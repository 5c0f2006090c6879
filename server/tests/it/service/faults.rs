//! The same faults at the store's port under every adapter: no room, read-only, I/O errors, torn writes. Whatever is
//! told, it is true afterwards: what was acknowledged is there, what was refused is not, and nothing is done twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use tempfile::TempDir;
use universe_core::{Command, State};
use universe_server::commands::{
    CommandService, Replacement, Request, ServiceError, ServiceLimits,
};
use universe_server::store::sqlite::Options;
use universe_server::store::{CommandId, Page, Revision, SqliteStore, UniverseId, UniverseLog};

use super::{create, id, now, tick_once};
use crate::harness::faulty::{Faulty, Mode};
use crate::harness::local::memory;
use crate::harness::tick;

/// An adapter, and its store again after a restart, if it outlives that.
struct Subject {
    name: &'static str,
    store: Arc<dyn UniverseLog>,
    dir: Option<(TempDir, Arc<SqliteStore>)>,
}

fn subjects() -> [Subject; 2] {
    let dir = TempDir::new().unwrap();
    let sqlite = Arc::new(SqliteStore::open(dir.path(), Options::default()).unwrap());
    [
        Subject { name: "memory", store: memory(), dir: None },
        Subject { name: "sqlite", store: Arc::clone(&sqlite) as Arc<_>, dir: Some((dir, sqlite)) },
    ]
}

impl Subject {
    /// The store as another process would find it.
    fn again(&self) -> Arc<dyn UniverseLog> {
        match &self.dir {
            None => Arc::clone(&self.store),
            Some((dir, store)) => {
                store.close();
                Arc::new(SqliteStore::open(dir.path(), Options::default()).unwrap())
            }
        }
    }
}

fn service(store: &Arc<Faulty>) -> CommandService {
    CommandService::new(Arc::clone(store) as Arc<_>, ServiceLimits::default())
}

fn keyed(key: &str) -> Request {
    Request {
        commands: vec![Command::from_value(tick()).unwrap()],
        key: Some(CommandId::of_key(key).unwrap()),
        ..Request::default()
    }
}

async fn ids(store: &dyn UniverseLog) -> Vec<String> {
    let page = Page { after: None, limit: 100 };
    let listed = store.list(page).await.unwrap();
    let mut ids: Vec<_> = listed.iter().map(|it| it.meta.id.to_string()).collect();
    ids.sort();
    ids
}

/// What one who calls may learn of a write, in this mode.
fn is_told(mode: Mode, error: &ServiceError) -> bool {
    match mode {
        Mode::Fine => false,
        Mode::Full => *error == ServiceError::Full,
        Mode::ReadOnly => *error == ServiceError::Unavailable,
        // Where it could not even be read, nothing was tried.
        Mode::Io => matches!(error, ServiceError::Uncertain | ServiceError::Unavailable),
        Mode::Torn => *error == ServiceError::Uncertain,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_reported_of_a_store_that_fails_is_true() {
    for mode in [Mode::Full, Mode::ReadOnly, Mode::Io, Mode::Torn] {
        for subject in subjects() {
            let told = format!("{mode:?}, {}", subject.name);
            let store = Faulty::over(Arc::clone(&subject.store));
            let service = service(&store);
            let u = create(&service, "u").await;
            let gone = create(&service, "gone").await;
            // Enough for a snapshot.
            for _ in 0..80 {
                tick_once(&service, &u).await.unwrap();
            }

            store.enter(mode);
            let failed = tick_once(&service, &u).await.unwrap_err();
            assert!(is_told(mode, &failed), "{told}: {failed}");
            let failed = service.process(&u, keyed("k")).await.unwrap_err();
            assert!(is_told(mode, &failed), "{told}: {failed}");
            let empty = State::from_partial(json!({})).unwrap();
            let made = service.create(id("new"), "new".to_owned(), empty).await;
            assert!(is_told(mode, &made.unwrap_err()), "{told}");
            let deleted = service.delete(&gone, None).await.unwrap_err();
            assert!(is_told(mode, &deleted), "{told}: {deleted}");
            let name = Some("renamed".to_owned());
            let renamed = Replacement { name, state: None };
            let failed = service.replace(&u, renamed, None).await.unwrap_err();
            assert!(is_told(mode, &failed), "{told}: {failed}");

            store.enter(Mode::Fine);
            // A retry of what may have been done does it once.
            let processed = service.process(&u, keyed("k")).await.unwrap();
            let again = service.process(&u, keyed("k")).await.unwrap();
            assert_eq!(processed.revision, again.revision, "{told}");
            tick_once(&service, &u).await.unwrap();
            let landed = mode == Mode::Torn;
            let (ticks, entries) = if landed {
                // The tick, the keyed one and the name had landed.
                (83.0, 84)
            } else {
                (82.0, 82)
            };
            assert_eq!(now(&service, &u).await, (ticks, entries), "{told}");
            let expected: &[&str] = if landed { &["new", "u"] } else { &["gone", "u"] };
            assert_eq!(ids(&*subject.store).await, expected, "{told}");

            // Another process finds the same, from the snapshot and from the beginning.
            service.close().await;
            let store = subject.again();
            let service = CommandService::new(Arc::clone(&store), ServiceLimits::default());
            assert_eq!(now(&service, &u).await, (ticks, entries), "{told}");
            for revision in 0..=80 {
                let then = service.at(&u, Revision(revision)).await.unwrap();
                assert_eq!(then.state.time(), revision as f64, "{told}");
            }
            assert_eq!(ids(&*store).await, expected, "{told}");
        }
    }
}

/// What cannot be read is reported as such, and is there again afterwards; readers of the feed do not see it end.
#[tokio::test]
async fn what_cannot_be_read_is_there_again_afterwards() {
    for subject in subjects() {
        let store = Faulty::over(Arc::clone(&subject.store));
        let service = service(&store);
        let u: UniverseId = create(&service, "u").await;
        tick_once(&service, &u).await.unwrap();
        store.enter(Mode::Io);
        let past = service.at(&u, Revision(0)).await.unwrap_err();
        assert_eq!(past, ServiceError::Unavailable, "{}", subject.name);
        store.enter(Mode::Fine);
        assert_eq!(service.at(&u, Revision(0)).await.unwrap().state.time(), 0.0);
        assert_eq!(now(&service, &u).await, (1.0, 1));
    }
}

/// The first try of a request is on its way at one server when the client tries it at another.
#[tokio::test]
async fn a_key_that_landed_elsewhere_is_answered_from_there() {
    let store = Faulty::new();
    let [here, there] = [Arc::clone(&store) as Arc<_>, Arc::clone(&store.inner)]
        .map(|store| CommandService::new(store, ServiceLimits::default()));
    let id = create(&here, "u").await;
    assert_eq!(now(&here, &id).await, (0.0, 0));
    let held = store.gate.write().await;
    let waiting = tokio::spawn({
        let (here, id) = (here.clone(), id.clone());
        async move { here.process(&id, keyed("once")).await }
    });
    // It has looked for its key, and found nothing.
    while !waiting.is_finished() && store.waiting.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    tick_once(&there, &id).await.unwrap();
    there.process(&id, keyed("once")).await.unwrap();
    drop(held);
    let done = waiting.await.unwrap().unwrap();
    assert_eq!(done.revision, Revision(2));
    assert_eq!(now(&here, &id).await, now(&there, &id).await);
}

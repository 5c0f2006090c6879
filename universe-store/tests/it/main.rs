//! The store port: every rule is put to every adapter.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod begins;
#[cfg(feature = "postgres")]
mod cluster;
mod crash;
mod directory;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod engines;
#[cfg(feature = "nats")]
mod fleet;
mod formats;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod leases;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod load;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod logs;
mod machine;
#[cfg(feature = "nats")]
mod nats;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod nodes;
#[cfg(feature = "postgres")]
mod outages;
mod rules;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod sessions;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod tasks;
#[cfg(feature = "postgres")]
mod tls;
mod torn;
mod turns;

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, StreamExt};
use tempfile::TempDir;
use universe_store::sqlite::Options;
use universe_store::{
    Append, AppendError, Appended, CommandId, Entry, MemoryStore, Meta, NewEntry, Revision,
    SqliteStore, TailError, Timestamp, UniverseId, UniverseLog,
};

#[cfg(any(feature = "nats", feature = "postgres"))]
use engines::aside;

/// Long enough that only a store that hangs exceeds it.
const HANG: Duration = Duration::from_secs(60);

type Tail = BoxStream<'static, Result<Entry, TailError>>;

/// An adapter under test.
trait Subject {
    fn log(&self) -> &dyn UniverseLog;

    /// Closes and opens the store, if it outlives that. Tells whether it did.
    fn reopen(&mut self) -> bool;
}

impl Subject for MemoryStore {
    fn log(&self) -> &dyn UniverseLog {
        self
    }

    fn reopen(&mut self) -> bool {
        false
    }
}

/// Every adapter, empty.
async fn subjects() -> Vec<Box<dyn Subject>> {
    let own: [Box<dyn Subject>; 2] = [Box::new(MemoryStore::default()), Box::new(OnDisk::new())];
    #[cfg(any(feature = "nats", feature = "postgres"))]
    let shared = nodes::Nodes::all().await;
    #[cfg(not(any(feature = "nats", feature = "postgres")))]
    let shared = Vec::new();
    own.into_iter().chain(shared).collect()
}

/// A store in a directory of its own.
struct OnDisk {
    dir: TempDir,
    store: Option<SqliteStore>,
}

impl OnDisk {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let store = Some(SqliteStore::open(dir.path(), Options::default()).unwrap());
        Self { dir, store }
    }
}

impl Subject for OnDisk {
    fn log(&self) -> &dyn UniverseLog {
        self.store.as_ref().unwrap()
    }

    fn reopen(&mut self) -> bool {
        self.store = None;
        self.store = Some(SqliteStore::open(self.dir.path(), Options::default()).unwrap());
        true
    }
}

fn id(text: &str) -> UniverseId {
    UniverseId::new(text).unwrap()
}

fn meta(id: &UniverseId, created_at: i64) -> Meta {
    let created_at = Timestamp::from_millis(created_at);
    Meta { id: id.clone(), name: format!("name of {id}"), created_at }
}

fn entry(body: impl Into<Bytes>) -> NewEntry {
    NewEntry {
        command_id: CommandId::random(),
        at: Timestamp::from_millis(7),
        body: body.into(),
        keyed: false,
    }
}

/// The answer to a batch that was stored now.
fn stored(revision: Revision) -> Result<Appended, AppendError> {
    Ok(Appended { revision, stored: true })
}

/// The answer to a batch that was there before.
fn before(revision: Revision) -> Result<Appended, AppendError> {
    Ok(Appended { revision, stored: false })
}

fn after(expected: u64, entries: Vec<NewEntry>) -> Append {
    Append { expected: Revision(expected), entries, name: None }
}

/// The next item; panics if the store hangs.
async fn next(tail: &mut Tail) -> Option<Result<Entry, TailError>> {
    tokio::time::timeout(HANG, tail.next()).await.expect("the tail hangs")
}

async fn next_entry(tail: &mut Tail) -> Entry {
    next(tail).await.expect("the tail has ended").expect("the tail has failed")
}

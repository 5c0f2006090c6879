//! The store port: every rule is put to every adapter. The tests of adapters in crates of their own use these files,
//! too.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod begins;
#[cfg(feature = "postgres")]
mod cluster;
mod crash;
#[cfg(feature = "postgres")]
mod database;
#[cfg(feature = "postgres")]
mod database_frames;
mod directory;
mod engines;
mod follows;
mod formats;
mod frames;
mod leases;
#[cfg(feature = "postgres")]
mod load;
mod logs;
mod machine;
mod memory;
mod nodes;
#[cfg(feature = "postgres")]
mod outages;
#[cfg(feature = "postgres")]
mod postgres;
mod rules;
mod sessions;
mod support;
mod tasks;
#[cfg(feature = "postgres")]
mod tls;
mod torn;
mod turns;

use tempfile::TempDir;
use universe_store::sqlite::Options;
use universe_store::{MemoryStore, SqliteStore, UniverseLog};

#[cfg(feature = "postgres")]
use engines::aside;
use support::{HANG, Subject, Tail, after, before, entry, id, meta, next, next_entry, stored};

/// The engines of stores that nodes share.
const ENGINES: &[&dyn engines::Engine] = &[
    &memory::Memory,
    #[cfg(feature = "postgres")]
    &postgres::Postgres,
];

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
    own.into_iter().chain(nodes::Nodes::all().await).collect()
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

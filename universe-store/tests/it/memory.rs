//! Memory, as an engine of the tests: for what nodes share of their clients.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use universe_store::MemoryStore;
use universe_store::clients::SharedStore as _;

use crate::engines::{Engine, Kind, Mortal, Node};

/// The stores by their URLs.
static STORES: Mutex<Option<HashMap<String, MemoryStore>>> = Mutex::new(None);

pub(crate) struct Memory;

impl Engine for Memory {
    fn scheme(&self) -> &'static str {
        "memory"
    }

    fn url(&self) -> Option<String> {
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        let stores = stores.get_or_insert_default();
        let url = format!("memory:{}", stores.len());
        let store = MemoryStore::default();
        // It only makes and shows nodes, and is none of them.
        store.nodes().end().now_or_never().unwrap().unwrap();
        stores.insert(url.clone(), store);
        Some(url)
    }

    fn open<'a>(&'a self, url: &'a str, lease: Duration) -> BoxFuture<'a, Node> {
        let node: Node = Arc::new(with(url, |store| store.node(lease)));
        Box::pin(async { node })
    }

    fn start(&self) -> Option<(Box<dyn Mortal>, String)> {
        None
    }

    fn age<'a>(
        &'a self,
        url: &'a str,
        kind: Kind,
        seconds: u32,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, ()> {
        with(url, |store| {
            store.visit_records(|of, _, share, ends| {
                if of == name(kind) && (owner.is_none() || owner == share) {
                    *ends -= i64::from(seconds) * 1_000;
                }
            });
        });
        Box::pin(async {})
    }

    fn dump<'a>(&'a self, url: &'a str, kind: Kind) -> BoxFuture<'a, Vec<String>> {
        let mut all = Vec::new();
        with(url, |store| {
            store.visit_records(|of, text, _, _| {
                if of == name(kind) {
                    all.push(text.to_owned());
                }
            });
        });
        Box::pin(async { all })
    }
}

/// What `use_it` gives for the store with a URL.
fn with<T>(url: &str, use_it: impl FnOnce(&MemoryStore) -> T) -> T {
    let stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    use_it(&stores.as_ref().unwrap()[url])
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Sessions => "session",
        Kind::Letters => "letter",
        Kind::Streams => "stream",
        Kind::Events => "event",
        Kind::Tasks => "task",
        Kind::Nodes => "node",
    }
}

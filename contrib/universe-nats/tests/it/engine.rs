//! NATS, as an engine of the tests. Those of the universe server use it, too.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use universe_nats::{NatsOptions, NatsStore};

use crate::engines::{Engine, Kind, Mortal, Node};
use crate::fleet::{Fleet, Settings, shared};
use crate::raw;

pub(crate) struct Nats;

impl Engine for Nats {
    fn scheme(&self) -> &'static str {
        "nats"
    }

    fn url(&self) -> Option<String> {
        shared().map(Fleet::url)
    }

    fn open<'a>(&'a self, url: &'a str, lease: Duration) -> BoxFuture<'a, Node> {
        Box::pin(async move {
            let mut options = NatsOptions::default();
            options.lease = lease;
            let opened = NatsStore::open(url, &options).await;
            let store: Node = Arc::new(opened.unwrap_or_else(|problem| panic!("{problem}")));
            store
        })
    }

    fn start(&self) -> Option<(Box<dyn Mortal>, String)> {
        let fleet = Fleet::start(1, &Settings::default())?;
        let url = fleet.url();
        Some((Box::new(fleet), url))
    }

    fn age<'a>(
        &'a self,
        url: &'a str,
        kind: Kind,
        seconds: u32,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(raw::age(url, kind, seconds, owner))
    }

    fn dump<'a>(&'a self, url: &'a str, kind: Kind) -> BoxFuture<'a, Vec<String>> {
        Box::pin(raw::dump(url, kind))
    }
}

impl Mortal for Fleet {
    fn kill(&mut self) {
        Self::kill(self, 0);
    }

    fn restart(&mut self) {
        Self::restart(self, 0);
    }
}

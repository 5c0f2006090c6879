//! The stores that nodes share, for tests that are put to all of them. The tests of the universe server use them, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use universe_store::clients::SharedStore;
use universe_store::clients::records::Records;

use crate::ENGINES;

/// Long enough that only a store that hangs exceeds it.
const HANG: Duration = Duration::from_secs(60);

/// A node on one of them.
pub(crate) type Node = Arc<dyn SharedStore>;

/// One kind of such stores.
pub(crate) trait Engine: Sync {
    /// The scheme of its URLs.
    fn scheme(&self) -> &'static str;

    /// The URL of a new store, on a server for all tests; `None` where the engine is not installed.
    fn url(&self) -> Option<String>;

    /// Whether it has universes, and not only what nodes share of their clients.
    fn has_universes(&self) -> bool {
        true
    }

    fn open<'a>(&'a self, url: &'a str, lease: Duration) -> BoxFuture<'a, Node>;

    /// What nodes share of their clients, on one more node.
    fn records<'a>(&'a self, url: &'a str, lease: Duration) -> BoxFuture<'a, Arc<dyn Records>> {
        Box::pin(async move { self.open(url, lease).await.records() })
    }

    /// Servers of their own, and the URL of a store on them; `None` where the engine is not installed.
    fn start(&self) -> Option<(Box<dyn Mortal>, String)>;

    /// Lets time go by for what there is of a kind: for the sessions of one owner, or for all.
    fn age<'a>(
        &'a self,
        url: &'a str,
        kind: Kind,
        seconds: u32,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, ()>;

    /// All that the store has of a kind, as text.
    fn dump<'a>(&'a self, url: &'a str, kind: Kind) -> BoxFuture<'a, Vec<String>>;
}

/// A server that can be killed.
pub(crate) trait Mortal: Send {
    fn kill(&mut self);

    fn restart(&mut self);
}

/// Servers of their own, which can be killed.
pub(crate) struct Servers(Box<dyn Mortal>);

/// What nodes share of their clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sessions,
    Letters,
    Streams,
    Events,
    Tasks,
    Nodes,
}

/// The URL of a new store of each engine that is built in and installed.
pub(crate) fn urls() -> Vec<String> {
    let engines = ENGINES.iter().filter(|engine| engine.has_universes());
    engines.filter_map(|engine| engine.url()).collect()
}

/// The same with engines that have no universes.
pub(crate) fn records_urls() -> Vec<String> {
    ENGINES.iter().filter_map(|engine| engine.url()).collect()
}

/// What nodes share of their clients, on a node whose lease does not end.
pub(crate) async fn records(url: &str) -> Arc<dyn Records> {
    records_with_lease(url, Duration::from_secs(600)).await
}

pub(crate) async fn records_with_lease(url: &str, lease: Duration) -> Arc<dyn Records> {
    engine(url).records(url, lease).await
}

/// One whose lease does not end.
pub(crate) async fn open(url: &str) -> Node {
    with_lease(url, Duration::from_secs(600)).await
}

pub(crate) async fn with_lease(url: &str, lease: Duration) -> Node {
    engine(url).open(url, lease).await
}

fn engine(url: &str) -> &'static dyn Engine {
    let scheme = url.split(':').next().unwrap();
    *ENGINES.iter().find(|engine| engine.scheme() == scheme).unwrap()
}

impl Servers {
    /// One of each engine that is built in and installed, and its URL.
    pub(crate) async fn start() -> Vec<(Self, String)> {
        let start = || ENGINES.iter().filter_map(|engine| engine.start());
        aside(move || start().map(|(servers, url)| (Self(servers), url)).collect()).await
    }

    pub(crate) async fn kill(mut self) -> Self {
        aside(move || {
            self.0.kill();
            self
        })
        .await
    }

    pub(crate) async fn restart(mut self) -> Self {
        aside(move || {
            self.0.restart();
            self
        })
        .await
    }
}

/// See [`Engine::age`].
pub(crate) async fn age(url: &str, kind: Kind, seconds: u32, owner: Option<&str>) {
    engine(url).age(url, kind, seconds, owner).await;
}

/// See [`Engine::dump`].
pub(crate) async fn dump(url: &str, kind: Kind) -> Vec<String> {
    engine(url).dump(url, kind).await
}

/// Waits until the store has so many of a kind.
pub(crate) async fn until_there_are(url: &str, kind: Kind, count: usize) {
    let begun = Instant::now();
    while dump(url, kind).await.len() != count {
        assert!(begun.elapsed() < HANG, "{url}: there are not {count} {kind:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Does what waits for processes, in a thread of its own.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

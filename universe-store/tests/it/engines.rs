//! The stores that nodes share, for tests that are put to all of them. The tests of the universe server use them, too.

#[cfg(feature = "nats")]
#[path = "raw.rs"]
mod raw;

use std::sync::Arc;
use std::time::{Duration, Instant};

use universe_store::clients::SharedStore;

/// Long enough that only a store that hangs exceeds it.
const HANG: Duration = Duration::from_secs(60);

/// A node on one of them.
pub(crate) type Node = Arc<dyn SharedStore>;

/// Servers of their own, which can be killed.
pub(crate) enum Servers {
    #[cfg(feature = "postgres")]
    Postgres(crate::cluster::Cluster),
    #[cfg(feature = "nats")]
    Nats(crate::fleet::Fleet),
}

/// What nodes share of their clients.
#[derive(Debug, Clone, Copy)]
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
    let mut urls = Vec::new();
    #[cfg(feature = "postgres")]
    urls.extend(crate::cluster::shared().map(crate::cluster::Cluster::database));
    #[cfg(feature = "nats")]
    urls.extend(crate::fleet::shared().map(crate::fleet::Fleet::url));
    urls
}

/// One whose lease does not end.
pub(crate) async fn open(url: &str) -> Node {
    with_lease(url, Duration::from_secs(600)).await
}

pub(crate) async fn with_lease(url: &str, lease: Duration) -> Node {
    match url.split(':').next() {
        #[cfg(feature = "postgres")]
        Some("postgres") => {
            let mut options = universe_store::postgres::PostgresOptions::default();
            options.lease = lease;
            let opened = universe_store::PostgresStore::open(url, &options).await;
            Arc::new(opened.unwrap_or_else(|problem| panic!("{problem}")))
        }
        #[cfg(feature = "nats")]
        Some("nats") => {
            let mut options = universe_store::nats::NatsOptions::default();
            options.lease = lease;
            let opened = universe_store::NatsStore::open(url, &options).await;
            Arc::new(opened.unwrap_or_else(|problem| panic!("{problem}")))
        }
        scheme => panic!("{scheme:?}"),
    }
}

impl Servers {
    /// One of each engine that is built in and installed, and its URL.
    pub(crate) async fn start() -> Vec<(Self, String)> {
        aside(|| {
            let mut all = Vec::new();
            #[cfg(feature = "postgres")]
            all.extend(crate::cluster::Cluster::start(&[]).map(|cluster| {
                let url = cluster.database();
                (Self::Postgres(cluster), url)
            }));
            #[cfg(feature = "nats")]
            all.extend(crate::fleet::Fleet::start(1, &crate::fleet::Settings::default()).map(
                |fleet| {
                    let url = fleet.url();
                    (Self::Nats(fleet), url)
                },
            ));
            all
        })
        .await
    }

    pub(crate) async fn kill(mut self) -> Self {
        aside(move || {
            match &mut self {
                #[cfg(feature = "postgres")]
                Self::Postgres(cluster) => cluster.kill(),
                #[cfg(feature = "nats")]
                Self::Nats(fleet) => fleet.kill(0),
            }
            self
        })
        .await
    }

    pub(crate) async fn restart(mut self) -> Self {
        aside(move || {
            match &mut self {
                #[cfg(feature = "postgres")]
                Self::Postgres(cluster) => cluster.restart(),
                #[cfg(feature = "nats")]
                Self::Nats(fleet) => fleet.restart(0),
            }
            self
        })
        .await
    }
}

/// Lets time go by for what there is of a kind: for the sessions of one owner, or for all.
pub(crate) async fn age(url: &str, kind: Kind, seconds: u32, owner: Option<&str>) {
    #[cfg(feature = "nats")]
    if url.starts_with("nats:") {
        return raw::age(url, kind, seconds, owner).await;
    }
    let column = match kind {
        Kind::Sessions => "session SET used = used",
        Kind::Letters => "session_letter SET at = at",
        Kind::Streams => "session_stream SET touched = touched",
        Kind::Tasks => "task SET expires = expires",
        Kind::Events | Kind::Nodes => panic!("{kind:?} have no age"),
    };
    let whose = owner.map(|owner| format!(" WHERE owner = '{owner}'"));
    let sql =
        format!("UPDATE {column} - make_interval(secs => {seconds}){}", whose.unwrap_or_default());
    ask(url, sql).await;
}

/// All that the store has of a kind, as text.
pub(crate) async fn dump(url: &str, kind: Kind) -> Vec<String> {
    #[cfg(feature = "nats")]
    if url.starts_with("nats:") {
        return raw::dump(url, kind).await;
    }
    let table = match kind {
        Kind::Sessions => "session",
        Kind::Letters => "session_letter",
        Kind::Streams => "session_stream",
        Kind::Events => "session_event",
        Kind::Tasks => "task",
        Kind::Nodes => "universe_node",
    };
    let sql = format!("SELECT t::text FROM {table} t");
    let said = ask(url, sql).await;
    said.lines().map(str::to_owned).collect()
}

/// Waits until the store has so many of a kind.
pub(crate) async fn until_there_are(url: &str, kind: Kind, count: usize) {
    let begun = Instant::now();
    while dump(url, kind).await.len() != count {
        assert!(begun.elapsed() < HANG, "{url}: there are not {count} {kind:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn ask(url: &str, sql: String) -> String {
    #[cfg(feature = "postgres")]
    {
        let url = url.to_owned();
        aside(move || crate::cluster::ask(&url, &sql)).await
    }
    #[cfg(not(feature = "postgres"))]
    panic!("{url}: {sql}")
}

/// Does what waits for processes, in a thread of its own.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

//! The adapter for many nodes without a database: streams of NATS JetStream, from version 2.12 on.
//!
//! The log of an id is a subject of one stream. An append is one message, with all its entries, and names the sequence
//! of the message that it follows: the server stores it only if that is still the last of its subject. The header of
//! each message has all that is known of the universe, so the last one is its head. Large bodies, bases and snapshots
//! are in pieces in a stream of their own. Each node follows all logs by one consumer, which has the headers alone:
//! they are hints, and a reader finds by revisions what it has missed.

mod bodies;
mod card;
mod doomed;
mod engine;
mod error;
mod events;
mod feed;
mod index;
mod link;
mod logs;
mod names;
mod nodes;
mod port;
mod reader;
mod records;
mod streams;
mod sweep;
mod tidy;
mod url;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::task::JoinSet;
use universe_store::adapter::lease::LEASE;
use universe_store::adapter::{hints, tail, tls};
use universe_store::clients::SharedStore;
use universe_store::clients::records::Records;
use universe_store::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Entry, MAX_WRITE,
    Meta, Page, ReadError, Record, Revision, Size, Snapshot, SnapshotError, TailError, TrimError,
    UniverseId, UniverseLog,
};

use self::engine::Engine;
pub use self::error::NatsError;
use self::link::Link;
use self::names::Names;
use self::nodes::Node;
use self::reader::Log;
use self::url::NatsUrl;
use self::writer::MAX_NAME;

/// Options for connecting to the servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NatsOptions {
    /// The fewest replicas that the streams must have, if the URL does not say so with `replicas`. By default 3 on
    /// servers that form a cluster, else 1.
    pub replicas: Option<usize>,
    /// The longest time to wait for a new or lost connection, and for the election of a leader. Default 5 s.
    pub connect_timeout: Duration,
    /// The longest time to wait for the acknowledgement of a message. After it, the write is reported as one that may
    /// have been stored. Default 5 s.
    pub write_timeout: Duration,
    /// A file of certificates (PEM) that are trusted instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// The duration of this node's lease ([`SharedStore::nodes`]). When it has expired, other nodes consider this node
    /// ended. The lease is renewed five times in that time. Default 15 s.
    pub lease: Duration,
}

impl Default for NatsOptions {
    fn default() -> Self {
        Self {
            replicas: None,
            connect_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(5),
            authorities: None,
            lease: LEASE,
        }
    }
}

/// Universes in streams of NATS JetStream. Other processes and machines may use the same streams.
///
/// A lost connection is restored automatically. Until then calls return that the store is unavailable, and a write in
/// progress returns that it may have been stored. Dropping the store closes its connection.
///
/// A name longer than 4 KiB causes [`AppendError::TooLarge`] or [`CreateError::TooLarge`].
pub struct NatsStore {
    engine: Arc<Engine>,
    /// The replicas of the stream that has the fewest.
    replicas: usize,
    lease: Duration,
    node: OnceLock<Arc<Node>>,
    _tasks: JoinSet<()>,
}

impl NatsStore {
    /// Checks a URL and options without connecting.
    ///
    /// # Errors
    /// [`NatsError`] that says what to change.
    pub fn check(url: &str, options: &NatsOptions) -> Result<(), NatsError> {
        NatsUrl::read(url)?;
        let config = tls::client(options.authorities.as_deref());
        config.map(drop).map_err(|problem| NatsError::Authorities {
            path: options.authorities.clone().unwrap_or_default(),
            problem,
        })
    }

    /// Connects to the servers of a URL such as `nats://user:password@host:4222,host2:4222/universes?replicas=3`, and
    /// creates missing streams. The path is the prefix of the streams' names, `universes` by default. `tls://` requires
    /// TLS. A user without a password is a token.
    ///
    /// # Errors
    /// [`NatsError`] that says what to change.
    pub async fn open(url: &str, options: &NatsOptions) -> Result<Self, NatsError> {
        let parsed = NatsUrl::read(url)?;
        let link = Link::connect(&parsed, options).await?;
        let names = Names::new(&parsed.prefix);
        let wanted = parsed.replicas.or(options.replicas);
        let replicas = streams::prepare(&link, &names, wanted).await?;
        let engine = Arc::new(Engine::new(link, names));
        let mut tasks = JoinSet::new();
        tasks.spawn(feed::run(Arc::clone(&engine)));
        tasks.spawn(tidy::run(Arc::clone(&engine)));
        Ok(Self { engine, replicas, lease: options.lease, node: OnceLock::new(), _tasks: tasks })
    }
}

impl SharedStore for NatsStore {
    /// Over the same connection.
    fn records(&self) -> Arc<dyn Records> {
        let start = || Arc::new(Node::start(Arc::clone(&self.engine), self.lease));
        let node: Arc<Node> = Arc::clone(self.node.get_or_init(start));
        node
    }
}

impl fmt::Debug for NatsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsStore").field("replicas", &self.replicas).finish_non_exhaustive()
    }
}

impl Drop for NatsStore {
    fn drop(&mut self) {
        self.engine.live.close();
    }
}

impl UniverseLog for NatsStore {
    fn is_shared(&self) -> bool {
        true
    }

    fn copies(&self) -> Option<usize> {
        Some(self.replicas)
    }

    fn hints(&self, id: &UniverseId) -> BoxStream<'static, Revision> {
        let live = Arc::clone(&self.engine.live);
        hints::hints(Log(Arc::clone(&self.engine)), live, id.clone())
    }

    fn create_from(&self, meta: Meta, base: Base) -> BoxFuture<'_, Result<(), CreateError>> {
        async move {
            if meta.name.len() > MAX_NAME {
                return Err(CreateError::TooLarge { max: MAX_NAME });
            }
            if base.body.len().saturating_add(meta.name.len()) > MAX_WRITE {
                return Err(CreateError::TooLarge { max: MAX_WRITE });
            }
            self.engine.create(&meta, &base).await
        }
        .boxed()
    }

    fn append(
        &self,
        id: &UniverseId,
        append: Append,
    ) -> BoxFuture<'_, Result<Appended, AppendError>> {
        let id = id.clone();
        async move {
            let size = append.checked_size()?;
            if append.name.as_ref().is_some_and(|name| name.len() > MAX_NAME) {
                return Err(AppendError::TooLarge { max: MAX_NAME });
            }
            self.engine.append(&id, &append, size).await
        }
        .boxed()
    }

    fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        let id = id.clone();
        async move { self.engine.landed(&id, command).await }.boxed()
    }

    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>> {
        let id = id.clone();
        async move { self.engine.delete(&id, expected).await }.boxed()
    }

    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>> {
        let id = id.clone();
        async move { self.engine.record(&id).await }.boxed()
    }

    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>> {
        async move { self.engine.list(&page).await }.boxed()
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.engine.count().boxed()
    }

    fn size(&self) -> BoxFuture<'_, Result<Option<Size>, ReadError>> {
        async move { Ok(Some(self.engine.size().await?)) }.boxed()
    }

    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>> {
        let id = id.clone();
        async move { self.engine.base(&id).await }.boxed()
    }

    fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: Base,
    ) -> BoxFuture<'_, Result<(), TrimError>> {
        let id = id.clone();
        async move {
            if base.body.len() > MAX_WRITE {
                return Err(TrimError::TooLarge { max: MAX_WRITE });
            }
            self.engine.trim(&id, last, &base).await
        }
        .boxed()
    }

    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        let id = id.clone();
        async move { self.engine.oldest_keyed(&id).await }.boxed()
    }

    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        let id = id.clone();
        async move { self.engine.snapshot(&id).await }.boxed()
    }

    fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: Snapshot,
    ) -> BoxFuture<'_, Result<(), SnapshotError>> {
        let id = id.clone();
        async move {
            if snapshot.body.len() > MAX_WRITE {
                return Err(SnapshotError::TooLarge { max: MAX_WRITE });
            }
            self.engine.put_snapshot(&id, &snapshot).await
        }
        .boxed()
    }

    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>> {
        let live = Arc::clone(&self.engine.live);
        tail::tail(Log(Arc::clone(&self.engine)), live, id.clone(), after)
    }
}

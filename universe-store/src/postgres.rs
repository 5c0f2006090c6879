//! The adapter for many nodes: PostgreSQL, from version 13 on.
//!
//! Any node may write any universe: an append is one statement that compares the head and sets it, under the row's
//! lock. Appends that wait on a node at the same time share one statement, and so one commit. The statement sends
//! one notification, which is only a hint: a reader finds the entries it has missed by their revisions, and each node
//! reads the heads of the universes that it follows once a second.

mod connect;
mod error;
mod frame;
mod listen;
mod nodes;
mod purge;
mod reader;
mod records;
mod schema;
mod writer;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::sync::Notify;
use tokio::task::{AbortHandle, JoinHandle};

use self::connect::{Connector, Link};
pub use self::error::PostgresError;
use self::reader::Reader;
use self::records::Records;
use self::writer::Writer;
use super::adapter::hints;
use super::adapter::lease::LEASE;
use super::clients::SharedStore;
use super::clients::records as port;
use super::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Entry, Finding,
    MAX_WRITE, Meta, Page, ReadError, Record, Revision, Size, Snapshot, SnapshotError, TailError,
    TrimError, UniverseId, UniverseLog,
};
use crate::adapter::live::Live;
use crate::adapter::tail;

/// How to connect to the server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PostgresOptions {
    /// The most connections for reading, 1 to 64. Default 3. There are three more: one for appends, one for all other
    /// writes, one that listens.
    pub readers: usize,
    /// How long connecting may take. Default 5 s.
    pub connect_timeout: Duration,
    /// How long a statement may take before its connection is closed, plus a second for each MiB of bodies in it.
    /// Default 30 s.
    pub statement_timeout: Duration,
    /// A file of certificates (PEM) that are trusted instead of those of the system.
    pub authorities: Option<PathBuf>,
    /// How long the lease of this node lasts ([`SharedStore::nodes`]). After that, other nodes assume that the node
    /// has ended. The lease is renewed five times in that time. Default 15 s.
    pub lease: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            readers: 3,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            authorities: None,
            lease: LEASE,
        }
    }
}

/// Universes in a PostgreSQL database. Processes on other machines may use the same database.
///
/// A lost connection is reopened automatically. Until then, calls fail because the store is unavailable, and a write in
/// progress fails with the error that it may have been stored. Dropping the store closes its connections.
pub struct PostgresStore {
    writer: Writer,
    readers: Arc<Reader>,
    live: Arc<Live>,
    purge: Arc<Notify>,
    connector: Arc<Connector>,
    options: PostgresOptions,
    records: OnceLock<Arc<Records>>,
    _tasks: Vec<Task>,
}

/// A task that ends with the store.
struct Task(AbortHandle);

impl From<JoinHandle<()>> for Task {
    fn from(task: JoinHandle<()>) -> Self {
        Self(task.abort_handle())
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl PostgresStore {
    /// Checks a URL and options without connecting.
    ///
    /// # Errors
    /// [`PostgresError`] that says what to change.
    pub fn check(url: &str, options: &PostgresOptions) -> Result<(), PostgresError> {
        Connector::new(url, options).map(drop)
    }

    /// Connects to the database of a URL, such as `postgres://user:password@host:5432/universes`. Creates its tables or
    /// updates them to the current format, under a lock. Several hosts, separated by commas, are tried in turn; only a
    /// host that accepts writes is used.
    ///
    /// # Errors
    /// [`PostgresError`] that says what to change.
    pub async fn open(url: &str, options: &PostgresOptions) -> Result<Self, PostgresError> {
        let connector = Arc::new(Connector::new(url, options)?);
        schema::prepare(&connector).await?;
        let live = Arc::new(Live::default());
        let purge = Arc::new(Notify::new());
        let mut tasks: Vec<Task> = Vec::new();
        let mut link = || {
            let (link, task) = Link::start(Arc::clone(&connector), options);
            tasks.push(task.into());
            link
        };
        let readers = (0..options.readers.clamp(1, 64)).map(|_| link()).collect();
        let (write, bodies) = (link(), Arc::new(link()));
        let readers = Arc::new(Reader::new(readers));
        let (writer, writing) = Writer::start(write, Arc::clone(&bodies), Arc::clone(&live));
        tasks.push(writing.into());
        let (patience, reading) = (options.statement_timeout, Arc::clone(&readers));
        let connecting = Arc::clone(&connector);
        let listening = listen::start(connecting, patience, reading, Arc::clone(&live));
        tasks.push(listening.into());
        tasks.push(purge::start(bodies, Arc::clone(&purge)).into());
        Ok(Self {
            writer,
            readers,
            live,
            purge,
            connector,
            options: options.clone(),
            records: OnceLock::new(),
            _tasks: tasks,
        })
    }
}

impl SharedStore for PostgresStore {
    /// Over two more connections.
    fn records(&self) -> Arc<dyn port::Records> {
        let start = || Arc::new(Records::start(&self.connector, &self.options));
        let records: Arc<Records> = Arc::clone(self.records.get_or_init(start));
        records
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.live.close();
    }
}

impl UniverseLog for PostgresStore {
    fn is_shared(&self) -> bool {
        true
    }

    fn hints(&self, id: &UniverseId) -> BoxStream<'static, Revision> {
        hints::hints(Arc::clone(&self.readers), Arc::clone(&self.live), id.clone())
    }

    fn create_from(&self, meta: Meta, base: Base) -> BoxFuture<'_, Result<(), CreateError>> {
        async move {
            if base.body.len().saturating_add(meta.name.len()) > MAX_WRITE {
                return Err(CreateError::TooLarge { max: MAX_WRITE });
            }
            self.writer.create(&meta, &base).await
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
            self.writer.append(id, append, size).await
        }
        .boxed()
    }

    fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        let id = id.clone();
        async move { self.readers.landed(&id, command).await }.boxed()
    }

    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>> {
        let id = id.clone();
        async move {
            let uni = self.writer.delete(&id, expected).await?;
            self.live.channels().deleted(uni);
            self.purge.notify_one();
            Ok(())
        }
        .boxed()
    }

    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>> {
        let id = id.clone();
        async move { self.readers.record(&id).await }.boxed()
    }

    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>> {
        async move { self.readers.list(&page).await }.boxed()
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.readers.count().boxed()
    }

    fn size(&self) -> BoxFuture<'_, Result<Option<Size>, ReadError>> {
        async move { Ok(Some(self.readers.size().await?)) }.boxed()
    }

    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>> {
        let id = id.clone();
        async move { self.readers.base(&id).await }.boxed()
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
            self.writer.trim(&id, last, &base).await?;
            self.purge.notify_one();
            Ok(())
        }
        .boxed()
    }

    fn findings(&self) -> BoxFuture<'_, Result<Option<Vec<Finding>>, ReadError>> {
        async move { self.readers.findings().await.map(Some) }.boxed()
    }

    fn repair(&self) -> BoxFuture<'_, Result<Vec<String>, ReadError>> {
        self.writer.repair().boxed()
    }

    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        let id = id.clone();
        async move { self.readers.oldest_keyed(&id).await }.boxed()
    }

    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        let id = id.clone();
        async move { self.readers.snapshot(&id).await }.boxed()
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
            self.writer.put_snapshot(&id, &snapshot).await
        }
        .boxed()
    }

    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>> {
        let readers = Arc::clone(&self.readers);
        tail::tail(readers, Arc::clone(&self.live), id.clone(), after)
    }
}

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
use futures_util::stream::BoxStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use self::connect::{Connector, Link};
pub use self::error::PostgresError;
use self::reader::Reader;
use self::records::Records;
use self::writer::Writer;
use super::adapter::hints;
use super::adapter::lease::LEASE;
use super::clients::SharedStore;
use super::clients::records as port;
use super::model::within;
use super::{
    Answer, Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Finding,
    LogTail, Meta, Page, Record, Revision, Size, Snapshot, SnapshotError, TrimError, UniverseId,
    UniverseLog,
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
    _tasks: JoinSet<()>,
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
        let mut tasks = JoinSet::new();
        let mut link = || Link::start(&connector, options, None, &mut tasks);
        let readers = (0..options.readers.clamp(1, 64)).map(|_| link()).collect();
        let (write, bodies) = (link(), Arc::new(link()));
        let readers = Arc::new(Reader::new(readers));
        let writer = Writer::start(write, Arc::clone(&bodies), Arc::clone(&live), &mut tasks);
        let (reading, following) = (Arc::clone(&readers), Arc::clone(&live));
        listen::start(&connector, options, reading, following, &mut tasks);
        tasks.spawn(purge::run(bodies, Arc::clone(&purge)));
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

    fn create_from(&self, meta: Meta, base: Base) -> Answer<'_, (), CreateError> {
        async move {
            let size = base.body.len().saturating_add(meta.name.len());
            within(size, |max| CreateError::TooLarge { max })?;
            self.writer.create(&meta, &base).await
        }
        .boxed()
    }

    fn append(&self, id: &UniverseId, append: Append) -> Answer<'_, Appended, AppendError> {
        let id = id.clone();
        async move {
            let size = append.checked_size()?;
            self.writer.append(id, append, size).await
        }
        .boxed()
    }

    fn landed(&self, id: &UniverseId, command: CommandId) -> Answer<'_, Option<Revision>> {
        let id = id.clone();
        async move { self.readers.landed(&id, command).await }.boxed()
    }

    fn delete(&self, id: &UniverseId, expected: Option<Revision>) -> Answer<'_, (), DeleteError> {
        let id = id.clone();
        async move {
            let uni = self.writer.delete(&id, expected).await?;
            self.live.channels().deleted(uni);
            self.purge.notify_one();
            Ok(())
        }
        .boxed()
    }

    fn record(&self, id: &UniverseId) -> Answer<'_, Record> {
        let id = id.clone();
        async move { self.readers.record(&id).await }.boxed()
    }

    fn list(&self, page: Page) -> Answer<'_, Vec<Record>> {
        async move { self.readers.list(&page).await }.boxed()
    }

    fn count(&self) -> Answer<'_, u64> {
        self.readers.count().boxed()
    }

    fn size(&self) -> Answer<'_, Option<Size>> {
        async move { Ok(Some(self.readers.size().await?)) }.boxed()
    }

    fn base(&self, id: &UniverseId) -> Answer<'_, Base> {
        let id = id.clone();
        async move { self.readers.base(&id).await }.boxed()
    }

    fn trim(&self, id: &UniverseId, last: CommandId, base: Base) -> Answer<'_, (), TrimError> {
        let id = id.clone();
        async move {
            within(base.body.len(), |max| TrimError::TooLarge { max })?;
            self.writer.trim(&id, last, &base).await?;
            self.purge.notify_one();
            Ok(())
        }
        .boxed()
    }

    fn findings(&self) -> Answer<'_, Option<Vec<Finding>>> {
        async move { self.readers.findings().await.map(Some) }.boxed()
    }

    fn repair(&self) -> Answer<'_, Vec<String>> {
        self.writer.repair().boxed()
    }

    fn oldest_keyed(&self, id: &UniverseId) -> Answer<'_, Option<Revision>> {
        let id = id.clone();
        async move { self.readers.oldest_keyed(&id).await }.boxed()
    }

    fn snapshot(&self, id: &UniverseId) -> Answer<'_, Option<Snapshot>> {
        let id = id.clone();
        async move { self.readers.snapshot(&id).await }.boxed()
    }

    fn put_snapshot(&self, id: &UniverseId, snapshot: Snapshot) -> Answer<'_, (), SnapshotError> {
        let id = id.clone();
        async move {
            within(snapshot.body.len(), |max| SnapshotError::TooLarge { max })?;
            self.writer.put_snapshot(&id, &snapshot).await
        }
        .boxed()
    }

    fn tail(&self, id: &UniverseId, after: Revision) -> LogTail {
        let readers = Arc::clone(&self.readers);
        tail::tail(readers, Arc::clone(&self.live), id.clone(), after)
    }
}

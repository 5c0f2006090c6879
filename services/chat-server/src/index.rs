//! The data of all sources in one SQLite database, and all queries to it.
//!
//! One process writes, others on the same directory read. In the writing process one thread commits in groups; reads
//! use a few separate connections. A batch that was [kept](crate::source::Sink::keep) survives a crash of the process
//! and of the machine.

mod answer;
mod chats;
mod context;
mod cursor;
mod directory;
mod error;
mod fold;
mod follow;
mod keep;
mod matcher;
mod messages;
mod people;
mod readers;
mod schema;
mod search;
mod statistics;
mod stored;
mod terms;
mod vocabulary;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::watch;

pub use self::answer::{
    ChatKey, ChatSummary, Cursor, Kind, MessageQuery, Page, Sequence, SourceSummary, StoredMessage,
};
pub use self::chats::{FoundChat, find as find_among};
pub use self::context::{Around, MAX_AROUND};
pub use self::error::IndexError;
pub use self::follow::{Followed, Follower, Lag};
pub use self::people::{Identity, MAX_PEOPLE, Person, is_number};
pub use self::search::{Hit, Hits, SearchQuery};
pub use self::statistics::{SenderCount, Statistics, StatisticsQuery};

pub use self::fold::contains;
pub use self::matcher::says;
pub use self::stored::is_call;
pub use crate::query::{DEFAULT_LIMIT, MAX_LIMIT};

use self::cursor::Secret;
use self::directory::{Directory, Lock};
use self::readers::Readers;
use self::vocabulary::Vocabulary;
use self::writer::Writer;
use crate::source::{Batch, MAX_BATCH, Report, Sink, SourceError};

/// The most sources of one index.
pub const MAX_SOURCES: usize = 64;

/// How to open an [`Index`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Most reads at a time, each with a connection and a blocking thread; 1 to 64. Default 4.
    pub readers: usize,
    /// How many messages a follower may be behind before it gets a lag notice. Default 10,000.
    pub max_lag: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { readers: 4, max_lag: 10_000 }
    }
}

/// The index in a data directory. A clone is the same index; when the last one and all sinks are gone, it is closed.
#[derive(Clone)]
pub struct Index {
    inner: Arc<Inner>,
}

struct Inner {
    directory: Directory,
    /// Set once this process writes.
    writer: OnceLock<Writer>,
    /// Whether it is set, for followers, which do not keep the index open.
    writes: Arc<AtomicBool>,
    readers: Arc<Readers>,
    secret: Secret,
    /// All words, for parts of words.
    words: Arc<Vocabulary>,
    /// Counts the commits of this process.
    commits: watch::Sender<u64>,
    max_lag: u64,
}

impl Index {
    /// Opens the index in `dir`, which is created if missing, for its owner alone (mode 0700, the files 0600). If
    /// another process writes to it already, this one only reads, and [`is_writer`](Self::is_writer) is `false`. May
    /// block for some milliseconds, or for seconds if the other process is just creating or migrating it.
    ///
    /// # Errors
    /// [`IndexError::Unusable`] or [`IndexError::NewerFormat`]; then the directory was not changed.
    pub fn open(dir: &Path, options: Options) -> Result<Self, IndexError> {
        let directory = Directory::open(dir)?;
        let commits = watch::Sender::new(0);
        let writer = OnceLock::new();
        match directory.lock()? {
            Some(lock) => {
                let started = start(&directory, lock, &commits)?;
                // It is not shared yet.
                drop(writer.set(started));
            }
            None => directory.await_writer()?,
        }
        let secret = schema::connect_reader(&directory.database())
            .and_then(|connection| {
                connection.query_row("SELECT key FROM secret", [], |row| row.get(0))
            })
            .map_err(|error| directory.unusable(&error))?;
        let readers = Readers::new(directory.database(), options.readers);
        Ok(Self {
            inner: Arc::new(Inner {
                directory,
                writes: Arc::new(AtomicBool::new(writer.get().is_some())),
                writer,
                readers: Arc::new(readers),
                secret: Secret::new(secret),
                words: Arc::default(),
                commits,
                max_lag: options.max_lag,
            }),
        })
    }

    /// The data directory.
    pub fn dir(&self) -> &Path {
        self.inner.directory.path()
    }

    /// Whether this process writes.
    pub fn is_writer(&self) -> bool {
        self.inner.writer.get().is_some()
    }

    /// Becomes the writer if no other process is. Returns whether this process is the writer now.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn promote(&self) -> Result<bool, IndexError> {
        let Inner { directory, writer, commits, .. } = &*self.inner;
        if writer.get().is_some() {
            return Ok(true);
        }
        if let Some(lock) = directory.lock()? {
            // If two threads come here at once, the lock decides.
            let _ = writer.set(start(directory, lock, commits)?);
            self.inner.writes.store(true, Ordering::Relaxed);
        }
        Ok(self.is_writer())
    }

    /// The sink of a source. Batches of all sources are committed by one thread, several at a time if several wait.
    /// When `keep` returns, the batch is on disk. If another process writes, each `keep` is refused with that reason.
    pub fn sink(&self, source: &str) -> Arc<dyn Sink> {
        Arc::new(SourceSink { index: self.clone(), source: source.to_owned(), owner: None })
    }

    /// The same for a source that its id alone does not identify: `owner` is its kind and its path. Rows of the same id
    /// that another owner has brought in are put aside with the first batch, and come back with their owner.
    pub fn sink_of(&self, source: &str, owner: &str) -> Arc<dyn Sink> {
        let (source, owner) = (source.to_owned(), Some(owner.to_owned()));
        Arc::new(SourceSink { index: self.clone(), source, owner })
    }

    /// A pseudonym for a hidden text: the same for the same text for as long as the index lives, and not reversible
    /// without it. Ten digits of base 16.
    pub fn pseudonym(&self, text: &str) -> String {
        self.inner.secret.pseudonym(text)
    }

    /// Commits queued batches and ends: all further calls answer that the index is not available. Blocks for up to
    /// five seconds, so not for a runtime's threads.
    pub fn close(&self) {
        self.inner.close();
    }
}

impl Inner {
    fn close(&self) {
        self.readers.close();
        if let Some(writer) = self.writer.get() {
            writer.close();
        }
        // So that followers check again, and see that it is closed.
        self.commits.send_modify(|commits| *commits += 1);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("dir", &self.dir())
            .field("is_writer", &self.is_writer())
            .finish_non_exhaustive()
    }
}

fn start(
    directory: &Directory,
    lock: Lock,
    commits: &watch::Sender<u64>,
) -> Result<Writer, IndexError> {
    let connection = directory.open_writer(&lock)?;
    Writer::start(connection, lock, commits.clone()).map_err(|error| directory.unusable(&error))
}

/// The sink of one source.
struct SourceSink {
    index: Index,
    source: String,
    owner: Option<String>,
}

impl SourceSink {
    async fn try_keep(&self, batch: Batch) -> Result<(), IndexError> {
        let events = batch.events.len();
        if events > MAX_BATCH {
            return Err(IndexError::TooLarge(format!(
                "a batch of {events} events is too large: the most is {MAX_BATCH}"
            )));
        }
        match self.index.inner.writer.get() {
            Some(writer) => writer.keep(&self.source, self.owner.as_deref(), batch).await,
            None => Err(IndexError::ReadOnly { dir: self.index.dir().to_owned() }),
        }
    }
}

impl Sink for SourceSink {
    fn keep(&self, batch: Batch) -> BoxFuture<'_, Result<(), SourceError>> {
        async move { self.try_keep(batch).await.map_err(|error| SourceError(error.to_string())) }
            .boxed()
    }

    fn report(&self) -> BoxFuture<'_, Result<Report, SourceError>> {
        async move {
            let sources = self.index.sources().await;
            let sources = sources.map_err(|error| SourceError(error.to_string()))?;
            let is_ours = |owner: &Option<String>| {
                self.owner.is_none() || owner.is_none() || *owner == self.owner
            };
            let known =
                sources.into_iter().find(|known| known.id == self.source && is_ours(&known.owner));
            Ok(known.map(|known| known.report).unwrap_or_default())
        }
        .boxed()
    }

    fn mark(&self) -> BoxFuture<'_, Result<Option<String>, SourceError>> {
        async move {
            let mark = self.index.mark_of(&self.source, self.owner.as_deref()).await;
            mark.map_err(|error| SourceError(error.to_string()))
        }
        .boxed()
    }
}

//! The default adapter: SQLite in one data directory, used by one process.
//!
//! One thread writes and commits in groups. Reads use a few separate connections. The logs of
//! all universes are one table in the order of commits, so that the cost of a commit does not grow
//! with the number of busy universes.

pub mod care;
mod chain;
mod columns;
mod directory;
mod frame;
mod inspect;
mod job;
mod ledger;
mod reader;
mod readers;
mod repair;
mod schema;
mod upgrade;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rusqlite::Connection;
use tokio::sync::Semaphore;

pub use self::directory::OpenError;
use self::directory::{Directory, unreadable};
pub use self::inspect::{Inspector, Stretch, Unreadable, View};
use self::job::{Job, Reply, Work};
use self::readers::Readers;
use self::writer::Writer;
use super::model::within;
use super::{
    Answer, Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, LogTail,
    MAX_WRITE, Meta, Page, ReadError, Record, Revision, Size, Snapshot, SnapshotError, TrimError,
    UniverseId, UniverseLog,
};
use crate::adapter::failure::Failure;
use crate::adapter::live::Live;

/// The most bytes of writes that are queued or in progress. A write beyond that waits.
const QUEUE_BYTES: usize = MAX_WRITE;

/// The least that a write counts for, in bytes, so that at most 1,024 are queued.
const MIN_SHARE: usize = QUEUE_BYTES / 1_024;

/// How long closing a store waits for running reads, and then for queued writes.
const DRAIN: Duration = Duration::from_secs(5);

/// How long a file that is shrinking may stay the same size before shrinking counts as finished.
const SHRINK_TIME: Duration = Duration::from_millis(500);

/// When a write counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// When it is on disk: it survives a power failure.
    #[default]
    Fsync,
    /// When the operating system has it: it survives a crash of the process, but not
    /// of the machine.
    Os,
}

/// How to open a [`SqliteStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// When a write counts as done. Default [`Durability::Fsync`].
    pub durability: Durability,
    /// The most reads at a time, each with a connection and a blocking thread; 1 to 64. Default 4.
    pub readers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::Fsync, readers: 4 }
    }
}

/// Universes in a data directory.
///
/// Dropping the store closes it as [`close`](Self::close) does. If the disk or the database fails and
/// writing cannot continue, all calls fail because the store is unavailable, and
/// [`ended`](Self::ended) resolves.
pub struct SqliteStore {
    dir: PathBuf,
    /// `None` if the store is only read.
    writer: Option<Writer>,
    readers: Arc<Readers>,
    live: Arc<Live>,
    budget: Arc<Semaphore>,
}

impl SqliteStore {
    /// Opens the store in `dir`. A missing directory is created, accessible to its owner only.
    ///
    /// # Errors
    /// [`OpenError`]; nothing in the directory has changed then.
    pub fn open(dir: &Path, options: Options) -> Result<Self, OpenError> {
        let Directory { database, lock, ledger } = Directory::open(dir, options.durability)?;
        let live = Arc::new(Live::default());
        let readers =
            Arc::new(Readers::new(database, Arc::clone(&lock), options.readers, Vec::new()));
        let writer = Writer::start(ledger, Arc::clone(&live), lock)
            .map_err(|error| unreadable(dir, &error))?;
        let budget = Arc::new(Semaphore::new(QUEUE_BYTES));
        Ok(Self { dir: dir.to_owned(), writer: Some(writer), readers, live, budget })
    }

    /// Opens a store for reading alone, where nothing can be written: a snapshot of a disk, or a volume that is mounted
    /// read-only. Every write fails because the store is unavailable.
    ///
    /// # Errors
    /// [`OpenError`], also if another process writes to the directory, or if what it wrote last is still only in its
    /// write-ahead log and cannot be read from there.
    pub fn open_read_only(dir: &Path, options: Options) -> Result<Self, OpenError> {
        let (database, lock, behind) = directory::open_read_only(dir)?;
        let readers = Readers::new(database, Arc::new(lock), options.readers, behind);
        let readers = Arc::new(readers);
        let (live, budget) = (Arc::default(), Arc::new(Semaphore::new(QUEUE_BYTES)));
        Ok(Self { dir: dir.to_owned(), writer: None, readers, live, budget })
    }

    /// Whether the store is only read.
    pub fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    /// Commits queued writes, ends all tails with [`TailError::Unavailable`](crate::TailError::Unavailable) and
    /// releases the directory. Further calls fail because the store is unavailable.
    ///
    /// Blocks for up to ten seconds, so do not call it on a runtime's threads. A second call has no effect.
    pub fn close(&self) {
        // Before the writer's connection, which tidies up if it is the last.
        self.readers.close(DRAIN);
        if let Some(writer) = &self.writer {
            writer.close();
        }
        self.live.close();
    }

    /// Resolves when the store no longer writes: it was closed, or writing cannot continue. The
    /// future does not keep the store open.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let ended = self.writer.as_ref().map(Writer::ended);
        async move {
            match ended {
                Some(ended) => ended.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Returns the unused space of the file to the system, in small steps that block no other call. Waits until this is
    /// done or the file stops shrinking. Returns the sizes before and after; `None` if the file cannot shrink until
    /// [`care::compact`] has been run.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`].
    pub async fn shrink(&self) -> Result<Option<(Size, Size)>, ReadError> {
        let sizes = || self.read(schema::sizes);
        let before = sizes().await?;
        let can = self.write(0, |reply| Work::Shrink { reply }).await;
        if !can.map_err(|_| ReadError::Unavailable)? {
            return Ok(None);
        }
        let mut after = before;
        loop {
            tokio::time::sleep(SHRINK_TIME).await;
            let now = sizes().await?;
            let stays = now.file >= after.file && now.free <= after.free;
            after = now;
            if stays || now.free == 0 {
                return Ok(Some((before, after)));
            }
        }
    }

    /// Queues a write of `size` bytes and waits for its answer.
    async fn write<T, E: From<Failure>>(
        &self,
        size: usize,
        work: impl FnOnce(Reply<T, E>) -> Work,
    ) -> Result<T, E> {
        let share = u32::try_from(size.clamp(MIN_SHARE, QUEUE_BYTES)).unwrap_or(u32::MAX);
        let share = Arc::clone(&self.budget).acquire_many_owned(share).await;
        let queue = self.writer.as_ref().and_then(Writer::queue);
        let (Ok(share), Some(queue)) = (share, queue) else {
            return Err(Failure::Unavailable.into());
        };
        let (reply, answer) = Reply::new();
        let job = Job { work: work(reply), size, _share: share };
        queue.send(Some(job)).map_err(|_closed| Failure::Unavailable)?;
        answer.await.unwrap_or_else(|_died| Err(Failure::Unknown.into()))
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, ReadError> {
        // What a writer that failed has left behind may be less than what it said.
        if self.writer.as_ref().is_some_and(|writer| writer.queue().is_none()) {
            return Err(ReadError::Unavailable);
        }
        self.readers.read(read).await
    }

    /// Reads something of one universe.
    async fn find<T: Send + 'static>(
        &self,
        id: UniverseId,
        find: impl FnOnce(&Connection, &UniverseId) -> rusqlite::Result<Option<T>> + Send + 'static,
    ) -> Result<T, ReadError> {
        self.read(move |connection| find(connection, &id)).await?.ok_or(ReadError::NotFound)
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl UniverseLog for SqliteStore {
    fn create_from(&self, meta: Meta, base: Base) -> Answer<'_, (), CreateError> {
        async move {
            let size = meta.name.len().saturating_add(base.body.len());
            let size = within(size, |max| CreateError::TooLarge { max })?;
            self.write(size, |reply| Work::Create { meta, base, reply }).await
        }
        .boxed()
    }

    fn append(&self, id: &UniverseId, append: Append) -> Answer<'_, Appended, AppendError> {
        let id = id.clone();
        async move {
            let size = append.checked_size()?;
            self.write(size, |reply| Work::Append { id, append, landed: None, reply }).await
        }
        .boxed()
    }

    fn delete(&self, id: &UniverseId, expected: Option<Revision>) -> Answer<'_, (), DeleteError> {
        let id = id.clone();
        self.write(0, move |reply| Work::Delete { id, expected, gone: None, reply }).boxed()
    }

    fn record(&self, id: &UniverseId) -> Answer<'_, Record> {
        self.find(id.clone(), reader::record).boxed()
    }

    fn landed(&self, id: &UniverseId, command: CommandId) -> Answer<'_, Option<Revision>> {
        let find =
            move |connection: &Connection, id: &UniverseId| reader::landed(connection, id, command);
        self.find(id.clone(), find).boxed()
    }

    fn list(&self, page: Page) -> Answer<'_, Vec<Record>> {
        self.read(move |connection| reader::list(connection, &page)).boxed()
    }

    fn count(&self) -> Answer<'_, u64> {
        self.read(reader::count).boxed()
    }

    fn size(&self) -> Answer<'_, Option<Size>> {
        let size = self.read(schema::sizes);
        async { Ok(Some(size.await?)) }.boxed()
    }

    fn base(&self, id: &UniverseId) -> Answer<'_, Base> {
        self.find(id.clone(), reader::base).boxed()
    }

    fn trim(&self, id: &UniverseId, last: CommandId, base: Base) -> Answer<'_, (), TrimError> {
        let id = id.clone();
        async move {
            let size = within(base.body.len(), |max| TrimError::TooLarge { max })?;
            self.write(size, |reply| Work::Trim { id, last, base, reply }).await
        }
        .boxed()
    }

    fn oldest_keyed(&self, id: &UniverseId) -> Answer<'_, Option<Revision>> {
        self.find(id.clone(), reader::oldest_keyed).boxed()
    }

    fn snapshot(&self, id: &UniverseId) -> Answer<'_, Option<Snapshot>> {
        let found = self.find(id.clone(), reader::snapshot);
        // A snapshot only saves time: the log has the same data.
        found
            .map(|found| match found {
                Err(ReadError::Damaged) => Ok(None),
                found => found,
            })
            .boxed()
    }

    fn put_snapshot(&self, id: &UniverseId, snapshot: Snapshot) -> Answer<'_, (), SnapshotError> {
        let id = id.clone();
        async move {
            let size = within(snapshot.body.len(), |max| SnapshotError::TooLarge { max })?;
            self.write(size, |reply| Work::PutSnapshot { id, snapshot, reply }).await
        }
        .boxed()
    }

    fn tail(&self, id: &UniverseId, after: Revision) -> LogTail {
        crate::adapter::tail::tail(
            Arc::clone(&self.readers),
            Arc::clone(&self.live),
            id.clone(),
            after,
        )
    }
}

//! The connections that read beside the writer, used from blocking threads.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::directory::Lock;
use super::reader::{self, Chunk};
use super::schema;
use crate::adapter::tail::{self, History};
use crate::{Answer, ReadError, Revision, TailError, UniverseId};

/// A few connections, opened as needed.
pub(super) struct Readers {
    database: PathBuf,
    /// The universes of which nothing is read: their heads are behind, although nothing in the file says so.
    behind: Vec<i64>,
    /// As many as there may be connections.
    permits: Arc<Semaphore>,
    pool: Mutex<Pool>,
    /// Told whenever one comes back.
    returned: Condvar,
}

struct Pool {
    idle: Vec<Reader>,
    /// How many are not idle.
    busy: usize,
    /// `None` once closed.
    lock: Option<Arc<Lock>>,
}

/// A connection, and its hold on the directory for as long as it is open.
struct Reader {
    connection: Connection,
    _lock: Arc<Lock>,
}

impl Readers {
    pub(super) fn new(
        database: PathBuf,
        lock: Arc<Lock>,
        connections: usize,
        behind: Vec<i64>,
    ) -> Self {
        Self {
            database,
            behind,
            permits: Arc::new(Semaphore::new(connections.clamp(1, 64))),
            pool: Mutex::new(Pool { idle: Vec::new(), busy: 0, lock: Some(lock) }),
            returned: Condvar::new(),
        }
    }

    /// Runs `read` on a connection of its own. A caller who goes away leaves it to end by itself.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, ReadError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_closed| ReadError::Unavailable)?;
        let readers = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut turn = Turn::take(&readers)?;
            let found = turn.connection().and_then(read);
            found.map_err(|error| {
                tracing::error!(%error, "reading the store failed");
                if reader::is_damage(&error) { ReadError::Damaged } else { ReadError::Unavailable }
            })
        });
        task.await.unwrap_or(Err(ReadError::Unavailable))
    }

    /// Refuses further reads, waits until those under way have ended, at most for `patience`, and
    /// closes all connections.
    pub(super) fn close(&self, patience: Duration) {
        self.permits.close();
        let mut pool = self.pool();
        pool.lock = None;
        pool.idle.clear();
        let waited = self.returned.wait_timeout_while(pool, patience, |pool| pool.busy > 0);
        if waited.is_ok_and(|(_, waited)| waited.timed_out()) {
            tracing::error!("the store is still being read and is left to end by itself");
        }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl History for Arc<Readers> {
    fn locate<'a>(&'a self, id: &'a UniverseId) -> Answer<'a, (i64, Revision), TailError> {
        let id = id.clone();
        Box::pin(async move {
            match self.read(move |it| reader::locate(it, &id)).await {
                Ok(found) => found.ok_or(TailError::NotFound),
                Err(ReadError::NotFound) => Err(TailError::NotFound),
                Err(ReadError::Unavailable | ReadError::Damaged) => Err(TailError::Unavailable),
            }
        })
    }

    fn chunk(&self, uni: i64, after: Revision) -> Answer<'_, tail::Chunk, TailError> {
        Box::pin(async move {
            let chunk = self.read(move |it| reader::chunk(it, uni, after)).await;
            let chunk = chunk.map_err(|_| TailError::Unavailable)?;
            match chunk.ok_or(TailError::Deleted)? {
                Chunk::Entries(entries, is_complete) => Ok(tail::Chunk { entries, is_complete }),
                Chunk::Trimmed { oldest, head } => Err(TailError::Trimmed { oldest, head }),
                Chunk::Damaged { first, last } => Err(TailError::Damaged { first, last }),
            }
        })
    }
}

/// One read's use of the pool, given back also by a panic.
struct Turn<'a> {
    readers: &'a Readers,
    lock: Arc<Lock>,
    /// `None` until the first use of a new connection.
    reader: Option<Reader>,
}

impl<'a> Turn<'a> {
    fn take(readers: &'a Readers) -> Result<Self, ReadError> {
        let mut pool = readers.pool();
        let lock = Arc::clone(pool.lock.as_ref().ok_or(ReadError::Unavailable)?);
        pool.busy += 1;
        Ok(Self { readers, lock, reader: pool.idle.pop() })
    }

    fn connection(&mut self) -> rusqlite::Result<&Connection> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                let connection = schema::connect_reader(&self.readers.database)?;
                schema::distrust(&connection, &self.readers.behind)?;
                Reader { connection, _lock: Arc::clone(&self.lock) }
            }
        };
        Ok(&self.reader.insert(reader).connection)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        if let Some(reader) = self.reader.take()
            && pool.lock.is_some()
        {
            pool.idle.push(reader);
        }
        pool.busy -= 1;
        self.readers.returned.notify_all();
    }
}

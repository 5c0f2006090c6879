//! The connections that read in parallel to the writer, used from blocking threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, ErrorCode, InterruptHandle};
use tokio::sync::Semaphore;

use super::error::IndexError;
use super::schema;
use crate::lock::lock;
use crate::query::Invalid;

/// A few connections, opened as needed.
#[derive(Debug)]
pub(super) struct Readers {
    database: PathBuf,
    /// One permit for each connection that may be open.
    permits: Arc<Semaphore>,
    /// The unused ones. `None` once closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Readers {
    pub(super) fn new(database: PathBuf, connections: usize) -> Self {
        Self {
            database,
            permits: Arc::new(Semaphore::new(connections.clamp(1, 64))),
            idle: Mutex::new(Some(Vec::new())),
        }
    }

    /// Runs `read` on a separate connection, with one view of the tables. Dropping the future stops it.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, IndexError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_closed| IndexError::Unavailable)?;
        let readers = Arc::clone(self);
        let stop = Stop::default();
        let running = Arc::clone(&stop.0);
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let connection = readers.take()?;
            let turn = Turn::start(running, &connection)?;
            let found = in_view(&connection, read);
            drop(turn);
            // A connection on which something failed is not used again.
            if !matches!(found, Err(ReadError::Database(_))) {
                readers.give_back(connection);
            }
            found
        });
        match task.await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(ReadError::Refused(error))) => Err(error),
            Ok(Err(ReadError::Database(error))) => {
                if error.sqlite_error_code() != Some(ErrorCode::OperationInterrupted) {
                    tracing::error!(%error, "reading the index failed");
                }
                Err(IndexError::Unavailable)
            }
            Err(_died) => Err(IndexError::Unavailable),
        }
    }

    /// Refuses further reads and closes unused connections; the others are closed after use.
    pub(super) fn close(&self) {
        self.permits.close();
        *lock(&self.idle) = None;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }

    fn take(&self) -> Result<Connection, ReadError> {
        let idle =
            lock(&self.idle).as_mut().ok_or(ReadError::Refused(IndexError::Unavailable))?.pop();
        match idle {
            Some(connection) => Ok(connection),
            None => Ok(schema::connect_reader(&self.database)?),
        }
    }

    fn give_back(&self, connection: Connection) {
        if let Some(idle) = lock(&self.idle).as_mut() {
            idle.push(connection);
        }
    }
}

/// Why a read failed.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The query is invalid.
    Refused(IndexError),
    /// The database failed.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<IndexError> for ReadError {
    fn from(error: IndexError) -> Self {
        Self::Refused(error)
    }
}

impl From<Invalid> for ReadError {
    fn from(error: Invalid) -> Self {
        Self::Refused(error.into())
    }
}

fn in_view<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let view = connection.unchecked_transaction()?;
    read(&view)
}

/// The handle that interrupts a running read; `None` before and after the read.
type RunningRead = Arc<Mutex<Option<InterruptHandle>>>;

/// Interrupts the read when dropped, if it is still running.
#[derive(Default)]
struct Stop(RunningRead);

impl Drop for Stop {
    fn drop(&mut self) {
        // Under the lock, so that the next read on the connection is not hit.
        if let Some(handle) = &*lock(&self.0) {
            handle.interrupt();
        }
    }
}

/// A running read.
struct Turn(RunningRead);

impl Turn {
    fn start(running: RunningRead, connection: &Connection) -> Result<Self, ReadError> {
        // No caller is waiting for it.
        if Arc::strong_count(&running) == 1 {
            return Err(ReadError::Refused(IndexError::Unavailable));
        }
        *lock(&running) = Some(connection.get_interrupt_handle());
        Ok(Self(running))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *lock(&self.0) = None;
    }
}

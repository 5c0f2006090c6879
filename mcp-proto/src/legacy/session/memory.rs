//! Sessions in this process's memory, bounded in number and in idle time.

use std::sync::{Arc, Mutex};

use futures_util::future::{BoxFuture, ready};
use tokio::time::Instant;

use super::table::{MemorySessionsConfig, Table};
use super::{Session, SessionChange, SessionId, SessionStore, SessionStoreError};
use crate::locked::Locked as _;

/// The default store: sessions end with the process, after [`max_idle`](MemorySessionsConfig::max_idle), or when there
/// are too many and they are not in use.
///
/// Nothing runs in the background: each use of the store removes a few expired sessions.
#[derive(Debug, Default)]
pub struct MemorySessions {
    config: MemorySessionsConfig,
    pub(super) table: Mutex<Table>,
}

impl MemorySessions {
    /// An empty store with these bounds.
    pub fn new(config: MemorySessionsConfig) -> Self {
        Self { config, table: Mutex::default() }
    }

    /// How many sessions are kept, including expired ones that were not yet removed.
    pub fn len(&self) -> usize {
        self.table.locked().sessions.len()
    }

    /// Whether no session is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores a new session. Returns its number.
    pub(super) fn add(&self, session: Session) -> Result<u64, SessionStoreError> {
        let now = Instant::now();
        let mut table = self.table.locked();
        table.sweep(now, self.config.max_idle);
        table.make_room(session.client.as_ref(), &self.config, now)?;
        Ok(table.insert(session, now, None))
    }
}

impl SessionStore for MemorySessions {
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>> {
        Box::pin(ready(self.add(session).map(drop)))
    }

    fn load<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        let session = self.load_now(id).flatten();
        Box::pin(ready(Ok(session)))
    }

    fn load_now(&self, id: &SessionId) -> Option<Option<Arc<Session>>> {
        let now = Instant::now();
        let mut table = self.table.locked();
        table.sweep(now, self.config.max_idle);
        let entry = table.used(id, now, self.config.max_idle);
        Some(entry.map(|entry| Arc::clone(&entry.session)))
    }

    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        let now = Instant::now();
        let mut table = self.table.locked();
        let entry = table.used(id, now, self.config.max_idle);
        let session = entry.map(|entry| {
            Arc::make_mut(&mut entry.session).apply(change);
            Arc::clone(&entry.session)
        });
        Box::pin(ready(Ok(session)))
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>> {
        let removed = self.table.locked().remove(id);
        Box::pin(ready(Ok(removed.is_some())))
    }
}

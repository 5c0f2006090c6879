//! Sessions in this process's memory, bounded in number and in idle time.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use tokio::time::Instant;

use super::{Session, SessionId, SessionStore, SessionStoreError};

/// The bounds of [`MemorySessions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySessionsConfig {
    /// The most sessions; opening one more ends the one that has been idle longest. 10,000 by default.
    pub max_sessions: usize,
    /// How long a session lives after its last use. 30 minutes by default.
    pub max_idle: Duration,
}

/// The default store: sessions die with the process, after [`max_idle`](MemorySessionsConfig::max_idle), or when there
/// are too many.
///
/// Nothing runs in the background: whoever uses the store sweeps a few dead sessions out.
#[derive(Debug, Default)]
pub struct MemorySessions {
    config: MemorySessionsConfig,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sessions: HashMap<SessionId, Entry>,
    /// Sessions by the age of their use as it was when they were last filed here. Using a session does not refile it;
    /// whoever meets it at the old end does, so a use costs one hash look-up.
    filed: BTreeSet<(Instant, OrderedId)>,
}

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    used: Instant,
    /// The instant it is filed under.
    filed: Instant,
}

/// A session id as the tie-breaker of equal instants.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OrderedId(SessionId);

/// How many dead sessions one use of the store sweeps out.
const SWEEP: usize = 4;

impl MemorySessions {
    /// An empty store with bounds of its own.
    #[must_use]
    pub fn new(config: MemorySessionsConfig) -> Self {
        Self {
            config,
            table: Mutex::default(),
        }
    }

    /// How many sessions are kept, dead ones that nobody swept out yet among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table().sessions.len()
    }

    /// Whether no session is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No code panics while it holds the table, and its two maps may disagree without harm.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Takes the session that has been idle longest, if it was last used at or before `limit`.
    fn evict(&mut self, limit: Option<Instant>) -> bool {
        while let Some((filed, id)) = self.filed.pop_first() {
            let Some(entry) = self.sessions.get_mut(&id.0) else {
                continue;
            };
            if entry.used > filed {
                entry.filed = entry.used;
                self.filed.insert((entry.used, id));
                continue;
            }
            if limit.is_some_and(|limit| entry.used > limit) {
                self.filed.insert((filed, id));
                return false;
            }
            self.sessions.remove(&id.0);
            return true;
        }
        false
    }

    fn sweep(&mut self, now: Instant, max_idle: Duration) {
        let Some(limit) = now.checked_sub(max_idle) else {
            return;
        };
        for _ in 0..SWEEP {
            if !self.evict(Some(limit)) {
                break;
            }
        }
    }
}

impl SessionStore for MemorySessions {
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>> {
        let now = Instant::now();
        let mut table = self.table();
        table.sweep(now, self.config.max_idle);
        while table.sessions.len() >= self.config.max_sessions.max(1) && table.evict(None) {}
        table.filed.insert((now, OrderedId(session.id.clone())));
        table.sessions.insert(
            session.id.clone(),
            Entry {
                session: Arc::new(session),
                used: now,
                filed: now,
            },
        );
        Box::pin(ready(Ok(())))
    }

    fn load<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        let now = Instant::now();
        let mut table = self.table();
        table.sweep(now, self.config.max_idle);
        let session = table.sessions.get_mut(id).and_then(|entry| {
            let alive = now.duration_since(entry.used) < self.config.max_idle;
            alive.then(|| {
                entry.used = now;
                Arc::clone(&entry.session)
            })
        });
        Box::pin(ready(Ok(session)))
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>> {
        let mut table = self.table();
        let removed = table.sessions.remove(id);
        if let Some(entry) = &removed {
            table.filed.remove(&(entry.filed, OrderedId(id.clone())));
        }
        Box::pin(ready(Ok(removed.is_some())))
    }
}

impl Default for MemorySessionsConfig {
    fn default() -> Self {
        Self {
            max_sessions: 10_000,
            max_idle: Duration::from_secs(30 * 60),
        }
    }
}

impl PartialOrd for OrderedId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.as_str().cmp(other.0.as_str())
    }
}

//! Sessions in this process's memory, bounded in number and in idle time.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
use tokio::time::Instant;

use super::{Session, SessionChange, SessionId, SessionStore, SessionStoreError};

/// The bounds of [`MemorySessions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySessionsConfig {
    /// The most sessions; opening one more ends another. While more than an eighth of all were never used since they
    /// were opened, that is the oldest of these, so that a flood of openings ends its own; else it is the one that
    /// has been idle longest. 10,000 by default.
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
    /// Sessions that were not used when they were filed here, by the age of their opening.
    unused: Filed,
    /// Sessions by the age of their use as it was when they were last filed here. Using a session does not refile it;
    /// whoever meets it at the old end of either list does, so a use costs one hash look-up.
    used: Filed,
}

type Filed = BTreeSet<(Instant, OrderedId)>;

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    /// When it was last used; nothing since it was opened.
    used: Option<Instant>,
    /// The instant it is filed under.
    filed: Instant,
    /// Whether it is filed among the used.
    filed_used: bool,
}

/// A session id as the tie-breaker of equal instants.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OrderedId(SessionId);

/// How many sessions that were filed long ago one use of the store looks at.
const SWEEP: usize = 4;
/// The part of all sessions that new ones may take before they push each other out.
const UNUSED_SHARE: usize = 8;

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
        // No code panics while it holds the table, and its maps may disagree without harm.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// A session that lives, and does so anew from now on.
    fn used(&mut self, id: &SessionId, now: Instant, max_idle: Duration) -> Option<&mut Entry> {
        let entry = self.sessions.get_mut(id)?;
        let used = entry.used.unwrap_or(entry.filed);
        (now.duration_since(used) < max_idle).then(|| {
            entry.used = Some(now);
            entry
        })
    }

    /// Takes one session out for another to come in.
    fn evict(&mut self, max: usize) -> bool {
        loop {
            let used = self.unused.len() <= max / UNUSED_SHARE && !self.used.is_empty();
            let oldest = self.list(used).pop_first();
            let Some((filed, id)) = oldest else {
                return false;
            };
            if self.judge(filed, id) {
                return true;
            }
        }
    }

    /// Takes a session out that was not used since it was filed; files it anew otherwise.
    fn judge(&mut self, filed: Instant, id: OrderedId) -> bool {
        let Some(entry) = self.sessions.get_mut(&id.0) else {
            return false;
        };
        match entry.used {
            Some(used) if !entry.filed_used || used > filed => {
                (entry.filed, entry.filed_used) = (used, true);
                self.used.insert((used, id));
                false
            }
            _ => self.sessions.remove(&id.0).is_some(),
        }
    }

    fn sweep(&mut self, now: Instant, max_idle: Duration) {
        let Some(limit) = now.checked_sub(max_idle) else {
            return;
        };
        for _ in 0..SWEEP {
            for used in [false, true] {
                let list = self.list(used);
                // Whatever was filed later than the limit was last used later, too.
                if list.first().is_some_and(|(filed, _)| *filed <= limit)
                    && let Some((filed, id)) = list.pop_first()
                {
                    self.judge(filed, id);
                }
            }
        }
    }

    fn list(&mut self, used: bool) -> &mut Filed {
        if used {
            &mut self.used
        } else {
            &mut self.unused
        }
    }
}

impl SessionStore for MemorySessions {
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>> {
        let now = Instant::now();
        let mut table = self.table();
        table.sweep(now, self.config.max_idle);
        let max = self.config.max_sessions.max(1);
        while table.sessions.len() >= max && table.evict(max) {}
        table.unused.insert((now, OrderedId(session.id.clone())));
        table.sessions.insert(
            session.id.clone(),
            Entry {
                session: Arc::new(session),
                used: None,
                filed: now,
                filed_used: false,
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
        let entry = table.used(id, now, self.config.max_idle);
        let session = entry.map(|entry| Arc::clone(&entry.session));
        Box::pin(ready(Ok(session)))
    }

    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>> {
        let now = Instant::now();
        let mut table = self.table();
        let entry = table.used(id, now, self.config.max_idle);
        let session = entry.map(|entry| {
            Arc::make_mut(&mut entry.session).apply(change);
            Arc::clone(&entry.session)
        });
        Box::pin(ready(Ok(session)))
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>> {
        let mut table = self.table();
        let removed = table.sessions.remove(id);
        if let Some(entry) = &removed {
            let list = table.list(entry.filed_used);
            list.remove(&(entry.filed, OrderedId(id.clone())));
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

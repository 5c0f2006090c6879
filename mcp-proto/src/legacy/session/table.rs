//! The table of sessions: which there are, how long they live, and which of them ends when there are too many.

mod kinds;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use tokio::time::Instant;

use super::{Session, SessionId, SessionStoreError};
use kinds::Kinds;

/// The bounds of [`MemorySessions`](super::MemorySessions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemorySessionsConfig {
    /// The most sessions. Opening one more ends another that is not in use. If more than an eighth of all sessions were
    /// never used since they were opened, the oldest of these is ended, so that a flood of new sessions ends its own.
    /// Otherwise the one that has been idle longest is ended. If all are in use, the new one is refused. 24,000 by
    /// default; the last tenth is for clients that have less than a hundredth of all.
    pub max_sessions: usize,
    /// The most sessions of one client ([`Session::client`]): above it, a new one ends another of the same client that
    /// is not in use, among those that were opened or used longest ago, or is refused. 12,000 by default.
    pub max_sessions_per_client: usize,
    /// How long a session counts as in use after a request. A session with a running call or an open stream is always
    /// in use: these count as a request every [`HttpConfig::keep_alive`](crate::http::HttpConfig::keep_alive). 2
    /// minutes by default.
    pub in_use: Duration,
    /// How long a session lives after its last use. 30 minutes by default.
    pub max_idle: Duration,
}

/// The sessions of one process.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) sessions: HashMap<SessionId, SessionEntry, RandomState>,
    /// Sessions that were not used when they were filed here, by the age of their opening.
    unused: Filed,
    /// Sessions by the age of their use as it was when they were last filed here. Using a session does not refile it,
    /// so a use costs one hash lookup. It is refiled when it is found at the old end of either list.
    used: Filed,
    /// How many sessions each client has.
    clients: HashMap<Arc<str>, usize, RandomState>,
    kinds: Kinds,
    /// The number of the newest session.
    pub(super) newest: u64,
    /// The numbers of sessions that were removed, if that is written to a file, and until then. The file notes each new
    /// session, so no more than there can be sessions.
    pub(super) gone: Option<Vec<u64>>,
}

/// The id breaks ties of equal instants.
type Filed = BTreeSet<(Instant, SessionId)>;

#[derive(Debug)]
pub(super) struct SessionEntry {
    pub(super) session: Arc<Session>,
    /// Counted from 1 in the order of insertion.
    pub(super) number: u64,
    /// When it was last used; `None` if not since it was opened.
    pub(super) used: Option<Instant>,
    /// The instant under which it is filed.
    pub(super) filed: Instant,
    /// Whether it is filed in `used`.
    filed_used: bool,
}

/// How many of the oldest filed sessions each use of the store checks.
const SWEEP: usize = 4;
/// How many of the oldest filed sessions are searched for one of a given client.
const LOOK_AT: usize = 1_024;
/// The fraction of all sessions (1/8) that new ones may take before they evict each other.
const UNUSED_SHARE: usize = 8;

impl Table {
    /// A session that has not expired. Its idle time starts again.
    pub(super) fn used(
        &mut self,
        id: &SessionId,
        now: Instant,
        max_idle: Duration,
    ) -> Option<&mut SessionEntry> {
        let entry = self.sessions.get_mut(id)?;
        let used = entry.used.unwrap_or(entry.filed);
        (now.duration_since(used) < max_idle).then(|| {
            entry.used = Some(now);
            entry
        })
    }

    /// Makes room for one more session of a client, or returns why that is not possible.
    pub(super) fn make_room(
        &mut self,
        client: Option<&Arc<str>>,
        config: &MemorySessionsConfig,
        now: Instant,
    ) -> Result<(), SessionStoreError> {
        let own = client.and_then(|client| self.clients.get(client));
        let own = own.copied().unwrap_or_default();
        let share = config.max_sessions_per_client.max(1);
        if let Some(client) = client.filter(|_| own >= share) {
            return if self.evict_of(client, config.in_use, now) {
                Ok(())
            } else {
                Err(SessionStoreError::Full { is_share: true, max: share })
            };
        }
        let max = config.max_sessions.max(1);
        // The last tenth is reserved for clients that have very few sessions.
        let has_little = client.is_none() || own < (max / 100).max(1);
        let limit = if has_little { max } else { max - max / 10 };
        while self.sessions.len() >= limit {
            if !self.evict(max, config.in_use, now) {
                return Err(SessionStoreError::Full { is_share: false, max });
            }
        }
        Ok(())
    }

    /// Removes one session to make room for another. False if all are in use.
    fn evict(&mut self, max: usize, in_use: Duration, now: Instant) -> bool {
        loop {
            let used = self.unused.len() <= max / UNUSED_SHARE && !self.used.is_empty();
            let Some((filed, id)) = self.list(used).pop_first() else {
                return false;
            };
            // Filed recently and not used since: all later ones were used more recently still.
            if used && self.is_last_use(&id, filed) && now.duration_since(filed) < in_use {
                self.used.insert((filed, id));
                return false;
            }
            if self.judge(filed, id) {
                return true;
            }
        }
    }

    /// Removes a session of a client that is not in use, searching the oldest ones.
    fn evict_of(&mut self, client: &Arc<str>, in_use: Duration, now: Instant) -> bool {
        let is_own = |id: &SessionId| {
            let entry = self.sessions.get(id);
            entry.is_some_and(|entry| entry.session.client.as_ref() == Some(client))
        };
        let free = |(filed, id): &&(Instant, SessionId)| {
            let used = self.sessions.get(id).and_then(|entry| entry.used);
            is_own(id) && used.is_none_or(|used| now.duration_since(used.max(*filed)) >= in_use)
        };
        let oldest = self.unused.iter().take(LOOK_AT).find(free).cloned();
        let oldest = oldest.or_else(|| self.used.iter().take(LOOK_AT).find(free).cloned());
        let Some((_, id)) = oldest else {
            return false;
        };
        self.remove(&id).is_some()
    }

    /// Whether a session was filed at its last use.
    fn is_last_use(&self, id: &SessionId, filed: Instant) -> bool {
        let entry = self.sessions.get(id);
        entry.is_some_and(|entry| entry.used == Some(filed))
    }

    /// Removes a session that was not used since it was filed. Otherwise files it again.
    fn judge(&mut self, filed: Instant, id: SessionId) -> bool {
        let Some(entry) = self.sessions.get_mut(&id) else {
            return false;
        };
        match entry.used {
            Some(used) if !entry.filed_used || used > filed => {
                (entry.filed, entry.filed_used) = (used, true);
                self.used.insert((used, id));
                false
            }
            _ => self.remove(&id).is_some(),
        }
    }

    /// Adds a session that was opened at `opened`, and last used at `used`. Returns its number.
    pub(super) fn insert(
        &mut self,
        mut session: Session,
        opened: Instant,
        used: Option<Instant>,
    ) -> u64 {
        self.kinds.share(&mut session);
        if let Some(client) = &mut session.client {
            let entry = self.clients.entry(Arc::clone(client));
            // All sessions of a client share its name.
            *client = Arc::clone(entry.key());
            *entry.or_default() += 1;
        }
        self.newest += 1;
        let (filed, id) = (used.unwrap_or(opened), session.id.clone());
        self.list(used.is_some()).insert((filed, id.clone()));
        let entry = SessionEntry {
            session: Arc::new(session),
            number: self.newest,
            used,
            filed,
            filed_used: used.is_some(),
        };
        self.sessions.insert(id, entry);
        self.newest
    }

    /// Returns the number of the session, if it existed.
    pub(super) fn remove(&mut self, id: &SessionId) -> Option<u64> {
        let entry = self.sessions.remove(id)?;
        let filed = (entry.filed, id.clone());
        self.list(entry.filed_used).remove(&filed);
        if let Some(gone) = &mut self.gone {
            gone.push(entry.number);
        }
        if let Some(client) = &entry.session.client
            && let Some(count) = self.clients.get_mut(client)
        {
            *count -= 1;
            if *count == 0 {
                self.clients.remove(client);
            }
        }
        Some(entry.number)
    }

    /// Gives a session another id.
    #[cfg(feature = "file-sessions")]
    pub(super) fn rename(&mut self, from: &SessionId, to: &SessionId) -> bool {
        let Some(mut entry) = self.sessions.remove(from) else {
            return false;
        };
        let list = self.list(entry.filed_used);
        list.remove(&(entry.filed, from.clone()));
        list.insert((entry.filed, to.clone()));
        Arc::make_mut(&mut entry.session).id = to.clone();
        self.sessions.insert(to.clone(), entry);
        true
    }

    pub(super) fn sweep(&mut self, now: Instant, max_idle: Duration) {
        let Some(limit) = now.checked_sub(max_idle) else {
            return;
        };
        for used in [false, true] {
            for _ in 0..SWEEP {
                let list = self.list(used);
                // Sessions filed after the limit were last used after it, too.
                if list.first().is_none_or(|(filed, _)| *filed > limit) {
                    break;
                }
                if let Some((filed, id)) = list.pop_first() {
                    self.judge(filed, id);
                }
            }
        }
    }

    fn list(&mut self, used: bool) -> &mut Filed {
        if used { &mut self.used } else { &mut self.unused }
    }
}

impl Default for MemorySessionsConfig {
    fn default() -> Self {
        Self {
            max_sessions: 24_000,
            max_sessions_per_client: 12_000,
            in_use: Duration::from_secs(2 * 60),
            max_idle: Duration::from_secs(30 * 60),
        }
    }
}

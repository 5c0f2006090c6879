//! Sessions of clients: small records with an owner, which expire when they are not used.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;

use super::nodes::Unavailable;
use super::records::{self, Id, Kind, Limit, Limits, New, Put, Records};
use crate::adapter::keys::session_key;

/// The shortest time between two recorded uses of a session.
const NOTED: Duration = Duration::from_secs(15);

/// How many times a change is tried when another change is made first.
const TRIES: usize = 16;

/// Computes the new content of a session from the old; `None` if the old content cannot be read.
pub type Change<'a> = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'a;

/// The bounds of [`Sessions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionBounds {
    /// The most sessions in the store, 100,000 by default. Each node counts them every 30 s, and adds its own between
    /// counts. At the limit, a new session replaces the one that has been idle longest, unless all are in use.
    pub sessions: usize,
    /// The most sessions of one owner, on all nodes; at the limit, a new one replaces another of the same owner. 5,000
    /// by default.
    pub sessions_per_owner: usize,
    /// How long a session counts as in use. 2 minutes by default.
    pub in_use: Duration,
    /// How long a session lives after its last use, give or take 15 s. 30 minutes by default.
    pub max_idle: Duration,
}

/// Why a session was not kept, found or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store does not answer, or takes no writes.
    #[error("the store is unavailable")]
    Unavailable,
    /// The limit is reached and all sessions are in use.
    #[error("{max} sessions are in use")]
    Full {
        /// Whether the limit is that of the owner.
        is_share: bool,
        /// The limit that was reached.
        max: usize,
    },
}

/// The sessions of all nodes that use one store. Every use reads the store, so a session that one node changes or ends
/// is changed or ended for all nodes at once. Times are those of the store's clock.
#[derive(Debug, Clone)]
pub struct Sessions {
    records: Arc<dyn Records>,
    bounds: SessionBounds,
}

impl Sessions {
    /// The sessions among these records.
    pub fn new(records: Arc<dyn Records>, bounds: SessionBounds) -> Self {
        Self { records, bounds }
    }

    /// Stores a new session under an unused name, such as a random one.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        body: &[u8],
    ) -> Result<(), SessionError> {
        let SessionBounds { sessions, sessions_per_owner, in_use, max_idle } = self.bounds;
        let most = |records: usize| Limit { records: records.max(1), ..Limit::default() };
        let limits =
            Limits { share: most(sessions_per_owner), all: most(sessions), ..Limits::default() };
        let new = New {
            share: owner,
            limits,
            replaces: Some(max_idle.saturating_sub(in_use)),
            ..New::of(id(name), max_idle, body)
        };
        match self.records.put(new).await? {
            Put::Stored(_) => Ok(()),
            Put::Full { is_share } => {
                let limit = if is_share { limits.share } else { limits.all };
                Err(SessionError::Full { is_share, max: limit.records })
            }
            Put::Missing => Err(SessionError::Unavailable),
        }
    }

    /// The content of a session, if it exists. Counts as use.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    pub async fn load(&self, name: &str) -> Result<Option<Vec<u8>>, SessionError> {
        let (id, max_idle) = (id(name), self.bounds.max_idle);
        let Some(found) = self.records.read(id).await? else {
            return Ok(None);
        };
        // A store that takes no writes still lets sessions continue.
        if max_idle.saturating_sub(found.ttl) > NOTED.min(max_idle / 4)
            && self.records.extend(id, max_idle).await.is_err()
        {
            tracing::warn!("the use of a session was not noted");
        }
        Ok(Some(found.body))
    }

    /// Replaces the content of a session with the result of `change`, and notifies the other nodes. Returns the content
    /// after that, or `None` if the session no longer exists. Concurrent changes are applied one after another. Counts
    /// as use.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    pub async fn change(
        &self,
        name: &str,
        change: &Change<'_>,
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let id = id(name);
        for _ in 0..TRIES {
            let Some(found) = self.records.read(id).await? else {
                return Ok(None);
            };
            let Some(body) = change(&found.body) else {
                return Ok(None);
            };
            let (version, lives) = (found.version, Some(self.bounds.max_idle));
            let change = records::Change { version, body: &body, result: None, lives };
            if self.records.replace(id, change).await? {
                return Ok(Some(body));
            }
        }
        Err(SessionError::Unavailable)
    }

    /// Ends a session and notifies the other nodes. Returns whether the session existed.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    pub async fn remove(&self, name: &str) -> Result<bool, SessionError> {
        Ok(self.records.remove(id(name)).await?)
    }

    /// An item whenever another node may have changed or ended a session. It is only a hint, and always comes after
    /// this node was disconnected for a while. Ends with the sessions.
    pub fn hints(&self, name: &str) -> BoxStream<'static, ()> {
        self.records.hints(id(name))
    }

    /// The number of sessions, as of the last count.
    pub fn count(&self) -> usize {
        self.records.count()
    }
}

fn id(name: &str) -> Id {
    Kind::Session.id(session_key(name))
}

impl Default for SessionBounds {
    fn default() -> Self {
        Self {
            sessions: 100_000,
            sessions_per_owner: 5_000,
            in_use: Duration::from_secs(2 * 60),
            max_idle: Duration::from_secs(30 * 60),
        }
    }
}

impl From<Unavailable> for SessionError {
    fn from(_: Unavailable) -> Self {
        Self::Unavailable
    }
}

//! Sessions of clients: small records with an owner, which expire when they are not used.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::nodes::Unavailable;

/// The shortest time between two recorded uses of a session.
pub const NOTED: Duration = Duration::from_secs(15);

/// The interval at which sessions that have ended are deleted, and the others counted.
pub const LOOK: Duration = Duration::from_secs(30);

/// How many times a change is tried when another change is made first.
pub const TRIES: usize = 16;

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
pub trait Sessions: fmt::Debug + Send + Sync {
    /// Stores a new session under an unused name, such as a random one.
    ///
    /// # Errors
    /// [`SessionError`].
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<(), SessionError>>;

    /// The content of a session, if it exists. Counts as use.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    fn load<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>>;

    /// Replaces the content of a session with the result of `change`, and notifies the other nodes. Returns the content
    /// after that, or `None` if the session no longer exists. Concurrent changes are applied one after another. Counts
    /// as use.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    fn change<'a>(
        &'a self,
        name: &'a str,
        change: &'a Change<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>>;

    /// Ends a session and notifies the other nodes. Returns whether the session existed.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, SessionError>>;

    /// An item whenever another node may have changed or ended a session. It is only a hint, and always comes after
    /// this node was disconnected for a while. Ends with the sessions.
    fn hints(&self, name: &str) -> BoxStream<'static, ()>;

    /// The number of sessions, as of the last count.
    fn count(&self) -> usize;
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

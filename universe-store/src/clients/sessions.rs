//! Sessions of clients: small records with an owner, which end when they are not used.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::nodes::Unavailable;

/// A session's use is noted no more often than this.
pub(crate) const NOTED: Duration = Duration::from_secs(15);

/// How often sessions that have ended are taken away, and the others counted.
pub(crate) const LOOK: Duration = Duration::from_secs(30);

/// How often a change is tried that loses against another one.
pub(crate) const TRIES: usize = 16;

/// What a change makes of a session; `None` where it cannot be read.
pub type Change<'a> = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'a;

/// The bounds of [`Sessions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionBounds {
    /// The most sessions in the store. Each node counts once in 30 s, and its own between; one more takes the place of
    /// the one that has been idle longest, unless all are in use. 100,000 by default.
    pub sessions: usize,
    /// The most of one owner, over all nodes; one more takes the place of another of the same owner. 5,000 by default.
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
    /// All that there may be are in use.
    #[error("{max} sessions are in use")]
    Full {
        /// Whether they are all of this owner.
        is_share: bool,
        /// The bound that was met.
        max: usize,
    },
}

/// The sessions of all nodes that use one store. Every use is a look into the store, so that what one node changes or
/// ends counts for all at once. The time is the store's.
pub trait Sessions: fmt::Debug + Send + Sync {
    /// Keeps a new session under a name that is not taken, such as a random one.
    ///
    /// # Errors
    /// [`SessionError`].
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<(), SessionError>>;

    /// What is in a session, if it lives. Counts as use.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    fn load<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>>;

    /// Puts what `change` makes of a session in its place, and notifies the other nodes; gives what is in it then, or
    /// `None` when it is no more. Of changes at once, each is made to what the one before has left. Counts as use.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    fn change<'a>(
        &'a self,
        name: &'a str,
        change: &'a Change<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>>;

    /// Ends a session, and notifies the other nodes; whether there was one.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`].
    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, SessionError>>;

    /// Reports whenever another node may have changed or ended a session: a hint only, and always one after this node
    /// had no connection for a while. Ends with the sessions.
    fn hints(&self, name: &str) -> BoxStream<'static, ()>;

    /// How many there are, as of the last count.
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

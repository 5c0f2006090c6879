//! The nodes that use one store: each has a name and a lease.

use futures_util::future::BoxFuture;
use uuid::Uuid;

/// The store does not answer, or takes no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store is unavailable")]
pub struct Unavailable;

/// This node among those that use one store. A node whose lease is over has ended, or is cut off from the store. The
/// time is the store's.
pub trait Nodes: Send + Sync {
    /// The name of this node: another one with each start.
    fn id(&self) -> Uuid;

    /// Those of these nodes that have not ended. All of them, as long as this node's own lease has not held for its
    /// whole length, or may have a gap since: it cannot tell.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn alive<'a>(&'a self, nodes: &'a [Uuid]) -> BoxFuture<'a, Result<Vec<Uuid>, Unavailable>>;

    /// Ends the lease of this node, for good: others know at once that it has ended.
    ///
    /// # Errors
    /// [`Unavailable`]: the lease ends by itself.
    fn end(&self) -> BoxFuture<'_, Result<(), Unavailable>>;
}

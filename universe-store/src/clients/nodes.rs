//! The nodes that use one store: each has a name and a lease.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use uuid::Uuid;

/// The store does not answer, or takes no writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store is unavailable")]
pub struct Unavailable;

/// What the store answers, if it does.
pub(crate) type Result<T, E = Unavailable> = std::result::Result<T, E>;

/// This node among the nodes that use one store. A node whose lease has expired has ended, or is cut off from the
/// store. Times are those of the store's clock.
pub trait Nodes: fmt::Debug + Send + Sync {
    /// The name of this node: a new one at each start.
    fn id(&self) -> Uuid;

    /// How long the lease of this node lasts without being renewed.
    fn lease(&self) -> Duration;

    /// The given nodes that have not ended. Returns all of them while this node cannot judge: its own lease has not yet
    /// held for its whole length, or may have had a gap since.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn alive<'a>(&'a self, nodes: &'a [Uuid]) -> BoxFuture<'a, Result<Vec<Uuid>>>;

    /// Ends the lease of this node for good, so that other nodes see at once that it has ended.
    ///
    /// # Errors
    /// [`Unavailable`]: the lease then expires on its own.
    fn end(&self) -> BoxFuture<'_, Result<()>>;
}

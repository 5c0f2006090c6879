//! The owner of a task.

use std::sync::Arc;

/// The callers that may access a task.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Principal(Arc<str>),
    /// A legacy session or connection.
    Peer(Arc<str>),
    /// Any caller that knows its name.
    Anyone,
}

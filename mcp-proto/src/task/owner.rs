//! Whose a task is.

use std::sync::Arc;

/// Who may come back for a task.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Principal(Arc<str>),
    /// A legacy session or connection.
    Peer(Arc<str>),
    /// Whoever knows its name.
    Anyone,
}

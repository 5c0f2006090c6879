//! Whose a task is.

use std::sync::Arc;

use crate::context::Context;
use crate::version::Era;

/// Who may come back for a task.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Principal(Arc<str>),
    /// A legacy session or connection.
    Peer(Arc<str>),
    /// Whoever knows its name.
    Anyone,
}

impl Owner {
    pub(crate) fn of(context: &Context) -> Self {
        match (context.principal(), &context.peer) {
            (Some(principal), _) => Self::Principal(principal.into()),
            // The modern era knows no connections.
            (None, Some(peer)) if context.era() == Era::Legacy => Self::Peer(Arc::clone(peer)),
            (None, _) => Self::Anyone,
        }
    }
}

//! State of clients that nodes share through one store: sessions, their running calls, tasks, and which nodes are
//! alive.
//!
//! The store does not read the content of records. All adapters keep them with the same meaning and bounds, and the same
//! test suite covers them.

pub mod logs;
pub mod nodes;
pub mod sessions;
pub mod tasks;

use std::sync::Arc;

use self::logs::{LogBounds, Logs};
use self::nodes::Nodes;
use self::sessions::{SessionBounds, Sessions};
use self::tasks::{TaskBounds, Tasks};
use crate::UniverseLog;

/// A store through which many nodes share the state of their clients. The values that its methods return outlive it.
pub trait SharedStore: UniverseLog {
    /// This node among the nodes that use the store. Its lease begins with the first call of any method of this trait.
    fn nodes(&self) -> Arc<dyn Nodes>;

    /// The sessions of clients.
    fn sessions(&self, bounds: SessionBounds) -> Arc<dyn Sessions>;

    /// The streams and inboxes of these sessions.
    fn logs(&self, bounds: LogBounds) -> Arc<dyn Logs>;

    /// The tasks of clients.
    fn tasks(&self, bounds: TaskBounds) -> Arc<dyn Tasks>;
}

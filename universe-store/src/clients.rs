//! State of clients that nodes share through one store: sessions, their running calls, tasks, and which nodes are
//! alive.
//!
//! An engine implements the port of [records]. The rules of sessions, tasks and logs are written once, over it, and the
//! same test suite covers all engines. The store does not read the content of records.

pub mod logs;
pub mod nodes;
pub mod records;
pub mod sessions;
pub mod tasks;

use std::sync::Arc;

use self::logs::{LogBounds, Logs};
use self::nodes::Nodes;
use self::records::Records;
use self::sessions::{SessionBounds, Sessions};
use self::tasks::{TaskBounds, Tasks};
use crate::UniverseLog;

/// A store through which many nodes share the state of their clients. The values that its methods return outlive it.
pub trait SharedStore: UniverseLog {
    /// The records, and this node among those that use them. Its lease begins with the first call of any method of this
    /// trait.
    fn records(&self) -> Arc<dyn Records>;

    /// This node among the nodes that use the store.
    fn nodes(&self) -> Arc<dyn Nodes> {
        self.records()
    }

    /// The sessions of clients.
    fn sessions(&self, bounds: SessionBounds) -> Sessions {
        Sessions::new(self.records(), bounds)
    }

    /// The streams and inboxes of these sessions.
    fn logs(&self, bounds: LogBounds) -> Logs {
        Logs::new(self.records(), bounds)
    }

    /// The tasks of clients.
    fn tasks(&self, bounds: TaskBounds) -> Tasks {
        Tasks::new(self.records(), bounds)
    }
}

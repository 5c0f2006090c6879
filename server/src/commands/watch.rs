//! Notifies watchers of changes, in the order of commit.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use super::Universe;
use crate::store::UniverseId;

/// Something that this service has made durable.
///
/// A change is reported after it has happened: a client that reads afterwards finds it. The changes of one universe are
/// reported in order, and before the client that requested them receives its answer.
#[derive(Debug, Clone, Copy)]
pub enum Change<'c> {
    /// A universe was created.
    Created(&'c UniverseId),
    /// A universe has changed. Commands that were made durable together are reported together.
    Changed {
        /// The universe before the change.
        before: &'c Universe,
        /// The universe after the change, at a later revision.
        after: &'c Universe,
        /// Whether the state was replaced as a whole, so that the two states need not share anything.
        replaced: bool,
    },
    /// A universe was deleted.
    Deleted(&'c UniverseId),
}

type Watcher = Box<dyn Fn(Change<'_>) + Send + Sync>;

/// The watchers, which are notified as long as the service exists.
#[derive(Default)]
pub(super) struct Watchers(RwLock<Vec<Watcher>>);

impl Watchers {
    pub(super) fn add(&self, watcher: impl Fn(Change<'_>) + Send + Sync + 'static) {
        let mut watchers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        watchers.push(Box::new(watcher));
    }

    pub(super) fn notify(&self, change: Change<'_>) {
        let watchers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        watchers.iter().for_each(|watcher| watcher(change));
    }
}

impl fmt::Debug for Watchers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Watchers")
    }
}

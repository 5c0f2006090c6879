//! Notifies watchers of changes, in the order of commit.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use super::Universe;
use crate::store::UniverseId;

/// Something that this service has made durable.
///
/// What is reported has happened: a reader that reads afterwards finds it. Of one universe, changes are reported in
/// their order and before the client that asked for them has the answer.
#[derive(Debug, Clone, Copy)]
pub enum Change<'c> {
    /// A universe was created.
    Created(&'c UniverseId),
    /// A universe has changed. Commands that were made durable together are reported together.
    Changed {
        /// As it was.
        before: &'c Universe,
        /// As it is; its revision is a later one.
        after: &'c Universe,
        /// Whether the state was replaced as a whole, so that the two need not share anything.
        replaced: bool,
    },
    /// A universe was deleted.
    Deleted(&'c UniverseId),
}

type Watcher = Box<dyn Fn(Change<'_>) + Send + Sync>;

/// The watchers, which are notified for the life of the service.
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

//! How long a node's own lease has held.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a lease lasts by default.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// How often a lease is made longer while it lasts: every 3 s by default.
pub(crate) const REFRESHES: u32 = 5;

/// The lease of this node. After the store was away no lease holds; so a node judges others only once its own lease has
/// held for its whole length.
pub(crate) struct Lease {
    pub(crate) length: Duration,
    held: Mutex<Option<Held>>,
}

#[derive(Clone, Copy)]
struct Held {
    since: Instant,
    refreshed: Instant,
}

impl Lease {
    pub(crate) fn new(length: Duration) -> Self {
        Self {
            length: length.max(Duration::from_millis(1)),
            held: Mutex::default(),
        }
    }

    /// Notes that the lease was made longer at a time: again, or for the first time after it was over.
    pub(crate) fn refreshed(&self, now: Instant) {
        let mut held = self.held();
        let since = match *held {
            Some(held) if now.duration_since(held.refreshed) < self.length => held.since,
            _ => now,
        };
        *held = Some(Held {
            since,
            refreshed: now,
        });
    }

    /// Whether this node can tell that others have ended.
    pub(crate) fn judges(&self) -> bool {
        let held = *self.held();
        held.is_some_and(|held| {
            held.refreshed.duration_since(held.since) >= self.length
                && held.refreshed.elapsed() < self.length
        })
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        // Nothing panics while it holds this.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! How long a node's own lease has held.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a lease lasts by default.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// How often a lease is made longer while it lasts: every 3 s by default.
pub(crate) const REFRESHES: u32 = 5;

/// The lease of this node, by the clock of the store, in milliseconds.
///
/// After the store was away, a lease may be over though its node is alive. So a node judges others only once its own
/// lease has held for its whole length without a gap, and only until there may be one. There is a gap where the lease
/// was not made longer within two of the intervals in which that is done.
///
/// It does not suffice that this node's own lease has not ended meanwhile. Of two nodes, one has made its lease longer
/// just before the store went away, and the other was about to, so its lease ends up to one interval sooner. If the
/// store was away for almost a lease and the first node comes back first, the second would be taken for dead. With gaps
/// as defined here, the store was away for less than three intervals whenever a node judges. A node that was about to
/// make its lease longer then has one interval to do so before it ends.
pub(crate) struct Lease {
    pub(crate) length: Duration,
    held: Mutex<Option<Held>>,
}

#[derive(Clone, Copy)]
struct Held {
    since: i64,
    refreshed: i64,
}

impl Lease {
    pub(crate) fn new(length: Duration) -> Self {
        Self {
            length: length.max(Duration::from_millis(1)),
            held: Mutex::default(),
        }
    }

    /// Notes that the lease was made longer at a time.
    pub(crate) fn refreshed(&self, now: i64) {
        let gap = self.gap();
        let mut held = self.held();
        let since = match *held {
            // A clock that was set back says nothing of how long it was.
            Some(held) if (0..gap).contains(&now.saturating_sub(held.refreshed)) => held.since,
            _ => now,
        };
        *held = Some(Held {
            since,
            refreshed: now,
        });
    }

    /// Before which time this node can tell that others have ended; one that is always past, if it cannot.
    pub(crate) fn judges_until(&self) -> i64 {
        let length = millis(self.length);
        let held = self
            .held()
            .filter(|held| held.refreshed.saturating_sub(held.since) >= length);
        held.map_or(i64::MIN, |held| held.refreshed.saturating_add(self.gap()))
    }

    /// From how long on the time between two refreshes is a gap.
    fn gap(&self) -> i64 {
        millis(self.length * 2 / REFRESHES)
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        // Nothing panics while it holds this.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As a number of milliseconds.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

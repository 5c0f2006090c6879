//! The time for which a node's own lease has held.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a lease lasts by default.
pub const LEASE: Duration = Duration::from_secs(15);

/// How many times a lease is renewed within its length: every 3 s by default.
pub const REFRESHES: u32 = 5;

/// The lease of this node, by the clock of the store, in milliseconds.
///
/// After the store was unavailable, a lease may have ended although its node is alive. So a node judges others only
/// after its own lease has held for its whole length without a gap, and only until there may be a gap. A gap is a time
/// of two renewal intervals without a renewal.
///
/// It is not enough that this node's own lease has not ended meanwhile. Suppose that one of two nodes renewed its lease
/// just before the store became unavailable, and the other was about to, so its lease ends up to one interval sooner.
/// If the store was unavailable for almost a lease and the first node reconnects first, it would take the second for
/// dead. With gaps as defined here, the store was unavailable for less than three intervals whenever a node judges. A
/// node that was about to renew its lease then has one interval to do so before the lease ends.
#[derive(Debug)]
pub struct Lease {
    /// How long it lasts without being renewed.
    pub length: Duration,
    held: Mutex<Option<Held>>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    since: i64,
    refreshed: i64,
}

impl Lease {
    /// A lease that has not been renewed yet.
    pub fn new(length: Duration) -> Self {
        Self { length: length.max(Duration::from_millis(1)), held: Mutex::default() }
    }

    /// Records that the lease was renewed at the time `now`, in milliseconds.
    pub fn refreshed(&self, now: i64) {
        let gap = self.gap();
        let mut held = self.held();
        let since = match *held {
            // If the clock was set back, the elapsed time is unknown.
            Some(held) if (0..gap).contains(&now.saturating_sub(held.refreshed)) => held.since,
            _ => now,
        };
        *held = Some(Held { since, refreshed: now });
    }

    /// The time in milliseconds until which this node can judge whether others have ended. If it cannot, a time that is
    /// always past.
    pub fn judges_until(&self) -> i64 {
        let length = millis(self.length);
        let held = self.held().filter(|held| held.refreshed.saturating_sub(held.since) >= length);
        held.map_or(i64::MIN, |held| held.refreshed.saturating_add(self.gap()))
    }

    /// The shortest time between two renewals that counts as a gap.
    fn gap(&self) -> i64 {
        millis(self.length * 2 / REFRESHES)
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        // Nothing panics while it holds this.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As a number of milliseconds.
pub fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

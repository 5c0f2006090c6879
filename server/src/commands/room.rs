//! Whether the store has room. A full disk is one line of the log a minute, however many writes are refused: the log
//! may lie on the same disk.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time between two lines.
const PAUSE: Duration = Duration::from_secs(60);

/// What became of the last writes.
#[derive(Default)]
pub(super) struct Room {
    /// Whether the last write found no room.
    is_full: AtomicBool,
    refused: Mutex<Refused>,
}

#[derive(Default)]
struct Refused {
    /// How many writes since the last line.
    count: u64,
    line: Option<Instant>,
}

impl Room {
    /// Whether the last write was stored, as far as room is concerned.
    pub(super) fn is_there(&self) -> bool {
        !self.is_full.load(Ordering::Relaxed)
    }

    /// A write was refused for want of room.
    pub(super) fn missed(&self) {
        self.is_full.store(true, Ordering::Relaxed);
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.count += 1;
        if refused.line.is_none_or(|line| line.elapsed() >= PAUSE) {
            tracing::error!(
                writes = refused.count,
                "the store is full: writes are refused until there is room on its disk, and reads go on"
            );
            *refused = Refused { count: 0, line: Some(Instant::now()) };
        }
    }

    /// A write was stored.
    pub(super) fn found(&self) {
        if self.is_there() || !self.is_full.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        tracing::info!(refused = refused.count, "the store has room again");
        refused.count = 0;
    }
}

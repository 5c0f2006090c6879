//! How long a call has waited for the answers of its client, which a time limit does not count.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::locked::Locked as _;

/// The waits of one call, an extension of its context.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits(Arc<Mutex<Waited>>);

#[derive(Debug, Default)]
struct Waited {
    since: Option<Instant>,
    before: Duration,
}

impl Waits {
    pub(crate) fn begin(&self) {
        self.0.locked().since = Some(Instant::now());
    }

    pub(crate) fn end(&self) {
        let mut waited = self.0.locked();
        let last = waited.since.take();
        waited.before += last.map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// All waits together, with the one that lasts.
    pub(crate) fn total(&self) -> Duration {
        let waited = self.0.locked();
        waited.before + waited.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

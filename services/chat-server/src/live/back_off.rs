//! The pauses between attempts after failures.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Waits longer after each failure, up to a bound. A success resets the wait.
#[derive(Debug, Clone)]
pub(super) struct BackOff {
    next: Duration,
    first: Duration,
    most: Duration,
}

impl BackOff {
    pub(super) fn new(first: Duration, most: Duration) -> Self {
        Self { next: first, first, most }
    }

    /// Resets the wait after a success.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }

    /// Waits. `false` if stopped meanwhile.
    pub(super) async fn wait(&mut self, stop: &CancellationToken) -> bool {
        let pause = self.next;
        self.next = (pause * 2).min(self.most);
        tokio::select! {
            () = stop.cancelled() => false,
            () = tokio::time::sleep(pause) => true,
        }
    }
}

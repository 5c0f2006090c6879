//! How long to wait before trying again what has failed.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Waits longer after each failure, up to a bound, and not long again once something has worked.
#[derive(Debug, Clone)]
pub(super) struct BackOff {
    next: Duration,
    first: Duration,
    most: Duration,
}

impl BackOff {
    pub(super) fn new(first: Duration, most: Duration) -> Self {
        Self {
            next: first,
            first,
            most,
        }
    }

    /// It has worked.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }

    /// Waits; `false` if stopped meanwhile.
    pub(super) async fn wait(&mut self, stop: &CancellationToken) -> bool {
        let pause = self.next;
        self.next = (pause * 2).min(self.most);
        tokio::select! {
            () = stop.cancelled() => false,
            () = tokio::time::sleep(pause) => true,
        }
    }
}

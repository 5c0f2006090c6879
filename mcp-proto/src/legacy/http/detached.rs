//! Calls whose legacy clients have disconnected: they continue, within bounds, so that their effects do not depend on
//! the network.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::config::LegacyConfig;
use super::live::CallGuard;
use crate::budget::{Client, Held, Kind};

/// The bounds of such calls. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Detached(Arc<Bounds>);

#[derive(Debug)]
struct Bounds {
    max_per_session: usize,
    max_time: Duration,
    closing_time: Duration,
    closed: watch::Sender<bool>,
    /// How many tasks drive calls whose streams can be resumed.
    drivers: watch::Sender<usize>,
}

/// A task that drives such calls.
#[derive(Debug)]
pub(super) struct Driver(Detached);

/// The permit of one such call.
#[derive(Debug)]
pub(super) struct DetachedPermit {
    bounds: Detached,
    _held: Held,
    _driver: Driver,
}

impl Detached {
    pub(super) fn new(config: &LegacyConfig) -> Self {
        Self(Arc::new(Bounds {
            max_per_session: config.max_detached_calls_per_session,
            max_time: config.max_detached_time,
            closing_time: config.max_detached_time_after_close,
            closed: watch::channel(false).0,
            drivers: watch::channel(0).0,
        }))
    }

    /// A permit for a call to continue. `None` if its session has ended or already has its share, if every permit is
    /// taken, and after closing.
    pub(super) fn permit(&self, call: &CallGuard, client: &Client) -> Option<DetachedPermit> {
        if *self.0.closed.borrow() {
            return None;
        }
        let held = client.hold(Kind::DetachedCalls, 1).ok()?;
        call.detach(self.0.max_per_session).then(|| DetachedPermit {
            bounds: self.clone(),
            _held: held,
            _driver: self.driver(),
        })
    }

    /// Gives no more permits. Calls that have one may continue for the time allowed after closing.
    pub(super) fn close(&self) {
        self.0.closed.send_replace(true);
    }

    /// Waits until it is closed.
    pub(super) async fn closed(self) {
        let mut closed = self.0.closed.subscribe();
        // Fails only without a sender, and this is one.
        drop(closed.wait_for(|closed| *closed).await);
    }

    /// Counts a task until the guard is dropped.
    pub(super) fn driver(&self) -> Driver {
        self.0.drivers.send_modify(|drivers| *drivers += 1);
        Driver(self.clone())
    }

    /// Waits until no permit is taken and nothing is driven.
    pub(super) async fn ended(&self) {
        let mut drivers = self.0.drivers.subscribe();
        // Fails only without a sender, and this is one.
        drop(drivers.wait_for(|drivers| *drivers == 0).await);
    }

    /// Waits for as long as a call may run without its client.
    pub(super) async fn time_is_over(&self) {
        let bounds = &self.0;
        let mut closed = bounds.closed.subscribe();
        let closing = async {
            drop(closed.wait_for(|closed| *closed).await);
            tokio::time::sleep(bounds.closing_time).await;
        };
        tokio::select! {
            biased;
            () = closing => {
                tracing::warn!("a call whose client disconnected was cancelled: the server closes");
            }
            () = tokio::time::sleep(bounds.max_time) => {
                tracing::warn!("a call whose client disconnected was cancelled: it ran too long");
            }
        }
    }
}

impl DetachedPermit {
    /// Drives the rest of a call to its end.
    pub(super) async fn drive(self, rest: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = rest => {}
            () = self.bounds.time_is_over() => {}
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.0.drivers.send_modify(|drivers| *drivers -= 1);
    }
}

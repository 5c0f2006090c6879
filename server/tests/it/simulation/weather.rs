//! What the network and the store do to a server's messages.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use fastrand::Rng;
use tokio::time::sleep;

/// How long a server waits for an answer of the store.
const PATIENCE: Duration = Duration::from_millis(300);

/// How a store breaks its word, to see that this is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// A server learns at times where the log was before.
    StaleRecords,
    /// Some writes are acknowledged that did not land.
    FalseAcknowledgements,
    /// Some writes land, and the answer is that nothing has changed.
    FalseRefusals,
    /// It does not know what was done under a key.
    ForgottenKeys,
}

/// A message did not come through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost;

/// The way between one server, from its start to its crash, and the store.
pub(crate) struct Link {
    random: Mutex<Rng>,
    pub(crate) flaw: Flaw,
    /// The server has crashed.
    dead: AtomicBool,
    /// Nothing comes through.
    cut: AtomicBool,
    /// Of a thousand messages so many are lost.
    loss: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) conflicts: AtomicU64,
}

impl Link {
    pub(crate) fn new(seed: u64, flaw: Flaw) -> Self {
        Self {
            random: Mutex::new(Rng::with_seed(seed)),
            flaw,
            dead: AtomicBool::new(false),
            cut: AtomicBool::new(false),
            loss: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            conflicts: AtomicU64::new(0),
        }
    }

    fn random(&self) -> MutexGuard<'_, Rng> {
        self.random.lock().unwrap()
    }

    /// Whether something happens that happens `of_thousand` times of a thousand.
    pub(crate) fn happens(&self, of_thousand: u64) -> bool {
        self.random().u64(0..1_000) < of_thousand
    }

    /// One way of a message. A server that has crashed receives nothing any more; what it has sent arrives.
    pub(crate) async fn there(&self) -> Result<(), Lost> {
        self.trip().await
    }

    /// The way of the answer.
    pub(crate) async fn back(&self) -> Result<(), Lost> {
        let arrived = self.trip().await;
        if self.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        arrived
    }

    async fn trip(&self) -> Result<(), Lost> {
        // Most are quick, and one in fifty is overtaken by many others.
        let slow = self.happens(20);
        let most = if slow { 200_000 } else { 3_000 };
        let delay = self.random().u64(100..most);
        sleep(Duration::from_micros(delay)).await;
        if self.cut.load(Ordering::SeqCst) || self.happens(self.loss.load(Ordering::SeqCst)) {
            self.lost.fetch_add(1, Ordering::SeqCst);
            sleep(PATIENCE).await;
            return Err(Lost);
        }
        Ok(())
    }

    pub(crate) fn kill(&self) {
        self.dead.store(true, Ordering::SeqCst);
    }

    pub(crate) fn part(&self, cut: bool) {
        self.cut.store(cut, Ordering::SeqCst);
    }

    pub(crate) fn lose(&self, of_thousand: u64) {
        self.loss.store(of_thousand, Ordering::SeqCst);
    }
}

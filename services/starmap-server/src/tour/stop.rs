//! A long search ends when nobody waits for its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an answer is still wanted. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Sets a [`Stop`] when it is dropped.
#[derive(Debug)]
pub struct StopOnDrop(pub Stop);

impl Stop {
    /// Tells the search to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the search should end.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

//! Turns: no client keeps so many processors busy that the others wait.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Client;

/// A client's turn to keep a processor busy, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// How many pieces of long work are done for a client at once: half as many as there are processors.
#[derive(Debug)]
pub(super) struct Turns(Arc<Semaphore>);

impl Client {
    /// Waits for this client's turn to do long work: it may keep half of the processors busy.
    pub async fn turn(&self) -> Turn {
        loop {
            // Nothing closes the semaphore.
            if let Ok(permit) = Arc::clone(&self.0.turns.0).acquire_owned().await {
                return Turn { _permit: permit };
            }
        }
    }
}

impl Default for Turns {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(2, NonZero::get);
        Self(Arc::new(Semaphore::new((processors / 2).max(1))))
    }
}

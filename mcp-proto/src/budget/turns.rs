//! Turns: a client cannot keep so many processors busy that others have to wait.
//!
//! Large requests, large answers, pictures and the like take a turn; small calls take none. One client has as many
//! turns as half of the processors. Work on a separate thread keeps its turn until it is done, even if its client
//! disconnects.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Client;

/// How many refused bodies are read to their end for a client at once. Others wait in the network meanwhile.
const DISCARDS: usize = 2;

/// The minimum time that a refusal takes: a client is refused for its share at most a thousand times a second.
const REFUSAL: Duration = Duration::from_millis(1);

/// A client's turn to keep a processor busy, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// The turns of one client.
#[derive(Debug)]
pub(super) struct Turns {
    /// How many pieces of long work are done at once: half as many as there are processors.
    work: Arc<Semaphore>,
    discards: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
}

/// How many processors this process has. The system is asked once: it reads several files for the answer.
pub(crate) fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

impl Client {
    /// Waits for this client's turn to do long work: it may keep half of the processors busy. A future that has it and
    /// is not polled keeps it, so [`run_long`](crate::blocking::run_long) waits in a task.
    pub(crate) async fn turn(&self) -> Turn {
        turn(&self.0.turns.work).await
    }

    /// Waits for this client's turn to have a body read that is refused.
    pub async fn discard(&self) -> Turn {
        turn(&self.0.turns.discards).await
    }

    /// Waits for this client's turn to be refused because it holds its share: a client that keeps asking as fast as it
    /// can does not delay others.
    pub async fn refusal(&self) {
        let _turn = turn(&self.0.turns.refusals).await;
        tokio::time::sleep(REFUSAL).await;
    }
}

async fn turn(turns: &Arc<Semaphore>) -> Turn {
    loop {
        // Nothing closes the semaphore.
        if let Ok(permit) = Arc::clone(turns).acquire_owned().await {
            return Turn { _permit: permit };
        }
    }
}

impl Default for Turns {
    fn default() -> Self {
        let of = |count| Arc::new(Semaphore::new(count));
        Self { work: of((processors() / 2).max(1)), discards: of(DISCARDS), refusals: of(1) }
    }
}

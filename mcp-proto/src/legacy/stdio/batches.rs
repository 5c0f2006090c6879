//! Batches on a connection of 2025-03-26: their answers are written together, as one line, once all are ready.

use std::collections::HashMap;

use crate::jsonrpc::Response;
use crate::stdio::output::fitting_together;

/// The batches whose calls are running. There are no more than calls.
#[derive(Debug)]
pub(crate) struct Batches {
    open: HashMap<u64, Batch>,
    next_key: u64,
    /// The most bytes that the peer takes together.
    max_answer: usize,
}

#[derive(Debug, Default)]
struct Batch {
    /// How many calls have neither answered nor been cancelled.
    running: usize,
    answers: Vec<Response>,
}

impl Batches {
    pub(crate) fn new(max_answer: usize) -> Self {
        Self { open: HashMap::new(), next_key: 0, max_answer }
    }

    /// Begins a batch and returns its key.
    pub(crate) fn open(&mut self) -> u64 {
        self.next_key += 1;
        // Counts as a call until the batch is read to its end.
        let batch = Batch { running: 1, answers: Vec::new() };
        self.open.insert(self.next_key, batch);
        self.next_key
    }

    /// Counts a call of the batch as running.
    pub(crate) fn begin(&mut self, key: u64) {
        if let Some(batch) = self.open.get_mut(&key) {
            batch.running += 1;
        }
    }

    /// Adds an answer that does not belong to a call.
    pub(crate) fn refuse(&mut self, key: u64, answer: Response) {
        if let Some(batch) = self.open.get_mut(&key) {
            batch.answers.push(answer);
        }
    }

    /// A call of the batch has ended, or the batch was read to its end. The last one returns the answers.
    pub(crate) fn end(&mut self, key: u64, answer: Option<Response>) -> Option<Vec<Response>> {
        let batch = self.open.get_mut(&key)?;
        batch.answers.extend(answer);
        batch.running -= 1;
        if batch.running > 0 {
            return None;
        }
        let batch = self.open.remove(&key)?;
        (!batch.answers.is_empty()).then(|| fitting_together(batch.answers, self.max_answer))
    }
}

//! The last events of one stream, and the memory that all streams share.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// What an event takes besides its text.
const OVERHEAD: usize = 64;

/// How many bytes of events all streams keep together.
#[derive(Debug)]
pub(super) struct Budget {
    used: AtomicUsize,
    max: usize,
}

/// The last events of a stream, numbered from 1 without a gap.
#[derive(Debug)]
pub(super) struct Ring {
    events: VecDeque<Bytes>,
    /// The number of the first event that is kept, or of the next one where none is.
    first: u64,
    bytes: usize,
    budget: Arc<Budget>,
}

impl Budget {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            used: AtomicUsize::new(0),
            max,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.used() > self.max
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

impl Ring {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self {
            events: VecDeque::new(),
            first: 1,
            bytes: 0,
            budget,
        }
    }

    /// The number of the next event.
    pub(super) fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The number of the first event that is kept.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn push(&mut self, event: Bytes) {
        let size = event.len() + OVERHEAD;
        self.bytes += size;
        self.budget.used.fetch_add(size, Ordering::Relaxed);
        self.events.push_back(event);
    }

    pub(super) fn get(&self, number: u64) -> Option<&Bytes> {
        let at = number.checked_sub(self.first)?;
        self.events.get(usize::try_from(at).ok()?)
    }

    /// Forgets the oldest until so much is left, but none from `kept` on, and never the last: it may be the answer.
    pub(super) fn trim(&mut self, max_events: usize, max_bytes: usize, kept: u64) {
        while (self.events.len() > max_events || self.bytes > max_bytes)
            && self.events.len() > 1
            && self.first < kept
        {
            self.forget_first();
        }
    }

    /// Forgets every event before the one of this number.
    pub(super) fn forget_before(&mut self, kept: u64) {
        while self.first < kept && !self.events.is_empty() {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.first += 1;
            let size = event.len() + OVERHEAD;
            self.bytes -= size;
            self.budget.used.fetch_sub(size, Ordering::Relaxed);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

//! The last events of one stream, counted for its client.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::budget::{Client, Held, Kind, Over};

/// The memory of an event besides its text: its slot in the ring, whose capacity may be twice as large, and the
/// accounting of the text.
const OVERHEAD: usize = 96;

/// A ring does not shrink below this capacity.
const FEW: usize = 16;

/// The last events of a stream, numbered from 1 without a gap.
#[derive(Debug)]
pub(super) struct Ring {
    events: VecDeque<Bytes>,
    /// The number of the oldest event kept, or of the next event if none is kept.
    first: u64,
    held: Held,
}

impl Ring {
    pub(super) fn new(client: &Client) -> Self {
        Self { events: VecDeque::new(), first: 1, held: client.overdraw(Kind::KeptBytes, 0) }
    }

    /// The client that it belongs to.
    pub(super) fn client(&self) -> Client {
        self.held.client()
    }

    /// Whether its client, or all clients together, exceed the bound of kept bytes.
    pub(super) fn is_over(&self) -> bool {
        self.held.is_over()
    }

    /// The bound that a large event would exceed, if any.
    pub(super) fn has_room(&self, event: usize) -> Result<(), Over> {
        self.held.client().hold_alone(Kind::KeptBytes, event).map(drop)
    }

    /// The number of the next event.
    pub(super) fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The number of the oldest event kept, or of the next event if none is kept.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn push(&mut self, event: Vec<u8>) {
        // It takes no more memory than it needs.
        let event = Bytes::from(event.into_boxed_slice());
        // Small ones are never refused: an open connection has only a few events yet to read.
        self.held.overdraw(event.len() + OVERHEAD);
        self.events.push_back(event);
    }

    pub(super) fn get(&self, number: u64) -> Option<&Bytes> {
        let at = number.checked_sub(self.first)?;
        self.events.get(usize::try_from(at).ok()?)
    }

    /// Forgets the oldest events until the bounds are met, but none from `kept` on, and never the last: it may be the
    /// answer.
    pub(super) fn trim(&mut self, max_events: usize, max_bytes: usize, kept: u64) {
        while (self.events.len() > max_events || self.held.amount() > max_bytes)
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
            self.held.shrink(event.len() + OVERHEAD);
            if self.events.len() < self.events.capacity() / 4 {
                self.events.shrink_to(FEW.max(2 * self.events.len()));
            }
        }
    }
}

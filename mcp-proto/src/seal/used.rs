//! Tickets that are good once: the ids of those that were used, until they would have expired anyway.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::{Nonce, Ticket, TicketError};

/// How many used tickets are remembered unless configured.
pub(crate) const DEFAULT_MAX_USED: usize = 10_000;

/// Remembers which tickets were used, so that each is good once.
///
/// It is bounded, and when it is full of tickets that have not expired, no other is accepted until one has: whoever
/// could push an id out could use that ticket again. It is the memory of one process: processes that share keys, but
/// not this, accept a ticket once each.
#[derive(Debug)]
pub(crate) struct UsedOnce {
    max: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By expiry; the expiry of a ticket is sealed, so its id never comes with another.
    used: BTreeSet<(u64, Nonce)>,
    /// The latest expiry among the forgotten. A clock that is set back must not bring their tickets back.
    forgotten: u64,
}

impl UsedOnce {
    /// Remembers at most `max` tickets at a time.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            table: Mutex::default(),
        }
    }

    /// Uses the ticket: `Ok` once in its life, `now` being in seconds since 1970 (UTC).
    pub(crate) fn accept<T>(&self, ticket: &Ticket<T>, now: u64) -> Result<(), TicketError> {
        // No code panics while it holds the table.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.forget(now);
        if ticket.expires <= now.max(table.forgotten) {
            return Err(TicketError::Expired);
        }
        let entry = (ticket.expires, ticket.id);
        if table.used.contains(&entry) {
            return Err(TicketError::Used);
        }
        if table.used.len() >= self.max {
            return Err(TicketError::Full);
        }
        table.used.insert(entry);
        Ok(())
    }
}

impl Default for UsedOnce {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_USED)
    }
}

impl Table {
    fn forget(&mut self, now: u64) {
        while self
            .used
            .first()
            .is_some_and(|(expires, _)| *expires <= now)
        {
            if let Some((expires, _)) = self.used.pop_first() {
                self.forgotten = expires;
            }
        }
    }
}

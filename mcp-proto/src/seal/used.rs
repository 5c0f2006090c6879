//! Tickets that are valid only once: the ids of those that were used, until they would have expired anyway.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use super::{Nonce, Ticket, TicketError};
use crate::locked::Locked as _;

/// How many used tickets are remembered unless configured.
pub(crate) const DEFAULT_MAX_USED: usize = 100_000;

/// The divisor for the part of them that one authenticated caller may fill.
const SHARE: usize = 10;

/// Remembers which tickets were used, so that each is accepted only once.
///
/// It is bounded, and when it is full of tickets that have not expired, no other is accepted until one has: a caller
/// that could evict an id could use that ticket again. A single caller can fill only a tenth of it. It is kept per
/// process: processes that share keys, but not this, accept a ticket once each.
#[derive(Debug)]
pub(crate) struct UsedOnce {
    max: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By expiry; the expiry of a ticket is sealed, so an id always comes with the same expiry.
    used: BTreeMap<(u64, Nonce), Option<Arc<str>>>,
    /// How many of them each authenticated caller has used.
    by_caller: HashMap<Arc<str>, usize>,
    /// The latest expiry among the forgotten. A clock that is set back must not bring their tickets back.
    forgotten: u64,
}

impl UsedOnce {
    /// Remembers at most `max` tickets at a time.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, table: Mutex::default() }
    }

    /// Uses the ticket of `caller`: `Ok` only once, `now` being in seconds since 1970 (UTC). Callers without
    /// authentication cannot be distinguished, so they have no share.
    pub(crate) fn accept<T>(
        &self,
        ticket: &Ticket<T>,
        caller: Option<&str>,
        now: u64,
    ) -> Result<(), TicketError> {
        let mut table = self.table.locked();
        table.forget(now);
        if ticket.expires <= now.max(table.forgotten) {
            return Err(TicketError::Expired);
        }
        let entry = (ticket.expires, ticket.id);
        if table.used.contains_key(&entry) {
            return Err(TicketError::Used);
        }
        if table.used.len() >= self.max {
            return Err(TicketError::Full);
        }
        let caller = match caller {
            None => None,
            Some(caller) => Some(table.count(caller, self.max.div_ceil(SHARE))?),
        };
        table.used.insert(entry, caller);
        Ok(())
    }
}

impl Default for UsedOnce {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_USED)
    }
}

impl Table {
    /// Counts one more for the caller, if it has less than `share`.
    fn count(&mut self, caller: &str, share: usize) -> Result<Arc<str>, TicketError> {
        let name = match self.by_caller.get_key_value(caller) {
            Some((_, count)) if *count >= share => return Err(TicketError::Full),
            Some((name, _)) => Arc::clone(name),
            None => Arc::from(caller),
        };
        *self.by_caller.entry(Arc::clone(&name)).or_default() += 1;
        Ok(name)
    }

    fn forget(&mut self, now: u64) {
        while let Some(first) = self.used.first_entry()
            && first.key().0 <= now
        {
            let ((expires, _), caller) = first.remove_entry();
            self.forgotten = expires;
            if let Some(caller) = caller
                && let Some(count) = self.by_caller.get_mut(&caller)
            {
                *count -= 1;
                if *count == 0 {
                    self.by_caller.remove(&caller);
                }
            }
        }
    }
}

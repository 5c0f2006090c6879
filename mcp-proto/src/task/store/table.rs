//! The tasks and their kept sizes, by name, by owner, and by expiry.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::time::Instant;

use crate::budget::{Held, Over};
use crate::task::{Entry, Owner};

/// See the module.
#[derive(Default)]
pub(super) struct Table {
    pub(super) tasks: HashMap<Arc<str>, Filed>,
    /// By expiry.
    ends: BTreeMap<(Instant, u64), Arc<Entry>>,
    /// The tasks of each owner, by number.
    pub(super) owned: HashMap<Owner, BTreeMap<u64, Arc<Entry>>>,
    next_number: u64,
}

/// A task and its kept size.
pub(super) struct Filed {
    pub(super) entry: Arc<Entry>,
    pub(super) bytes: Held,
    _place: Held,
}

impl Table {
    /// The number of the next task.
    pub(super) fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    pub(super) fn insert(&mut self, entry: &Arc<Entry>, place: Held, bytes: Held) {
        let filed = Filed { entry: Arc::clone(entry), bytes, _place: place };
        self.tasks.insert(Arc::clone(&entry.id), filed);
        self.ends.insert((entry.expires, entry.number), Arc::clone(entry));
        if entry.owner != Owner::Anyone {
            let owned = self.owned.entry(entry.owner.clone()).or_default();
            owned.insert(entry.number, Arc::clone(entry));
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        if self.tasks.remove(&entry.id).is_none() {
            return;
        }
        self.ends.remove(&(entry.expires, entry.number));
        if let Some(owned) = self.owned.get_mut(&entry.owner) {
            owned.remove(&entry.number);
            if owned.is_empty() {
                self.owned.remove(&entry.owner);
            }
        }
    }

    /// The kept size of a task in bytes; 0 for a task that was removed.
    pub(super) fn kept(&self, id: &str) -> usize {
        self.tasks.get(id).map_or(0, |filed| filed.bytes.amount())
    }

    /// Sets the kept size of a task, unless it is too much. Does nothing for a task that was removed.
    pub(super) fn charge(&mut self, id: &str, bytes: usize) -> Result<(), Over> {
        match self.tasks.get_mut(id) {
            Some(filed) => filed.bytes.set(bytes),
            None => Ok(()),
        }
    }

    /// Sets the kept size of a task to 0.
    pub(super) fn empty(&mut self, id: &str) {
        if let Some(filed) = self.tasks.get_mut(id) {
            filed.bytes.shrink_to(0);
        }
    }

    /// Removes the first expired tasks, at most `max`.
    pub(super) fn take_expired(&mut self, now: Instant, max: usize) -> Vec<Arc<Entry>> {
        let mut gone = Vec::new();
        while gone.len() < max
            && let Some(first) = self.ends.first_entry()
            && first.key().0 <= now
        {
            let entry = first.remove();
            self.remove(&entry);
            gone.push(entry);
        }
        gone
    }
}

//! What is kept of which task, found by name, by owner, and by the end of its time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tokio::time::Instant;

use super::{NewTask, busy};
use crate::jsonrpc::ErrorObject;
use crate::task::{Entry, Owner, TasksConfig};

/// See the module.
#[derive(Default)]
pub(super) struct Table {
    pub(super) tasks: HashMap<Arc<str>, Filed>,
    /// By the end of their time.
    ends: BTreeMap<(Instant, u64), Arc<Entry>>,
    pub(super) owned: HashMap<Owner, Owned>,
    /// Of all tasks together.
    pub(super) bytes: usize,
    next_number: u64,
}

/// The tasks of one owner.
#[derive(Default)]
pub(super) struct Owned {
    /// By their number.
    pub(super) tasks: BTreeMap<u64, Arc<Entry>>,
    bytes: usize,
}

/// A task and what is kept of it.
pub(super) struct Filed {
    pub(super) entry: Arc<Entry>,
    pub(super) bytes: usize,
}

impl Table {
    /// The number of the next task.
    pub(super) fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Why there is no place for one more, if there is none.
    pub(super) fn refuses(&self, new: &NewTask, config: &TasksConfig) -> Option<ErrorObject> {
        let (owned, bytes) = match self.owned.get(&new.owner) {
            Some(owned) => (owned.tasks.len(), owned.bytes),
            None => (0, 0),
        };
        let full = self.tasks.len() >= config.max_tasks
            || self.bytes.saturating_add(new.bytes) > config.max_bytes;
        if full {
            tracing::warn!(
                tasks = self.tasks.len(),
                bytes = self.bytes,
                "no room for a task"
            );
            return Some(busy(
                "the server keeps as many tasks as it can: try again later",
            ));
        }
        let owner_is_full = owned >= config.max_tasks_per_owner
            || (new.owner != Owner::Anyone
                && bytes.saturating_add(new.bytes) > config.max_bytes_per_owner);
        owner_is_full.then(|| {
            busy(&format!(
                "{owned} tasks of yours with {bytes} bytes are kept, and there is no room for another: try again later"
            ))
        })
    }

    pub(super) fn insert(&mut self, entry: &Arc<Entry>, bytes: usize) {
        let filed = Filed {
            entry: Arc::clone(entry),
            bytes,
        };
        self.bytes += bytes;
        self.tasks.insert(Arc::clone(&entry.id), filed);
        self.ends
            .insert((entry.expires, entry.number), Arc::clone(entry));
        if entry.owner != Owner::Anyone {
            let owned = self.owned.entry(entry.owner.clone()).or_default();
            owned.tasks.insert(entry.number, Arc::clone(entry));
            owned.bytes += bytes;
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        let Some(filed) = self.tasks.remove(&entry.id) else {
            return;
        };
        self.bytes -= filed.bytes;
        self.ends.remove(&(entry.expires, entry.number));
        if let Some(owned) = self.owned.get_mut(&entry.owner) {
            owned.tasks.remove(&entry.number);
            owned.bytes -= filed.bytes;
            if owned.tasks.is_empty() {
                self.owned.remove(&entry.owner);
            }
        }
    }

    /// Sets what is kept of a task, unless it is too much for its owner or all together. Of one that is out nothing is.
    pub(super) fn charge(&mut self, id: &str, bytes: usize, config: &TasksConfig) -> bool {
        let Some(filed) = self.tasks.get_mut(id) else {
            return true;
        };
        let mut owned = self.owned.get_mut(&filed.entry.owner);
        let with = |kept: usize| (kept - filed.bytes).saturating_add(bytes);
        let all = with(self.bytes);
        let owners = owned.as_ref().map_or(0, |owned| with(owned.bytes));
        let too_much = all > config.max_bytes || owners > config.max_bytes_per_owner;
        if too_much && bytes > filed.bytes {
            return false;
        }
        if let Some(owned) = &mut owned {
            owned.bytes = owners;
        }
        (filed.bytes, self.bytes) = (bytes, all);
        true
    }

    /// Takes out the first tasks whose time is over, at most `max`.
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

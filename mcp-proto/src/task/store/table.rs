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
    /// By their owner and number.
    pub(super) owned: HashMap<Owner, BTreeMap<u64, Arc<Entry>>>,
    /// Of all tasks together.
    pub(super) bytes: usize,
    next_number: u64,
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
        let owned = self.owned.get(&new.owner).map_or(0, BTreeMap::len);
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
        (owned >= config.max_tasks_per_owner).then(|| {
            busy(&format!(
                "{owned} tasks of yours are kept, which is the most: try again later"
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
            owned.insert(entry.number, Arc::clone(entry));
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        if let Some(filed) = self.tasks.remove(&entry.id) {
            self.bytes -= filed.bytes;
        }
        self.ends.remove(&(entry.expires, entry.number));
        if let Some(owned) = self.owned.get_mut(&entry.owner) {
            owned.remove(&entry.number);
            if owned.is_empty() {
                self.owned.remove(&entry.owner);
            }
        }
    }

    /// Sets what is kept of a task, unless it is too much for all together. Of one that is out nothing is.
    pub(super) fn charge(&mut self, id: &str, bytes: usize, max: usize) -> bool {
        let Some(filed) = self.tasks.get_mut(id) else {
            return true;
        };
        let all = (self.bytes - filed.bytes).saturating_add(bytes);
        if all > max && bytes > filed.bytes {
            return false;
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

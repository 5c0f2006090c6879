//! An ordered list whose entries are removed by a key instead of an index.

use imbl::OrdMap;
use serde::ser::{Serialize, Serializer};

/// A persistent list. Every entry has a *slot*, a key that never changes while it is in the list
/// and that orders it; appending and removing take O(log n), cloning O(1).
#[derive(Debug, Clone)]
pub(crate) struct Sequence<T> {
    entries: OrdMap<u64, T>,
}

impl<T: Clone> Sequence<T> {
    /// Appends and returns the slot. The counter cannot run out: each slot costs a command.
    pub(crate) fn push(&mut self, entry: T) -> u64 {
        let slot = self.entries.get_max().map_or(0, |(last, _)| last + 1);
        self.entries.insert(slot, entry);
        slot
    }

    /// Removes and returns what is in the slot.
    pub(crate) fn remove(&mut self, slot: u64) -> Option<T> {
        self.entries.remove(&slot)
    }

    /// What is in the slot.
    pub(crate) fn get(&self, slot: u64) -> Option<&T> {
        self.entries.get(&slot)
    }

    /// The entries, in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> + DoubleEndedIterator {
        self.entries.values()
    }

    /// The entries with their slots, in order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u64, &T)> {
        self.entries.iter().map(|(slot, entry)| (*slot, entry))
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether both are the same value, as far as can be seen at once.
    pub(crate) fn is_shared(&self, other: &Self) -> bool {
        self.entries.ptr_eq(&other.entries)
    }
}

impl<T: PartialEq> Sequence<T> {
    /// False if they share all their entries. Entries that moved and came to lie as before count as different.
    pub(crate) fn may_differ(&self, other: &Self) -> bool {
        self.entries.diff(&other.entries).next().is_some()
    }
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        let entries = OrdMap::new();
        Self { entries }
    }
}

impl<T: Clone> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let entries = (0_u64..).zip(entries).collect();
        Self { entries }
    }
}

/// Equal entries in equal order; slots are of no account.
impl<T: Clone + PartialEq> PartialEq for Sequence<T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries.ptr_eq(&other.entries)
            || (self.len() == other.len() && self.iter().eq(other.iter()))
    }
}

impl<T: Clone + Serialize> Serialize for Sequence<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

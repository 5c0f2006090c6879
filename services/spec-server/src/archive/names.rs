//! The names of requirements in a spec: exact names, and names that differ only in case and blanks.

use std::collections::{BTreeSet, HashMap};

use crate::parse::fold;

/// Maps each name to its block.
#[derive(Debug, Default)]
pub(super) struct Names {
    exact: HashMap<String, usize>,
    folded: HashMap<String, BTreeSet<String>>,
}

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = String> {
        self.exact.keys().cloned()
    }

    /// Gives `name` to a block. Returns `false` and changes nothing if another block has it.
    pub(super) fn insert(&mut self, name: &str, block: usize) -> bool {
        if self.exact.contains_key(name) {
            return false;
        }
        self.exact.insert(name.to_owned(), block);
        let alike = self.folded.entry(fold(name)).or_default();
        alike.insert(name.to_owned())
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<usize> {
        let block = self.exact.remove(name)?;
        if let Some(alike) = self.folded.get_mut(&fold(name)) {
            alike.remove(name);
        }
        Some(block)
    }

    /// A name that differs from `name` only in case and blanks, other than `except`.
    pub(super) fn near(&self, name: &str, except: &str) -> Option<&str> {
        let alike = self.folded.get(&fold(name))?;
        alike.iter().map(String::as_str).find(|other| *other != name && *other != except)
    }
}

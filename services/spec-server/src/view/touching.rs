//! The active changes that touch each requirement.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::model::Change;
use crate::parse::fold;

/// The most changes that are listed for one requirement.
const MAX_NAMED: usize = 10;

/// The ids of active changes by the requirements that they add, modify, remove or rename.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touching(HashMap<(String, String), BTreeSet<String>>);

impl Touching {
    /// Collects them from the active changes.
    pub fn of(changes: &[Arc<Change>]) -> Self {
        let mut touching = Self::default();
        for change in changes {
            for delta in &change.deltas {
                for name in delta.operations.iter().flat_map(|one| one.names()) {
                    let key = (delta.capability.clone(), fold(name));
                    let ids = touching.0.entry(key).or_default();
                    ids.insert(change.id.clone());
                }
            }
        }
        touching
    }

    /// The changes that touch one requirement, at most ten.
    pub fn requirement(&self, spec: &str, name: &str) -> Vec<String> {
        let ids = self.0.get(&(spec.to_owned(), fold(name)));
        ids.into_iter().flatten().take(MAX_NAMED).cloned().collect()
    }
}

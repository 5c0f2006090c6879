//! The active changes that touch each requirement, and the conflicts between them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::CHANGE_CONFLICT;
use super::finding::{ChangePart, Findings};
use super::openspec::path;
use crate::model::{Change, Operation};
use crate::parse::fold;

/// The most changes that are listed for one requirement.
const MAX_LISTED: usize = 10;

/// The most other changes that one finding names.
const MAX_NAMED: usize = 5;

/// The active changes by the requirements that they add, modify, remove or rename: their ids, each with the first
/// operation in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touching(HashMap<(String, String), BTreeMap<String, String>>);

impl Touching {
    /// Collects them from the active changes.
    pub fn of(changes: &[Arc<Change>]) -> Self {
        let mut touching = Self::default();
        for change in changes {
            for delta in &change.deltas {
                for one in &delta.operations {
                    for name in one.names() {
                        let key = (delta.capability.clone(), fold(name));
                        let touched = touching.0.entry(key).or_default();
                        touched.entry(change.id.clone()).or_insert_with(|| {
                            let (verb, file) = (verb(one.operation), path(&delta.source));
                            format!("{:?} {verb} it ({file}, line {})", change.id, one.line())
                        });
                    }
                }
            }
        }
        touching
    }

    /// The changes that touch one requirement, at most ten.
    pub fn requirement(&self, spec: &str, name: &str) -> Vec<String> {
        let touched = self.0.get(&(spec.to_owned(), fold(name)));
        touched.into_iter().flat_map(BTreeMap::keys).take(MAX_LISTED).cloned().collect()
    }

    /// One finding for each place where `change`, which is one of them, touches a requirement that another one touches
    /// as well.
    pub(super) fn conflicts(&self, change: &Change) -> Findings {
        let mut findings = Findings::default();
        for delta in &change.deltas {
            let file = path(&delta.source);
            let mut at = findings.at(&file, Some(ChangePart::Deltas));
            for one in &delta.operations {
                for name in one.names() {
                    let key = (delta.capability.clone(), fold(name));
                    let Some(touched) = self.0.get(&key).filter(|all| all.len() > 1) else {
                        continue;
                    };
                    let others = touched.iter().filter(|(id, _)| **id != change.id);
                    let mut others: Vec<_> =
                        others.map(|(_, text)| text.clone()).take(MAX_NAMED).collect();
                    if touched.len() > MAX_NAMED + 1 {
                        others.push(format!("and {} more", touched.len() - 1 - MAX_NAMED));
                    }
                    let message = format!(
                        "the change {:?} {} the requirement {name:?} of {}, and so does another: {}; finish one of them \
                         first, then bring the other up to date",
                        change.id,
                        verb(one.operation),
                        delta.capability,
                        others.join(", ")
                    );
                    at.add(CHANGE_CONFLICT, one.line(), message);
                }
            }
        }
        findings
    }
}

const fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Added => "adds",
        Operation::Modified => "modifies",
        Operation::Removed => "removes",
        Operation::Renamed => "renames",
    }
}

//! The active changes that touch each requirement, and the conflicts between them and with what was archived since.

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

/// Changes by the requirements that they add, modify, remove or rename: their ids, each with the first operation in
/// words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touching(HashMap<(String, String), BTreeMap<String, String>>);

impl Touching {
    /// Collects them from the active changes.
    pub fn of(changes: &[Arc<Change>]) -> Self {
        Self::by(changes, |_| true)
    }

    /// Collects from archived changes what they modified. What they did otherwise cannot be undone unseen: archiving
    /// refuses what does not go with it.
    pub(super) fn archived(changes: &[Arc<Change>]) -> Self {
        Self::by(changes, |operation| operation == Operation::Modified)
    }

    fn by(changes: &[Arc<Change>], counts: impl Fn(Operation) -> bool) -> Self {
        let mut touching = Self::default();
        for change in changes {
            for delta in &change.deltas {
                for one in delta.operations.iter().filter(|one| counts(one.operation)) {
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
    /// as well, or that one of those in `archived` has modified since `change` was begun.
    pub(super) fn conflicts(&self, archived: &Self, change: &Change) -> Findings {
        let mut findings = Findings::default();
        let begun = change.begun();
        for delta in &change.deltas {
            let file = path(&delta.source);
            let mut at = findings.at(&file, Some(ChangePart::Deltas));
            for one in &delta.operations {
                for name in one.names() {
                    let key = (delta.capability.clone(), fold(name));
                    let by = archived
                        .0
                        .get(&key)
                        .zip(begun.filter(|_| one.operation != Operation::Added));
                    // The ids of archived changes begin with their days.
                    if let Some((_, by)) =
                        by.and_then(|(all, day)| all.range(day.to_owned()..).next_back())
                    {
                        let message = format!(
                            "the change {:?} {} the requirement {name:?} of {}, and so does one that was archived since it \
                             was begun: {by}; if the text here is older than that, bring it up to date with the spec, or \
                             archiving undoes that work",
                            change.id,
                            verb(one.operation),
                            delta.capability,
                        );
                        at.add(CHANGE_CONFLICT, one.line(), message);
                    }
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

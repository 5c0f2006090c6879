//! The operations of a delta, by kind.

use super::block::Block;
use crate::model::{CapabilityDelta, Delta, Line, Operation};

/// A delta, sorted by kind of operation.
#[derive(Debug)]
pub(super) struct Plan<'d> {
    /// The requirements to add.
    pub(super) added: Vec<Block<'d>>,
    /// The new requirements.
    pub(super) modified: Vec<Block<'d>>,
    /// The names of the requirements to remove.
    pub(super) removed: Vec<(&'d str, Line)>,
    /// The complete renames.
    pub(super) renamed: Vec<Rename<'d>>,
    /// The incomplete renames: whether it is the new name, the name, and the line.
    pub(super) halves: Vec<(bool, &'d str, Line)>,
}

/// A rename from one name to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rename<'d> {
    pub(super) from: &'d str,
    pub(super) to: &'d str,
    /// The line of the old name.
    pub(super) line: Line,
}

/// Sorts the operations of a delta. Renames in one heading count only with `arrows`: OpenSpec does not read them.
pub(super) fn plan(delta: &CapabilityDelta, arrows: bool) -> Plan<'_> {
    let of = |operation| {
        let all = delta.operations.iter().filter(move |one| one.operation == operation);
        all.filter(move |one| arrows || !one.is_block || operation != Operation::Renamed)
    };
    let mut plan = Plan {
        added: of(Operation::Added).map(block).collect(),
        modified: of(Operation::Modified).map(block).collect(),
        removed: of(Operation::Removed)
            .map(|one| (one.requirement.name.as_str(), one.line()))
            .collect(),
        renamed: Vec::new(),
        halves: Vec::new(),
    };
    for one in of(Operation::Renamed) {
        let (from, line) = (one.requirement.name.as_str(), one.line());
        match one.renamed_to.as_deref() {
            Some(to) if from.is_empty() => plan.halves.push((true, to, line)),
            Some(to) => plan.renamed.push(Rename { from, to, line }),
            None => plan.halves.push((false, from, line)),
        }
    }
    plan
}

fn block(one: &Delta) -> Block<'_> {
    Block { name: &one.requirement.name, lines: one.lines.clone() }
}

impl Plan<'_> {
    /// The number of operations.
    pub(super) fn operations(&self) -> usize {
        self.added.len() + self.modified.len() + self.removed.len() + self.renamed.len()
    }
}

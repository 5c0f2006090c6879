//! Conflicts between active changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::CHANGE_CONFLICT;
use super::finding::{ChangePart, Findings};
use super::openspec::path;
use crate::model::{CapabilityDelta, Change, Delta, Operation};

/// The most other changes that one finding names.
const MAX_NAMED: usize = 5;

/// One operation of one change on one requirement.
#[derive(Debug, Clone, Copy)]
struct Touch<'c> {
    change: usize,
    delta: &'c CapabilityDelta,
    operation: &'c Delta,
}

/// Finds, for each of `changes`, the requirements of a capability that another change touches as well: adds, modifies,
/// removes, renames, or uses as a new name. There is one finding for each place where a change does so.
pub(super) fn between(changes: &[Arc<Change>]) -> Vec<Findings> {
    let mut touched: BTreeMap<(&str, &str), Vec<Touch<'_>>> = BTreeMap::new();
    for (index, change) in changes.iter().enumerate() {
        for delta in &change.deltas {
            for operation in &delta.operations {
                let touch = Touch { change: index, delta, operation };
                for name in operation.names() {
                    touched.entry((&delta.capability, name)).or_default().push(touch);
                }
            }
        }
    }
    let mut findings: Vec<Findings> = changes.iter().map(|_| Findings::default()).collect();
    for ((capability, name), touches) in touched {
        let touches = Touches::of(&touches, changes);
        if touches.by_change.len() < 2 {
            continue;
        }
        for (index, own) in &touches.by_change {
            let (Some(findings), Some(change)) = (findings.get_mut(*index), changes.get(*index))
            else {
                continue;
            };
            let others = touches.but(*index);
            for touch in own {
                let file = path(&touch.delta.source);
                let message = format!(
                    "the change {:?} {} the requirement {name:?} of {capability}, and so does another: {others}; finish one of \
                     them first, then bring the other up to date",
                    change.id,
                    verb(touch.operation.operation)
                );
                let mut at = findings.at(&file, Some(ChangePart::Deltas));
                at.add(CHANGE_CONFLICT, touch.operation.line, message);
            }
        }
    }
    findings
}

/// The changes that touch one requirement.
struct Touches<'t> {
    by_change: BTreeMap<usize, Vec<&'t Touch<'t>>>,
    total: usize,
    /// The operations in words, with their changes; for each change only the first few.
    described: Vec<(usize, String)>,
}

impl<'t> Touches<'t> {
    fn of(touches: &'t [Touch<'t>], changes: &[Arc<Change>]) -> Self {
        let mut by_change: BTreeMap<usize, Vec<&Touch<'_>>> = BTreeMap::new();
        let mut total = 0;
        for touch in touches {
            let own = by_change.entry(touch.change).or_default();
            // A requirement that is renamed to its own name counts as touched once.
            let is_same = |last: &&Touch<'_>| std::ptr::eq(last.operation, touch.operation);
            if !own.last().is_some_and(is_same) {
                own.push(touch);
                total += 1;
            }
        }
        let mut described: Vec<(usize, String)> = Vec::new();
        // A finding names at most `MAX_NAMED` operations of other changes, so more changes and operations are not
        // needed here.
        for (index, touches) in by_change.iter().take(MAX_NAMED + 1) {
            let change = changes.get(*index).map_or("", |change| &change.id);
            let named = touches.iter().take(MAX_NAMED).map(|touch| {
                let text = format!(
                    "{change:?} {} it ({}, line {})",
                    verb(touch.operation.operation),
                    path(&touch.delta.source),
                    touch.operation.line
                );
                (*index, text)
            });
            described.extend(named);
        }
        Self { by_change, total, described }
    }

    /// The operations of all changes except `index`.
    fn but(&self, index: usize) -> String {
        let own = self.by_change.get(&index).map_or(0, Vec::len);
        let named = self.described.iter().filter(|(other, _)| *other != index);
        let mut named: Vec<&str> = named.map(|(_, text)| text.as_str()).take(MAX_NAMED).collect();
        let left = self.total.saturating_sub(own + named.len());
        let more = format!("and {left} more");
        if left > 0 {
            named.push(&more);
        }
        named.join(", ")
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

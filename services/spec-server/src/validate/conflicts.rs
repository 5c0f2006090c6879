//! Active changes that get in each other's way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::CHANGE_CONFLICT;
use super::finding::{Findings, Part, Place};
use super::openspec::path;
use crate::model::{CapabilityDelta, Change, Delta, Operation};

/// The most other changes that one finding names.
const MAX_NAMED: usize = 5;

/// One change's business with one requirement.
#[derive(Debug, Clone, Copy)]
struct Touch<'c> {
    change: usize,
    delta: &'c CapabilityDelta,
    operation: &'c Delta,
}

/// Finds, for each of `changes`, the requirements of a capability that another one touches as well: adds, modifies, removes,
/// renames, or gives as a new name. One finding for each place where a change does so.
pub(super) fn between(changes: &[Arc<Change>]) -> Vec<Findings> {
    let mut touched: BTreeMap<(&str, &str), Vec<Touch<'_>>> = BTreeMap::new();
    for (index, change) in changes.iter().enumerate() {
        for delta in &change.deltas {
            for operation in &delta.operations {
                let touch = Touch {
                    change: index,
                    delta,
                    operation,
                };
                for name in names(operation) {
                    touched
                        .entry((&delta.capability, name))
                        .or_default()
                        .push(touch);
                }
            }
        }
    }
    let mut findings: Vec<Findings> = changes.iter().map(|_| Findings::default()).collect();
    for ((capability, name), touches) in touched {
        let involved: BTreeSet<usize> = touches.iter().map(|touch| touch.change).collect();
        if involved.len() < 2 {
            continue;
        }
        for touch in &touches {
            let others = touches.iter().filter(|other| other.change != touch.change);
            let others = described(others, changes);
            let (Some(findings), Some(change)) =
                (findings.get_mut(touch.change), changes.get(touch.change))
            else {
                continue;
            };
            let file = path(&touch.delta.source);
            let place = Place {
                file: &file,
                part: Some(Part::Deltas),
            };
            let message = format!(
                "the change {:?} {} the requirement {name:?} of {capability}, and so does another: {others}; finish one of \
                 them first, then bring the other up to date",
                change.id,
                verb(touch.operation.operation)
            );
            findings.add(CHANGE_CONFLICT, place, touch.operation.line, message);
        }
    }
    findings
}

/// The names a change lays hands on; half a rename has one.
fn names(delta: &Delta) -> impl Iterator<Item = &str> {
    let names = [Some(&delta.requirement.name), delta.renamed_to.as_ref()];
    let names = names.into_iter().flatten();
    names.map(String::as_str).filter(|name| !name.is_empty())
}

fn described<'c>(others: impl Iterator<Item = &'c Touch<'c>>, changes: &[Arc<Change>]) -> String {
    let mut texts = BTreeSet::new();
    for other in others {
        if let Some(change) = changes.get(other.change) {
            texts.insert(format!(
                "{:?} {} it ({}, line {})",
                change.id,
                verb(other.operation.operation),
                path(&other.delta.source),
                other.operation.line
            ));
        }
    }
    let more = texts.len().saturating_sub(MAX_NAMED);
    let mut named: Vec<String> = texts.into_iter().take(MAX_NAMED).collect();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

const fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Added => "adds",
        Operation::Modified => "modifies",
        Operation::Removed => "removes",
        Operation::Renamed => "renames",
    }
}

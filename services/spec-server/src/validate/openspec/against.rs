//! The rules of a delta in relation to the spec that it changes.

use std::collections::{HashMap, HashSet};

use super::block::{Block, blocks, missing};
use super::delta::Plan;
use super::rules;
use crate::model::Spec;
use crate::parse::{Outline, headings};
use crate::validate::finding::FindingsAt;

/// The most lost scenarios that one finding lists.
const MAX_NAMED: usize = 10;

/// The requirements of a spec that a change may alter, by name. If two have the same name, it is the last one.
fn current<'t>(outline: &Outline<'t>) -> HashMap<&'t str, Block<'t>> {
    let mut level_2 = headings(outline, 1..outline.end()).filter(|heading| heading.level == 2);
    let section = level_2.find(|heading| heading.title.eq_ignore_ascii_case("Requirements"));
    let Some(section) = section else {
        return HashMap::new();
    };
    let end = level_2.next().map_or(outline.end(), |next| next.line);
    let blocks = blocks(outline, section.line.saturating_add(1)..end).into_iter();
    blocks.map(|block| (block.name, block)).collect()
}

/// A MODIFIED requirement replaces the whole block, so each scenario that it leaves out would be lost.
pub(super) fn check_scenarios(
    plan: &Plan<'_>,
    outline: &Outline<'_>,
    spec: &Spec,
    findings: &mut FindingsAt<'_>,
) {
    let main = Outline::of(&spec.source.text);
    let current = current(&main);
    let renamed: HashMap<&str, &str> = plan.renamed.iter().map(|r| (r.to, r.from)).collect();
    let renamed_away: HashSet<&str> = plan.renamed.iter().map(|r| r.from).collect();
    for block in &plan.modified {
        if renamed_away.contains(block.name) {
            continue;
        }
        let Some(old) = before(block.name, &renamed, &current) else {
            continue;
        };
        let has = block.scenario_names(outline);
        let lost = missing(&old.scenario_names(&main), &has);
        if !lost.is_empty() {
            let mut named: Vec<String> =
                lost.iter().take(MAX_NAMED).map(|name| format!("{name:?}")).collect();
            if lost.len() > MAX_NAMED {
                named.push(format!("and {} more", lost.len() - MAX_NAMED));
            }
            let message = format!(
                "the requirement {:?} is to be replaced, and would lose {} of {} (line {}): {}; a MODIFIED requirement is \
                 the whole requirement as it is to be, so copy them here",
                block.name,
                if lost.len() == 1 { "a scenario" } else { "scenarios" },
                path_of(spec),
                old.line(),
                named.join(", ")
            );
            findings.add(rules::SCENARIOS_DROPPED, block.line(), message);
        }
    }
}

/// The requirement that has `name` after all renames: itself, or the one with its former name, after any number of
/// renames.
fn before<'c, 't>(
    name: &'t str,
    renamed: &HashMap<&'t str, &'t str>,
    current: &'c HashMap<&str, Block<'_>>,
) -> Option<&'c Block<'c>>
where
    't: 'c,
{
    let mut seen = HashSet::new();
    let mut name = name;
    while seen.insert(name) {
        if let Some(block) = current.get(name) {
            return Some(block);
        }
        name = renamed.get(name)?;
    }
    None
}

fn path_of(spec: &Spec) -> String {
    spec.source.path.display().to_string()
}

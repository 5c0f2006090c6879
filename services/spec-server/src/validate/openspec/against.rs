//! The rules of a delta in relation to the spec that it changes.

use std::collections::{HashMap, HashSet};

use super::block::{Block, blocks, missing};
use super::delta::Plan;
use super::heading::headings;
use super::rules;
use crate::model::Spec;
use crate::parse::{Outline, trim};
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

/// Findings about operations that archiving would refuse if the change is otherwise applicable. They are not errors of
/// the change, since another change may have to come first.
pub(super) fn check_applicable(
    plan: &Plan<'_>,
    outline: &Outline<'_>,
    spec: Option<&Spec>,
    findings: &mut FindingsAt<'_>,
) {
    let main = Outline::of(spec.map_or("", |spec| &spec.source.text));
    let current = current(&main);
    let mut report = |line, problem: String| {
        let message = format!("{problem}; archiving would refuse this as long as that is so");
        findings.add(rules::NOT_APPLICABLE, line, message);
    };
    let spec = match spec {
        Some(spec) => path_of(spec),
        None => "no spec yet".to_owned(),
    };
    let mut names: HashSet<&str> = current.keys().copied().collect();
    for rename in &plan.renamed {
        match names.remove(rename.from) {
            true if names.contains(rename.to) => {
                report(rename.line, format!("{:?} is in {spec} already", rename.to));
            }
            false if !names.contains(rename.to) => {
                report(rename.line, format!("there is {}", absent(rename.from, &spec)));
            }
            _ => {}
        }
        names.insert(rename.to);
    }
    for (name, _) in &plan.removed {
        names.remove(name);
    }
    for block in plan.modified.iter().filter(|block| !names.contains(block.name)) {
        report(block.line(), format!("there is {}", absent(block.name, &spec)));
    }
    for block in plan.added.iter().filter(|block| names.contains(block.name)) {
        let same = current.get(block.name).is_some_and(|old| {
            trim(main.text_of(old.lines.clone())) == trim(outline.text_of(block.lines.clone()))
        });
        if !same {
            report(block.line(), format!("{:?} is in {spec} already", block.name));
        }
    }
}

fn absent(name: &str, spec: &str) -> String {
    format!("no requirement {name:?} to change ({spec})")
}

fn path_of(spec: &Spec) -> String {
    spec.source.path.display().to_string()
}

//! The rules of a delta: the contents of its operations, and whether they are compatible.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::block::Block;
use super::delta::{Plan, Rename};
use super::rules;
use super::spec::check_text;
use crate::model::{CapabilityDelta, Line, Operation};
use crate::parse::{Outline, fold};
use crate::validate::finding::{FindingsAt, Rule};

/// Checks a delta on its own.
pub(super) fn check(
    delta: &CapabilityDelta,
    plan: &Plan<'_>,
    outline: &Outline<'_>,
    findings: &mut FindingsAt<'_>,
) {
    if plan.operations() == 0 {
        check_sections(delta, findings);
    }
    check_passed_over(delta, findings);
    for block in plan.added.iter().chain(&plan.modified) {
        check_block(block, outline, findings);
    }
    check_clashes(plan, findings);
}

/// Checks whether the operations of a delta go together.
pub(super) fn check_clashes(plan: &Plan<'_>, findings: &mut FindingsAt<'_>) {
    for (is_new, name, line) in &plan.halves {
        let (half, other) = if *is_new { ("TO", "FROM") } else { ("FROM", "TO") };
        let message = format!(
            "`{half}: {name}` has no `{other}:` with it; write each rename as a line FROM: and right below it a line TO:"
        );
        findings.add(rules::RENAME_HALF, *line, message);
    }
    let added = first_lines(&plan.added, Operation::Added, findings);
    let modified = first_lines(&plan.modified, Operation::Modified, findings);
    let removed = plan.removed.iter().copied();
    let removed = unique(
        removed,
        |name, first| (rules::REQUIREMENT_DUPLICATE, twice(name, Operation::Removed, first)),
        findings,
    );
    check_clash([&modified, &removed], ["MODIFIED", "REMOVED"], findings);
    check_clash([&modified, &added], ["MODIFIED", "ADDED"], findings);
    check_clash([&added, &removed], ["ADDED", "REMOVED"], findings);
    check_renames(plan, [&added, &modified], findings);
}

fn check_sections(delta: &CapabilityDelta, findings: &mut FindingsAt<'_>) {
    let Some((_, line)) = delta.sections.first() else {
        let message = "the file has none of the sections `## ADDED Requirements`, `## MODIFIED Requirements`, `## REMOVED \
                       Requirements` and `## RENAMED Requirements`; write at least one, or keep notes outside of `specs/`";
        return findings.add(rules::SECTIONS_MISSING, 1, message);
    };
    let message = "no section of this delta has an entry; write `### Requirement: <name>` below its heading, or for a rename \
                   the two lines ``- FROM: `### Requirement: <old>` `` and ``- TO: `### Requirement: <new>` ``";
    findings.add(rules::SECTIONS_EMPTY, *line, message);
}

fn check_passed_over(delta: &CapabilityDelta, findings: &mut FindingsAt<'_>) {
    for (title, line) in &delta.passed_over {
        let message = format!(
            "`### {title}` is not read as a requirement; if it is one, write `### Requirement: <name>`"
        );
        findings.add(rules::HEADING_IGNORED, *line, message);
    }
    for (name, line) in &delta.orphans {
        let message = format!(
            "the requirement {name:?} stands in no section of the delta and would be lost; move it below `## ADDED \
             Requirements` or the section that is meant"
        );
        findings.add(rules::REQUIREMENT_IGNORED, *line, message);
    }
}

fn check_block(block: &Block<'_>, outline: &Outline<'_>, findings: &mut FindingsAt<'_>) {
    check_text(block, outline, findings);
    if let Some((line, message)) = block.scenarios(outline).problem(block.name) {
        findings.add(rules::SCENARIO_MISSING, line.unwrap_or(block.line()), message);
    }
}

/// The first line of each name, by name. A later line with the same name breaks a rule.
fn unique<K: Copy + Eq + Hash>(
    names: impl Iterator<Item = (K, Line)>,
    broken: impl Fn(K, Line) -> (Rule, String),
    findings: &mut FindingsAt<'_>,
) -> HashMap<K, Line> {
    let mut first = HashMap::new();
    for (name, line) in names {
        let known = *first.entry(name).or_insert(line);
        if known != line {
            let (rule, message) = broken(name, known);
            findings.add(rule, line, message);
        }
    }
    first
}

fn first_lines<'t>(
    blocks: &[Block<'t>],
    operation: Operation,
    findings: &mut FindingsAt<'_>,
) -> HashMap<&'t str, Line> {
    let names = blocks.iter().map(|block| (block.name, block.line()));
    unique(
        names,
        |name, first| (rules::REQUIREMENT_DUPLICATE, twice(name, operation, first)),
        findings,
    )
}

fn twice(name: &str, operation: Operation, first: Line) -> String {
    format!(
        "the requirement {name:?} is {} on line {first} already; leave one of the two",
        operation.name()
    )
}

/// The same requirement under two headings.
fn check_clash(
    [these, those]: [&HashMap<&str, Line>; 2],
    [this, that]: [&str; 2],
    findings: &mut FindingsAt<'_>,
) {
    let mut both: Vec<_> =
        these.iter().filter_map(|(name, line)| Some((*line, name, *those.get(name)?))).collect();
    both.sort_unstable();
    for (line, name, other) in both {
        let message = format!(
            "the requirement {name:?} is under {this} here and under {that} on line {other}; one requirement takes one \
             operation (a rename and a modification of the new name may go together)"
        );
        findings.add(rules::OPERATIONS_CLASH, line, message);
    }
}

fn check_renames(
    plan: &Plan<'_>,
    [added, modified]: [&HashMap<&str, Line>; 2],
    findings: &mut FindingsAt<'_>,
) {
    let from = plan.renamed.iter().map(|rename| (rename.from, rename.line));
    unique(
        from,
        |name, first| {
            let message = format!(
                "{name:?} is renamed on line {first} already; a requirement has one new name"
            );
            (rules::RENAME_DUPLICATE, message)
        },
        findings,
    );
    let to = plan.renamed.iter().map(|rename| (rename.to, rename.line));
    unique(
        to,
        |name, first| {
            let message = format!(
                "{name:?} is the new name of the requirement on line {first} already; choose another"
            );
            (rules::RENAME_DUPLICATE, message)
        },
        findings,
    );
    let removed: HashSet<String> = plan.removed.iter().map(|(name, _)| fold(name)).collect();
    for Rename { from, to, line } in &plan.renamed {
        if let Some(at) = modified.get(from) {
            let message = format!(
                "the requirement {from:?} is renamed on line {line}; modify it by its new name, `### Requirement: {to}`"
            );
            findings.add(rules::RENAME_CLASH, *at, message);
        }
        if let Some(at) = added.get(to) {
            let message = format!(
                "the requirement {to:?} is added here, and {from:?} gets that name on line {line}; give one of them another"
            );
            findings.add(rules::RENAME_CLASH, *at, message);
        }
        if removed.contains(&fold(from)) {
            let message = format!(
                "the requirement {from:?} is renamed here and removed as well; do one of the two"
            );
            findings.add(rules::RENAME_CLASH, *line, message);
        }
    }
}

//! The rules of a change.

use std::ops::Range;

use super::scenario::{self, Scenario};
use super::{MIN_TEXT, Rows, rules, tasks};
use crate::model::{CapabilityDelta, Change, Line, Operation, Source};
use crate::parse::{operation, trim};
use crate::project::Project;
use crate::validate::finding::{ChangePart, Findings, FindingsAt};
use crate::validate::openspec::path;

/// The four headings of a delta, for messages.
const HEADINGS: &str = "`## ADDED Requirements`, `## MODIFIED Requirements`, `## REMOVED Requirements` or `## RENAMED \
                        Requirements`";

/// Checks a change. Without a proposal there is nothing else to check.
pub(in crate::validate) fn check(project: &Project, change: &Change, findings: &mut Findings) {
    let own = project.display_path(&project.folder_of(change));
    let at = |name: &str| format!("{own}/{name}");
    let (proposal_file, tasks_file) = (at("proposal.md"), at("tasks.md"));
    let about_proposal = &mut findings.at(&proposal_file, Some(ChangePart::Proposal));
    let Some(proposal) = change.text("proposal.md") else {
        let message =
            "there is no proposal.md; write one, with the sections `## Why` and `## What Changes`";
        about_proposal.add(rules::PROPOSAL_MISSING, None, message);
        return;
    };
    check_proposal(proposal, about_proposal);
    let about_tasks = &mut findings.at(&tasks_file, Some(ChangePart::Tasks));
    match change.tasks.first() {
        Some(tasks) => tasks::check(tasks, about_tasks),
        None => {
            let message = "there is no tasks.md; write one, each task like `- [ ] 1.1 Do this`";
            about_tasks.add(rules::TASKS_MISSING, None, message);
        }
    }
    let sections: usize = change.deltas.iter().map(|delta| check_delta(delta, findings)).sum();
    if sections == 0 {
        let message = format!(
            "this change says of no spec what is to change; write `specs/<capability>/spec.md` with {HEADINGS}"
        );
        let mut at = findings.at(&proposal_file, Some(ChangePart::Proposal));
        at.add(rules::DELTAS_MISSING, None, message);
    }
}

fn check_proposal(proposal: &Source, findings: &mut FindingsAt<'_>) {
    let rows = Rows::of(&proposal.text);
    match rows.find("## Why") {
        None => {
            let message = "there is no section `## Why`; say there what this change is good for";
            findings.add(rules::WHY_MISSING, 1, message);
        }
        Some(line) => {
            let (bytes, characters) = rows.length(rows.section(line));
            if bytes < MIN_TEXT {
                let message = format!(
                    "the section Why has {characters} characters; with {MIN_TEXT} or more it can say what this change is \
                     good for"
                );
                findings.add(rules::WHY_SHORT, line, message);
            }
        }
    }
    if rows.find("## What Changes").is_none() {
        let message = "there is no section `## What Changes`; list there what will be different";
        findings.add(rules::WHAT_CHANGES_MISSING, 1, message);
    }
}

/// Checks one delta; returns the number of its sections.
fn check_delta(delta: &CapabilityDelta, findings: &mut Findings) -> usize {
    let file = path(&delta.source);
    let findings = &mut findings.at(&file, Some(ChangePart::Deltas));
    let rows = Rows::of(&delta.source.text);
    let mut sections = 0;
    let mut suspect = None;
    for line in rows.all() {
        let heading = rows.outside(line);
        match heading.strip_prefix("## ").and_then(operation) {
            Some(operation) => {
                sections += 1;
                check_section(&rows, rows.section(line), operation, findings);
            }
            None if heading.starts_with("##") && names_operation(heading) => {
                suspect = suspect.or(Some(line));
            }
            None => {}
        }
    }
    if let Some(line) = suspect.filter(|_| sections == 0) {
        let message = format!("this heading does not belong in a delta; write {HEADINGS}");
        findings.add(rules::DELTA_HEADING, line, message);
    }
    sections
}

fn names_operation(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    Operation::IN_ORDER.iter().any(|operation| heading.contains(operation.name()))
}

/// Checks added or modified requirements. Removed or renamed ones only need their heading.
fn check_section(
    rows: &Rows<'_>,
    section: Range<Line>,
    operation: Operation,
    findings: &mut FindingsAt<'_>,
) {
    let mut lines = section.clone().peekable();
    while let Some(line) = lines.next() {
        let Some(name) = rows.outside(line).strip_prefix("### Requirement:").map(trim) else {
            continue;
        };
        let start = line.saturating_add(1);
        let mut end = start;
        while let Some(next) = lines.next_if(|next| !rows.outside(*next).starts_with("### ")) {
            end = next.saturating_add(1);
        }
        match operation {
            Operation::Added => check_added(rows, (name, line), start..end, findings),
            Operation::Modified => {
                let says =
                    |line| !rows.line(line).is_empty() && !rows.line(line).starts_with("####");
                if !(start..end).any(says) {
                    let message = format!(
                        "the requirement {name:?} is to be replaced by a heading alone; write the whole requirement as it \
                         is to be"
                    );
                    findings.add(rules::REQUIREMENT_INCOMPLETE, line, message);
                }
            }
            Operation::Removed | Operation::Renamed => {}
        }
    }
}

fn check_added(
    rows: &Rows<'_>,
    (name, line): (&str, Line),
    below: Range<Line>,
    findings: &mut FindingsAt<'_>,
) {
    let mut scenarios: Vec<Scenario<'_>> = Vec::new();
    let mut inside = false;
    for line in below {
        let structure = rows.outside(line);
        if let Some(name) = scenario::name(structure) {
            scenarios.push(Scenario::new(name, line));
            inside = true;
            continue;
        }
        inside &= !structure.starts_with("#### ");
        if let Some(scenario) = scenarios.last_mut().filter(|_| inside) {
            scenario.take_strictly(rows.line(line));
        }
    }
    if scenarios.is_empty() {
        let message = format!(
            "the requirement {name:?} has no scenario; write `#### Scenario: <name>` with its steps below"
        );
        findings.add(rules::SCENARIO_MISSING, line, message);
    }
    for scenario in &scenarios {
        scenario.check(name, findings);
    }
}

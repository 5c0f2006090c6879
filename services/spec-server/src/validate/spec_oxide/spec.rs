//! The rules of a spec.

use super::scenario::{self, Scenario};
use super::{MIN_TEXT, Rows, rules};
use crate::model::{Line, Spec};
use crate::parse::trim;
use crate::validate::finding::{Findings, FindingsAt};
use crate::validate::openspec::path;

/// A requirement and what was found in it.
struct Requirement<'t> {
    name: &'t str,
    line: Line,
    has_text: bool,
    is_normative: bool,
    scenarios: Vec<Scenario<'t>>,
}

/// Checks a spec.
pub(in crate::validate) fn check(spec: &Spec, findings: &mut Findings) {
    let file = path(&spec.source);
    let findings = &mut findings.at(&file, None);
    let rows = Rows::of(&spec.source.text);
    check_purpose(&rows, findings);
    let Some(line) = rows.find("## Requirements") else {
        let message = "there is no section `## Requirements`; write one, with a `### Requirement: <name>` for each \
                       requirement";
        findings.add(rules::REQUIREMENTS_MISSING, 1, message);
        return;
    };
    let requirements = requirements(&rows, line);
    if requirements.is_empty() {
        let message = "there is no requirement in this section; write `### Requirement: <name>` and its text below";
        findings.add(rules::REQUIREMENTS_EMPTY, line, message);
    }
    for requirement in &requirements {
        check_requirement(requirement, findings);
    }
}

fn check_purpose(rows: &Rows<'_>, findings: &mut FindingsAt<'_>) {
    let Some(line) = rows.find("## Purpose") else {
        let message = "there is no section `## Purpose`; say there what this capability is for";
        findings.add(rules::PURPOSE_MISSING, 1, message);
        return;
    };
    let (bytes, characters) = rows.length(rows.section(line));
    if bytes < MIN_TEXT {
        let message = format!(
            "the purpose has {characters} characters; with {MIN_TEXT} or more it can say what this capability is for"
        );
        findings.add(rules::PURPOSE_SHORT, line, message);
    }
}

/// The requirements below `## Requirements`, up to the next section with another name.
fn requirements<'t>(rows: &Rows<'t>, heading: Line) -> Vec<Requirement<'t>> {
    let mut found: Vec<Requirement<'t>> = Vec::new();
    for line in heading.saturating_add(1)..rows.outline.end() {
        let text = rows.line(line);
        let structure = rows.outside(line);
        if structure.starts_with("## ") {
            break;
        }
        if let Some(name) = structure.strip_prefix("### Requirement:") {
            found.push(Requirement {
                name: trim(name),
                line,
                has_text: false,
                is_normative: false,
                scenarios: Vec::new(),
            });
            continue;
        }
        let Some(requirement) = found.last_mut() else {
            continue;
        };
        if let Some(name) = scenario::name(structure) {
            requirement.scenarios.push(Scenario::new(name, line));
        } else if let Some(scenario) = requirement.scenarios.last_mut() {
            scenario.take_loosely(text);
        } else {
            let text = text.to_uppercase();
            requirement.has_text |= !text.is_empty();
            requirement.is_normative |= text.contains("SHALL") || text.contains("MUST");
        }
    }
    found
}

fn check_requirement(requirement: &Requirement<'_>, findings: &mut FindingsAt<'_>) {
    let Requirement { name, line, .. } = requirement;
    if !requirement.has_text {
        let message = format!(
            "the requirement {name:?} has no text; write below its heading what the system SHALL or MUST do"
        );
        findings.add(rules::TEXT_MISSING, *line, message);
    } else if !requirement.is_normative {
        let message = format!(
            "the text of the requirement {name:?} has neither SHALL nor MUST; say what the system SHALL do"
        );
        findings.add(rules::NORMATIVE_WORD, *line, message);
    }
    if requirement.scenarios.is_empty() {
        let message = format!(
            "the requirement {name:?} has no scenario; write `#### Scenario: <name>` with its steps below"
        );
        findings.add(rules::SCENARIO_MISSING, *line, message);
    }
    for scenario in &requirement.scenarios {
        scenario.check(name, findings);
    }
}

//! The rules of a spec.

use std::collections::HashMap;
use std::ops::Range;

use super::block::{Block, Scenarios, blocks, is_normative, prose};
use super::purpose::is_placeholder;
use super::rules;
use crate::model::{Line, Spec};
use crate::parse::{
    Heading, Outline, below, children, end_of_section, headings, is_space, named_requirement,
    operation, trim,
};
use crate::validate::finding::FindingsAt;

/// The minimum length of a purpose and the maximum length of a requirement's prose, in UTF-16 code units, which
/// OpenSpec counts.
const MIN_PURPOSE: usize = 50;
const MAX_PROSE: usize = 500;

/// Checks a spec. Without a purpose or requirements there is nothing else to check.
pub(super) fn check(spec: &Spec, findings: &mut FindingsAt<'_>) {
    let outline = Outline::of(&spec.source.text);
    let purpose = section(&outline, "Purpose");
    let text = purpose.map_or("", |heading| trim(outline.text_of(below(&outline, &heading))));
    let requirements = section(&outline, "Requirements");
    if text.is_empty() {
        let (line, problem) = match purpose {
            Some(heading) => (heading.line, "the section `## Purpose` is empty"),
            None => (1, "there is no section `## Purpose`"),
        };
        let message =
            format!("{problem}; say there in a sentence or two what this capability is for");
        findings.add(rules::PURPOSE_MISSING, line, message);
    }
    if requirements.is_none() {
        let message = "there is no section `## Requirements`; write one, with a `### Requirement: <name>` for each \
                       requirement";
        findings.add(rules::REQUIREMENTS_MISSING, 1, message);
    }
    let (Some(purpose), Some(requirements)) = (purpose.filter(|_| !text.is_empty()), requirements)
    else {
        return;
    };
    check_purpose(&outline, purpose, text, findings);
    check_requirements(&outline, requirements, findings);
    check_structure(&outline, findings);
    check_prose(&outline, section_of_level_2(&outline), findings);
}

/// The first heading with the title `title`, of any level.
fn section<'t>(outline: &Outline<'t>, title: &str) -> Option<Heading<'t>> {
    let mut all = headings(outline, 1..outline.end());
    all.find(|heading| heading.title.eq_ignore_ascii_case(title)).copied()
}

/// The lines below the first `## Requirements`, up to the next heading of level 2.
fn section_of_level_2(outline: &Outline<'_>) -> Option<Range<Line>> {
    let mut level_2 = headings(outline, 1..outline.end()).filter(|heading| heading.level == 2);
    let heading = level_2.find(|heading| heading.title.eq_ignore_ascii_case("Requirements"))?;
    let end = level_2.next().map_or(outline.end(), |next| next.line);
    Some(heading.line.saturating_add(1)..end)
}

fn check_purpose(
    outline: &Outline<'_>,
    heading: Heading<'_>,
    text: &str,
    findings: &mut FindingsAt<'_>,
) {
    let length = text.encode_utf16().count();
    if is_placeholder(text) {
        let lines = below(outline, &heading);
        let first = lines
            .clone()
            .find(|line| !outline.is_code(*line) && !trim(outline.line(*line)).is_empty());
        let message = "the purpose is a note that it is yet to be written; write here what this capability is for";
        findings.add(rules::PURPOSE_PLACEHOLDER, first.unwrap_or(heading.line), message);
    } else if length < MIN_PURPOSE {
        let message = format!(
            "the purpose has {length} characters; with {MIN_PURPOSE} or more it can say what this capability is for"
        );
        findings.add(rules::PURPOSE_SHORT, heading.line, message);
    }
}

/// Each heading directly below `Requirements` is a requirement, whatever its name.
fn check_requirements(outline: &Outline<'_>, section: Heading<'_>, findings: &mut FindingsAt<'_>) {
    let lines = section.line.saturating_add(1)..end_of_section(outline, &section);
    let requirements = children(outline, lines);
    if requirements.is_empty() {
        let message = "there is no requirement in this section; write `### Requirement: <name>`, its text, and a \
                       `#### Scenario: <name>` with its steps";
        findings.add(rules::REQUIREMENTS_EMPTY, section.line, message);
    }
    let ends = requirements.iter().skip(1).map(|next| next.line);
    let end = end_of_section(outline, &section);
    for (heading, end) in requirements.iter().zip(ends.chain([end])) {
        let name = named_requirement(outline, heading).unwrap_or(heading.title);
        let mut scenarios = Scenarios::default();
        for child in children(outline, heading.line.saturating_add(1)..end) {
            scenarios.count(outline, child.line, below(outline, &child).end);
        }
        if let Some((line, message)) = scenarios.problem(name) {
            let message = if is_scenario(heading.title) {
                format!(
                    "`### {}` has three `#` and so counts as a requirement; write `#### {}`",
                    heading.title, heading.title
                )
            } else {
                message
            };
            findings.add(rules::SCENARIO_MISSING, line.unwrap_or(heading.line), message);
        }
        let prose = prose(outline, below(outline, heading));
        let length = prose.encode_utf16().count();
        if prose.is_empty() && heading.title.is_empty() {
            let message =
                "this heading has no title and no text; give the requirement both, or remove it";
            findings.add(rules::TEXT_MISSING, heading.line, message);
        } else if length > MAX_PROSE {
            let message = format!(
                "the text of the requirement {name:?} has {length} characters; with more than {MAX_PROSE} it may be two \
                 requirements"
            );
            findings.add(rules::REQUIREMENT_LONG, heading.line, message);
        }
    }
}

/// Whether a heading is meant to begin a scenario.
fn is_scenario(title: &str) -> bool {
    let word = title.split(':').next().unwrap_or_default();
    word.len() < title.len() && word.eq_ignore_ascii_case("Scenario")
}

/// Checks for headings in the wrong place.
pub(super) fn check_structure(outline: &Outline<'_>, findings: &mut FindingsAt<'_>) {
    let section = section_of_level_2(outline);
    let mut names: HashMap<&str, Line> = HashMap::new();
    for heading in headings(outline, 1..outline.end()) {
        let line = heading.line;
        if heading.level == 2 && is_delta_title(heading.title) {
            let message = format!(
                "`## {}` belongs into a change, below its folder `specs/`; here, requirements stand under \
                 `## Requirements`, which ends at this heading",
                heading.title
            );
            findings.add(rules::DELTA_HEADING, line, message);
            continue;
        }
        let Some(name) = named_requirement(outline, heading) else {
            continue;
        };
        if !section.as_ref().is_some_and(|section| section.contains(&line)) {
            let message = format!(
                "the requirement {name:?} stands outside of `## Requirements`; move it there"
            );
            findings.add(rules::REQUIREMENT_OUTSIDE, line, message);
        } else if let Some(first) = names.get(name) {
            let message = format!(
                "there is another requirement {name:?} on line {first}; give one of them another name, or make one of both"
            );
            findings.add(rules::REQUIREMENT_DUPLICATE, line, message);
        } else {
            names.insert(name, line);
        }
    }
}

/// Whether `title` is `ADDED Requirements` or one of its three siblings, with any blanks between the words.
fn is_delta_title(title: &str) -> bool {
    let words: Vec<&str> = title.split(is_space).filter(|word| !word.is_empty()).collect();
    operation(&words.join(" ")).is_some()
}

/// Checks the prose of `### Requirement:` blocks.
fn check_prose(outline: &Outline<'_>, section: Option<Range<Line>>, findings: &mut FindingsAt<'_>) {
    for block in section.map_or_else(Vec::new, |section| blocks(outline, section)) {
        check_text(&block, outline, findings);
    }
}

/// Checks the text of a requirement, in a spec or a delta.
pub(super) fn check_text(block: &Block<'_>, outline: &Outline<'_>, findings: &mut FindingsAt<'_>) {
    let (name, prose) = (block.name, block.prose(outline));
    if prose.is_empty() {
        let message = format!(
            "the requirement {name:?} has no text; write below its heading what the system SHALL or MUST do"
        );
        findings.add(rules::TEXT_MISSING, block.line(), message);
    } else if !is_normative(&prose) {
        findings.add(rules::NORMATIVE_WORD, block.line(), not_normative(name));
    }
}

/// The message for a requirement whose text has no obligation (SHALL or MUST).
fn not_normative(name: &str) -> String {
    if is_normative(name) {
        format!(
            "the requirement {name:?} says SHALL or MUST in its heading only; say it in the text below"
        )
    } else {
        format!(
            "the text of the requirement {name:?} has neither SHALL nor MUST, in capitals; say what the system SHALL do"
        )
    }
}

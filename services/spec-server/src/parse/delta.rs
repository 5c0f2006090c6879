//! The changes to one capability: `specs/<capability>/spec.md` below the change.

use std::ops::Range;

use super::block::{self, requirement};
use super::heading::{headings, is_titled, named_requirement};
use super::outline::Outline;
use super::text::{is_space, trim};
use crate::model::{CapabilityDelta, Delta, Line, Operation, Requirement, Source};

/// Reads a delta as OpenSpec does. The sections are `## ADDED Requirements` and its three siblings, in upper or lower
/// case, and each may occur several times. A block ends at the next `### Requirement:` or `## `.
///
/// REMOVED requirements are blocks or bullets that contain the heading. RENAMED ones are pairs of lines, ``- FROM: `###
/// Requirement: A` `` and ``- TO: `### Requirement: B` ``, or blocks named `A → B` (`->` too). An incomplete rename is
/// kept: with an empty name if only the TO is there, without a new name if only the FROM or a block without an arrow is
/// there.
pub fn delta(capability: &str, source: Source) -> CapabilityDelta {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    let mut delta = CapabilityDelta {
        capability: capability.to_owned(),
        purpose: outline.section("Purpose"),
        sections: Vec::new(),
        operations: Vec::new(),
        orphans: Vec::new(),
        passed_over: Vec::new(),
        source,
    };
    let mut sections: Vec<(Option<Operation>, Range<Line>)> = vec![(None, 1..outline.end())];
    for heading in headings(&outline, 1..outline.end()) {
        if heading.level == 2 && is_titled(&outline, heading) {
            if let Some((_, lines)) = sections.last_mut() {
                lines.end = heading.line;
            }
            let operation = operation(heading.title);
            delta.sections.extend(operation.map(|operation| (operation, heading.line)));
            sections.push((operation, heading.line.saturating_add(1)..outline.end()));
        }
    }
    for (operation, lines) in sections {
        match operation {
            Some(operation) => delta.read(&outline, operation, lines),
            None => delta
                .orphans
                .extend(named(&outline, lines).map(|(name, block)| (name.to_owned(), block.start))),
        }
    }
    delta
}

/// The operation that a section with this title has. Its words are separated by one blank, and case does not matter.
pub(crate) fn operation(title: &str) -> Option<Operation> {
    let (word, rest) = title.split_once(' ')?;
    let named = |operation: &Operation| word.eq_ignore_ascii_case(operation.name());
    let operation = Operation::IN_ORDER.into_iter().find(named)?;
    rest.eq_ignore_ascii_case("Requirements").then_some(operation)
}

impl CapabilityDelta {
    fn read(&mut self, outline: &Outline<'_>, operation: Operation, lines: Range<Line>) {
        let blocks = named(outline, lines.clone()).map(|(name, lines)| {
            let requirement = requirement(outline, name, lines.clone());
            let delta = Delta { operation, lines, is_block: true, requirement, renamed_to: None };
            if operation == Operation::Renamed { arrow(delta) } else { delta }
        });
        let mut found: Vec<Delta> = blocks.collect();
        match operation {
            Operation::Removed => found.extend(bullets(outline, lines)),
            Operation::Renamed => found.extend(pairs(outline, lines)),
            Operation::Added | Operation::Modified => {
                let others = headings(outline, lines)
                    .filter(|heading| heading.level == 3 && is_titled(outline, heading))
                    .filter(|heading| named_requirement(outline, heading).is_none());
                let others = others.map(|heading| (heading.title.to_owned(), heading.line));
                self.passed_over.extend(others);
            }
        }
        found.sort_by_key(Delta::line);
        self.operations.append(&mut found);
    }
}

/// The requirements in some lines, each with its name and its block.
fn named<'t>(
    outline: &Outline<'t>,
    lines: Range<Line>,
) -> impl Iterator<Item = (&'t str, Range<Line>)> {
    let borders = outline
        .headings_in(lines.clone())
        .iter()
        .map(|heading| (heading, named_requirement(outline, heading)))
        // A `## ` without a title ends a block but not the section.
        .filter(|(heading, name)| name.is_some() || heading.level == 2);
    let ends = borders.clone().skip(1).map(|(next, _)| next.line).chain([lines.end]);
    let blocks = borders.zip(ends);
    blocks.filter_map(|((heading, name), end)| Some((name?, heading.line..end)))
}

/// A rename in one heading, `Old → New`.
fn arrow(mut delta: Delta) -> Delta {
    let name = &delta.requirement.name;
    let halves = ["→", "->"].into_iter().find_map(|arrow| name.split_once(arrow));
    if let Some((old, new)) = halves.map(|(old, new)| (trim(old).to_owned(), trim(new).to_owned()))
    {
        delta.requirement.name = old;
        delta.renamed_to = Some(new);
    }
    delta
}

fn bullets(outline: &Outline<'_>, lines: Range<Line>) -> impl Iterator<Item = Delta> {
    prose(outline, lines).filter_map(move |(line, text)| {
        let name = quoted(text.strip_prefix(['-', '*', '+'])?)?;
        Some(item(outline, Operation::Removed, name, line..line.saturating_add(1)))
    })
}

fn pairs(outline: &Outline<'_>, lines: Range<Line>) -> Vec<Delta> {
    let mut found = Vec::new();
    let mut pending: Option<(Line, &str)> = None;
    let rename = |name, lines| item(outline, Operation::Renamed, name, lines);
    let half = |(line, name): (Line, _)| rename(name, line..line.saturating_add(1));
    for (line, text) in prose(outline, lines) {
        let text = trim(text.strip_prefix(['-', '*', '+']).unwrap_or(text));
        if let Some(from) = text.strip_prefix("FROM:").and_then(quoted) {
            found.extend(pending.replace((line, from)).map(half));
        } else if let Some(to) = text.strip_prefix("TO:").and_then(quoted) {
            let (first, from) = pending.take().unwrap_or((line, ""));
            let whole = rename(from, first..line.saturating_add(1));
            found.push(Delta { renamed_to: Some(to.to_owned()), ..whole });
        }
    }
    found.extend(pending.map(half));
    found
}

/// A requirement that only has a name, in some lines.
fn item(outline: &Outline<'_>, operation: Operation, name: &str, lines: Range<Line>) -> Delta {
    let requirement = Requirement {
        name: name.to_owned(),
        line: lines.start,
        description: String::new(),
        text: outline.text_of(lines.clone()).trim_end_matches(is_space).to_owned(),
        scenarios: Vec::new(),
        oddity: None,
    };
    Delta { operation, lines, is_block: false, requirement, renamed_to: None }
}

/// The lines outside of code, trimmed.
fn prose<'t>(outline: &Outline<'t>, lines: Range<Line>) -> impl Iterator<Item = (Line, &'t str)> {
    let prose = lines.filter(|line| !outline.is_code(*line));
    prose.map(|line| (line, trim(outline.line(line))))
}

/// The name in ``  `### Requirement: Name` ``, with or without the backticks. It is case-sensitive here, as in
/// OpenSpec.
fn quoted(text: &str) -> Option<&str> {
    let text = trim(text);
    let text = text.strip_prefix('`').unwrap_or(text).strip_prefix("###")?;
    let name = trim(text.trim_start_matches(is_space).strip_prefix("Requirement:")?);
    // A backtick at the end is the closing one. A name of only one backtick is a name.
    let open = name.strip_suffix('`').filter(|open| !open.is_empty()).unwrap_or(name);
    (!open.is_empty()).then(|| block::name(open))
}

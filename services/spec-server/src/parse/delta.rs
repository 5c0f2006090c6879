//! The changes to one capability: `specs/<capability>/spec.md` below the change.

use super::block::{self, requirement, requirement_name};
use super::outline::Outline;
use super::text::{is_space, strip_prefix_any_case, trim};
use crate::model::{CapabilityDelta, Delta, Line, Operation, Requirement, Source};

/// Reads a delta. The sections are `## ADDED Requirements` and its three siblings, in upper or lower case, and each may
/// occur several times. A block ends at the next `### Requirement:` or `## `.
///
/// REMOVED requirements are blocks or bullets that contain the heading. RENAMED ones are pairs of lines, ``- FROM: `###
/// Requirement: A` `` and ``- TO: `### Requirement: B` ``, or blocks named `A → B` (`->` too). An incomplete rename is
/// kept: with an empty name if only the TO is there, without a new name if only the FROM or a block without an arrow is
/// there.
pub fn delta(capability: &str, source: Source) -> CapabilityDelta {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    let mut operations = Vec::new();
    for heading in outline.headings().iter().filter(|h| h.level == 2) {
        let Some(operation) = operation(heading.title) else {
            continue;
        };
        let end = outline
            .headings_in(heading.line.saturating_add(1)..outline.end())
            .iter()
            .find(|next| next.level == 2 && !next.title.is_empty())
            .map_or(outline.end(), |next| next.line);
        read_section(&outline, operation, heading.line + 1, end, &mut operations);
    }
    CapabilityDelta {
        capability: capability.to_owned(),
        purpose: outline.section("Purpose"),
        operations,
        source,
    }
}

fn operation(title: &str) -> Option<Operation> {
    Operation::IN_ORDER.into_iter().find(|operation| {
        strip_prefix_any_case(title, operation.name())
            .is_some_and(|rest| rest.eq_ignore_ascii_case(" Requirements"))
    })
}

fn read_section(
    outline: &Outline<'_>,
    operation: Operation,
    start: Line,
    end: Line,
    operations: &mut Vec<Delta>,
) {
    let first = operations.len();
    let headings = outline.headings_in(start..end);
    let borders = headings
        .iter()
        .map(|heading| (heading, requirement_name(heading)))
        // A `## ` without a title ends a block but not the section.
        .filter(|(heading, name)| name.is_some() || heading.level == 2);
    let mut borders = borders.peekable();
    while let Some((heading, name)) = borders.next() {
        let Some(name) = name else { continue };
        let line = heading.line;
        let next = borders.peek().map_or(end, |(next, _)| next.line);
        let requirement = requirement(outline, name, line..next);
        operations.push(match operation {
            Operation::Renamed => arrow(line, requirement),
            _ => Delta { operation, line, requirement, renamed_to: None },
        });
    }
    match operation {
        Operation::Removed => operations.extend(bullets(outline, start, end)),
        Operation::Renamed => operations.extend(pairs(outline, start, end)),
        Operation::Added | Operation::Modified => return,
    }
    if let Some(mine) = operations.get_mut(first..) {
        mine.sort_by_key(|delta| delta.line);
    }
}

/// A rename in one heading, `Old → New`.
fn arrow(line: Line, mut requirement: Requirement) -> Delta {
    let halves = ["→", "->"]
        .into_iter()
        .find_map(|arrow| requirement.name.split_once(arrow))
        .map(|(old, new)| (trim(old).to_owned(), trim(new).to_owned()));
    let renamed_to = halves.map(|(old, new)| {
        requirement.name = old;
        new
    });
    Delta { operation: Operation::Renamed, line, requirement, renamed_to }
}

fn bullets(outline: &Outline<'_>, start: Line, end: Line) -> impl Iterator<Item = Delta> {
    (start..end).filter_map(move |line| {
        let text = prose(outline, line)?;
        let name = quoted_name(text.strip_prefix(['-', '*', '+'])?)?;
        Some(Delta {
            operation: Operation::Removed,
            line,
            requirement: named(outline, name, line, line),
            renamed_to: None,
        })
    })
}

fn pairs(outline: &Outline<'_>, start: Line, end: Line) -> Vec<Delta> {
    let mut found = Vec::new();
    let mut pending: Option<(Line, &str)> = None;
    let half = |(line, name)| rename(outline, name, None, line, line);
    for line in start..end {
        let Some(text) = prose(outline, line) else {
            continue;
        };
        let text = trim(text.strip_prefix(['-', '*', '+']).unwrap_or(text));
        if let Some(from) = text.strip_prefix("FROM:").and_then(quoted_name) {
            found.extend(pending.replace((line, from)).map(half));
        } else if let Some(to) = text.strip_prefix("TO:").and_then(quoted_name) {
            let (first, from) = pending.take().unwrap_or((line, ""));
            found.push(rename(outline, from, Some(to), first, line));
        }
    }
    found.extend(pending.map(half));
    found
}

fn rename(outline: &Outline<'_>, from: &str, to: Option<&str>, first: Line, last: Line) -> Delta {
    Delta {
        operation: Operation::Renamed,
        line: first,
        requirement: named(outline, from, first, last),
        renamed_to: to.map(str::to_owned),
    }
}

/// A requirement that only has a name.
fn named(outline: &Outline<'_>, name: &str, first: Line, last: Line) -> Requirement {
    Requirement {
        name: name.to_owned(),
        line: first,
        description: String::new(),
        text: outline.text_of(first..last.saturating_add(1)).trim_end_matches(is_space).to_owned(),
        scenarios: Vec::new(),
        oddity: None,
    }
}

fn prose<'t>(outline: &Outline<'t>, line: Line) -> Option<&'t str> {
    (!outline.is_code(line)).then(|| trim(outline.line(line)))
}

/// The name in ``  `### Requirement: Name` ``, with or without the backticks. It is case-sensitive here, as in
/// OpenSpec.
fn quoted_name(text: &str) -> Option<&str> {
    let text = trim(text);
    let text = text.strip_prefix('`').unwrap_or(text).strip_prefix("###")?;
    let name = text.trim_start_matches(is_space).strip_prefix("Requirement:")?;
    let name = trim(name.strip_suffix('`').unwrap_or(name));
    (!name.is_empty()).then(|| block::name(name))
}

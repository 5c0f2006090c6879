//! Whether a delta is consistent, and which parts of a spec it can change.

use std::collections::{HashMap, HashSet};

use crate::model::{CapabilityDelta, Delta, Line, Operation};
use crate::parse::{Outline, fold, requirement_name};

/// A problem and its line.
pub(super) type Finding = (Option<Line>, String);

/// Why this delta cannot be applied to any spec.
pub(super) fn problems(delta: &CapabilityDelta) -> Vec<Finding> {
    let mut found = Vec::new();
    if delta.operations.is_empty() {
        let message = "changes no requirement; write `### Requirement:` blocks under `## ADDED Requirements`, MODIFIED, \
                       REMOVED or RENAMED";
        return vec![(None, message.to_owned())];
    }
    for rename in of(delta, Operation::Renamed) {
        let name = &rename.requirement.name;
        match &rename.renamed_to {
            Some(to) if name.is_empty() => found.push((
                Some(rename.line),
                format!("TO: {to:?} has no FROM: line before it; write each rename as FROM: and then TO:"),
            )),
            None => found.push((
                Some(rename.line),
                format!("the rename of {name:?} has no new name; write a TO: line after its FROM: line, or `Old → New`"),
            )),
            Some(_) => {}
        }
    }
    twice(delta, &mut found);
    contradictions(delta, &mut found);
    found
}

/// Requirements outside every section of the delta, which have no effect.
pub(super) fn orphans(delta: &CapabilityDelta) -> Vec<Finding> {
    let outline = Outline::of(&delta.source.text);
    let known: HashSet<Line> = delta.operations.iter().map(|d| d.requirement.line).collect();
    let headings = outline.headings().iter();
    headings
        .filter_map(|heading| Some((heading.line, requirement_name(heading)?)))
        .filter(|(line, _)| !known.contains(line))
        .map(|(line, name)| {
            let message = format!("requirement {name:?} stands in no section of the delta and is not applied; move it \
                                   under ADDED, MODIFIED, REMOVED or RENAMED Requirements");
            (Some(line), message)
        })
        .collect()
}

pub(super) fn of(delta: &CapabilityDelta, operation: Operation) -> impl Iterator<Item = &Delta> {
    let all = delta.operations.iter();
    all.filter(move |delta| delta.operation == operation)
}

/// The old and new names of complete renames, with their lines.
pub(super) fn renames(delta: &CapabilityDelta) -> impl Iterator<Item = (&str, &str, Line)> {
    of(delta, Operation::Renamed).filter_map(|rename| {
        let to = rename.renamed_to.as_deref()?;
        Some((rename.requirement.name.as_str(), to, rename.line))
    })
}

fn twice(delta: &CapabilityDelta, found: &mut Vec<Finding>) {
    for operation in Operation::IN_ORDER {
        let mut seen = HashSet::new();
        for item in of(delta, operation) {
            let name = item.requirement.name.as_str();
            if !name.is_empty() && !seen.insert(name) {
                let section = operation.name().to_uppercase();
                found.push((
                    Some(item.line),
                    format!("{name:?} is there twice under {section}; keep one"),
                ));
            }
        }
    }
    let mut seen = HashSet::new();
    for (_, to, line) in renames(delta) {
        if !seen.insert(to) {
            found.push((Some(line), format!("two requirements are renamed to {to:?}; keep one")));
        }
    }
}

fn contradictions(delta: &CapabilityDelta, found: &mut Vec<Finding>) {
    let names = |operation| -> HashSet<&str> {
        of(delta, operation).map(|item| item.requirement.name.as_str()).collect()
    };
    let (added, modified) = (names(Operation::Added), names(Operation::Modified));
    let removed: HashMap<&str, Line> = of(delta, Operation::Removed)
        .map(|item| (item.requirement.name.as_str(), item.line))
        .collect();
    for item in &delta.operations {
        let name = item.requirement.name.as_str();
        let both = match item.operation {
            Operation::Modified if removed.contains_key(name) => "MODIFIED and REMOVED",
            Operation::Modified if added.contains(name) => "MODIFIED and ADDED",
            Operation::Added if removed.contains_key(name) => "ADDED and REMOVED",
            _ => continue,
        };
        found.push((Some(item.line), format!("{name:?} is under {both}; keep one")));
    }
    let folded: HashMap<String, Line> =
        removed.iter().map(|(name, line)| (fold(name), *line)).collect();
    for (from, to, line) in renames(delta) {
        if folded.contains_key(&fold(from)) {
            found.push((Some(line), format!("{from:?} is under RENAMED and REMOVED; keep one")));
        }
        if modified.contains(from) {
            found.push((
                Some(line),
                format!("{from:?} is renamed, so MODIFIED must name it {to:?}"),
            ));
        }
        if added.contains(to) {
            found.push((
                Some(line),
                format!("{to:?} is the new name of {from:?} and under ADDED; choose another"),
            ));
        }
    }
}

/// The line of `## Requirements`, and the end of the section: the next `## `.
pub(super) fn section(outline: &Outline<'_>) -> Option<(Line, Line)> {
    let mut headings = outline.headings().iter().filter(|heading| heading.level == 2);
    let section = headings.find(|heading| heading.title.eq_ignore_ascii_case("Requirements"))?;
    let end = headings.next().map_or(outline.end(), |next| next.line);
    Some((section.line, end))
}

/// The first line of a spec that is not its title, its purpose or a part of a requirement. It would be lost with the
/// file. The section of requirements is `section..end`, and its first requirement is on line `first`.
pub(super) fn other(outline: &Outline<'_>, section: Line, first: Line, end: Line) -> Option<Line> {
    let mut headings = outline.headings().iter().peekable();
    let mut titled = false;
    let mut purpose = false;
    (1..outline.end()).find(|line| {
        let heading = headings.next_if(|heading| heading.line == *line);
        if *line == section {
            return false;
        }
        if (first..end).contains(line) {
            return heading.is_some_and(|h| h.level <= 3 && requirement_name(h).is_none());
        }
        if outline.line(*line).trim().is_empty() {
            return false;
        }
        match heading {
            Some(heading) => {
                let title = heading.level == 1 && !titled && !purpose && *line < section;
                titled |= title;
                purpose = heading.level == 2
                    && *line < section
                    && heading.title.eq_ignore_ascii_case("Purpose");
                !title && !purpose
            }
            None => !purpose || *line > section,
        }
    })
}

//! Whether a delta is consistent, and which parts of a spec it can change.

use crate::model::{CapabilityDelta, Delta, Line, Operation, Spec};
use crate::parse::{Outline, requirement_name};
use crate::validate;

/// A problem and its line.
pub(super) type Remark = (Option<Line>, String);

/// Why this delta cannot be applied to the spec, which may not exist yet.
pub(super) fn problems(delta: &CapabilityDelta, spec: Option<&Spec>) -> Vec<Remark> {
    let nameless = delta.operations.iter().find(|one| one.names().next().is_none());
    if delta.operations.is_empty() || nameless.is_some() {
        let message = "changes no requirement; write `### Requirement: <name>` blocks under `## ADDED Requirements`, \
                       MODIFIED, REMOVED or RENAMED";
        return vec![(nameless.map(Delta::line), message.to_owned())];
    }
    let found = validate::delta(delta, spec).into_iter();
    found.map(|finding| (finding.line, finding.message)).collect()
}

/// Requirements outside every section of the delta, which have no effect.
pub(super) fn orphans(delta: &CapabilityDelta) -> Vec<Remark> {
    let finding = |(name, line): &(String, Line)| {
        let message = format!(
            "requirement {name:?} stands in no section of the delta and is not applied; move it \
                               under ADDED, MODIFIED, REMOVED or RENAMED Requirements"
        );
        (Some(*line), message)
    };
    delta.orphans.iter().map(finding).collect()
}

pub(super) fn of(delta: &CapabilityDelta, operation: Operation) -> impl Iterator<Item = &Delta> {
    let all = delta.operations.iter();
    all.filter(move |delta| delta.operation == operation)
}

/// The old and new names of complete renames, with their lines.
pub(super) fn renames(delta: &CapabilityDelta) -> impl Iterator<Item = (&str, &str, Line)> {
    of(delta, Operation::Renamed).filter_map(|rename| {
        let to = rename.renamed_to.as_deref()?;
        Some((rename.requirement.name.as_str(), to, rename.line()))
    })
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

//! A delta as OpenSpec reads it: the operations that it applies, and the parts that it ignores.

use std::ops::Range;

use super::block::{Block, blocks};
use super::heading::{headings, is_titled, requirement_name};
use crate::model::{Line, Operation};
use crate::parse::{Outline, bare_name, is_space, trim};

/// A parsed delta.
#[derive(Debug, Default)]
pub(super) struct Plan<'t> {
    /// The headings of its delta sections.
    pub(super) sections: Vec<(Operation, Line)>,
    /// The requirements to add.
    pub(super) added: Vec<Block<'t>>,
    /// The new requirements.
    pub(super) modified: Vec<Block<'t>>,
    /// The names of the requirements to remove.
    pub(super) removed: Vec<(&'t str, Line)>,
    /// The complete renames.
    pub(super) renamed: Vec<Rename<'t>>,
    /// The incomplete renames: whether it is the new name, the name, and the line.
    pub(super) halves: Vec<(bool, &'t str, Line)>,
    /// Requirements outside of all sections.
    pub(super) orphans: Vec<(&'t str, Line)>,
    /// Headings of level 3 under ADDED or MODIFIED that are not requirements.
    pub(super) passed_over: Vec<(&'t str, Line)>,
}

/// A rename from one name to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rename<'t> {
    pub(super) from: &'t str,
    pub(super) to: &'t str,
    /// The line of the old name.
    pub(super) line: Line,
}

/// Reads a delta.
pub(super) fn plan<'t>(outline: &Outline<'t>) -> Plan<'t> {
    let mut plan = Plan::default();
    let mut sections: Vec<(Option<Operation>, Range<Line>)> = vec![(None, 1..outline.end())];
    for heading in headings(outline, 1..outline.end()) {
        if heading.level == 2 && is_titled(outline, heading) {
            if let Some((_, lines)) = sections.last_mut() {
                lines.end = heading.line;
            }
            let below = heading.line.saturating_add(1)..outline.end();
            let operation = operation(heading.title);
            plan.sections.extend(operation.map(|operation| (operation, heading.line)));
            sections.push((operation, below));
        }
    }
    for (operation, lines) in sections {
        match operation {
            None => plan.orphans.extend(named(outline, lines)),
            Some(Operation::Added) => {
                plan.passed_over.extend(unnamed(outline, lines.clone()));
                plan.added.extend(blocks_of(outline, lines));
            }
            Some(Operation::Modified) => {
                plan.passed_over.extend(unnamed(outline, lines.clone()));
                plan.modified.extend(blocks_of(outline, lines));
            }
            Some(Operation::Removed) => plan.removed.extend(removed(outline, lines)),
            Some(Operation::Renamed) => plan.rename(outline, lines),
        }
    }
    plan
}

impl<'t> Plan<'t> {
    /// The number of operations.
    pub(super) fn operations(&self) -> usize {
        self.added.len() + self.modified.len() + self.removed.len() + self.renamed.len()
    }

    fn rename(&mut self, outline: &Outline<'t>, lines: Range<Line>) {
        let mut pending: Option<(&'t str, Line)> = None;
        for line in lines.filter(|line| !outline.is_code(*line)) {
            let text = without_bullet(outline.line(line));
            if let Some(from) = text.strip_prefix("FROM:").and_then(quoted) {
                let displaced = pending.replace((from, line));
                self.halves.extend(displaced.map(|(name, line)| (false, name, line)));
            } else if let Some(to) = text.strip_prefix("TO:").and_then(quoted) {
                match pending.take() {
                    Some((from, line)) => self.renamed.push(Rename { from, to, line }),
                    None => self.halves.push((true, to, line)),
                }
            }
        }
        self.halves.extend(pending.map(|(name, line)| (false, name, line)));
    }
}

/// The operation of a section. Its words are separated by one blank, and case does not matter.
fn operation(title: &str) -> Option<Operation> {
    let (word, rest) = title.split_once(' ')?;
    let named = |operation: &Operation| word.eq_ignore_ascii_case(operation.name());
    let operation = Operation::IN_ORDER.into_iter().find(named)?;
    rest.eq_ignore_ascii_case("Requirements").then_some(operation)
}

/// The blocks in a section. A heading of level 2 without a title also ends a block.
fn blocks_of<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<Block<'t>> {
    let mut blocks = blocks(outline, lines);
    for block in &mut blocks {
        let within = block.lines.start.saturating_add(1)..block.lines.end;
        if let Some(end) = headings(outline, within).find(|heading| heading.level == 2) {
            block.lines.end = end.line;
        }
    }
    blocks
}

fn named<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<(&'t str, Line)> {
    let headings = outline.headings_in(lines).iter();
    headings
        .filter_map(|heading| Some((requirement_name(outline, heading)?, heading.line)))
        .collect()
}

fn unnamed<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<(&'t str, Line)> {
    headings(outline, lines)
        .filter(|heading| heading.level == 3 && is_titled(outline, heading))
        .filter(|heading| requirement_name(outline, heading).is_none())
        .map(|heading| (heading.title, heading.line))
        .collect()
}

/// Headings, and list items that contain a heading.
fn removed<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<(&'t str, Line)> {
    let mut names = named(outline, lines.clone());
    let items = lines.filter(|line| !outline.is_code(*line)).filter_map(|line| {
        let text = trim(outline.line(line)).strip_prefix(['-', '*', '+'])?;
        Some((quoted(text)?, line))
    });
    names.extend(items);
    names.sort_by_key(|(_, line)| *line);
    names
}

fn without_bullet(line: &str) -> &str {
    let line = trim(line);
    trim(line.strip_prefix(['-', '*', '+']).unwrap_or(line))
}

/// The name in `` `### Requirement: Name` ``, with or without the backticks. It is case-sensitive.
fn quoted(text: &str) -> Option<&str> {
    let text = trim(text);
    let text = text.strip_prefix('`').unwrap_or(text).strip_prefix("###")?;
    let name = text.trim_start_matches(is_space).strip_prefix("Requirement:")?;
    let name = name.trim_start_matches(is_space);
    // A backtick at the end is the closing one. A name of only one backtick is a name.
    let open = name.strip_suffix('`').filter(|open| !open.is_empty()).unwrap_or(name);
    (!open.is_empty()).then(|| bare_name(open))
}

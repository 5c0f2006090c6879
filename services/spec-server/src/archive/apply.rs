//! One delta applied to one spec.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use super::check::{self, Finding, of, renames};
use super::lines::{self, RawLine, Writer};
use super::names::Names;
use crate::model::{CapabilityDelta, Line, Operation, Requirement};
use crate::parse::{Outline, requirement_name, scenario_name, trim};

/// How many requirements change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// New ones.
    pub added: usize,
    /// Such as say something else now.
    pub modified: usize,
    /// Such as are gone.
    pub removed: usize,
    /// Such as have another name.
    pub renamed: usize,
}

/// A spec with a delta applied.
#[derive(Debug)]
pub(super) struct Applied {
    /// The whole file.
    pub(super) text: String,
    pub(super) counts: Counts,
    /// How many requirements are left.
    pub(super) left: usize,
    /// What stands in the file besides its title, its purpose and its requirements.
    pub(super) other: Option<Line>,
    pub(super) warnings: Vec<Finding>,
}

/// A piece of the section of requirements: a block with the blank lines behind it.
#[derive(Debug)]
struct Piece {
    content: Vec<RawLine>,
    gap: Vec<RawLine>,
    /// The names of its scenarios, each as often as it is there.
    scenarios: HashMap<String, usize>,
    removed: bool,
}

/// The file taken apart.
struct Parts {
    /// Up to and including the heading of the section and what precedes the first requirement.
    before: Vec<RawLine>,
    lead: Vec<RawLine>,
    pieces: Vec<Piece>,
    after: Vec<RawLine>,
    names: Names,
    newline: &'static str,
    other: Option<Line>,
}

/// Applies `delta` to the spec `raw`, whose outline is `outline`.
///
/// # Errors
/// All that stands in the way. Lines are those of the delta.
pub(super) fn apply(
    raw: &str,
    outline: &Outline<'_>,
    delta: &CapabilityDelta,
) -> Result<Applied, Vec<Finding>> {
    let mut parts = Parts::of(raw, outline);
    let mut applying = Applying {
        counts: Counts::default(),
        problems: Vec::new(),
        warnings: check::orphans(delta),
    };
    applying.rename(&mut parts, delta);
    applying.remove(&mut parts, delta);
    applying.modify(&mut parts, delta);
    let added = applying.add(&mut parts, delta);
    if !applying.problems.is_empty() {
        return Err(applying.problems);
    }
    Ok(Applied {
        left: parts.pieces.iter().filter(|piece| !piece.removed).count() + added.len(),
        other: parts.other,
        text: parts.join(&added),
        counts: applying.counts,
        warnings: applying.warnings,
    })
}

struct Applying {
    counts: Counts,
    problems: Vec<Finding>,
    warnings: Vec<Finding>,
}

impl Applying {
    fn refuse(&mut self, line: Line, message: String) {
        self.problems.push((Some(line), message));
    }

    fn rename(&mut self, parts: &mut Parts, delta: &CapabilityDelta) {
        for (from, to, line) in renames(delta) {
            let Some(block) = parts.names.get(from) else {
                match (parts.names.get(to), parts.names.near(from, to)) {
                    (_, Some(near)) => self.refuse(line, near_miss("RENAMED", from, near)),
                    // It has its new name already.
                    (Some(_), None) => {}
                    (None, None) => {
                        self.refuse(line, format!("RENAMED: there is no requirement {from:?}"))
                    }
                }
                continue;
            };
            if parts.names.get(to).is_some() {
                self.refuse(
                    line,
                    format!("RENAMED: there is a requirement {to:?} already"),
                );
            } else if let Some(near) = parts.names.near(to, from) {
                self.refuse(line, format!("RENAMED: {to:?} differs from {near:?} in capitals or blanks alone; choose another name"));
            } else {
                parts.names.remove(from);
                parts.names.insert(to, block);
                if let Some(heading) = parts
                    .pieces
                    .get_mut(block)
                    .and_then(|p| p.content.first_mut())
                {
                    heading.text = format!("### Requirement: {to}");
                }
                self.counts.renamed += 1;
            }
        }
    }

    fn remove(&mut self, parts: &mut Parts, delta: &CapabilityDelta) {
        for item in of(delta, Operation::Removed) {
            let name = item.requirement.name.as_str();
            match parts.names.remove(name) {
                Some(block) => {
                    if let Some(piece) = parts.pieces.get_mut(block) {
                        piece.removed = true;
                    }
                    self.counts.removed += 1;
                }
                None => match parts.names.near(name, name) {
                    Some(near) => self.refuse(item.line, near_miss("REMOVED", name, near)),
                    None => self.warnings.push((
                        Some(item.line),
                        format!(
                            "REMOVED: there is no requirement {name:?}; taken as removed already"
                        ),
                    )),
                },
            }
        }
    }

    fn modify(&mut self, parts: &mut Parts, delta: &CapabilityDelta) {
        for item in of(delta, Operation::Modified) {
            let new = &item.requirement;
            let Some(piece) = parts
                .names
                .get(&new.name)
                .and_then(|block| parts.pieces.get_mut(block))
            else {
                let message = match parts.names.near(&new.name, &new.name) {
                    Some(near) => near_miss("MODIFIED", &new.name, near),
                    None => format!(
                        "MODIFIED: there is no requirement {:?}; put it under ADDED",
                        new.name
                    ),
                };
                self.refuse(item.line, message);
                continue;
            };
            let lost = piece.lost(new);
            if !lost.is_empty() {
                self.refuse(item.line, format!(
                    "MODIFIED replaces the whole requirement {:?} and lacks scenarios that it has: {}; repeat them",
                    new.name, lost.join(", ")
                ));
            } else if piece.replace(new) {
                self.counts.modified += 1;
            }
        }
    }

    /// The texts to add behind the last requirement.
    fn add<'d>(&mut self, parts: &mut Parts, delta: &'d CapabilityDelta) -> Vec<&'d str> {
        let mut added = Vec::new();
        for item in of(delta, Operation::Added) {
            let new = &item.requirement;
            if let Some(piece) = parts
                .names
                .get(&new.name)
                .and_then(|block| parts.pieces.get(block))
            {
                if !piece.says(new) {
                    self.refuse(item.line, format!("ADDED: there is a requirement {:?} already that says something else; put \
                                                    it under MODIFIED", new.name));
                }
            } else if let Some(near) = parts.names.near(&new.name, &new.name) {
                self.refuse(item.line, format!("ADDED: {:?} differs from {near:?} in capitals or blanks alone; put it under \
                                                MODIFIED by that name, or choose another", new.name));
            } else {
                parts.names.insert(&new.name, usize::MAX);
                added.push(new.text.as_str());
                self.counts.added += 1;
            }
        }
        added
    }
}

fn near_miss(operation: &str, name: &str, near: &str) -> String {
    format!(
        "{operation}: there is no requirement {name:?}, but {near:?}; write the name exactly so"
    )
}

impl Piece {
    /// The scenarios that it has and `new` has not, as often as they are lost.
    fn lost(&self, new: &Requirement) -> Vec<String> {
        let mut left = self.scenarios.clone();
        for scenario in &new.scenarios {
            if let Some(count) = left.get_mut(&scenario.name) {
                *count = count.saturating_sub(1);
            }
        }
        let mut lost: Vec<String> = left
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, _)| format!("{name:?}"))
            .collect();
        lost.sort();
        lost
    }

    fn says(&self, new: &Requirement) -> bool {
        let old: Vec<&str> = self.content.iter().map(|line| line.text.as_str()).collect();
        trim(&old.join("\n")) == trim(&new.text)
    }

    /// Puts `new` in its place; `false` if it says the same.
    fn replace(&mut self, new: &Requirement) -> bool {
        if self.says(new) {
            return false;
        }
        let usual = lines::usual_end(&self.content);
        let last = self.content.last().map_or(usual, |line| line.end);
        let mut content: Vec<RawLine> = new
            .text
            .split('\n')
            .map(|text| RawLine {
                text: text.to_owned(),
                end: usual,
            })
            .collect();
        if let Some(line) = content.last_mut() {
            line.end = last;
        }
        self.content = content;
        true
    }
}

impl Parts {
    fn of(raw: &str, outline: &Outline<'_>) -> Self {
        let mut all = lines::split(raw);
        let newline = lines::usual_end(&all);
        let Some((section, end)) = check::section(outline) else {
            return Self::without_section(all, newline, outline);
        };
        let inside = outline.headings_in(section.saturating_add(1)..end);
        let named: Vec<(Line, &str)> = inside
            .iter()
            .filter_map(|heading| Some((heading.line, requirement_name(heading)?)))
            .collect();
        let first = named.first().map_or(end, |(line, _)| *line);
        let after = all.split_off(index(end).min(all.len()));
        let mut names = Names::default();
        let mut pieces = Vec::new();
        let mut next = end;
        for (block, (line, name)) in named.iter().enumerate().rev() {
            names.insert(name, block);
            let (content, gap) = without_gap(all.split_off(index(*line).min(all.len())));
            pieces.push(Piece {
                content,
                gap,
                scenarios: scenarios(outline, *line..next),
                removed: false,
            });
            next = *line;
        }
        pieces.reverse();
        let (before, lead) = without_gap(all);
        Self {
            before,
            lead,
            pieces,
            after,
            names,
            newline,
            other: check::other(outline, section, first, end),
        }
    }

    /// A file without `## Requirements`: it is put at the end.
    fn without_section(all: Vec<RawLine>, newline: &'static str, outline: &Outline<'_>) -> Self {
        let (mut before, _) = without_gap(all);
        let own = |text: &str| RawLine {
            text: text.to_owned(),
            end: newline,
        };
        if let Some(last) = before.last_mut() {
            if last.end.is_empty() {
                last.end = newline;
            }
            before.push(own(""));
        }
        before.push(own("## Requirements"));
        let end = outline.end();
        Self {
            before,
            lead: Vec::new(),
            pieces: Vec::new(),
            after: Vec::new(),
            names: Names::default(),
            newline,
            other: check::other(outline, end, end, end),
        }
    }

    fn join(mut self, added: &[&str]) -> String {
        let mut out = Writer::new(self.newline);
        out.all(&self.before);
        let blank = vec![RawLine {
            text: String::new(),
            end: self.newline,
        }];
        // What stands between the last requirement and what follows stays there, whichever requirement will be the last.
        let (mut gap, tail) = match self.pieces.last_mut() {
            Some(last) => (self.lead, mem::replace(&mut last.gap, blank.clone())),
            None => (blank.clone(), self.lead),
        };
        for piece in self.pieces.into_iter().filter(|piece| !piece.removed) {
            out.all(&gap);
            out.all(&piece.content);
            gap = piece.gap;
        }
        for text in added {
            out.all(if gap.is_empty() { &blank } else { &gap });
            for line in text.split('\n') {
                out.line(line);
            }
            gap.clear();
        }
        if !added.is_empty() && tail.is_empty() && !self.after.is_empty() {
            out.all(&blank);
        }
        out.all(&tail);
        out.all(&self.after);
        out.finish()
    }
}

/// Lines, and the blank ones at their end.
fn without_gap(mut lines: Vec<RawLine>) -> (Vec<RawLine>, Vec<RawLine>) {
    let blank = |line: &RawLine| trim(&line.text).is_empty();
    let content = lines
        .iter()
        .rposition(|line| !blank(line))
        .map_or(0, |last| last + 1);
    let gap = lines.split_off(content);
    (lines, gap)
}

fn index(line: Line) -> usize {
    usize::try_from(line).map_or(usize::MAX, |line| line.saturating_sub(1))
}

fn scenarios(outline: &Outline<'_>, lines: Range<Line>) -> HashMap<String, usize> {
    let mut names = HashMap::new();
    for name in outline.headings_in(lines).iter().filter_map(scenario_name) {
        *names.entry(name.to_owned()).or_insert(0) += 1;
    }
    names
}

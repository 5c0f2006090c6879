//! Splits a spec into requirements and puts it together again.

use std::mem;

use super::check;
use super::lines::{self, RawLine, Writer};
use super::names::Names;
use crate::model::{Line, Requirement};
use crate::parse::{Outline, requirement_name, trim};

/// A piece of the section of requirements: a block with the blank lines after it.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) content: Vec<RawLine>,
    gap: Vec<RawLine>,
    pub(super) removed: bool,
}

/// A file split into its parts.
pub(super) struct Parts {
    /// The lines up to the first requirement, including the heading of the section.
    before: Vec<RawLine>,
    lead: Vec<RawLine>,
    pub(super) pieces: Vec<Piece>,
    after: Vec<RawLine>,
    pub(super) names: Names,
    newline: &'static str,
    pub(super) other: Option<Line>,
}

impl Piece {
    pub(super) fn says(&self, new: &Requirement) -> bool {
        trim(&self.text()) == trim(&new.text)
    }

    fn text(&self) -> String {
        let lines: Vec<&str> = self.content.iter().map(|line| line.text.as_str()).collect();
        lines.join("\n")
    }

    /// The first heading inside it that does not belong to a requirement, unless `new` has it and the text below too.
    pub(super) fn foreign(&self, new: Option<&Requirement>) -> Option<String> {
        let text = self.text();
        let outline = Outline::of(&text);
        let is_heading = |line: &Line| {
            let text = outline.line(*line);
            let marks = text.trim_start_matches(' ');
            let behind = marks.trim_start_matches('#');
            let level = marks.len() - behind.len();
            text.len() - marks.len() <= 3
                && (1..=3).contains(&level)
                && (behind.is_empty() || behind.starts_with([' ', '\t']))
        };
        let mut below = (2..outline.end()).filter(|line| !outline.is_code(*line));
        let line = below.find(is_heading)?;
        let kept =
            new.is_some_and(|new| new.text.contains(trim(outline.text_of(line..outline.end()))));
        (!kept).then(|| trim(outline.line(line)).to_owned())
    }

    /// Replaces it with `new`; returns `false` if the text is the same.
    pub(super) fn replace(&mut self, new: &Requirement) -> bool {
        if self.says(new) {
            return false;
        }
        let usual = lines::usual_end(&self.content);
        let last = self.content.last().map_or(usual, |line| line.end);
        let mut content: Vec<RawLine> = new
            .text
            .split('\n')
            .map(|text| RawLine { text: text.to_owned(), end: usual })
            .collect();
        if let Some(line) = content.last_mut() {
            line.end = last;
        }
        self.content = content;
        true
    }
}

impl Parts {
    pub(super) fn of(raw: &str, outline: &Outline<'_>) -> Self {
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
        for (block, (line, name)) in named.iter().enumerate().rev() {
            names.insert(name, block);
            let (content, gap) = without_gap(all.split_off(index(*line).min(all.len())));
            pieces.push(Piece { content, gap, removed: false });
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

    /// A file without `## Requirements`: the section is added at the end.
    fn without_section(all: Vec<RawLine>, newline: &'static str, outline: &Outline<'_>) -> Self {
        let (mut before, _) = without_gap(all);
        let own = |text: &str| RawLine { text: text.to_owned(), end: newline };
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

    pub(super) fn join(mut self, added: &[&str]) -> String {
        let mut out = Writer::new(self.newline);
        out.all(&self.before);
        let blank = vec![RawLine { text: String::new(), end: self.newline }];
        // The text between the last requirement and the next section stays where it is, even if another requirement
        // becomes the last one.
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

/// Splits off the blank lines at the end.
fn without_gap(mut lines: Vec<RawLine>) -> (Vec<RawLine>, Vec<RawLine>) {
    let blank = |line: &RawLine| trim(&line.text).is_empty();
    let content = lines.iter().rposition(|line| !blank(line)).map_or(0, |last| last + 1);
    let gap = lines.split_off(content);
    (lines, gap)
}

fn index(line: Line) -> usize {
    usize::try_from(line).map_or(usize::MAX, |line| line.saturating_sub(1))
}

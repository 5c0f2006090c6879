//! A text as lines and headings, with code lines marked.

use std::ops::Range;

use super::text::{is_space, number, strip_prefix_any_case, trim};
use crate::model::{Line, Section};

/// The lines of a text, which of them are in code blocks, and the headings outside of code blocks.
///
/// A code block is opened by three or more backticks or tildes after any white space, with any text after them. It is
/// closed by at least as many of the same, with nothing but white space around them. A block that is never closed ends
/// with the text. These are OpenSpec's rules. It does not follow two more rules of CommonMark: at most three blanks
/// before the opening fence, and no backtick in the text after it.
#[derive(Debug, Clone)]
pub struct Outline<'t> {
    text: &'t str,
    /// Where each line begins, and whether it is code.
    lines: Vec<(usize, bool)>,
    headings: Vec<Heading<'t>>,
}

/// One heading: one to six `#` at the left margin, white space, and a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'t> {
    /// The number of `#`: 1 to 6.
    pub level: u8,
    /// The text after them, trimmed; trailing `#` are kept.
    pub title: &'t str,
    /// Its line.
    pub line: Line,
    /// Whether there is white space between the `#` and the title. Only `###Requirement: x` is a heading without it.
    pub spaced: bool,
}

impl<'t> Outline<'t> {
    /// Splits `text`, whose lines end in LF.
    pub fn of(text: &'t str) -> Self {
        let mut outline = Self { text, lines: Vec::new(), headings: Vec::new() };
        let mut start = 0;
        let mut fence = None;
        for (index, line) in text.split('\n').enumerate() {
            let code = match fence {
                None => {
                    fence = opened(line);
                    fence.is_some()
                }
                Some(open) => {
                    if closes(line, open) {
                        fence = None;
                    }
                    true
                }
            };
            if !code && let Some(heading) = heading(line, number(index)) {
                outline.headings.push(heading);
            }
            outline.lines.push((start, code));
            start += line.len() + 1;
        }
        outline
    }

    /// The headings in the order of the text.
    pub fn headings(&self) -> &[Heading<'t>] {
        &self.headings
    }

    /// The line `line`, without its LF; empty beyond the end.
    pub fn line(&self, line: Line) -> &'t str {
        self.text_of(line..line.saturating_add(1))
    }

    /// Whether the line is in a code block or opens or closes one.
    pub fn is_code(&self, line: Line) -> bool {
        self.at(line).is_some_and(|(_, code)| code)
    }

    /// The text of some lines, without the LF of the last one.
    pub fn text_of(&self, lines: Range<Line>) -> &'t str {
        let Some((start, _)) = self.at(lines.start).filter(|_| !lines.is_empty()) else {
            return "";
        };
        let end = self.at(lines.end).map_or(self.text.len(), |(next, _)| next.saturating_sub(1));
        known_range::text(self.text, start..end)
    }

    /// The line after the last one.
    pub fn end(&self) -> Line {
        number(self.lines.len())
    }

    /// The headings in some lines.
    pub fn headings_in(&self, lines: Range<Line>) -> &[Heading<'t>] {
        let first = self.headings.partition_point(|h| h.line < lines.start);
        let last = self.headings.partition_point(|h| h.line < lines.end);
        known_range::items(&self.headings, first..last)
    }

    /// The end of the part that begins after `line`: the next heading of `level` or above, or the end of the text.
    pub fn end_of(&self, line: Line, level: u8) -> Line {
        self.headings_in(line.saturating_add(1)..self.end())
            .iter()
            .find(|heading| heading.level <= level)
            .map_or(self.end(), |heading| heading.line)
    }

    /// The heading of the section with the title `title`, ignoring case: the first of level 2, else the first of any
    /// level.
    pub fn find(&self, title: &str) -> Option<Heading<'t>> {
        let mut named =
            self.headings.iter().filter(|heading| heading.title.eq_ignore_ascii_case(title));
        let first = named.clone().next();
        named.find(|heading| heading.level == 2).or(first).copied()
    }

    /// The section with the title `title`, as [`Outline::find`] finds it.
    pub fn section(&self, title: &str) -> Option<Section> {
        let heading = self.find(title)?;
        let lines = heading.line.saturating_add(1)..self.end_of(heading.line, heading.level);
        Some(Section { line: heading.line, text: trim(self.text_of(lines)).to_owned() })
    }

    fn at(&self, line: Line) -> Option<(usize, bool)> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines.get(index).copied()
    }
}

/// The character and the length of the fence that `line` opens.
fn opened(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start_matches(is_space);
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    (length >= 3).then_some((mark, length))
}

fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = trim(line);
    line.len() >= length && line.chars().all(|c| c == mark)
}

fn heading(line: &str, number: Line) -> Option<Heading<'_>> {
    let rest = line.trim_start_matches('#');
    let level = u8::try_from(line.len() - rest.len()).ok()?;
    let spaced = rest.starts_with(is_space);
    let requirement = level == 3 && strip_prefix_any_case(rest, "Requirement:").is_some();
    ((1..=6).contains(&level) && (spaced || requirement)).then(|| Heading {
        level,
        title: trim(rest),
        line: number,
        spaced,
    })
}

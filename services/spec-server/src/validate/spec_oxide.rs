//! The rules of Spec Oxide projects, with the verdicts of Spec Oxide's own code: `spox spec validate` and `spox change
//! validate`, version 0.5.
//!
//! That code trims lines before it reads them. Where its documents and its code differ, the code counts. It counts
//! bytes where it says characters, so texts in other scripts reach a minimum length sooner. Three things follow the
//! parser here and not that code: a heading in a code block does not count, a byte order mark hides nothing, and a
//! single CR ends a line. A task in another script is cut between characters, where that code panics.

mod change;
mod rules;
mod scenario;
mod spec;
mod tasks;

use std::ops::Range;

pub(super) use change::check as check_change;
pub(super) use spec::check as check_spec;

use crate::model::Line;
use crate::parse::{Outline, trim};

/// The minimum length of a purpose or a Why.
const MIN_TEXT: usize = 50;

/// The lines of a file as the rules see them.
#[derive(Debug)]
struct Rows<'t> {
    outline: Outline<'t>,
}

impl<'t> Rows<'t> {
    fn of(text: &'t str) -> Self {
        Self { outline: Outline::of(text) }
    }

    fn all(&self) -> Range<Line> {
        1..self.outline.end()
    }

    /// A line, trimmed.
    fn line(&self, line: Line) -> &'t str {
        trim(self.outline.line(line))
    }

    /// A line, trimmed, unless it is code.
    fn outside(&self, line: Line) -> &'t str {
        if self.outline.is_code(line) { "" } else { self.line(line) }
    }

    /// The first line with this heading, ignoring case.
    fn find(&self, heading: &str) -> Option<Line> {
        self.all().find(|line| self.outside(*line).eq_ignore_ascii_case(heading))
    }

    /// The lines below a line, up to the next heading of level 2.
    fn section(&self, line: Line) -> Range<Line> {
        let start = line.saturating_add(1);
        let mut rest = start..self.outline.end();
        let end = rest.find(|line| self.outside(*line).starts_with("## "));
        start..end.unwrap_or(self.outline.end())
    }

    /// The numbers of bytes and characters in some lines.
    fn length(&self, lines: Range<Line>) -> (usize, usize) {
        let text = trim(self.outline.text_of(lines));
        (text.len(), text.chars().count())
    }
}

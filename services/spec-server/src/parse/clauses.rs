//! GIVEN, WHEN and THEN of a scenario, in the many ways people write them.

use std::ops::Range;

use super::outline::Outline;
use super::text::{bullet, is_space, strip_prefix_any_case, trim};
use crate::model::Line;

/// The clauses of a scenario.
#[derive(Debug, Default)]
pub(super) struct Clauses {
    pub(super) given: Vec<String>,
    pub(super) when: Vec<String>,
    pub(super) then: Vec<String>,
}

/// The part of a scenario that a clause belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Given,
    When,
    Then,
}

/// The form of the clause that is being read.
#[derive(Debug, Clone, Copy)]
struct Open {
    kind: Kind,
    /// The indentation of its line.
    indent: usize,
    bulleted: bool,
    /// It has no bullet, emphasis or capitals. Only its position makes it a clause.
    bare: bool,
    /// A separate paragraph follows it.
    closed: bool,
}

/// A line that begins with a keyword.
struct Keyword {
    /// `None` for AND, BUT and OR, which continue the clause before.
    kind: Option<Kind>,
    /// The keyword that is kept in the clause: BUT and OR carry meaning.
    kept: Option<&'static str>,
    emphasised: bool,
    /// Written completely in capitals.
    loud: bool,
    text: String,
}

/// Reads the clauses in `lines`. Code does not count, unless a scenario has nothing else: some scenarios are one block
/// of Gherkin.
pub(super) fn read(outline: &Outline<'_>, lines: Range<Line>) -> Clauses {
    let prose = |line: &Line| !outline.is_code(*line);
    let texts = |line| outline.line(line);
    let clauses = read_lines(lines.clone().filter(prose).map(texts));
    if clauses.is_empty() && !lines.clone().all(|line| prose(&line)) {
        read_lines(lines.map(texts).filter(|line| !is_fence(line)))
    } else {
        clauses
    }
}

fn is_fence(line: &str) -> bool {
    let line = trim(line);
    line.starts_with("```") || line.starts_with("~~~")
}

fn read_lines<'t>(lines: impl Iterator<Item = &'t str>) -> Clauses {
    let mut clauses = Clauses::default();
    let mut open: Option<Open> = None;
    let mut gap = false;
    for line in lines {
        let text = trim(line);
        if text.is_empty() {
            gap = true;
            continue;
        }
        let after_gap = std::mem::take(&mut gap);
        let indent = indent(line);
        let (bulleted, text) = match bullet(text).filter(|rest| rest.starts_with(is_space)) {
            Some(rest) => (true, trim(rest)),
            None => (false, text),
        };
        if let Some(keyword) = keyword(text).filter(|k| begins(k, bulleted, indent, open)) {
            // An AND before any other clause continues nothing. It stays only in the text of the scenario.
            if let Some(kind) = keyword.kind.or(open.map(|clause| clause.kind)) {
                let text = match keyword.kept {
                    Some(word) if !keyword.text.is_empty() => format!("{word} {}", keyword.text),
                    Some(word) => word.to_owned(),
                    None => keyword.text,
                };
                clauses.list(kind).push(text);
                open = Some(Open {
                    kind,
                    indent,
                    bulleted,
                    bare: !bulleted && !keyword.emphasised && !keyword.loud,
                    closed: false,
                });
            }
        } else if let Some(clause) = open.filter(|clause| !clause.closed) {
            let deeper = indent > clause.indent;
            if bulleted && !deeper && clause.bulleted {
                clauses.list(clause.kind).push(text.to_owned());
                open = Some(Open { indent, ..clause });
            } else if deeper || !after_gap {
                let mark = if bulleted { "- " } else { "" };
                clauses.continue_last(clause.kind, &format!("{mark}{text}"));
            } else {
                open = Some(Open { closed: true, ..clause });
            }
        }
    }
    clauses
}

/// Whether a keyword at the beginning of a line begins a clause. Otherwise it is a word of the clause before.
fn begins(keyword: &Keyword, bulleted: bool, indent: usize, open: Option<Open>) -> bool {
    if keyword.emphasised || keyword.loud {
        return true;
    }
    match open {
        None => true,
        Some(clause) if bulleted => indent <= clause.indent || !clause.bulleted || clause.closed,
        Some(clause) => clause.bare,
    }
}

/// The keyword at the beginning of `text`, plain or emphasised, with or without a colon.
fn keyword(text: &str) -> Option<Keyword> {
    let mark =
        ["**", "__", "*", "_"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or_default();
    let inner = text.strip_prefix(mark)?;
    const WORDS: [(&str, Option<Kind>, Option<&str>); 6] = [
        ("GIVEN", Some(Kind::Given), None),
        ("WHEN", Some(Kind::When), None),
        ("THEN", Some(Kind::Then), None),
        ("AND", None, None),
        ("BUT", None, Some("BUT")),
        ("OR", None, Some("OR")),
    ];
    let ((word, kind, kept), rest) = WORDS
        .into_iter()
        .find_map(|entry| Some((entry, strip_prefix_any_case(inner, entry.0)?)))?;
    let loud = inner.starts_with(word);
    let colon = rest.strip_prefix(':').unwrap_or(rest);
    let text = match colon.strip_prefix(mark) {
        Some(rest) => trim(rest.strip_prefix(':').unwrap_or(rest)).to_owned(),
        // The emphasis continues over the whole clause or a part of it.
        None if rest.starts_with(is_space) => trim(&rest.replacen(mark, "", 1)).to_owned(),
        None => return None,
    };
    let apart = !mark.is_empty()
        || colon.is_empty()
        || colon.len() < rest.len()
        || rest.starts_with(is_space)
        || rest.starts_with(',');
    apart.then_some(Keyword { kind, kept, emphasised: !mark.is_empty(), loud, text })
}

/// The indentation of a line. A tab counts as four.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| is_space(*c)).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

impl Clauses {
    fn is_empty(&self) -> bool {
        self.given.is_empty() && self.when.is_empty() && self.then.is_empty()
    }

    fn list(&mut self, kind: Kind) -> &mut Vec<String> {
        match kind {
            Kind::Given => &mut self.given,
            Kind::When => &mut self.when,
            Kind::Then => &mut self.then,
        }
    }

    fn continue_last(&mut self, kind: Kind, text: &str) {
        if let Some(clause) = self.list(kind).last_mut() {
            if !clause.is_empty() {
                clause.push(' ');
            }
            clause.push_str(text);
        }
    }
}

//! Whether a text says what was looked for, and which messages may: the indices of words and of runs of three
//! characters give candidates, and what is decided here is the truth.

use memchr::memmem;

use super::fold::{fold, fold_into, words};

/// The most runs of three characters that are looked up for one part: more make it slower, not more exact.
const GRAMS: usize = 12;

/// What a text must say.
#[derive(Debug)]
pub(super) enum Matcher {
    /// This, anywhere, neither case nor diacritics counting.
    Part(Box<Part>),
    /// All of these.
    Terms(Vec<Term>),
}

/// A part of a text.
#[derive(Debug)]
pub(super) struct Part {
    folded: String,
    finder: memmem::Finder<'static>,
    buffer: String,
}

/// Consecutive words, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// At least one.
    pub(super) words: Vec<String>,
    /// Whether the last is only how a word begins.
    pub(super) prefix: bool,
}

/// A question to one of the tables of [`schema`](super::schema) that holds for every message that matches, and
/// perhaps for others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidates {
    pub(super) sql: &'static str,
    pub(super) expression: String,
}

impl Matcher {
    /// Nothing to look for is `None`.
    pub(super) fn part(text: &str) -> Option<Self> {
        let folded = fold(text);
        if folded.is_empty() {
            return None;
        }
        Some(Self::Part(Box::new(Part {
            finder: memmem::Finder::new(&folded).into_owned(),
            folded,
            buffer: String::new(),
        })))
    }

    pub(super) fn matches(&mut self, text: &str) -> bool {
        match self {
            Self::Part(part) => {
                fold_into(text, &mut part.buffer);
                part.finder.find(part.buffer.as_bytes()).is_some()
            }
            Self::Terms(terms) => {
                let words = words(text);
                terms.iter().all(|term| term.is_in(&words))
            }
        }
    }

    /// `None` if no table knows: two characters are not a run of three.
    pub(super) fn candidates(&self) -> Option<Candidates> {
        let (sql, quoted): (_, Vec<String>) = match self {
            Self::Part(part) => (
                "SELECT rowid FROM gram WHERE gram MATCH ?1 LIMIT ?2",
                grams(&part.folded).iter().map(|gram| quote(gram)).collect(),
            ),
            Self::Terms(terms) => (
                "SELECT rowid FROM word WHERE word MATCH ?1 LIMIT ?2",
                terms.iter().map(Term::expression).collect(),
            ),
        };
        (!quoted.is_empty()).then(|| Candidates {
            sql,
            expression: quoted.join(" AND "),
        })
    }
}

impl Term {
    pub(super) fn is_in(&self, words: &[String]) -> bool {
        words
            .windows(self.words.len())
            .any(|window| self.is_at(window))
    }

    /// Whether it is just these words.
    pub(super) fn is_at(&self, window: &[String]) -> bool {
        let Some((last, before)) = self.words.split_last() else {
            return false;
        };
        let Some((found, found_before)) = window.split_last() else {
            return false;
        };
        before == found_before
            && match self.prefix {
                true => found.starts_with(last.as_str()),
                false => found == last,
            }
    }

    fn expression(&self) -> String {
        let star = if self.prefix { " *" } else { "" };
        format!("{}{star}", quote(&self.words.join(" ")))
    }
}

/// Some of the runs of three characters in a text, evenly from all of it.
fn grams(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut all: Vec<String> = chars.windows(3).map(|run| run.iter().collect()).collect();
    let step = all.len().div_ceil(GRAMS).max(1);
    let last = all.pop();
    let mut some: Vec<String> = all.into_iter().step_by(step).chain(last).collect();
    some.sort_unstable();
    some.dedup();
    some
}

/// A string of FTS5: what is in it is never an operator (SQLite, "FTS5 Strings").
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

//! Whether a text matches a search: the index of words gives candidates, and the decision is made here.

use super::fold::words;
use super::search::terms;
use crate::query::Invalid;

/// The conditions for a text: all of these clauses must hold.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    clauses: Vec<Clause>,
}

/// Holds if the text contains any of the terms; with `is_not`, if it contains none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) terms: Vec<Term>,
    pub(super) is_not: bool,
}

/// Consecutive words, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// At least one word.
    pub(super) words: Vec<String>,
    /// Whether the last word is only the beginning of a word.
    pub(super) prefix: bool,
}

/// A query to a table of [`schema`](super::schema) that finds every matching message, and perhaps others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidates {
    pub(super) sql: &'static str,
    pub(super) expression: String,
}

/// Whether a text matches, by the rules of a search.
///
/// # Errors
/// [`Invalid`] if there is nothing to look for.
pub fn says(text: &str, asked: &str) -> Result<bool, Invalid> {
    Ok(Matcher::parse("search", asked)?.matches(&words(text)))
}

impl Matcher {
    /// # Errors
    /// [`Invalid`] if there is nothing to look for, or too much.
    pub(super) fn parse(parameter: &'static str, text: &str) -> Result<Self, Invalid> {
        let clauses = terms::parse(parameter, text)?;
        Ok(Self { clauses })
    }

    pub(super) fn matches(&self, words: &[String]) -> bool {
        self.clauses
            .iter()
            .all(|clause| clause.terms.iter().any(|term| term.is_in(words)) != clause.is_not)
    }

    /// The terms to mark in a text that matches.
    pub(super) fn terms(&self) -> Vec<Term> {
        let wanted = self.clauses.iter().filter(|clause| !clause.is_not);
        wanted.flat_map(|clause| clause.terms.iter().cloned()).collect()
    }

    pub(super) fn candidates(&self) -> Option<Candidates> {
        let wanted = self.clauses.iter().filter(|clause| !clause.is_not);
        let quoted: Vec<String> = wanted
            .map(|clause| {
                let terms: Vec<String> = clause.terms.iter().map(Term::expression).collect();
                format!("({})", terms.join(" OR "))
            })
            .collect();
        (!quoted.is_empty()).then(|| Candidates {
            sql: "SELECT rowid FROM word WHERE word MATCH ?1 LIMIT ?2",
            expression: quoted.join(" AND "),
        })
    }
}

impl Term {
    pub(super) fn is_in(&self, words: &[String]) -> bool {
        words.windows(self.words.len()).any(|window| self.is_at(window))
    }

    /// Whether the term is exactly these words.
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

/// A string of FTS5: its contents are never operators (SQLite, "FTS5 Strings").
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

//! Whether a text matches a search: the index of words gives candidates, and the decision is made here.

use super::fold::words;
use super::search::terms;
use crate::query::Invalid;

/// What a text must say: all of these, and nothing of what it must not.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    clauses: Vec<Clause>,
}

/// Any of some terms; or none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) terms: Vec<Term>,
    pub(super) is_not: bool,
}

/// Consecutive words, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// At least one.
    pub(super) words: Vec<String>,
    /// Whether the last is only how a word begins.
    pub(super) prefix: bool,
}

/// A question to a table of [`schema`](super::schema) that holds for every message that matches, and perhaps for
/// others.
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

    /// What is looked for, to be marked where it was found.
    pub(super) fn terms(&self) -> Vec<Term> {
        let wanted = self.clauses.iter().filter(|clause| !clause.is_not);
        wanted
            .flat_map(|clause| clause.terms.iter().cloned())
            .collect()
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

/// A string of FTS5: what is in it is never an operator (SQLite, "FTS5 Strings").
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

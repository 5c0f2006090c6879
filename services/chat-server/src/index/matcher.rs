//! Whether a text matches a search: the index of words gives candidates, and the decision is made here.

use super::fold::words;
use super::terms::{self, Clause, Term};
use crate::query::Invalid;

/// The conditions for a text: all of these clauses must hold.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    clauses: Vec<Clause>,
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

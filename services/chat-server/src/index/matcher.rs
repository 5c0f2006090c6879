//! Whether a text matches a search: the index of words gives candidates, and the decision is made here.

use rusqlite::Connection;

use super::fold::words;
use super::terms::{self, Clause, Term, quote};
use super::vocabulary::Vocabulary;
use crate::query::Invalid;

/// The conditions for a text: all of these clauses must hold.
#[derive(Debug, Clone)]
pub(super) struct Matcher {
    clauses: Vec<Clause>,
    /// Whether texts that have it inside a word match like the others.
    contains: bool,
}

/// How well a text matches. The better is the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// By whole words or their beginnings.
    Whole,
    /// Inside a word.
    Inside,
    /// Not at all.
    No,
}

/// Whether a text contains this, by the rules of a search.
///
/// # Errors
/// [`Invalid`] if there is nothing to look for.
pub fn says(text: &str, asked: &str) -> Result<bool, Invalid> {
    Ok(Matcher::containing(asked)?.fit(&words(text)) == Fit::Whole)
}

impl Matcher {
    /// For a search that tells whole words from parts of words.
    ///
    /// # Errors
    /// [`Invalid`] if there is nothing to look for, or too much.
    pub(super) fn parse(parameter: &'static str, text: &str) -> Result<Self, Invalid> {
        let clauses = terms::parse(parameter, text)?;
        Ok(Self { clauses, contains: false })
    }

    /// For a filter that takes both.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub(super) fn containing(text: &str) -> Result<Self, Invalid> {
        Ok(Self { contains: true, ..Self::parse("search", text)? })
    }

    /// Whether it tells whole words from parts of words.
    pub(super) const fn tells_parts(&self) -> bool {
        !self.contains
    }

    pub(super) fn fit(&self, words: &[String]) -> Fit {
        let mut fit = Fit::Whole;
        for clause in &self.clauses {
            let is_there = clause.terms.iter().any(|term| term.is_in(words));
            if is_there != clause.is_not {
                continue;
            }
            if clause.is_not || !clause.terms.iter().any(|term| term.is_inside(words)) {
                return Fit::No;
            }
            fit = Fit::Inside;
        }
        if fit == Fit::Inside && self.contains { Fit::Whole } else { fit }
    }

    /// The terms to mark in a text that matches.
    pub(super) fn terms(&self) -> Vec<Term> {
        let wanted = self.clauses.iter().filter(|clause| !clause.is_not);
        wanted.flat_map(|clause| clause.terms.iter().cloned()).collect()
    }

    /// A query to the table of words that finds every text that matches by whole words, and perhaps others.
    pub(super) fn whole(&self) -> Option<String> {
        let wanted = self.clauses.iter().filter(|clause| !clause.is_not);
        let clauses: Vec<String> = wanted
            .map(|clause| any(&clause.terms.iter().map(Term::expression).collect::<Vec<_>>()))
            .collect();
        (!clauses.is_empty()).then(|| clauses.join(" AND "))
    }

    /// The same for texts that match inside words, too; `None` if every text may match.
    pub(super) fn inside(
        &self,
        view: &Connection,
        all: &Vocabulary,
    ) -> rusqlite::Result<Option<String>> {
        let mut clauses = Vec::new();
        for clause in self.clauses.iter().filter(|clause| !clause.is_not) {
            let mut found = Some(Vec::new());
            for term in &clause.terms {
                let more = inside(term, view, all)?;
                found = found.zip(more).map(|(mut found, more)| {
                    found.push(more);
                    found
                });
            }
            // A part of very many words is frequent: the other clauses decide.
            clauses.extend(found.map(|found| any(&found)));
        }
        Ok((!clauses.is_empty()).then(|| clauses.join(" AND ")))
    }
}

fn any(expressions: &[String]) -> String {
    format!("({})", expressions.join(" OR "))
}

/// The term, or what it may be the inside of; `None` for too many words.
fn inside(term: &Term, view: &Connection, all: &Vocabulary) -> rusqlite::Result<Option<String>> {
    let (true, Some((first, others))) = (term.loose, term.words.split_first()) else {
        return Ok(Some(term.expression()));
    };
    let Some(having) = all.having(view, first, !others.is_empty())? else {
        return Ok(None);
    };
    let mut words = vec![term.expression()];
    words.extend(having.iter().map(|word| quote(word)));
    Ok(Some(any(&words)))
}

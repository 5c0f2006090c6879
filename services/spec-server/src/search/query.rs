//! The terms of a query.

use std::collections::HashSet;

use super::terms::{Token, is_grammar, tokens};
use super::thesaurus::kin;

/// The most terms of a query. Further terms are not looked up.
pub const QUERY_TERMS: usize = 256;

/// The weight of a substitute for a term of the query, as a share of the term's weight. This and the numbers in the
/// index were chosen on `corpus/openspec-development.jsonl` and the odd lines of the other two files there.
const KIN: f64 = 0.45;

/// A parsed query: its terms in their order, each once, with their substitutes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    asked: Vec<QueryTerm>,
}

/// One part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryTerm {
    /// The term; `None` for a phrase, whose words count separately.
    pub(super) term: Option<String>,
    /// The word as it was asked for; empty for a phrase.
    pub(super) word: String,
    /// Whether it is a whole identifier.
    pub(super) whole: bool,
    /// The substitutes for the term.
    pub(super) kin: &'static [String],
}

impl QueryTerm {
    /// The terms that match it, each with its share of the term's weight.
    pub(super) fn meant(&self) -> impl Iterator<Item = (&str, f64)> {
        let own = self.term.as_deref().map(|term| (term, 1.0));
        let kin = self.kin.iter().map(|kin| (kin.as_str(), KIN));
        own.into_iter().chain(kin)
    }
}

impl Query {
    /// Parses `text`. Words of grammar are left out if there are other words.
    pub fn new(text: &str) -> Self {
        let found: Vec<_> = tokens(text).collect();
        let telling = found.iter().any(|token| !is_grammar(&token.word));
        let mut seen = HashSet::new();
        let terms = found
            .iter()
            .filter(|token| !telling || !is_grammar(&token.word))
            .map(|token| (token.term(), token))
            .filter(|(term, _)| seen.insert(term.clone()))
            .take(QUERY_TERMS)
            .map(|(term, token)| QueryTerm {
                whole: token.whole,
                word: token.word.clone(),
                kin: kin(&term),
                term: Some(term),
            });
        let phrases = found.windows(2).take(QUERY_TERMS).filter_map(phrase);
        Self { asked: terms.chain(phrases).collect() }
    }

    /// The parts of the query.
    pub(super) fn asked(&self) -> impl Iterator<Item = &QueryTerm> {
        self.asked.iter()
    }

    /// Whether there are no terms to look up.
    pub const fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }
}

/// The phrase that two words form, if it is in the thesaurus.
fn phrase(words: &[Token]) -> Option<QueryTerm> {
    let words: Vec<String> = words.iter().map(Token::term).collect();
    let kin = kin(&words.join(" "));
    (!kin.is_empty()).then_some(QueryTerm { term: None, word: String::new(), whole: false, kin })
}

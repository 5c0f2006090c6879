//! What a query asks for.

use std::collections::HashSet;

use super::terms::{is_grammar, tokens};

/// The most terms of a query; those behind them are not looked up.
pub const QUERY_TERMS: usize = 256;

/// A query, taken apart: its terms in their order, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    terms: Vec<(String, bool)>,
}

impl Query {
    /// The terms of `text`, without words of grammar if there are others.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let found: Vec<_> = tokens(text).collect();
        let telling = found.iter().any(|token| !is_grammar(&token.word));
        let mut seen = HashSet::new();
        let terms = found
            .iter()
            .filter(|token| !telling || !is_grammar(&token.word))
            .map(|token| (token.term(), token.whole))
            .filter(|(term, _)| seen.insert(term.clone()))
            .take(QUERY_TERMS)
            .collect();
        Self { terms }
    }

    /// Its terms, and whether each is an identifier kept whole.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&str, bool)> {
        self.terms
            .iter()
            .map(|(term, whole)| (term.as_str(), *whole))
    }

    /// Whether there is nothing to look up.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

//! Search over specs: the requirements and purposes that answer a question, the best first.
//!
//! [`Searcher`] is the entry point. By default it ranks by BM25 ([`Index`]), is always up to date, and needs only the
//! specs. With a sentence-embedding model it also finds texts that say the same in other words, and fuses both
//! rankings.
//!
//! | score | what it is |
//! |---|---|
//! | [`Ranker::Bm25`] | the share of the query's terms that the document has, weighted by their rarity and saturating with repetition: BM25 divided by its least upper bound for the query. Words that may stand for a term count less ([`Query`]); what lacks terms loses, and a requirement gains by what its spec has of the query |
//! | [`Ranker::Semantic`] | the cosine between the embeddings of the query and of the best passage |
//! | [`Ranker::Hybrid`] | the mean of both scores, where what a ranking lacks has 0 |
//!
//! Each is in 0..=1. Results below [`Settings::threshold`], and passages that have little to do with the
//! query, are left out.

mod changes;
mod document;
mod explicit;
mod folder;
mod fusion;
mod index;
mod query;
mod searcher;
mod semantic;
mod settings;
mod snippet;
mod stem;
mod terms;
mod thesaurus;

use std::path::PathBuf;

pub use document::{Document, DocumentPart, Field, documents};
pub use explicit::build;
pub use index::{Index, Match, Slot};
pub use query::{QUERY_TERMS, Query};
pub use searcher::{QUERY_CHARS, Searcher};
pub use semantic::{Model, ModelError, PIECES, Tokenizer};
pub use settings::{Freshness, Settings, TOP_K};
pub(crate) use settings::{MAX_TOP_K, Scope};
pub use snippet::{SNIPPET_CHARS, snippet};
pub use stem::stem;
pub use terms::{TERM_CHARS, Token, is_grammar, tokens};

use crate::model::Line;

/// The origin of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ranker {
    /// The terms of the query.
    Bm25,
    /// The meaning of the query.
    Semantic,
    /// Both rankings, fused.
    Hybrid,
}

impl Ranker {
    /// The name for clients, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Semantic => "semantic",
            Self::Hybrid => "hybrid",
        }
    }
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOutcome {
    /// The hits, the best first; ties by id and line.
    pub hits: Vec<Hit>,
    /// The ranking that made the scores of the hits.
    pub ranker: Ranker,
    /// How many passages are still being embedded. Until then the ranking is that by terms alone.
    pub waiting: usize,
    /// What helps to ask again, if the answer is unsure.
    pub doubt: Option<Doubt>,
}

/// What is known about an answer that is unsure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The specs with the most results among the first, with their numbers.
    pub specs: Vec<(String, usize)>,
    /// The words of the query that occur, themselves or a word of the same meaning.
    pub used: Vec<String>,
    /// Those that do not.
    pub unknown: Vec<String>,
}

/// One search result.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The spec.
    pub spec_id: String,
    /// The requirement; `None` for the title or purpose of the spec itself, and for its other texts.
    pub requirement: Option<String>,
    /// The heading of a text that is not part of a requirement.
    pub section: Option<String>,
    /// In a search of changes, the change and the file relative to its folder. `spec_id` is then the capability, or
    /// empty if the file is not about one.
    pub change: Option<(String, String)>,
    /// A score in 0..=1, from the ranking in [`SearchOutcome::ranker`].
    pub score: f64,
    /// The ranking that found it; [`Ranker::Hybrid`] means both.
    pub ranker: Ranker,
    /// The best passage as whole words, at most [`SNIPPET_CHARS`] characters, plus `…` where text was left out.
    pub snippet: String,
    /// The line of the requirement's heading. For the spec itself, the line of its purpose, or 1.
    pub line: Line,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The index must be built explicitly, and it was not.
    #[error("there is no search index at {}: build it with `spec-server index`, or search without `--index explicit`", .0.display())]
    NoIndex(PathBuf),
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The I/O error.
        error: std::io::Error,
    },
    /// The query is too long.
    #[error(
        "the query has {0} characters, more than {QUERY_CHARS}: ask a question or name a few terms"
    )]
    LongQuery(usize),
    /// The model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

//! The settings of a searcher: when it builds its index, how it ranks, and which scores are too low to report.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Deserialize;

/// The default number of hits.
pub const TOP_K: usize = 10;

/// The most results of one search.
pub(crate) const MAX_TOP_K: usize = 100;

/// What is searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// In the specs.
    #[default]
    Specs,
    /// In the active changes, by words.
    Changes,
    /// In the archived changes, by words.
    Archive,
}

/// The settings of a searcher.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// When the index is built.
    pub freshness: Freshness,
    /// A folder with a sentence-embedding model: `model.safetensors`, `config.json`, and `vocab.txt` or
    /// `tokenizer.json`. Without a model, search only uses terms.
    pub model: Option<PathBuf>,
    /// The lowest scores of a hit.
    pub thresholds: Thresholds,
}

/// When specs can be searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Freshness {
    /// Always.
    #[default]
    #[value(name = "auto")]
    Always,
    /// After the command `index`.
    Explicit,
}

/// The lowest score of a hit, for each ranking. Fused rankings include a hit that passes either one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// For [`Ranker::Bm25`](super::Ranker::Bm25). With 0, one term of the query is enough.
    pub bm25: f64,
    /// For [`Ranker::Semantic`](super::Ranker::Semantic): a cosine. Half of all random pairs of texts score below 0.10,
    /// and nine in ten right answers score above 0.18.
    pub semantic: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { bm25: 0.0, semantic: 0.20 }
    }
}

impl Scope {
    /// Whether to search archived changes; `None` if no changes are searched.
    pub(crate) fn archived(self) -> Option<bool> {
        (self != Self::Specs).then_some(self == Self::Archive)
    }
}

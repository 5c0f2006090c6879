//! How a searcher works: when it makes its index, how it ranks, and which scores are too low to report.

use std::path::PathBuf;

use super::Ranker;
use super::index::Weights;

/// How many hits a query gets unless it says otherwise.
pub const TOP_K: usize = 10;

/// How a searcher works.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// When the index is made.
    pub freshness: Freshness,
    /// A folder with a sentence-embedding model: `model.safetensors`, `config.json`, and `vocab.txt` or
    /// `tokenizer.json`. Without one, search is by terms alone.
    pub model: Option<PathBuf>,
    /// What a hit must score.
    pub thresholds: Thresholds,
    /// Which ranking is used; by default both, fused. Without a model it is always that by terms.
    pub ranker: Option<Ranker>,
    /// How much the fields of a document count.
    pub weights: Weights,
}

/// When the index is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// With every update, as far as specs have changed.
    #[default]
    Always,
    /// By [`build`](super::build) alone; it is searched unchanged.
    Explicit,
}

/// What a hit must score at least, by what made its score. Fused rankings take in what either lets through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// For [`Ranker::Bm25`]. 0: a term of the query occurs.
    pub bm25: f64,
    /// For [`Ranker::Semantic`]: a cosine. Of a random pair of texts half score below 0.10, and of right answers nine
    /// in ten above 0.18.
    pub semantic: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            bm25: 0.0,
            semantic: 0.20,
        }
    }
}

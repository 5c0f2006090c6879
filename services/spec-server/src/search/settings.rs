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
    /// A folder with a sentence-embedding model: `model.safetensors`, `config.json` and `tokenizer.json`. Without a
    /// model, search only uses terms.
    pub model: Option<PathBuf>,
    /// The lowest score of a hit that is found by its terms. With 0, one term of the query is enough.
    pub threshold: f64,
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

impl Scope {
    /// Whether to search archived changes; `None` if no changes are searched.
    pub(crate) fn archived(self) -> Option<bool> {
        (self != Self::Specs).then_some(self == Self::Archive)
    }
}

//! What a search finds.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{name, notes};
use crate::search::{Found, Hit};

/// What was found, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SearchResults {
    /// The requirements and purposes that were found, by descending score.
    pub results: Vec<HitView>,
    /// What made the scores: bm25 (the words), semantic (the sense) or hybrid (both).
    pub ranker: String,
    /// What may be missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HitView {
    /// The spec.
    pub spec_id: String,
    /// The requirement; null where the spec as a whole fits, by its title or purpose.
    pub requirement: Option<String>,
    /// How well it fits, from 0 to 1.
    pub score: f64,
    /// The part of the text that fits.
    pub snippet: String,
    /// Which ranking has it: bm25, semantic or hybrid.
    pub ranker: String,
    /// Its line in the file of the spec.
    pub line: u32,
}

impl SearchResults {
    /// What was found among specs of which so many could not be read.
    #[must_use]
    pub fn of(found: &Found, unreadable: usize) -> Self {
        let outdated = found.outdated;
        let outdated = outdated.is_outdated().then(|| {
            format!(
                "the index is older than the specs ({} new, {} changed, {} gone since): build it anew with `spec-server \
                 index`",
                outdated.added, outdated.changed, outdated.removed
            )
        });
        let waiting = (found.waiting > 0).then(|| {
            format!(
                "{} texts are still being read for their sense; the same search finds more in a moment",
                found.waiting
            )
        });
        let unreadable = (unreadable > 0)
            .then(|| format!("files that could not be read: {unreadable}; list_specs names them"));
        Self {
            results: found.hits.iter().map(HitView::of).collect(),
            ranker: found.ranker.name().to_owned(),
            note: notes([outdated, waiting, unreadable]),
        }
    }
}

impl HitView {
    fn of(hit: &Hit) -> Self {
        Self {
            spec_id: hit.spec_id.clone(),
            requirement: hit.requirement.as_deref().map(name),
            score: hit.score,
            snippet: hit.snippet.clone(),
            ranker: hit.ranker.name().to_owned(),
            line: hit.line,
        }
    }
}

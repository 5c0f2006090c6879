//! Search by meaning. Passages and queries become vectors, and texts with the same meaning have near vectors, even if
//! their words differ.
//!
//! Embedding a passage takes tens of milliseconds, so a thread does it in the background, once for each text. The
//! vectors are kept on disk by the hash of their text. Until all are done, search ranks by words alone and reports how
//! many are missing.

mod bert;
mod config;
mod kept;
mod model;
mod passage;
mod tokenizer;
mod worker;

use std::collections::HashMap;

pub use self::config::ModelError;
pub use self::model::{Model, PIECES};
pub use self::tokenizer::Tokenizer;
pub(super) use self::worker::Semantic;

use self::worker::PassageLocation;
use super::document::Document;
use super::index::{Index, Match};
use super::snippet::{OMITTED, beginning};

/// A document whose best passage is near.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) found: Match,
    passage: PassageLocation,
}

impl Semantic {
    /// The vector of a query.
    pub(super) fn sense(&self, query: &str) -> Vec<f32> {
        self.model().embed(&[query]).into_iter().flatten().collect()
    }

    /// The documents with a passage whose cosine is at least `threshold`: the best first, at most `limit`, ties by id
    /// and line.
    pub(super) fn search(
        &self,
        index: &Index,
        sense: &[f32],
        threshold: f64,
        limit: usize,
    ) -> Vec<Near> {
        let mut best: HashMap<_, Near> = HashMap::new();
        self.each(|slot, passage, vector| {
            // Vectors have length 1, except for rounding.
            let cosine = f64::from(dot(sense, vector)).min(1.0);
            if cosine < threshold || best.get(&slot).is_some_and(|near| near.found.score >= cosine)
            {
                return;
            }
            let found = Match { slot, score: cosine };
            let passage = passage.clone();
            best.insert(slot, Near { found, passage });
        });
        let mut near: Vec<Near> = best.into_values().collect();
        near.sort_unstable_by(|a, b| index.order(&a.found, &b.found));
        near.truncate(limit);
        near
    }
}

impl Near {
    /// The beginning of the passage in its document.
    pub(super) fn snippet(&self, document: &Document) -> String {
        let PassageLocation { part, range } = &self.passage;
        let part = document.parts.get(*part);
        let text = part.and_then(|part| part.text.get(range.clone()));
        let beginning = beginning(text.unwrap_or_default());
        match range.start {
            0 => beginning,
            _ => format!("{OMITTED}{beginning}"),
        }
    }
}

/// Uses eight sums, which a compiler can vectorize.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}

//! Both rankings as one: the mean of the two scores. Each is in 0..=1 and measures how much of the query a document
//! has, so that they can be compared; ranks alone would not distinguish a clear answer from the first of many weak
//! ones.

use std::collections::HashMap;

use super::Ranker;
use super::index::{Match, Slot};

/// What is in either ranking, in no order, and which of them has it. A ranking that lacks a document adds nothing to
/// it.
pub(super) fn fuse(bm25: &[Match], semantic: &[Match]) -> Vec<(Match, Ranker)> {
    let mut fused: HashMap<Slot, (Match, Ranker)> = HashMap::new();
    for (ranking, ranker) in [(bm25, Ranker::Bm25), (semantic, Ranker::Semantic)] {
        for Match { slot, score } in ranking.iter().copied() {
            let score = score / 2.0;
            fused
                .entry(slot)
                .and_modify(|(found, ranker)| {
                    found.score += score;
                    *ranker = Ranker::Hybrid;
                })
                .or_insert((Match { slot, score }, ranker));
        }
    }
    fused.into_values().collect()
}

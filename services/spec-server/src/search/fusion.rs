//! Combines both rankings by the mean of the two scores. Each score is in 0..=1 and measures how much of the query a
//! document has, so the scores can be compared. Ranks alone would not distinguish a clear answer from the first of many
//! weak ones.

use std::collections::HashMap;

use super::Ranker;
use super::index::{Match, Slot};

/// The documents in either ranking, in no order, with the ranking that has each. A ranking without a document counts as
/// 0 for it.
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

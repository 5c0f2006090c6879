//! Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): rankings whose scores cannot be compared are joined by
//! their ranks alone.

use std::collections::HashMap;

use super::Ranker;
use super::index::{Match, Slot};

/// How little the first places count more than those behind them.
const K: f64 = 60.0;

/// What is in either ranking, in no order, and which of them has it. The score is the sum of 1/(60 + rank) as a share of that
/// for the first place in both.
pub(super) fn fuse(bm25: &[Match], semantic: &[Match]) -> Vec<(Match, Ranker)> {
    let mut fused: HashMap<Slot, (Match, Ranker)> = HashMap::new();
    for (ranking, ranker) in [(bm25, Ranker::Bm25), (semantic, Ranker::Semantic)] {
        let mut rank = 0.0;
        for found in ranking {
            rank += 1.0;
            let score = (K + 1.0) / 2.0 / (K + rank);
            let slot = found.slot;
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

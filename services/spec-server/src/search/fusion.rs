//! Reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): rankings whose scores cannot be compared are joined by
//! their ranks alone.

use std::collections::HashMap;

use super::Ranker;
use super::index::{Match, Slot};

/// How little the first places count more than those behind them.
const K: f64 = 60.0;

/// The least BM25 with which a document counts as found by its terms. What has less of the query shares a common word or two
/// with it, and would only disturb what was found by sense. Tuned on a part of the questions in `corpus/questions.jsonl`.
const TELLING: f64 = 0.3;

/// What is in either ranking, in no order, and which of them has it. The score is the sum of 1/(60 + rank) as a share of that
/// for the first place in both. What has only little of the query comes behind everything else.
pub(super) fn fuse(bm25: &[Match], semantic: &[Match]) -> Vec<(Match, Ranker)> {
    let (telling, rest) = bm25.split_at(bm25.partition_point(|found| found.score >= TELLING));
    let mut fused: HashMap<Slot, (Match, Ranker)> = HashMap::new();
    for (ranking, ranker) in [(telling, Ranker::Bm25), (semantic, Ranker::Semantic)] {
        for (share, found) in shares(0).zip(ranking) {
            let slot = found.slot;
            fused
                .entry(slot)
                .and_modify(|(found, ranker)| {
                    found.score += share;
                    *ranker = Ranker::Hybrid;
                })
                .or_insert((Match { slot, score: share }, ranker));
        }
    }
    let behind = telling.len().max(semantic.len());
    for (share, found) in shares(behind).zip(rest) {
        let slot = found.slot;
        fused
            .entry(slot)
            .or_insert((Match { slot, score: share }, Ranker::Bm25));
    }
    fused.into_values().collect()
}

/// What the places behind the first `behind` add to a score.
fn shares(behind: usize) -> impl Iterator<Item = f64> {
    (behind + 1..).map(|rank| (K + 1.0) / 2.0 / (K + rank as f64))
}

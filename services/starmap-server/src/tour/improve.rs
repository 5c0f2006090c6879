//! Better orders of stops: reversing rows of stops (2-opt) and moving short rows elsewhere (Or-opt).

use super::problem::Problem;

/// The longest row of stops that is moved as a whole.
const MAX_MOVED: usize = 3;

/// The most changes in one search. Each makes the tour shorter, and a tour rarely needs a hundred.
const MAX_CHANGES: usize = 10_000;

/// The longest of the two rows that a kick swaps.
const MAX_KICKED: usize = 10;

/// A tour that is being made shorter.
struct Path<'p> {
    problem: &'p Problem,
    /// The stops in order, with home at both ends.
    stops: Vec<usize>,
    /// The jumps from the first position to each, and the jumps back from each to the first by the same stops.
    ahead: Vec<u32>,
    back: Vec<u32>,
    /// For each stop, and for home: no change there made the tour shorter, and nothing around it has changed since
    /// then.
    done: Vec<bool>,
}

/// Moves a row of stops behind another position, in its order or reversed.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    /// How many jumps shorter it makes the tour.
    gain: u32,
    first: usize,
    last: usize,
    /// The position before the first stop if the row is only reversed.
    behind: usize,
    turned: bool,
}

impl Problem {
    /// Reverses rows and moves short ones until no such change makes the tour shorter. Then, `kicks` times, it swaps
    /// two rows, searches again, and keeps the result if it is not longer (iterated local search).
    pub(super) fn improve(&self, order: &mut Vec<usize>, kicks: usize) {
        let home = self.len();
        let stops = std::iter::once(home).chain(order.iter().copied());
        let mut path = Path {
            problem: self,
            stops: stops.chain([home]).collect(),
            ahead: vec![0; home + 2],
            back: vec![0; home + 2],
            done: vec![false; home + 1],
        };
        path.count_from(0);
        path.settle();
        let (mut random, mut before) = (0, Vec::new());
        for _ in 0..kicks {
            let length = path.length();
            before.clone_from(&path.stops);
            path.kick(&mut random);
            path.settle();
            if path.length() > length {
                path.stops.clone_from(&before);
                path.count_from(0);
            }
        }
        // Changes elsewhere may have made new changes worthwhile.
        for _ in 0..MAX_CHANGES {
            path.done.fill(false);
            if !path.settle() {
                break;
            }
        }
        order.clear();
        order.extend(path.stops.iter().filter(|stop| **stop != home));
    }
}

impl Path<'_> {
    fn at(&self, place: usize) -> usize {
        self.stops.get(place).copied().unwrap_or_default()
    }

    /// The jumps from one position to another, which need not be adjacent.
    fn step(&self, from: usize, to: usize) -> u32 {
        self.problem.step(self.at(from), self.at(to))
    }

    fn length(&self) -> u32 {
        self.ahead.last().copied().unwrap_or_default()
    }

    fn last(&self) -> usize {
        self.stops.len() - 2
    }

    /// Sums up the jumps after a position. The positions before it are unchanged.
    fn count_from(&mut self, place: usize) {
        let Self { problem, stops, ahead, back, .. } = self;
        let sum = |sums: &[u32]| sums.get(place).copied().unwrap_or_default();
        let (mut there, mut again) = (sum(ahead), sum(back));
        let steps = stops.iter().zip(stops.iter().skip(1)).skip(place);
        let cells = ahead.iter_mut().zip(back.iter_mut()).skip(place + 1);
        for ((&from, &to), (ahead, back)) in steps.zip(cells) {
            there += problem.step(from, to);
            again += problem.step(to, from);
            (*ahead, *back) = (there, again);
        }
    }

    /// Makes the tour shorter around the changed stops, until no change helps.
    fn settle(&mut self) -> bool {
        let mut better = false;
        for _ in 0..MAX_CHANGES {
            let open = |at: &usize| self.done.get(self.at(*at)) == Some(&false);
            let Some(at) = (1..=self.last()).find(open) else {
                return better;
            };
            let change = self.best_at(at);
            if change.gain == 0 {
                let stop = self.at(at);
                self.mark(stop, true);
                continue;
            }
            better = true;
            self.make(change);
        }
        better
    }

    /// The best change of all rows that begin or end here.
    fn best_at(&self, at: usize) -> Change {
        let mut best = Change::default();
        for other in 1..=self.last() {
            let (first, last) = (at.min(other), at.max(other));
            let new = self.step(first - 1, last)
                + between(&self.back, first, last)
                + self.step(first, last + 1);
            let gain = between(&self.ahead, first - 1, last + 1).saturating_sub(new);
            if gain > best.gain {
                let behind = first - 1;
                best = Change { gain, first, last, behind, turned: true };
            }
        }
        for more in 0..MAX_MOVED {
            for first in [Some(at), at.checked_sub(more).filter(|_| more > 0)] {
                let Some(first @ 1..) = first else { continue };
                let last = first + more;
                if last > self.last() {
                    continue;
                }
                let closed = self.step(first - 1, last + 1);
                let taken = between(&self.ahead, first - 1, last + 1).saturating_sub(closed);
                // At any position it takes at least the jumps inside the row.
                let (inside, turned) =
                    (between(&self.ahead, first, last), between(&self.back, first, last));
                if taken <= inside.min(turned) + best.gain {
                    continue;
                }
                for behind in (0..first - 1).chain(last + 1..=self.last()) {
                    let straight = self.step(behind, first) + inside + self.step(last, behind + 1);
                    let turned = self.step(behind, last) + turned + self.step(first, behind + 1);
                    let gap = between(&self.ahead, behind, behind + 1);
                    let gain = (taken + gap).saturating_sub(straight.min(turned));
                    if gain > best.gain {
                        best = Change { gain, first, last, behind, turned: turned < straight };
                    }
                }
            }
        }
        best
    }

    fn make(&mut self, change: Change) {
        let Change { first, last, behind, .. } = change;
        for place in [first - 1, first, last, last + 1, behind, behind + 1] {
            let stop = self.at(place);
            self.mark(stop, false);
        }
        let count = last + 1 - first;
        let row = if behind < first {
            if let Some(span) = self.stops.get_mut(behind + 1..=last) {
                span.rotate_right(count);
            }
            behind + 1..behind + 1 + count
        } else {
            if let Some(span) = self.stops.get_mut(first..=behind) {
                span.rotate_left(count);
            }
            behind + 1 - count..behind + 1
        };
        if let Some(row) = self.stops.get_mut(row).filter(|_| change.turned) {
            row.reverse();
        }
        self.count_from(behind.min(first - 1));
    }

    /// Swaps a row of stops with the row after it. No single reversal or move undoes this change.
    fn kick(&mut self, random: &mut u64) {
        // Knuth's linear congruential generator, so that the same question always has the same answer.
        let mut below = |end: usize| {
            *random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(*random >> 33).unwrap_or_default() % end.max(1)
        };
        let first = 1 + below(self.last().saturating_sub(1));
        let (one, other) = (1 + below(MAX_KICKED), 1 + below(MAX_KICKED));
        let end = (first + one + other).min(self.last() + 1);
        let middle = (first + one).min(end);
        for place in [first - 1, first, middle - 1, middle, end - 1, end] {
            let stop = self.at(place);
            self.mark(stop, false);
        }
        if let Some(rows) = self.stops.get_mut(first..end) {
            rows.rotate_left(middle - first);
        }
        self.count_from(first - 1);
    }

    fn mark(&mut self, stop: usize, done: bool) {
        if let Some(it) = self.done.get_mut(stop) {
            *it = done;
        }
    }
}

/// The difference of the sums at two positions.
fn between(sums: &[u32], from: usize, to: usize) -> u32 {
    let sum = |at: usize| sums.get(at).copied().unwrap_or_default();
    sum(to) - sum(from)
}

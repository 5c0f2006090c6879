//! The shortest round trip through a number of stops, by branch and bound.

use tokio_util::sync::CancellationToken;

use super::problem::Problem;

/// The most steps that the search looks at: about ten milliseconds.
const MAX_LOOKS: usize = 4_000_000;
/// How many steps it looks at between two questions whether the answer is still wanted.
const LOOKS_BETWEEN: usize = 1 << 16;

/// The result of the search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shortest {
    /// The order of the shortest round trip that was found; `None` if none is shorter than `known`.
    pub(super) order: Option<Vec<usize>>,
    /// No round trip through this many stops is shorter.
    pub(super) bound: u32,
}

/// Finds the shortest round trip through `count` of the stops that is shorter than `known`, or proves that there is
/// none.
pub(super) fn shortest(
    problem: &Problem,
    count: usize,
    known: u32,
    stop: Option<&CancellationToken>,
) -> Shortest {
    let ways_in = |to: usize| {
        let others = (0..problem.len()).filter(move |from| *from != to);
        let from = others.map(move |from| problem.cost(Some(from), Some(to)));
        from.chain([problem.cost(None, Some(to))]).min().unwrap_or_default()
    };
    let mut cheapest: Vec<u32> = (0..problem.len()).map(ways_in).collect();
    cheapest.sort_unstable();
    // The least cost of entering each number of further stops.
    let entering = (0..=count).map(|stops| cheapest.iter().take(stops).sum());
    // From each stop, and last from home, the others, the nearest first.
    let row = |from: usize| {
        let others = (0..problem.len()).filter(|to| *to != from);
        let mut row: Vec<(u32, usize)> = others.map(|to| (problem.step(from, to), to)).collect();
        row.sort_unstable();
        row
    };
    let mut search = Search {
        problem,
        nearest: (0..=problem.len()).map(row).collect(),
        stop,
        visited: vec![false; problem.len()],
        count,
        entering: entering.collect(),
        best: known,
        order: None,
        path: Vec::with_capacity(count),
        looks: 0,
    };
    // A tour goes at least to its farthest stop and back.
    let round = |stop: usize| problem.cost(None, Some(stop)) + problem.cost(Some(stop), None);
    let mut rounds: Vec<u32> = (0..problem.len()).map(round).collect();
    rounds.sort_unstable();
    let least = count.checked_sub(1).and_then(|at| rounds.get(at).copied());
    search.extend(0);
    let bound = if search.looks < MAX_LOOKS { search.best } else { least.unwrap_or_default() };
    Shortest { order: search.order, bound }
}

struct Search<'p> {
    problem: &'p Problem,
    nearest: Vec<Vec<(u32, usize)>>,
    stop: Option<&'p CancellationToken>,
    visited: Vec<bool>,
    count: usize,
    entering: Vec<u32>,
    best: u32,
    order: Option<Vec<usize>>,
    path: Vec<usize>,
    looks: usize,
}

impl Search<'_> {
    /// Tries all ways to continue a path of this length, the nearest stop first. It recurses once for each stop to
    /// visit.
    fn extend(&mut self, length: u32) {
        let here = self.path.last().copied();
        if self.path.len() == self.count {
            let whole = length + self.problem.cost(here, None);
            if whole < self.best {
                self.best = whole;
                self.order = Some(self.path.clone());
            }
            return;
        }
        let left = self.count - self.path.len() - 1;
        let rest = self.entering.get(left).copied().unwrap_or_default();
        let from = here.unwrap_or(self.problem.len());
        for at in 0..self.problem.len() {
            let Some(&(step, stop)) = self.nearest.get(from).and_then(|row| row.get(at)) else {
                return;
            };
            self.looks += 1;
            if self.looks.is_multiple_of(LOOKS_BETWEEN)
                && self.stop.is_some_and(CancellationToken::is_cancelled)
            {
                self.looks = MAX_LOOKS;
            }
            let on = length + step;
            // The others are farther away.
            if on + rest >= self.best || self.looks >= MAX_LOOKS {
                return;
            }
            let home = self.problem.cost(Some(stop), None);
            if self.visited.get(stop) != Some(&false) || on + home >= self.best {
                continue;
            }
            self.visit(stop, true);
            self.path.push(stop);
            self.extend(on);
            self.path.pop();
            self.visit(stop, false);
        }
    }

    fn visit(&mut self, stop: usize, visited: bool) {
        if let Some(it) = self.visited.get_mut(stop) {
            *it = visited;
        }
    }
}

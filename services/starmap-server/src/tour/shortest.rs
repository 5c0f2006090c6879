//! The shortest round trip through a number of stops, by branch and bound.

use super::problem::Problem;

/// The most steps of the search: about ten milliseconds.
const MAX_NODES: usize = 400_000;

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
pub(super) fn shortest(problem: &Problem, count: usize, known: u32) -> Shortest {
    let ways_in = |to: usize| {
        let others = (0..problem.len()).filter(move |from| *from != to);
        let from = others.map(move |from| problem.cost(Some(from), Some(to)));
        from.chain([problem.cost(None, Some(to))]).min().unwrap_or_default()
    };
    let mut cheapest: Vec<u32> = (0..problem.len()).map(ways_in).collect();
    cheapest.sort_unstable();
    // The least cost of entering each number of further stops.
    let entering = (0..=count).map(|stops| cheapest.iter().take(stops).sum());
    let mut search = Search {
        problem,
        count,
        entering: entering.collect(),
        best: known,
        order: None,
        path: Vec::with_capacity(count),
        nodes: 0,
    };
    // A tour goes at least to its farthest stop and back.
    let round = |stop: usize| problem.cost(None, Some(stop)) + problem.cost(Some(stop), None);
    let mut rounds: Vec<u32> = (0..problem.len()).map(round).collect();
    rounds.sort_unstable();
    let least = count.checked_sub(1).and_then(|at| rounds.get(at).copied());
    search.extend(0);
    let bound = if search.nodes < MAX_NODES { search.best } else { least.unwrap_or_default() };
    Shortest { order: search.order, bound }
}

struct Search<'p> {
    problem: &'p Problem,
    count: usize,
    entering: Vec<u32>,
    best: u32,
    order: Option<Vec<usize>>,
    path: Vec<usize>,
    nodes: usize,
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
        let stops = (0..self.problem.len()).filter(|stop| !self.path.contains(stop));
        let steps = stops.map(|stop| (self.problem.cost(here, Some(stop)), stop));
        let mut steps: Vec<(u32, usize)> = steps.collect();
        steps.sort_unstable();
        for (step, stop) in steps {
            let on = length + step;
            let home = self.problem.cost(Some(stop), None);
            if on + rest.max(home) >= self.best {
                continue;
            }
            self.nodes += 1;
            if self.nodes >= MAX_NODES {
                return;
            }
            self.path.push(stop);
            self.extend(on);
            self.path.pop();
        }
    }
}

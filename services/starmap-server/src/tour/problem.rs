//! An order of stops as a problem of numbers, and its heuristics.

/// What it costs to go from stop to stop. Stops are numbered from 0. Connections that lead one way make it farther back
/// than there.
#[derive(Debug)]
pub(super) struct Problem {
    /// How many stops there are.
    count: usize,
    /// From each stop to each, row by row. The last row and column are where the tour begins and ends: 0 for all if it may
    /// begin or end anywhere.
    costs: Vec<u32>,
    /// Whether it is as far back as there, so that a row of stops is as long turned around.
    symmetric: bool,
}

/// The longest row of stops that is moved as a whole.
const MAX_MOVED: usize = 3;

/// How often the heuristics go over a tour. It rarely takes ten.
const MAX_ROUNDS: usize = 200;

impl Problem {
    /// Of stops at these places of a matrix of jumps, the first of which is home: whether the tour begins there, and ends
    /// there.
    pub(super) fn new(
        jumps: &[Vec<Option<u32>>],
        stops: &[usize],
        begins: bool,
        ends: bool,
    ) -> Self {
        let cost = |from: &usize, to: &usize| -> u32 {
            let cell = jumps.get(*from).and_then(|row| row.get(*to));
            cell.copied().flatten().unwrap_or_default()
        };
        let mut costs = Vec::with_capacity((stops.len() + 1).pow(2));
        for from in stops {
            costs.extend(stops.iter().map(|to| cost(from, to)));
            costs.push(if ends { cost(from, &0) } else { 0 });
        }
        costs.extend(stops.iter().map(|to| if begins { cost(&0, to) } else { 0 }));
        costs.push(0);
        let mut problem = Self {
            count: stops.len(),
            costs,
            symmetric: true,
        };
        let cost = |from: usize, to: usize| problem.cost(Some(from), Some(to));
        let mut pairs = (0..problem.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        problem.symmetric = pairs.all(|(a, b)| cost(a, b) == cost(b, a));
        problem
    }

    /// The jumps from each of a row of stops to the next.
    fn inside(&self, row: impl Iterator<Item = usize> + Clone) -> u32 {
        let steps = row.clone().zip(row.skip(1));
        steps
            .map(|(from, to)| self.cost(Some(from), Some(to)))
            .sum()
    }

    /// How many stops there are.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// From one stop to another; `None` stands for the begin and the end of the tour.
    pub(super) fn cost(&self, from: Option<usize>, to: Option<usize>) -> u32 {
        let place = from.unwrap_or(self.count) * (self.count + 1) + to.unwrap_or(self.count);
        self.costs.get(place).copied().unwrap_or_default()
    }

    /// The whole tour in this order.
    pub(super) fn length(&self, order: &[usize]) -> u32 {
        let stops = || order.iter().copied().map(Some);
        let from = std::iter::once(None).chain(stops());
        let to = stops().chain(std::iter::once(None));
        from.zip(to).map(|(from, to)| self.cost(from, to)).sum()
    }

    /// The jumps from each stop to the next; with a home also from it to the first, if the tour is closed from the last to
    /// it.
    pub(super) fn legs(&self, order: &[usize], home: bool, closed: bool) -> Vec<usize> {
        let stops = order.iter().copied().map(Some);
        let start = home.then_some(None);
        let end = closed.then_some(None);
        let all: Vec<Option<usize>> = start.into_iter().chain(stops).chain(end).collect();
        let legs = all.iter().zip(all.iter().skip(1));
        legs.map(|(from, to)| self.cost(*from, *to) as usize)
            .collect()
    }

    /// Always on to the nearest stop that is left, the first of those that are as near. With `first`, that one first.
    pub(super) fn nearest_neighbour(&self, first: Option<usize>) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.len()).collect();
        let mut order: Vec<usize> = Vec::with_capacity(left.len());
        let mut next = first;
        while let Some(at) = match next.take() {
            Some(first) => left.iter().position(|it| *it == first),
            None => {
                let here = order.last().copied();
                (0..left.len()).min_by_key(|at| self.cost(here, left.get(*at).copied()))
            }
        } {
            order.push(left.remove(at));
        }
        order
    }

    /// Turns rows of stops around (2-opt) and moves short ones elsewhere (Or-opt) as long as that shortens the tour.
    pub(super) fn improve(&self, order: &mut Vec<usize>) {
        for _ in 0..MAX_ROUNDS {
            let turned = self.turn(order);
            if !self.shift(order) && !turned {
                return;
            }
        }
    }

    fn turn(&self, order: &mut [usize]) -> bool {
        let mut better = false;
        for first in 0..order.len() {
            for last in first + 1..order.len() {
                let before = first.checked_sub(1).and_then(|at| order.get(at).copied());
                let after = order.get(last + 1).copied();
                let (a, b) = (order.get(first).copied(), order.get(last).copied());
                let mut old = self.cost(before, a) + self.cost(b, after);
                let mut new = self.cost(before, b) + self.cost(a, after);
                if !self.symmetric {
                    let row = order.get(first..=last).unwrap_or_default();
                    old += self.inside(row.iter().copied());
                    new += self.inside(row.iter().rev().copied());
                }
                if new < old
                    && let Some(row) = order.get_mut(first..=last)
                {
                    row.reverse();
                    better = true;
                }
            }
        }
        better
    }

    fn shift(&self, order: &mut Vec<usize>) -> bool {
        let mut better = false;
        for count in 1..=MAX_MOVED.min(order.len()) {
            for first in 0..=order.len() - count {
                let row = order.get(first..first + count).unwrap_or_default();
                let (a, b) = (row.first().copied(), row.last().copied());
                let inside = self.inside(row.iter().copied());
                let back = self.inside(row.iter().rev().copied());
                let rest = |at: usize| order.get(if at < first { at } else { at + count }).copied();
                let before = |at: usize| at.checked_sub(1).and_then(rest);
                let closed = self.cost(before(first), rest(first));
                let here = self.cost(before(first), a) + inside + self.cost(b, rest(first));
                // Nowhere does a row take less than the jumps between its stops.
                if here <= closed + inside.min(back) {
                    continue;
                }
                // What the tour takes here and there, with the row there, as it is and turned around.
                let moved = |at: usize| {
                    let (before, after) = (before(at), rest(at));
                    let straight = inside + self.cost(before, a) + self.cost(b, after);
                    let turned = back + self.cost(before, b) + self.cost(a, after);
                    let shorter = closed + straight.min(turned) < here + self.cost(before, after);
                    shorter.then_some((at, turned < straight))
                };
                if let Some((at, turned)) = (0..=order.len() - count).find_map(moved) {
                    let mut row: Vec<usize> = order.drain(first..first + count).collect();
                    if turned {
                        row.reverse();
                    }
                    order.splice(at..at, row);
                    better = true;
                }
            }
        }
        better
    }
}

//! The best order of few stops, by the dynamic program of Held and Karp (1962).

use super::problem::Problem;

/// The most stops for which the best order is certain to be found.
pub const MAX_EXACT: usize = 12;

/// The shortest path through every set of stops that ends at each of them. A set is a number with one bit for each
/// stop.
#[derive(Debug)]
pub(super) struct Exact<'p> {
    problem: &'p Problem,
    /// By set, then by last stop; [`NEVER`] if the last stop is not in the set.
    lengths: Vec<Row>,
}

/// A number for each stop. The length is fixed, so that several sums and comparisons are made at a time.
type Row = [u32; MAX_EXACT];

/// Longer than any path, and small enough that two of them can be added.
const NEVER: u32 = u32::MAX / 2;

impl<'p> Exact<'p> {
    /// Solves a problem of at most [`MAX_EXACT`] stops. For a larger problem it uses only the first ones.
    pub(super) fn new(problem: &'p Problem) -> Self {
        let count = problem.len().min(MAX_EXACT);
        // The cost to each stop from each stop.
        let steps: Vec<Row> = (0..count)
            .map(|last| std::array::from_fn(|before| problem.cost(Some(before), Some(last))))
            .collect();
        let mut lengths: Vec<Row> = vec![[NEVER; MAX_EXACT]; 1 << count];
        for set in 1..1_usize << count {
            for (last, step) in steps.iter().enumerate().filter(|(last, _)| set & (1 << last) != 0)
            {
                let others = set & !(1 << last);
                let shortest = match others {
                    0 => problem.cost(None, Some(last)),
                    _ => {
                        let before = lengths.get(others).unwrap_or(&[NEVER; MAX_EXACT]);
                        let both = before.iter().zip(step);
                        both.map(|(length, step)| length + step).fold(NEVER, u32::min)
                    }
                };
                if let Some(cell) = lengths.get_mut(set).and_then(|row| row.get_mut(last)) {
                    *cell = shortest;
                }
            }
        }
        Self { problem, lengths }
    }

    /// All sets of stops but the empty one.
    pub(super) fn sets(&self) -> impl Iterator<Item = usize> + use<> {
        1..self.lengths.len()
    }

    /// The shortest tour through a set.
    pub(super) fn tour_length(&self, set: usize) -> u32 {
        let lengths = bits(set).map(|last| self.closed(set, last));
        lengths.min().unwrap_or_default()
    }

    /// The order of the shortest tour through a set.
    pub(super) fn order(&self, mut set: usize) -> Vec<usize> {
        let mut order = Vec::new();
        let mut last = bits(set).min_by_key(|last| self.closed(set, *last));
        while let Some(stop) = last {
            order.push(stop);
            set &= !(1 << stop);
            last = bits(set).min_by_key(|before| {
                let step = self.problem.cost(Some(*before), Some(stop));
                self.length(set, *before) + step
            });
        }
        order.reverse();
        order
    }

    fn closed(&self, set: usize, last: usize) -> u32 {
        let home = self.problem.cost(Some(last), None);
        self.length(set, last) + home
    }

    fn length(&self, set: usize, last: usize) -> u32 {
        let row = self.lengths.get(set).and_then(|row| row.get(last));
        row.copied().unwrap_or(NEVER)
    }
}

/// The numbers of the stops in a set.
fn bits(mut set: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        let stop = (set != 0).then_some(lowest as usize)?;
        set &= set - 1;
        Some(stop)
    })
}

//! The best order of few stops, by the dynamic program of Held and Karp (1962).

use super::problem::Problem;

/// The most stops whose best order is found for certain.
pub const MAX_EXACT: usize = 12;

/// The shortest way through every set of stops that ends at each of them. A set is a number with a bit for each stop.
#[derive(Debug)]
pub(super) struct Exact<'p> {
    problem: &'p Problem,
    /// By set, then by last stop; `u32::MAX` where the last is not in the set.
    lengths: Vec<u32>,
}

impl<'p> Exact<'p> {
    /// Solves a problem of at most [`MAX_EXACT`] stops; of a larger one, those that come first.
    pub(super) fn new(problem: &'p Problem) -> Self {
        let count = problem.len().min(MAX_EXACT);
        let mut it = Self {
            problem,
            lengths: vec![u32::MAX; count << count],
        };
        for set in 1..1_usize << count {
            for last in bits(set) {
                let others = set & !(1 << last);
                let shortest = match others {
                    0 => Some(problem.cost(None, Some(last))),
                    _ => bits(others)
                        .map(|it_before| {
                            it.length(others, it_before)
                                .saturating_add(problem.cost(Some(it_before), Some(last)))
                        })
                        .min(),
                };
                if let (Some(cell), Some(shortest)) =
                    (it.lengths.get_mut(set * count + last), shortest)
                {
                    *cell = shortest;
                }
            }
        }
        it
    }

    /// All sets of stops but the empty one.
    pub(super) fn sets(&self) -> impl Iterator<Item = usize> + use<> {
        1..1_usize << self.count()
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
                self.length(set, *before).saturating_add(step)
            });
        }
        order.reverse();
        order
    }

    fn closed(&self, set: usize, last: usize) -> u32 {
        let home = self.problem.cost(Some(last), None);
        self.length(set, last).saturating_add(home)
    }

    fn length(&self, set: usize, last: usize) -> u32 {
        let at = set * self.count() + last;
        self.lengths.get(at).copied().unwrap_or(u32::MAX)
    }

    fn count(&self) -> usize {
        self.problem.len().min(MAX_EXACT)
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

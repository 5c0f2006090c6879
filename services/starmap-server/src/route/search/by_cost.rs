//! A search by cost with Dijkstra's algorithm.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::super::Cost;
use super::{Far, Jump};
use crate::map::{Map, PerSystem, SystemIndex};

/// A search by cost that can be interrupted.
#[derive(Debug)]
pub(super) struct ByCost {
    far: PerSystem<Far>,
    waiting: Waiting,
}

/// The systems that were found, sorted by distance.
///
/// The gates have few different costs in a mode. Systems are followed in order of distance, so those found by jumps of
/// the same cost are found in order. They need a queue, not a heap.
#[derive(Debug)]
struct Waiting {
    /// A queue for each cost of the mode.
    queues: Vec<(Cost, VecDeque<Reached>)>,
    /// Systems found by extra connections with separate costs.
    others: BinaryHeap<Reverse<Reached>>,
}

type Reached = (Far, SystemIndex);

impl ByCost {
    /// Starts at an end. `costs` are the costs of most jumps.
    pub(super) fn new(map: &Map, end: SystemIndex, costs: [Cost; 6]) -> Self {
        let mut far = PerSystem::new(map, Far::NOT_REACHED);
        far[end] = Far(0);
        Self { far, waiting: Waiting::new((Far(0), end), costs) }
    }

    pub(super) fn far(&self, system: SystemIndex) -> Option<Far> {
        let far = self.far[system];
        (far != Far::NOT_REACHED).then_some(far)
    }

    pub(super) fn run<I: Iterator<Item = Jump>>(
        &mut self,
        around: impl Fn(SystemIndex) -> I,
        stop: impl Fn(SystemIndex, Far) -> bool,
        enter: impl Fn(SystemIndex, Far) -> bool,
    ) {
        while let Some((far, here)) = self.waiting.pop_unless(&stop) {
            // A shorter route to it was found while this entry waited.
            if far > self.far[here] {
                continue;
            }
            around(here).for_each(|jump| {
                let longer = far.and(&jump);
                let known = &mut self.far[jump.far];
                if longer < *known && enter(jump.far, longer) {
                    *known = longer;
                    self.waiting.push(jump.cost, (longer, jump.far));
                }
            });
        }
    }
}

impl Waiting {
    fn new(first: Reached, mut costs: [Cost; 6]) -> Self {
        costs.sort_unstable();
        let mut queues: Vec<_> = costs.map(|cost| (cost, VecDeque::new())).into();
        queues.dedup_by_key(|(cost, _)| *cost);
        Self { queues, others: BinaryHeap::from([Reverse(first)]) }
    }

    fn push(&mut self, cost: Cost, found: Reached) {
        match self.queues.iter_mut().find(|(of, _)| *of == cost) {
            Some((_, queue)) => queue.push_back(found),
            None => self.others.push(Reverse(found)),
        }
    }

    /// Removes the nearest system, unless the search stops at it.
    fn pop_unless(&mut self, stop: impl Fn(SystemIndex, Far) -> bool) -> Option<Reached> {
        let queues = self.queues.iter_mut().map(|(_, queue)| queue);
        let first =
            queues.filter(|queue| !queue.is_empty()).min_by_key(|queue| queue.front().copied());
        let queued = first.as_ref().and_then(|queue| queue.front().copied());
        let other = self.others.peek().map(|Reverse(found)| *found);
        let nearest = queued.into_iter().chain(other).min()?;
        if stop(nearest.1, nearest.0) {
            return None;
        }
        match first {
            Some(queue) if queued == Some(nearest) => queue.pop_front(),
            _ => self.others.pop().map(|Reverse(found)| found),
        }
    }
}

//! The cheapest first, by Dijkstra's algorithm.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::PerSystem;
use super::{Far, Jump};
use crate::map::{Map, SystemIndex};

/// A search by cost that can be interrupted.
#[derive(Debug)]
pub(super) struct ByCost {
    far: PerSystem<Far>,
    waiting: BinaryHeap<Reverse<(Far, SystemIndex)>>,
}

impl ByCost {
    pub(super) fn new(map: &Map, end: SystemIndex) -> Self {
        let mut far = PerSystem::new(map, Far::NOT_REACHED);
        far[end] = Far(0);
        Self {
            far,
            waiting: BinaryHeap::from([Reverse((Far(0), end))]),
        }
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
        while let Some(&Reverse((far, here))) = self.waiting.peek() {
            if stop(here, far) {
                return;
            }
            self.waiting.pop();
            // A nearer way to it was found while this one waited.
            if far > self.far[here] {
                continue;
            }
            around(here).for_each(|jump| {
                let longer = far.and(&jump);
                let known = &mut self.far[jump.far];
                if longer < *known && enter(jump.far, longer) {
                    *known = longer;
                    self.waiting.push(Reverse((longer, jump.far)));
                }
            });
        }
    }
}

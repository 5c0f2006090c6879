//! The map as a query sees it: directed and weighted, without avoided systems, with extra connections.

use std::collections::BTreeSet;

use super::mode::Weights;
use super::{Avoid, By, Cost, Query, Travel};
use crate::map::{Map, SystemIndex};

/// The directed jumps that a query may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Net<'q> {
    map: &'q Map,
    weights: Weights,
    avoid: &'q Avoid,
    travel: &'q Travel,
    surcharges: &'q [Cost],
    /// The two ends may be entered even if they are avoided.
    ends: [SystemIndex; 2],
}

/// A jump, seen from one of its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jump {
    /// The other end.
    pub(super) far: SystemIndex,
    pub(super) cost: Cost,
    pub(super) by: By,
}

impl<'q> Net<'q> {
    pub(super) fn new(map: &'q Map, query: &Query<'q>) -> Self {
        Self {
            map,
            weights: query.mode.weights(),
            avoid: query.avoid,
            travel: query.travel,
            surcharges: query.surcharges,
            ends: [query.origin, query.destination],
        }
    }

    /// What gates cost.
    pub(super) fn costs(&self) -> BTreeSet<Cost> {
        self.weights.iter().flatten().copied().collect()
    }

    /// Follows the jumps between this system and others, which may be closed, away from it or towards it. Plain loops:
    /// a search spends most of its time here.
    pub(super) fn each(&self, near: SystemIndex, away: bool, mut follow: impl FnMut(Jump)) {
        let ends = |far| if away { (near, far) } else { (far, near) };
        for &far in self.map.neighbours(near) {
            follow(Jump { far, cost: self.cost(ends(far)), by: By::Gate });
        }
        let arcs = if away { &self.travel.out } else { &self.travel.into };
        for arc in arcs.of(near) {
            let own = arc.cost.map(|own| own + self.surcharge(ends(arc.far).1));
            let cost = own.unwrap_or_else(|| self.cost(ends(arc.far)));
            follow(Jump { far: arc.far, cost, by: By::Extra(arc.place) });
        }
    }

    #[inline]
    fn cost(&self, (from, to): (SystemIndex, SystemIndex)) -> Cost {
        let (from, class) = (self.map.class(from) as usize, self.map.class(to) as usize);
        let cost = self.weights.get(from).and_then(|row| row.get(class)).copied();
        cost.unwrap_or_default() + self.surcharge(to)
    }

    fn surcharge(&self, to: SystemIndex) -> Cost {
        self.surcharges.get(to.index()).copied().unwrap_or_default()
    }

    /// Whether this system may be entered.
    pub(super) fn is_open(&self, system: SystemIndex) -> bool {
        let passed = !self.avoid.contains(system) && self.travel.may_pass(self.map, system);
        let [origin, destination] = self.ends;
        system == origin
            || ((passed || system == destination) && self.travel.closed(self.map, system).is_none())
    }
}

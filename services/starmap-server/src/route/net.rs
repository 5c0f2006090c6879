//! The map as a query sees it: directed and weighted, without avoided systems, with extra connections.

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

    /// What a gate costs at least.
    pub(super) fn least(&self) -> Cost {
        self.weights.iter().flatten().min().copied().unwrap_or_default()
    }

    /// The jumps between this system and systems that may be entered, away from it or towards it: first by gates,
    /// sorted by the id of the other end, then by extra connections in the same order.
    pub(super) fn around(&self, near: SystemIndex, away: bool) -> impl Iterator<Item = Jump> {
        let ends = move |far| if away { (near, far) } else { (far, near) };
        let gates = self.map.neighbours(near).iter().map(move |&far| {
            let (from, to) = ends(far);
            Jump { far, cost: self.cost(from, to), by: By::Gate }
        });
        let arcs = if away { self.travel.leaving(near) } else { self.travel.arriving(near) };
        let others = arcs.iter().map(move |arc| {
            let (from, to) = ends(arc.far);
            let own = arc.cost.map(|own| own + self.surcharge(to));
            let cost = own.unwrap_or_else(|| self.cost(from, to));
            Jump { far: arc.far, cost, by: By::Extra(arc.place) }
        });
        gates.chain(others).filter(|jump| self.is_open(jump.far))
    }

    fn cost(&self, from: SystemIndex, to: SystemIndex) -> Cost {
        let (from, class) = (self.map.class(from) as usize, self.map.class(to) as usize);
        let cost = self.weights.get(from).and_then(|row| row.get(class)).copied();
        cost.unwrap_or_default() + self.surcharge(to)
    }

    fn surcharge(&self, to: SystemIndex) -> Cost {
        self.surcharges.get(to.index()).copied().unwrap_or_default()
    }

    fn is_open(&self, system: SystemIndex) -> bool {
        let passed = !self.avoid.contains(system) && self.travel.may_pass(self.map, system);
        let [origin, destination] = self.ends;
        system == origin
            || ((passed || system == destination) && self.travel.closed(self.map, system).is_none())
    }
}

//! The map as a query sees it: directed and weighted, without avoided systems, with extra connections.

use super::mode::Weights;
use super::{Avoid, By, Cost, Query, Travel};
use crate::map::{Map, SystemIndex};

/// The directed jumps that a query may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Net<'q> {
    map: &'q Map,
    weights: Weights,
    /// Whether all jumps through gates cost one. The class of the entered systems is then not looked up.
    same: bool,
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
            same: query.mode.weights().are_jumps(),
            avoid: query.avoid,
            travel: query.travel,
            surcharges: query.surcharges,
            ends: [query.origin, query.destination],
        }
    }

    /// The jumps from this system to systems that may be entered: first by gates, sorted by the id of the other end,
    /// then by extra connections in the same order.
    pub(super) fn leaving(&self, system: SystemIndex) -> impl Iterator<Item = Jump> {
        let others = self.travel.leaving(system).iter();
        self.gates(system, move |far| (system, far))
            .chain(others.map(move |arc| Jump {
                far: arc.far,
                cost: self.extra_cost(arc.cost, system, arc.far),
                by: By::Extra(arc.place),
            }))
            .filter(|jump| self.is_open(jump.far))
    }

    /// The jumps to this system from systems that may be entered, in the same order.
    pub(super) fn arriving(&self, system: SystemIndex) -> impl Iterator<Item = Jump> {
        let others = self.travel.arriving(system).iter();
        self.gates(system, move |far| (far, system))
            .chain(others.map(move |arc| Jump {
                far: arc.far,
                cost: self.extra_cost(arc.cost, arc.far, system),
                by: By::Extra(arc.place),
            }))
            .filter(|jump| self.is_open(jump.far))
    }

    /// A gate can be used in both directions; `step` sets the direction.
    fn gates(
        &self,
        near: SystemIndex,
        step: impl Fn(SystemIndex) -> (SystemIndex, SystemIndex),
    ) -> impl Iterator<Item = Jump> {
        self.map.neighbours(near).iter().map(move |&far| {
            let (from, to) = step(far);
            Jump { far, cost: self.cost(from, to), by: By::Gate }
        })
    }

    fn cost(&self, from: SystemIndex, to: SystemIndex) -> Cost {
        let cost = if self.same {
            Cost::JUMP
        } else {
            self.weights.cost(self.map.class(from), self.map.class(to))
        };
        cost + self.surcharge(to)
    }

    fn extra_cost(&self, own: Option<Cost>, from: SystemIndex, to: SystemIndex) -> Cost {
        own.map_or_else(|| self.cost(from, to), |own| own + self.surcharge(to))
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

//! The map as a query sees it: directed, weighed, without what is avoided, with what is added.

use super::mode::Weights;
use super::{Avoid, By, Cost, Extras, Query};
use crate::map::{Map, SystemIndex};

/// The directed jumps that a query may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Net<'q> {
    map: &'q Map,
    weights: Weights,
    /// Whether all jumps through gates cost one: then the systems that they enter are not looked up.
    same: bool,
    avoid: &'q Avoid,
    extras: &'q Extras,
    surcharges: &'q [Cost],
    /// They may be entered although they are avoided.
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
            extras: query.extras,
            surcharges: query.surcharges,
            ends: [query.origin, query.destination],
        }
    }

    /// Whether every jump costs one, so that the fewest are the cheapest.
    pub(super) fn counts_jumps(&self) -> bool {
        self.same && self.surcharges.is_empty() && !self.extras.have_costs()
    }

    /// What jumps cost by the mode: all gates, and extras without a separate cost.
    pub(super) fn costs(&self) -> [Cost; 6] {
        self.weights.all()
    }

    /// The jumps that lead from this system to where one may be: by gates, by the id of the other end, then by extras
    /// in the same order.
    pub(super) fn leaving(&self, system: SystemIndex) -> impl Iterator<Item = Jump> {
        let extras = self.extras.leaving(system).iter();
        self.gates(system, move |far| (system, far))
            .chain(extras.map(move |arc| Jump {
                far: arc.far,
                cost: self.extra_cost(arc.cost, system, arc.far),
                by: By::Extra(arc.place),
            }))
            .filter(|jump| self.is_open(jump.far))
    }

    /// The jumps that lead to this system from where one may be, in the same order.
    pub(super) fn arriving(&self, system: SystemIndex) -> impl Iterator<Item = Jump> {
        let extras = self.extras.arriving(system).iter();
        self.gates(system, move |far| (far, system))
            .chain(extras.map(move |arc| Jump {
                far: arc.far,
                cost: self.extra_cost(arc.cost, arc.far, system),
                by: By::Extra(arc.place),
            }))
            .filter(|jump| self.is_open(jump.far))
    }

    /// A gate can be taken both ways; `step` is the direction.
    fn gates(
        &self,
        near: SystemIndex,
        step: impl Fn(SystemIndex) -> (SystemIndex, SystemIndex),
    ) -> impl Iterator<Item = Jump> {
        self.map.neighbours(near).iter().map(move |&far| {
            let (from, to) = step(far);
            Jump {
                far,
                cost: self.cost(from, to),
                by: By::Gate,
            }
        })
    }

    fn cost(&self, from: SystemIndex, to: SystemIndex) -> Cost {
        let cost = match self.same {
            true => Cost::JUMP,
            false => self.weights.cost(self.map.class(from), self.map.class(to)),
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
        !self.avoid.contains(system) || self.ends.contains(&system)
    }
}

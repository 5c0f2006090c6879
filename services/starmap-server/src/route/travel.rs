//! How ships travel: by gates, by connections besides them, and under the rules of the game.

use super::Cost;
use crate::map::{Map, SystemIndex};

/// The most extra connections of a query.
pub const MAX_EXTRAS: usize = 5_000;

/// A connection that is not a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extra {
    /// Where it begins.
    pub from: SystemIndex,
    /// Where it leads.
    pub to: SystemIndex,
    /// Whether it can also be used in the other direction.
    pub both_ways: bool,
    /// The cost of using it; `None` for the cost of a gate between the two systems in the mode of the query.
    pub cost: Option<Cost>,
}

/// The travel graph over a map: its gates, the connections besides them, and the rules of the game that hold. Searches
/// ask it where a ship may go. One value can serve any number of queries.
#[derive(Debug, Clone, Default)]
pub struct Travel {
    list: Vec<Extra>,
    /// Sorted by the system where they begin.
    out: Vec<Arc>,
    /// Sorted by the system where they lead.
    into: Vec<Arc>,
    /// The systems whose rule is lifted.
    allowed: Vec<SystemIndex>,
}

/// One direction of an extra connection, seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arc {
    near: SystemIndex,
    pub(super) far: SystemIndex,
    pub(super) place: usize,
    pub(super) cost: Option<Cost>,
}

/// Why extra connections are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TravelError {
    /// More than [`MAX_EXTRAS`].
    #[error("{0} extra connections are more than the {MAX_EXTRAS} that are possible at once")]
    TooMany(usize),
    /// A connection from a system to itself.
    #[error("extra connection number {} leads back to where it begins", .0 + 1)]
    Circle(usize),
}

impl Travel {
    /// By gates alone, under all rules.
    pub fn by_gates() -> &'static Self {
        static GATES: Travel =
            Travel { list: Vec::new(), out: Vec::new(), into: Vec::new(), allowed: Vec::new() };
        &GATES
    }

    /// By gates and these connections, under all rules. Two connections between the same systems are allowed: the
    /// cheaper one is taken.
    ///
    /// # Errors
    /// [`TravelError`]
    pub fn new(list: Vec<Extra>) -> Result<Self, TravelError> {
        if list.len() > MAX_EXTRAS {
            return Err(TravelError::TooMany(list.len()));
        }
        if let Some(at) = list.iter().position(|extra| extra.from == extra.to) {
            return Err(TravelError::Circle(at));
        }
        let mut out = Vec::with_capacity(list.len() * 2);
        for (place, extra) in list.iter().enumerate() {
            let there = Arc { near: extra.from, far: extra.to, place, cost: extra.cost };
            out.push(there);
            if extra.both_ways {
                out.push(there.seen_from_far());
            }
        }
        let mut into: Vec<Arc> = out.iter().map(|arc| arc.seen_from_far()).collect();
        out.sort_unstable();
        into.sort_unstable();
        Ok(Self { list, out, into, allowed: Vec::new() })
    }

    /// The same, but a way may lead through these systems of [`Map::only_ends`].
    #[must_use]
    pub fn allowing(mut self, systems: impl IntoIterator<Item = SystemIndex>) -> Self {
        self.allowed.extend(systems);
        self
    }

    /// The same without the rule that some systems are only an end. `None` if it holds for no system of the map.
    pub fn lifted(&self, map: &Map) -> Option<Self> {
        let holds = |system: &&SystemIndex| !self.may_pass(map, **system);
        let held: Vec<SystemIndex> = map.only_ends().iter().filter(holds).copied().collect();
        (!held.is_empty()).then(|| self.clone().allowing(held))
    }

    /// Whether all rules of the map hold.
    pub(crate) fn obeys_all(&self, map: &Map) -> bool {
        map.only_ends().iter().all(|system| !self.may_pass(map, *system))
    }

    /// Whether a way may lead through this system. It may always begin and end there.
    pub fn may_pass(&self, map: &Map, system: SystemIndex) -> bool {
        !map.only_ends().contains(&system) || self.allowed.contains(&system)
    }

    /// The connections in the given order.
    pub fn list(&self) -> &[Extra] {
        &self.list
    }

    /// Whether a connection leads from one system to the other.
    pub fn joins(&self, from: SystemIndex, to: SystemIndex) -> bool {
        self.leaving(from).iter().any(|arc| arc.far == to)
    }

    /// The systems that they lead to from this system.
    pub(crate) fn leading_from(&self, system: SystemIndex) -> impl Iterator<Item = SystemIndex> {
        self.leaving(system).iter().map(|arc| arc.far)
    }

    /// All steps that they allow, as pairs of start and end.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (SystemIndex, SystemIndex)> {
        self.out.iter().map(|arc| (arc.near, arc.far))
    }

    /// The connections that leave this system, by id.
    pub(super) fn leaving(&self, system: SystemIndex) -> &[Arc] {
        at(&self.out, system)
    }

    /// The connections that lead to this system, by id.
    pub(super) fn arriving(&self, system: SystemIndex) -> &[Arc] {
        at(&self.into, system)
    }

    /// Whether any connection has a separate cost.
    pub(super) fn have_costs(&self) -> bool {
        self.list.iter().any(|extra| extra.cost.is_some())
    }
}

impl Arc {
    const fn seen_from_far(self) -> Self {
        Self { near: self.far, far: self.near, ..self }
    }
}

fn at(arcs: &[Arc], system: SystemIndex) -> &[Arc] {
    let start = arcs.partition_point(|arc| arc.near < system);
    let rest = known_range::items(arcs, start..);
    let length = rest.iter().take_while(|arc| arc.near == system).count();
    known_range::items(rest, ..length)
}

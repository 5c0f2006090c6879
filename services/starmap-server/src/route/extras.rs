//! Connections besides the gates: jump bridges, wormholes.

use super::Cost;
use crate::map::SystemIndex;

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

/// Connections besides the gates, indexed for searches. One value can serve any number of queries.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    list: Vec<Extra>,
    /// Sorted by the system where they begin.
    out: Vec<Arc>,
    /// Sorted by the system where they lead.
    into: Vec<Arc>,
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
pub enum ExtrasError {
    /// More than [`MAX_EXTRAS`].
    #[error("{0} extra connections are more than the {MAX_EXTRAS} that are possible at once")]
    TooMany(usize),
    /// A connection from a system to itself.
    #[error("extra connection number {} leads back to where it begins", .0 + 1)]
    Circle(usize),
}

impl Extras {
    /// No connections but the gates.
    pub fn none() -> &'static Self {
        static NONE: Extras = Extras { list: Vec::new(), out: Vec::new(), into: Vec::new() };
        &NONE
    }

    /// Indexes these connections. Two connections between the same systems are allowed: the cheaper one is taken.
    ///
    /// # Errors
    /// [`ExtrasError`]
    pub fn new(list: Vec<Extra>) -> Result<Self, ExtrasError> {
        if list.len() > MAX_EXTRAS {
            return Err(ExtrasError::TooMany(list.len()));
        }
        if let Some(at) = list.iter().position(|extra| extra.from == extra.to) {
            return Err(ExtrasError::Circle(at));
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
        Ok(Self { list, out, into })
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

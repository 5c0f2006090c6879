//! Routes from system to system: the cost of a jump, what to avoid, and why there is no route.

mod alternatives;
mod avoid;
mod bound;
mod cost;
mod landmarks;
mod mode;
mod net;
mod no_route;
mod search;
mod summary;
mod travel;
mod walk;
mod warning;

pub use alternatives::{
    CostOfSafety, MAX_ALTERNATIVES, MOST_SHARED_PERCENT, alternatives, cost_of_safety,
};
pub use avoid::{Avoid, Avoided, MAX_AVOIDED, SecurityFilter, TooManyAvoided};
pub use cost::Cost;
pub use mode::{Mode, Penalty};
pub use no_route::NoRoute;
pub use summary::{Summary, summary};
pub use travel::{About, ConnectionKind, Extra, MAX_EXTRAS, Travel, TravelError};
pub use warning::{Warning, find_warned, ruled_out};

pub(crate) use no_route::apart;
pub(crate) use walk::Walk;

use crate::map::{Map, SystemIndex};
use landmarks::bound;
use net::Net;
use search::{Direction, Search};

/// The request for a route.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// Where the route begins.
    pub origin: SystemIndex,
    /// Where it ends.
    pub destination: SystemIndex,
    /// The preference of the route.
    pub mode: Mode,
    /// The systems that it does not pass through. The two ends are always allowed, because the pilot is already there
    /// or wants to go there; [`find_warned`] warns of an avoided end.
    pub avoid: &'q Avoid,
    /// The connections besides the gates, and the rules that hold.
    pub travel: &'q Travel,
    /// The additional cost of entering each system, by its index ([`SystemIndex::index`]). Empty if there is none.
    pub surcharges: &'q [Cost],
}

/// A route from system to system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// All systems from origin to destination, both included; one if they are the same.
    pub systems: Vec<SystemIndex>,
    /// How each jump is made: one entry less than in `systems`.
    pub by: Vec<By>,
    /// The sum of the costs of the jumps in the requested mode.
    pub cost: Cost,
}

/// How a jump is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// A stargate.
    Gate,
    /// The extra connection at this index of [`Travel::list`].
    Extra(usize),
}

/// How many jumps are few.
const NEAR: u32 = 8;

/// The best route: the one with the least cost. Among equals it takes the fewest jumps, then the first when the ids of
/// the systems are compared one after the other. The same question therefore always has the same answer.
///
/// Costs are whole millionths ([`Cost`]), so sums are exact and ties are real ties.
///
/// # Errors
/// [`NoRoute`], with the reason.
pub fn find(map: &Map, query: &Query<'_>) -> Result<Route, NoRoute> {
    best(map, query).ok_or_else(|| no_route::why(map, query))
}

/// The same, but it does not look for the reason if there is none.
fn best(map: &Map, query: &Query<'_>) -> Option<Route> {
    if query.is_closed(map) || query.is_confined(map) {
        return None;
    }
    let net = Net::new(map, query);
    let direction = Direction::To(query.destination);
    let mut search = Search::new(map, &net, direction, bound(map, query));
    search.find(query.origin);
    search.route(query.origin)
}

impl<'q> Query<'q> {
    /// A route between two systems by gates, avoiding nothing.
    pub fn new(origin: SystemIndex, destination: SystemIndex, mode: Mode) -> Self {
        Self {
            origin,
            destination,
            mode,
            avoid: Avoid::nothing(),
            travel: Travel::by_gates(),
            surcharges: &[],
        }
    }

    /// Whether a rule keeps the ship out of the destination.
    pub(crate) fn is_closed(&self, map: &Map) -> bool {
        self.origin != self.destination && self.travel.closed(map, self.destination).is_some()
    }

    /// Whether what is avoided or closed lets a ship only into a few systems around the origin.
    fn is_confined(&self, map: &Map) -> bool {
        if self.avoid.things().is_empty() && self.travel.ship.is_none() {
            return false;
        }
        let mut walk = Walk::new(map);
        walk.run(map, self.travel, self.origin, NEAR, |system| {
            !self.avoid.contains(system) || system == self.destination
        });
        let last = walk.reached().last().and_then(|last| walk.jumps(*last));
        walk.jumps(self.destination).is_none() && last < Some(NEAR)
    }

    /// The same, avoiding these systems.
    #[must_use]
    pub const fn avoiding(self, avoid: &'q Avoid) -> Self {
        Self { avoid, ..self }
    }

    /// The same, with an additional cost for entering each system.
    #[must_use]
    pub const fn surcharged(self, surcharges: &'q [Cost]) -> Self {
        Self { surcharges, ..self }
    }

    /// The same, on this travel graph.
    #[must_use]
    pub const fn with(self, travel: &'q Travel) -> Self {
        Self { travel, ..self }
    }
}

impl Route {
    /// How many jumps it takes.
    pub const fn jumps(&self) -> usize {
        self.by.len()
    }
}

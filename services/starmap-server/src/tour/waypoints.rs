//! The order of waypoints that makes the shortest tour.

use super::exact::{Exact, MAX_EXACT};
use super::expand::expand;
use super::problem::Problem;
use crate::explore::{Invalid, matrix};
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Extras, SecurityFilter};

/// The most waypoints of a tour.
pub const MAX_WAYPOINTS: usize = 50;

/// How often the search starts again from a small change of the best tour.
const KICKS: usize = 24;

/// The request for a tour.
#[derive(Debug, Clone, Copy)]
pub struct WaypointsQuery<'q> {
    /// The waypoints in any order, from 1 to [`MAX_WAYPOINTS`]. One named twice counts once.
    pub waypoints: &'q [SystemIndex],
    /// Where the tour begins, and whether it ends there.
    pub start: Start,
    /// The security classes that it keeps to. The start and the waypoints are always allowed.
    pub security: SecurityFilter,
    /// The systems that it does not pass through, except for the start and the waypoints.
    pub avoid: &'q Avoid,
    /// Connections besides the gates.
    pub extras: &'q Extras,
}

/// Where a tour begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// It begins at the best of the waypoints, and ends at another.
    Free,
    /// It is closed: it begins at the first waypoint and ends there.
    FirstAndBack,
    /// It begins here and ends at the last waypoint.
    From(SystemIndex),
    /// It begins here and ends here.
    FromAndBack(SystemIndex),
}

/// A tour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tour {
    /// The stops in order: the start first, and last again if it is closed.
    pub stops: Vec<SystemIndex>,
    /// The number of jumps from each stop to the next: one entry less than in `stops`.
    pub legs: Vec<usize>,
    /// All systems on the way.
    pub systems: Vec<SystemIndex>,
    /// Waypoints that cannot be reached from the start (without a start: from the first waypoint). They are left out.
    /// All others are in the tour, which has no gap.
    pub unreachable: Vec<SystemIndex>,
    /// Whether it is proven to be the shortest.
    pub method: Method,
}

/// How an order was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// All orders were compared, and none is shorter.
    Exact,
    /// The tour of nearest neighbours, improved by 2-opt and Or-opt. It is never longer than the tour of nearest
    /// neighbours.
    Heuristic,
}

/// Why there is no tour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaypointsError {
    /// No waypoints, or too many.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// No waypoint can be reached from the start (without a start: no other waypoint from the first one).
    #[error("there is no way to any of the waypoints")]
    NoneReachable,
}

/// Finds the order of waypoints that makes the shortest tour. It is certain to be the shortest with up to [`MAX_EXACT`]
/// stops besides a given start. With more stops it is a good one.
///
/// # Errors
/// [`WaypointsError`]
pub fn waypoints(map: &Map, query: &WaypointsQuery<'_>) -> Result<Tour, WaypointsError> {
    Invalid::unless_within("waypoints", query.waypoints.len(), 1, MAX_WAYPOINTS)?;
    let home = match query.start {
        Start::From(home) | Start::FromAndBack(home) => Some(home),
        Start::FirstAndBack => query.waypoints.first().copied(),
        Start::Free => None,
    };
    let mut all: Vec<SystemIndex> = home.into_iter().collect();
    for system in query.waypoints {
        if !all.contains(system) {
            all.push(*system);
        }
    }
    let avoid = query.avoid.and(map, query.security).but_for(&all);
    let jumps = matrix(map, &all, &all, &avoid, query.extras);
    // If the first stop and another can reach each other, so can all stops of this kind: the tour may pass through
    // stops.
    let cell = |from: usize, to: usize| jumps.get(from)?.get(to).copied().flatten();
    let joined = |at: usize| cell(0, at).is_some() && cell(at, 0).is_some();
    let (reached, unreachable): (Vec<usize>, Vec<usize>) =
        (0..all.len()).partition(|at| joined(*at));
    let unreachable: Vec<SystemIndex> = systems_at(&all, &unreachable).collect();
    if reached.len() < 2 && !unreachable.is_empty() {
        return Err(WaypointsError::NoneReachable);
    }
    let closed = matches!(query.start, Start::FirstAndBack | Start::FromAndBack(_));
    let stops = known_range::items(&reached, usize::from(home.is_some())..);
    let problem = Problem::new(&jumps, stops, home.is_some(), closed);
    let (order, method) = solve(&problem);
    let ordered: Vec<usize> = order.iter().filter_map(|stop| stops.get(*stop)).copied().collect();
    let back = home.filter(|_| closed);
    let stops = home.into_iter().chain(systems_at(&all, &ordered)).chain(back);
    let stops: Vec<SystemIndex> = stops.collect();
    let legs = problem.legs(&order, home.is_some(), closed);
    let systems =
        expand(map, query.extras, &stops, &legs, &avoid).ok_or(WaypointsError::NoneReachable)?;
    Ok(Tour { stops, legs, systems, unreachable, method })
}

fn systems_at(all: &[SystemIndex], places: &[usize]) -> impl Iterator<Item = SystemIndex> {
    places.iter().filter_map(|at| all.get(*at)).copied()
}

fn solve(problem: &Problem) -> (Vec<usize>, Method) {
    if problem.len() <= MAX_EXACT {
        let everything = (1_usize << problem.len()) - 1;
        return (Exact::new(problem).order(everything), Method::Exact);
    }
    let mut order = problem.nearest_neighbour();
    problem.improve(&mut order, KICKS);
    (order, Method::Heuristic)
}

impl Tour {
    /// The total number of jumps.
    pub fn jumps(&self) -> usize {
        self.systems.len().saturating_sub(1)
    }
}

//! The order of waypoints that makes the shortest way.

use super::exact::{Exact, MAX_EXACT};
use super::expand::expand;
use super::problem::Problem;
use crate::explore::{Invalid, matrix};
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Extras, SecurityFilter};

/// The most waypoints of a tour.
pub const MAX_WAYPOINTS: usize = 50;

/// From how many first stops the heuristics set out.
const MAX_STARTS: usize = 12;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct WaypointsQuery<'q> {
    /// Where to go, in any order, from 1 to [`MAX_WAYPOINTS`]. Naming one twice means it once.
    pub waypoints: &'q [SystemIndex],
    /// Where it begins, and whether it ends there.
    pub start: Start,
    /// Which security it keeps to. Start and waypoints are always entered, and passed.
    pub security: SecurityFilter,
    /// What it does not pass through, but for start and waypoints.
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
    /// How many jumps it is from each stop to the next: one less than stops.
    pub legs: Vec<usize>,
    /// All systems on the way.
    pub systems: Vec<SystemIndex>,
    /// Waypoints to which there is no way from the start (without one: from the first waypoint). They are left out; all
    /// others are in the tour, which has no gap.
    pub unreachable: Vec<SystemIndex>,
    /// Whether there is none shorter.
    pub method: Method,
}

/// How an order was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// All orders were weighed: none is shorter.
    Exact,
    /// By nearest neighbours, made better by 2-opt and Or-opt: never longer than nearest neighbours give.
    Heuristic,
}

/// No tour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaypointsError {
    /// None or too many waypoints.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// There is no way from the start to any waypoint (without a start: from the first waypoint to any other).
    #[error("there is no way to any of the waypoints")]
    NoneReachable,
}

/// Finds the order of waypoints that makes the shortest way: for certain up to [`MAX_EXACT`] stops besides a start that is
/// given, beyond that a good one.
///
/// # Errors
/// [`WaypointsError`]
///
/// # Panics
/// With handles of another, larger map.
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
    let avoid = query.avoid.and(map, query.security);
    let may_pass = |system| !avoid.contains(system) || all.contains(&system);
    let jumps = matrix(map, &all, &all, query.extras, may_pass);
    // What is reached from the first and leads back to it is reached from all others of the kind: stops are passed.
    let leads_back = |at: usize| jumps.get(at)?.first().copied().flatten();
    let first = jumps.first().map(Vec::as_slice).unwrap_or_default();
    let both = |(at, there): (usize, &Option<u32>)| there.filter(|_| leads_back(at).is_some());
    let reached: Vec<Option<u32>> = first.iter().enumerate().map(both).collect();
    let part = |reachable: bool| -> Vec<SystemIndex> {
        let both = all.iter().zip(&reached);
        let wanted = both.filter(|(_, jumps)| jumps.is_some() == reachable);
        wanted.map(|(system, _)| *system).collect()
    };
    let unreachable = part(false);
    if part(true).len() < 2 && !unreachable.is_empty() {
        return Err(WaypointsError::NoneReachable);
    }
    let kept = |row: &[Option<u32>]| -> Vec<u32> {
        let both = row.iter().zip(&reached).skip(usize::from(home.is_some()));
        both.filter(|(_, jumps)| jumps.is_some())
            .map(|(jumps, _)| jumps.unwrap_or_default())
            .collect()
    };
    let stops: Vec<SystemIndex> = part(true)
        .into_iter()
        .skip(usize::from(home.is_some()))
        .collect();
    let closed = matches!(query.start, Start::FirstAndBack | Start::FromAndBack(_));
    let from_home = match home {
        Some(_) => kept(&reached),
        None => vec![0; stops.len()],
    };
    let to_home = match closed {
        true => {
            let stops = reached
                .iter()
                .enumerate()
                .skip(1)
                .filter(|(_, it)| it.is_some());
            stops.filter_map(|(at, _)| leads_back(at)).collect()
        }
        false => vec![0; stops.len()],
    };
    let rows = jumps.iter().zip(&reached).skip(usize::from(home.is_some()));
    let between = rows
        .filter(|(_, jumps)| jumps.is_some())
        .map(|(row, _)| kept(row));
    let problem = Problem::new(from_home, to_home, between);
    let (order, method) = solve(&problem);
    let ordered = order.iter().filter_map(|stop| stops.get(*stop)).copied();
    let back = home.filter(|_| closed);
    let stops: Vec<SystemIndex> = home.into_iter().chain(ordered).chain(back).collect();
    let legs = problem.legs(&order, home.is_some(), closed);
    let systems =
        expand(map, query.extras, &stops, &legs, may_pass).ok_or(WaypointsError::NoneReachable)?;
    Ok(Tour {
        stops,
        legs,
        systems,
        unreachable,
        method,
    })
}

fn solve(problem: &Problem) -> (Vec<usize>, Method) {
    if problem.len() <= MAX_EXACT {
        let everything = (1_usize << problem.len()) - 1;
        return (Exact::new(problem).order(everything), Method::Exact);
    }
    // Nearest neighbours as such is among those that are made better, so nothing is worse than it.
    let firsts = (0..problem.len().min(MAX_STARTS)).map(Some);
    let orders = std::iter::once(None).chain(firsts).map(|first| {
        let mut order = problem.nearest_neighbour(first);
        problem.improve(&mut order);
        order
    });
    let best = orders.min_by_key(|order| problem.length(order));
    (best.unwrap_or_default(), Method::Heuristic)
}

impl Tour {
    /// How many jumps it is in all.
    #[must_use]
    pub fn jumps(&self) -> usize {
        self.systems.len().saturating_sub(1)
    }
}

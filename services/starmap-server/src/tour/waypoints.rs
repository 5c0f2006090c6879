//! The order of waypoints that makes the shortest tour.

use super::exact::{Exact, MAX_EXACT};
use super::expand::expand;
use super::problem::Problem;
use crate::errors::InvalidParameterError as Invalid;
use crate::explore::matrix;
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, SecurityFilter, Travel};

/// The most waypoints of a tour.
pub const MAX_WAYPOINTS: usize = 50;

/// How often the search starts again from a small change of the best tour.
const KICKS: usize = 24;

/// More jumps than any tour has.
const BEYOND: u32 = 1_000_000;

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
    pub travel: &'q Travel,
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
    Invalid::unless_within("waypoints", query.waypoints.len(), 1..=MAX_WAYPOINTS)?;
    let home = query.home();
    let mut all: Vec<SystemIndex> = home.into_iter().collect();
    for system in query.waypoints {
        if !all.contains(system) {
            all.push(*system);
        }
    }
    let begin = usize::from(home.is_some());
    let inner = all.iter().skip(begin).position(|it| !query.travel.may_pass(map, *it));
    match inner {
        None => tour(map, query, &all, None),
        Some(place) => turning_back(map, query, &all, begin + place),
    }
}

/// The best tour with a stop that is only an end ([`Map::only_ends`]), at this place of the list. Between two other
/// stops it is left by the gate that it was entered by: then the tour is one of the system behind that gate, and two
/// jumps longer. Without a way back it may also be the first or the last stop.
fn turning_back(
    map: &Map,
    query: &WaypointsQuery<'_>,
    all: &[SystemIndex],
    place: usize,
) -> Result<Tour, WaypointsError> {
    let Some(&end) = all.get(place) else {
        return Err(WaypointsError::NoneReachable);
    };
    let refused = query.avoid.and(map, query.security);
    let gates = map.neighbours(end).iter().filter(|it| !refused.contains(**it) || all.contains(it));
    let through = gates.filter_map(|&gate| {
        let mut stops = all.to_vec();
        match stops.get_mut(place) {
            Some(stop) if !all.contains(&gate) => *stop = gate,
            _ => _ = stops.remove(place),
        }
        let mut found = tour(map, query, &stops, None).ok()?;
        found.turn_back(gate, end, !all.contains(&gate))?;
        Some(found)
    });
    let mut tours: Vec<Tour> = through.collect();
    if !query.is_closed() || tours.is_empty() {
        tours.push(tour(map, query, all, Some(Edge::Last(place)))?);
    }
    if query.start == Start::Free {
        tours.push(tour(map, query, all, Some(Edge::First(place)))?);
    }
    let exact = tours.iter().all(|it| it.method == Method::Exact);
    let best = tours.into_iter().min_by_key(|it| (it.unreachable.len(), it.jumps()));
    let best = best.ok_or(WaypointsError::NoneReachable)?;
    Ok(Tour { method: if exact { best.method } else { Method::Heuristic }, ..best })
}

/// A stop, by its place in the list, that is at an edge of an open tour.
#[derive(Debug, Clone, Copy)]
enum Edge {
    First(usize),
    Last(usize),
}

/// The best tour of these stops, the home first if there is one.
fn tour(
    map: &Map,
    query: &WaypointsQuery<'_>,
    all: &[SystemIndex],
    edge: Option<Edge>,
) -> Result<Tour, WaypointsError> {
    let avoid = query.avoid.and(map, query.security).but_for(all);
    let mut jumps = matrix(map, all, all, &avoid, query.travel);
    // If the first stop and another can reach each other, so can all stops of this kind: the tour may pass through
    // stops.
    let cell = |from: usize, to: usize| jumps.get(from)?.get(to).copied().flatten();
    let joined = |at: usize| cell(0, at).is_some() && cell(at, 0).is_some();
    let (reached, unreachable): (Vec<usize>, Vec<usize>) =
        (0..all.len()).partition(|at| joined(*at));
    let unreachable: Vec<SystemIndex> = systems_at(all, &unreachable).collect();
    if reached.len() < 2 && !unreachable.is_empty() {
        return Err(WaypointsError::NoneReachable);
    }
    let home = query.home();
    for (from, row) in jumps.iter_mut().enumerate() {
        for (to, cell) in row.iter_mut().enumerate() {
            // It is too far to go on from the last stop, or to come to the first.
            let closed = match edge {
                Some(Edge::First(at)) => to == at,
                Some(Edge::Last(at)) => from == at,
                None => false,
            };
            *cell = cell.map(|jumps| if closed { jumps + BEYOND } else { jumps });
        }
    }
    let begins = usize::from(home.is_some());
    let stops = known_range::items(&reached, begins..);
    let problem = Problem::new(&jumps, stops, home.is_some(), query.is_closed());
    let (order, method) = solve(&problem);
    let ordered: Vec<usize> = order.iter().filter_map(|stop| stops.get(*stop)).copied().collect();
    let back = home.filter(|_| query.is_closed());
    let stops = home.into_iter().chain(systems_at(all, &ordered)).chain(back);
    let stops: Vec<SystemIndex> = stops.collect();
    let legs = problem.legs(&order, home.is_some(), query.is_closed());
    let systems =
        expand(map, query.travel, &stops, &legs, &avoid).ok_or(WaypointsError::NoneReachable)?;
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

impl WaypointsQuery<'_> {
    fn home(&self) -> Option<SystemIndex> {
        match self.start {
            Start::From(home) | Start::FromAndBack(home) => Some(home),
            Start::FirstAndBack => self.waypoints.first().copied(),
            Start::Free => None,
        }
    }

    const fn is_closed(&self) -> bool {
        matches!(self.start, Start::FirstAndBack | Start::FromAndBack(_))
    }
}

impl Tour {
    /// Goes from a stop through its gate to a system that is only an end, and back if the tour goes on. The system
    /// takes the place of the stop if that was not wanted. `None` if the tour does not stop there.
    fn turn_back(&mut self, gate: SystemIndex, end: SystemIndex, instead: bool) -> Option<()> {
        let at = self.stops.iter().position(|stop| *stop == gate)?;
        let place: usize = known_range::items(&self.legs, ..at).iter().sum();
        let begins = instead && at == 0;
        let back = (!begins && at + 1 < self.stops.len()).then_some(gate);
        let place = if begins { 0 } else { place + 1 };
        self.systems.splice(place..place, std::iter::once(end).chain(back));
        if instead {
            *self.stops.get_mut(at)? = end;
            self.legs
                .iter_mut()
                .skip(at.saturating_sub(1))
                .take(2 - usize::from(begins))
                .for_each(|it| *it += 1);
        } else {
            self.stops.insert(at + 1, end);
            self.legs.insert(at, 1);
            self.legs.iter_mut().skip(at + 1).take(1).for_each(|it| *it += 1);
        }
        Some(())
    }

    /// The total number of jumps.
    pub fn jumps(&self) -> usize {
        self.systems.len().saturating_sub(1)
    }
}

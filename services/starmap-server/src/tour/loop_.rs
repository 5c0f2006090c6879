//! A round trip along the border of high security.

use std::collections::HashSet;
use std::fmt;

use tokio_util::sync::CancellationToken;

use super::expand::expand;
use super::problem::Problem;
use super::select::{Wish, select};
use crate::errors::InvalidParameterError as Invalid;
use crate::explore::matrix;
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, SecurityFilter, Travel, Walk};

/// The smallest number of jumps that can be requested.
pub const MIN_TARGET_JUMPS: usize = 10;
/// The largest number of jumps that can be requested.
pub const MAX_TARGET_JUMPS: usize = 100;
/// The smallest `min_borders` that can be requested.
pub const MIN_BORDERS: usize = 2;
/// The largest `min_borders` that can be requested.
pub const MAX_MIN_BORDERS: usize = 10;
/// The largest `max_borders` that can be requested.
pub const MAX_BORDERS: usize = 15;

/// The number of border systems that the stops are chosen from.
const MAX_CANDIDATES: usize = 100;

/// The most other systems that are added to a round trip to make it long enough.
const MAX_DETOURS: usize = 10;

/// The request for a round trip.
#[derive(Debug, Clone, Copy)]
pub struct LoopQuery<'q> {
    /// Where it begins and ends, in any security.
    pub origin: SystemIndex,
    /// How long it should be, from [`MIN_TARGET_JUMPS`] to [`MAX_TARGET_JUMPS`]; 20 is the contract's default.
    pub target_jumps: usize,
    /// How many border systems it visits at least, from [`MIN_BORDERS`] to [`MAX_MIN_BORDERS`]; 4 is the default.
    pub min_borders: usize,
    /// How many at most, from `min_borders` to [`MAX_BORDERS`]; 8 is the default.
    pub max_borders: usize,
    /// How round trips are ranked.
    pub optimize: Optimize,
    /// Which security it keeps to.
    pub security: SecurityFilter,
    /// The systems that it does not pass through. The origin is always allowed.
    pub avoid: &'q Avoid,
    /// The connections besides the gates, and the rules that hold.
    pub travel: &'q Travel,
    /// Ends the search early, if somebody may.
    pub stop: Option<&'q CancellationToken>,
}

/// How round trips are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optimize {
    /// As many border systems as possible.
    #[default]
    Density,
    /// Border systems far from each other: the distance between the two nearest is as large as possible.
    Coverage,
}

/// A round trip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// All systems on the way, the origin first and last.
    pub systems: Vec<SystemIndex>,
    /// The border systems that were chosen as stops, in the order of the tour. The origin is first if it is one. There
    /// may be others on the way.
    pub borders: Vec<SystemIndex>,
    /// If it is longer than tolerated: every round trip of that few border systems has at least this many jumps.
    pub bound: Option<usize>,
}

/// Why there is no round trip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoopError {
    /// A parameter out of its bounds.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The search was told to stop.
    #[error("the search was stopped")]
    Stopped,
    /// Fewer border systems than requested can be visited on a trip of this length.
    #[error(
        "{found} border systems within {search_radius} jumps are fewer than the {required} asked for: {suggestion}"
    )]
    InsufficientBorders {
        /// How many there are.
        found: usize,
        /// How many were asked for.
        required: usize,
        /// The search radius around the origin: half the length of the round trip.
        search_radius: usize,
        /// What would help.
        suggestion: Suggestion,
    },
}

/// What would help if there are too few border systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suggestion {
    /// A longer trip: there are enough border systems within half of this length.
    Longer {
        /// The least `target_jumps` that is enough.
        target_jumps: usize,
    },
    /// Fewer border systems: even on the longest trip no more can be reached.
    Fewer {
        /// How many can be reached.
        reachable: usize,
    },
}

/// How far the length of a round trip may be from the target without counting as worse: a tenth of the target.
pub const fn tolerance(target_jumps: usize) -> usize {
    target_jumps / 10
}

/// Whether a length is within a fifth of the target.
pub const fn fits(jumps: usize, target_jumps: usize) -> bool {
    jumps.abs_diff(target_jumps) * 5 <= target_jumps
}

/// Finds a round trip from the origin through border systems, with about the requested number of jumps.
///
/// It visits `min_borders` to `max_borders` border systems at most half the target away, in an order that makes the
/// trip short. Each leg is a shortest path; among shortest paths it takes the one that passes the fewest systems twice.
/// Round trips that miss the target by no more than [`tolerance`] are best, then those that miss it by less. Among
/// equals `optimize` decides, then how far they miss the target.
///
/// With up to 12 border systems to choose from, all choices are compared, so the result is the best. With more, the
/// choice is improved step by step from several starting points, until adding, removing or exchanging a border system
/// no longer helps. If there are more than 100 to choose from, it uses 100 of them at all distances.
///
/// If the result is longer than tolerated, the shortest round trip through `min_borders` of them is searched for, and
/// [`Loop::bound`] is the bound that this search proves. If the result is more than a fifth too short, the system whose
/// detour fits best is added, again and again as long as that helps.
///
/// # Errors
/// [`LoopError`]
pub fn loop_(map: &Map, query: &LoopQuery<'_>) -> Result<Loop, LoopError> {
    check(query)?;
    let origin = query.origin;
    let avoid = query.avoid.and(map, query.security).but_for(&[origin]);
    let may_enter = |system| !avoid.contains(system);
    let mut walk = Walk::new(map);
    walk.run(map, query.travel, origin, u32::MAX, may_enter);
    let radius = query.target_jumps / 2;
    // By distance, then by id. The origin is visited in any case.
    let mut reachable: Vec<(u32, SystemIndex)> = (walk.reached().iter().skip(1))
        .filter(|system| map.system(**system).border && query.travel.may_pass(map, **system))
        .filter_map(|system| Some((walk.jumps(*system)?, *system)))
        .collect();
    reachable.sort_unstable();
    let at_home = usize::from(map.system(origin).border);
    let near = reachable.partition_point(|(jumps, _)| *jumps as usize <= radius);
    if near + at_home < query.min_borders {
        let enough = query.min_borders - at_home;
        let needed = enough.checked_sub(1).and_then(|last| reachable.get(last));
        return Err(LoopError::InsufficientBorders {
            found: near + at_home,
            required: query.min_borders,
            search_radius: radius,
            suggestion: suggest(needed.map(|(jumps, _)| *jumps as usize * 2), || {
                let most = MAX_TARGET_JUMPS / 2;
                at_home + reachable.partition_point(|(jumps, _)| *jumps as usize <= most)
            }),
        });
    }
    let target = query.target_jumps;
    let longest = target + target / 5;
    // Systems farther away would make the round trip too long.
    let wide = reachable.partition_point(|(jumps, _)| *jumps as usize <= longest / 2);
    let candidates = spread(known_range::items(&reachable, ..wide), MAX_CANDIDATES);
    let all: Vec<SystemIndex> = std::iter::once(origin).chain(candidates).collect();
    let jumps = matrix(map, &all, &all, &avoid, query.travel);
    // A one-way connection may lead to a system without a way back.
    let back = |at: usize| jumps.get(at)?.first().copied().flatten();
    let kept: Vec<usize> = (1..all.len()).filter(|at| back(*at).is_some()).collect();
    let problem = Problem::new(&jumps, &kept, true, true);
    let wish = Wish {
        target,
        tolerance: tolerance(target),
        fewest: query.min_borders - at_home,
        most: query.max_borders - at_home,
        optimize: query.optimize,
        at_home: at_home == 1,
    };
    let (order, bound) = select(&problem, &wish, query.stop);
    if query.stop.is_some_and(CancellationToken::is_cancelled) {
        return Err(LoopError::Stopped);
    }
    // Other systems are farther away than all candidates, or between them if there were too many.
    let farthest_needed = wish.fewest.checked_sub(1).and_then(|last| reachable.get(last));
    let others = match (wide > MAX_CANDIDATES, farthest_needed) {
        (true, Some((jumps, _))) => *jumps as usize * 2,
        _ => (longest / 2 + 1) * 2,
    };
    let bound = bound.map(|bound| bound.min(others));
    let stop = |number: &usize| all.get(*kept.get(*number)?).copied();
    let borders: Vec<SystemIndex> = order.iter().filter_map(stop).collect();
    let home = std::iter::once(origin);
    let stops = home.clone().chain(borders.iter().copied()).chain(home.clone());
    let mut stops: Vec<SystemIndex> = stops.collect();
    let mut legs = problem.legs(&order, true, true);
    lengthen(map, query, &avoid, &mut stops, &mut legs);
    // Every stop can be reached from the one before, so every leg has a path.
    let systems = expand(map, query.travel, &stops, &legs, &avoid).unwrap_or(stops);
    let borders = home.take(at_home).chain(borders).collect();
    Ok(Loop { systems, borders, bound })
}

/// Adds stops to the first leg of a round trip that is too short. Each time it adds the stop whose detour brings the
/// length nearest to the target.
fn lengthen(
    map: &Map,
    query: &LoopQuery<'_>,
    avoid: &Avoid,
    stops: &mut Vec<SystemIndex>,
    legs: &mut Vec<usize>,
) {
    let may_enter = |system| !avoid.contains(system);
    for _ in 0..MAX_DETOURS {
        let length: usize = legs.iter().sum();
        if length >= query.target_jumps || fits(length, query.target_jumps) {
            return;
        }
        let (Some(&from), Some(&to), Some(&leg)) = (stops.first(), stops.get(1), legs.first())
        else {
            return;
        };
        let (mut there, mut on) = (Walk::new(map), Walk::new(map));
        there.run(map, query.travel, from, u32::MAX, may_enter);
        on.run_back(map, query.travel, to, u32::MAX, |system, _| may_enter(system));
        let new = there.reached().iter();
        let new = new.filter(|it| !stops.contains(it) && query.travel.may_pass(map, **it));
        let detours = new.filter_map(|&system| {
            let both = (there.jumps(system)? as usize, on.jumps(system)? as usize);
            let longer = length + both.0 + both.1 - leg;
            let better = longer.abs_diff(query.target_jumps) < query.target_jumps - length;
            better.then_some((longer.abs_diff(query.target_jumps), system, both))
        });
        let Some((_, system, (first, second))) = detours.min() else {
            return;
        };
        stops.insert(1, system);
        legs.splice(0..1, [first, second]);
    }
}

fn check(query: &LoopQuery<'_>) -> Result<(), Invalid> {
    let lengths = MIN_TARGET_JUMPS..=MAX_TARGET_JUMPS;
    Invalid::unless_within("target_jumps", query.target_jumps, lengths)?;
    let (least, most) = (query.min_borders, query.max_borders);
    Invalid::unless_within("min_borders", least, MIN_BORDERS..=MAX_MIN_BORDERS)?;
    Invalid::unless_within("max_borders", most, least..=MAX_BORDERS)
}

fn suggest(target_jumps: Option<usize>, reachable: impl Fn() -> usize) -> Suggestion {
    match target_jumps {
        Some(target_jumps) if target_jumps <= MAX_TARGET_JUMPS => {
            Suggestion::Longer { target_jumps }
        }
        _ => Suggestion::Fewer { reachable: reachable() },
    }
}

/// All of them, or `most` of them, evenly spaced.
fn spread(
    systems: &[(u32, SystemIndex)],
    most: usize,
) -> impl Iterator<Item = SystemIndex> + use<'_> {
    let count = systems.len().min(most);
    let all = systems.len();
    (0..count).filter_map(move |at| systems.get(at * all / count).map(|(_, system)| *system))
}

impl Loop {
    /// How many jumps it takes.
    pub fn jumps(&self) -> usize {
        self.systems.len().saturating_sub(1)
    }

    /// How many different systems it passes.
    pub fn unique_systems(&self) -> usize {
        self.systems.iter().collect::<HashSet<_>>().len()
    }

    /// The number of jumps into systems that were already visited. At best it is 1, because the trip ends where it
    /// begins.
    pub fn backtrack_jumps(&self) -> usize {
        (self.jumps() + 1).saturating_sub(self.unique_systems())
    }

    /// The share of distinct systems in [`Loop::systems`].
    pub fn efficiency(&self) -> f64 {
        self.unique_systems() as f64 / self.systems.len() as f64
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longer { target_jumps } => {
                write!(f, "raise target_jumps to {target_jumps} or more")
            }
            Self::Fewer { reachable: 0 | 1 } => {
                write!(f, "begin elsewhere, avoid less or keep to security less strictly")
            }
            Self::Fewer { reachable } => write!(
                f,
                "lower min_borders to {reachable} or less with the longest target_jumps, avoid less or keep to security less strictly"
            ),
        }
    }
}

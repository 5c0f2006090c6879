//! Systems by their distance in jumps from an origin.

use std::cmp::Ordering;

use super::{Filter, Limited};
use crate::errors::InvalidParameterError as Invalid;
use crate::map::{Map, SecurityClass, SystemIndex};
use crate::route::{SecurityFilter, Travel, Walk};

/// A system and its distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near {
    /// The system.
    pub system: SystemIndex,
    /// How many jumps it is from the origin.
    pub jumps: u32,
}

/// The arguments of [`nearest`].
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// The origin. It is not part of the result.
    pub origin: SystemIndex,
    /// The radius; 30 is the contract's default.
    pub max_jumps: u32,
    /// Which systems to find.
    pub filter: Filter,
    /// The most systems to return; 5 is the contract's default.
    pub limit: usize,
}

/// All systems at most `max_jumps` away by gates and extra connections, the origin included, by distance, then by name.
/// Systems that `security` does not admit are not entered. The origin is always allowed.
pub fn within(
    map: &Map,
    travel: &Travel,
    origin: SystemIndex,
    max_jumps: u32,
    security: SecurityFilter,
) -> Vec<Near> {
    let mut all = around(map, travel, origin, max_jumps, security, |_| true);
    all.sort_unstable_by(|a, b| by_distance_then_name(map, a, b));
    all
}

/// The border systems at most `max_jumps` away, by distance, then by name. The origin counts if it is one. Systems that
/// `security` does not admit are not entered.
pub fn borders(
    map: &Map,
    travel: &Travel,
    origin: SystemIndex,
    max_jumps: u32,
    security: SecurityFilter,
    limit: usize,
) -> Limited<Near> {
    let is_border = |system| map.system(system).border;
    let all = around(map, travel, origin, max_jumps, security, is_border);
    Limited::first(all, limit, |a, b| by_distance_then_name(map, a, b))
}

/// The nearest systems that match a filter, by distance, then by name.
///
/// # Errors
/// [`Invalid`] for an invalid filter.
pub fn nearest(map: &Map, travel: &Travel, nearest: &Nearest) -> Result<Limited<Near>, Invalid> {
    let filter = nearest.filter.check()?;
    let origin = nearest.origin;
    let all = around(map, travel, origin, nearest.max_jumps, SecurityFilter::Any, |it| {
        it != origin && filter.admits(map, it)
    });
    let order = |a: &Near, b: &Near| by_distance_then_name(map, a, b);
    Ok(Limited::first(all, nearest.limit, order))
}

/// The neighbours of a system that are below high security, by id.
pub fn adjacent_lower(map: &Map, system: SystemIndex) -> impl Iterator<Item = SystemIndex> {
    let neighbours = map.neighbours(system).iter().copied();
    neighbours.filter(|far| map.class(*far) != SecurityClass::High)
}

fn by_distance_then_name(map: &Map, a: &Near, b: &Near) -> Ordering {
    let name = |near: &Near| map.name(near.system);
    a.jumps.cmp(&b.jumps).then_with(|| name(a).cmp(name(b)))
}

fn around(
    map: &Map,
    travel: &Travel,
    origin: SystemIndex,
    max_jumps: u32,
    security: SecurityFilter,
    wanted: impl Fn(SystemIndex) -> bool,
) -> Vec<Near> {
    let mut walk = Walk::new(map);
    walk.run(map, travel, origin, max_jumps, |system| security.admits(map.class(system)));
    let reached = walk.reached().iter().copied().filter(|it| wanted(*it));
    reached.filter_map(|system| Some(Near { system, jumps: walk.jumps(system)? })).collect()
}

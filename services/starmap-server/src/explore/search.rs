//! Systems that match a filter, anywhere.

use super::{Filter, Limited};
use crate::errors::InvalidParameterError as Invalid;
use crate::map::{Map, SystemIndex};
use crate::route::{Travel, Walk};

/// The arguments of [`search`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Search {
    /// The system from which distances are counted.
    pub origin: Option<SystemIndex>,
    /// The largest distance from the origin.
    pub max_jumps: Option<u32>,
    /// Which systems to find.
    pub filter: Filter,
    /// The most systems to return; 20 is the contract's default.
    pub limit: usize,
}

/// A system that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The system.
    pub system: SystemIndex,
    /// The number of jumps from the origin; `None` without an origin or without a route.
    pub jumps: Option<u32>,
}

/// Systems that match a filter. With an origin they are sorted by distance, then by name, and unreachable ones come
/// last. Without an origin they are sorted by name.
///
/// # Errors
/// [`Invalid`] for an invalid filter, and for a distance without an origin.
pub fn search(map: &Map, travel: &Travel, search: &Search) -> Result<Limited<Hit>, Invalid> {
    let filter = search.filter.check()?;
    if let (None, Some(max_jumps)) = (search.origin, search.max_jumps) {
        return Err(Invalid::new("max_jumps", max_jumps, "needs an origin to count from"));
    }
    let wanted = map.indices().filter(|it| filter.admits(map, *it));
    let all: Vec<Hit> = match search.origin {
        None => wanted.map(|system| Hit { system, jumps: None }).collect(),
        Some(origin) => {
            let mut walk = Walk::new(map);
            let most = search.max_jumps.unwrap_or(u32::MAX);
            walk.run(map, travel, origin, most, |_| true);
            let hit = |system| Hit { system, jumps: walk.jumps(system) };
            let near = |hit: &Hit| search.max_jumps.is_none() || hit.jumps.is_some();
            wanted.map(hit).filter(near).collect()
        }
    };
    let name = |hit: &Hit| map.name(hit.system);
    let far = |hit: &Hit| hit.jumps.unwrap_or(u32::MAX);
    Ok(Limited::first(all, search.limit, |a, b| {
        far(a).cmp(&far(b)).then_with(|| name(a).cmp(name(b)))
    }))
}

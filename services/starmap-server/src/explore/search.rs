//! Systems of a kind, anywhere.

use super::{Filter, Invalid, Limited};
use crate::map::{Map, SystemIndex};
use crate::route::{Extras, Walk};

/// What [`search`] looks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Search {
    /// From where distances are counted.
    pub origin: Option<SystemIndex>,
    /// How far from there at most.
    pub max_jumps: Option<u32>,
    /// What.
    pub filter: Filter,
    /// How many at most; 20 is the contract's default.
    pub limit: usize,
}

/// A system that was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The system.
    pub system: SystemIndex,
    /// How many jumps it is from the origin; `None` without one, or without a way.
    pub jumps: Option<u32>,
}

/// Systems of a kind: with an origin by distance, then by name, those without a way to them last; else by name.
///
/// # Errors
/// [`Invalid`] for a filter that cannot be meant, and for a distance without an origin.
pub fn search(map: &Map, extras: &Extras, search: &Search) -> Result<Limited<Hit>, Invalid> {
    let filter = search.filter.check()?;
    if let (None, Some(max_jumps)) = (search.origin, search.max_jumps) {
        let reason = "needs an origin to count from".to_owned();
        return Err(Invalid::new("max_jumps", max_jumps, reason));
    }
    let wanted = map.indices().filter(|it| filter.admits(map, *it));
    let all: Vec<Hit> = match search.origin {
        None => wanted
            .map(|system| Hit {
                system,
                jumps: None,
            })
            .collect(),
        Some(origin) => {
            let mut walk = Walk::new(map);
            let most = search.max_jumps.unwrap_or(u32::MAX);
            walk.run(map, extras, origin, most, |_| true);
            let hit = |system| Hit {
                system,
                jumps: walk.jumps(system),
            };
            let near = |hit: &Hit| search.max_jumps.is_none() || hit.jumps.is_some();
            wanted.map(hit).filter(near).collect()
        }
    };
    let name = |hit: &Hit| &map.system(hit.system).name;
    let far = |hit: &Hit| hit.jumps.unwrap_or(u32::MAX);
    Ok(Limited::first(all, search.limit, |a, b| {
        far(a).cmp(&far(b)).then_with(|| name(a).cmp(name(b)))
    }))
}

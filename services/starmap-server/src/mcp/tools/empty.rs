//! Why a list is empty, and what would help.

use crate::errors::shown;
use crate::explore::{self, Filter, Near, Nearest};
use crate::map::{Map, RegionIndex, SystemIndex};
use crate::route::{self, SecurityFilter, Travel};

use super::super::names::known_region;

/// Removes one condition of a filter.
type Loosen = fn(&mut Filter);

/// Why nothing was found, and what would help.
pub(super) fn why_none(
    map: &Map,
    travel: &Travel,
    origin: Option<SystemIndex>,
    max_jumps: Option<u32>,
    filter: &Filter,
) -> String {
    let count = |filter: &Filter| {
        let search = explore::Search { filter: filter.clone(), ..explore::Search::default() };
        explore::search(map, travel, &search).map_or(0, |found| found.total)
    };
    let matching = count(filter);
    if matching == 0 {
        let looser: [(&str, Loosen); 6] = [
            ("name", |it| it.name = None),
            ("region", |it| it.region = None),
            ("security_class, security_min and security_max", |it| {
                let any = Filter::default();
                (it.class, it.security_min, it.security_max) =
                    (None, any.security_min, any.security_max);
            }),
            ("is_border", |it| it.border = None),
            ("min_adjacent_lowsec", |it| it.min_adjacent_lower = 0),
            ("among", |it| it.among = None),
        ];
        let counted = looser.iter().map(|(name, loosen)| {
            let mut looser = filter.clone();
            loosen(&mut looser);
            (name, count(&looser))
        });
        let helps = counted.filter(|(_, count)| *count > 0);
        let helps: Vec<String> =
            helps.map(|(name, count)| format!("{count} without {name}")).collect();
        return if helps.is_empty() {
            "No system of the map matches; leave out more than one of the filters".to_owned()
        } else {
            format!("No system of the map matches; there are {}", helps.join(", "))
        };
    }
    let Some(origin) = origin else {
        return "No system of the map matches".to_owned();
    };
    let anywhere = Nearest { origin, max_jumps: u32::MAX, filter: filter.clone(), limit: 1 };
    let nearest = explore::nearest(map, travel, &anywhere).ok();
    match nearest.and_then(|found| found.list.first().copied()) {
        Some(near) if max_jumps.is_some_and(|most| near.jumps > most) => farther(map, &near),
        _ => format!(
            "{matching} systems match, but none of the others can be reached from {}{}",
            map.name(origin),
            route::apart(map, [origin])
        ),
    }
}

/// The hint that there is nothing around a system that no route leaves.
pub(super) fn alone(map: &Map, travel: &Travel, origin: SystemIndex) -> Option<String> {
    let around = explore::within(map, travel, origin, 1, SecurityFilter::Any);
    (around.len() <= 1).then(|| {
        let apart = route::apart(map, [origin]);
        format!("No way leads on from {}{apart}", map.name(origin))
    })
}

/// The hint that the nearest match is outside the radius.
pub(super) fn farther(map: &Map, near: &Near) -> String {
    let name = map.name(near.system);
    format!("The nearest is {name}, {} jumps away: raise max_jumps", near.jumps)
}

/// The region with this name, if one is given. `None` for a region that is not on the map, which then has no systems.
pub(super) fn region(
    map: &Map,
    name: Option<&str>,
    warnings: &mut Vec<String>,
) -> Option<Option<RegionIndex>> {
    let Some(name) = name else {
        return Some(None);
    };
    let unknown = match known_region(map, name) {
        Ok(region) => return Some(Some(region)),
        Err(unknown) => unknown.message,
    };
    let is = match (map.constellation_by_name(name), map.system_by_name(name)) {
        (Some(it), _) => Some(("constellation", map.constellation(it).region)),
        (None, Some(it)) => Some(("system", map.system(it).region)),
        (None, None) => None,
    };
    warnings.push(match is {
        Some((kind, region)) => format!(
            "Unknown region: {}; that is a {kind} of the region {}",
            shown(name),
            map.region(region).name
        ),
        None => unknown,
    });
    None
}

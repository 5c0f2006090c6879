//! Statistics about a map.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::map::{Map, SecurityClass, System};

/// Statistics about a map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// The version of the data.
    pub version: String,
    /// The release date of the data, if its version contains one.
    pub released: Option<String>,
    /// How many systems.
    pub systems: usize,
    /// How many pairs of systems are joined by a gate.
    pub connections: usize,
    /// How many constellations.
    pub constellations: usize,
    /// How many regions.
    pub regions: usize,
    /// The systems by security class.
    pub classes: Classes,
    /// The systems of each class that have a gate.
    pub gated: Classes,
    /// High-security systems next to lower ones.
    pub borders: usize,
    /// Systems whose position is known.
    pub positions: usize,
    /// Groups of at least two systems that are joined with each other and with no other systems, the largest first.
    pub parts: Vec<ConnectedPart>,
    /// Systems without a gate.
    pub alone: usize,
    /// How many systems have each number of neighbours.
    pub degrees: BTreeMap<usize, usize>,
    /// The detail: each region, by id.
    pub by_region: Vec<RegionStats>,
}

/// Systems by security class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Classes {
    /// At least 0.45.
    pub high: usize,
    /// Above 0 and below 0.45.
    pub low: usize,
    /// 0 and below.
    pub null: usize,
}

/// A group of systems that are joined with each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConnectedPart {
    /// How many.
    pub systems: usize,
    /// The name of the one with the lowest id.
    pub first: String,
}

/// Statistics about a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegionStats {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// How many constellations.
    pub constellations: usize,
    /// Its systems by security class.
    pub classes: Classes,
    /// High-security systems next to lower ones.
    pub borders: usize,
    /// How many connections lead to another region.
    pub exits: usize,
}

/// Computes the statistics of a map.
pub fn stats(map: &Map) -> Stats {
    let systems = || map.indices().zip(map.systems());
    let degree = |(index, _): &(_, &System)| map.neighbours(*index).len();
    let mut degrees = BTreeMap::new();
    for it in systems() {
        *degrees.entry(degree(&it)).or_default() += 1;
    }
    let gated = systems().filter(|it| degree(it) > 0).map(|(_, it)| it);
    Stats {
        version: map.version().to_owned(),
        released: map.released().map(|date| date.to_string()),
        systems: map.systems().len(),
        connections: map.connections(),
        constellations: map.constellations().len(),
        regions: map.regions().len(),
        classes: Classes::of(map.systems()),
        gated: Classes::of(gated),
        borders: map.systems().iter().filter(|it| it.border).count(),
        positions: map.systems().iter().filter(|it| it.position.is_some()).count(),
        parts: largest_parts(map),
        alone: degrees.get(&0).copied().unwrap_or_default(),
        degrees,
        by_region: by_region(map),
    }
}

/// For each system, the index of the first system of its part. The systems of one part can reach each other.
pub(crate) fn parts(map: &Map) -> Vec<usize> {
    let mut first: Vec<Option<usize>> = vec![None; map.systems().len()];
    let mut open = Vec::new();
    for start in map.indices() {
        open.push(start);
        while let Some(at) = open.pop() {
            if let Some(free @ None) = first.get_mut(at.index()) {
                *free = Some(start.index());
                open.extend(map.neighbours(at));
            }
        }
    }
    first.into_iter().flatten().collect()
}

fn largest_parts(map: &Map) -> Vec<ConnectedPart> {
    let mut counts = BTreeMap::new();
    for first in parts(map) {
        *counts.entry(first).or_default() += 1;
    }
    let parts = counts.into_iter().filter(|(_, systems)| *systems > 1);
    let parts = parts.filter_map(|(first, systems)| {
        let first = map.systems().get(first)?.name.to_string();
        Some(ConnectedPart { systems, first })
    });
    let mut parts: Vec<ConnectedPart> = parts.collect();
    // The sort is stable: among equals, the part with the lowest id stays first.
    parts.sort_by_key(|part| std::cmp::Reverse(part.systems));
    parts
}

fn by_region(map: &Map) -> Vec<RegionStats> {
    let regions = map.regions().iter().map(|region| {
        let systems = region.constellations.iter().flat_map(|it| &map.constellation(*it).systems);
        let within = || systems.clone().map(|it| map.system(*it));
        let exits = systems.clone().map(|from| {
            let own = map.system(*from).region;
            let leads_out = map.neighbours(*from).iter();
            leads_out.filter(|to| map.system(**to).region != own).count()
        });
        RegionStats {
            id: region.id,
            name: region.name.to_string(),
            constellations: region.constellations.len(),
            classes: Classes::of(within()),
            borders: within().filter(|it| it.border).count(),
            exits: exits.sum(),
        }
    });
    regions.collect()
}

impl Classes {
    fn of<'m>(systems: impl IntoIterator<Item = &'m System>) -> Self {
        let mut classes = Self::default();
        for system in systems {
            match system.class {
                SecurityClass::High => classes.high += 1,
                SecurityClass::Low => classes.low += 1,
                SecurityClass::Null => classes.null += 1,
            }
        }
        classes
    }
}

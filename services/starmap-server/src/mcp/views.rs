//! Systems, constellations and regions as objects for resources, prompts and the command line.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use crate::map::{ConstellationIndex, Map, RegionIndex, Space, SystemIndex};

use super::records::{Danger, Detail, SystemInfo, is_none};
use super::universe::Snapshot;

/// A system with all its data.
#[derive(Debug, Serialize)]
pub(crate) struct SystemView {
    #[serde(flatten)]
    pub(crate) system: SystemInfo,
    /// Its position in metres; null if the map has none.
    position: Option<[f64; 3]>,
    data_version: String,
}

/// A constellation.
#[derive(Debug, Serialize)]
pub(crate) struct ConstellationView {
    pub(crate) name: String,
    constellation_id: u32,
    region: String,
    region_id: u32,
    pub(crate) counts: Counts,
    /// Its systems, by id.
    pub(crate) systems: Vec<SystemInfo>,
    /// The gates that lead out of it.
    pub(crate) exits: Vec<Exit>,
    data_version: String,
}

/// A region.
#[derive(Debug, Serialize)]
pub(crate) struct RegionView {
    pub(crate) name: String,
    region_id: u32,
    pub(crate) counts: Counts,
    /// Its constellations, by id.
    pub(crate) constellations: Vec<RegionPart>,
    /// The gates that lead out of it.
    pub(crate) exits: Vec<Exit>,
    /// The activity in its systems, if there is an overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    activity: Option<Danger>,
    data_version: String,
}

/// How many systems there are of each class.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub(crate) struct Counts {
    pub(crate) systems: usize,
    pub(crate) high: usize,
    pub(crate) low: usize,
    pub(crate) null: usize,
    /// Of wormhole space, Pochven and the like.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) other: usize,
    /// High-security systems beside a lower one.
    pub(crate) borders: usize,
}

/// A constellation of a region.
#[derive(Debug, Serialize)]
pub(crate) struct RegionPart {
    pub(crate) name: String,
    constellation_id: u32,
    pub(crate) counts: Counts,
    /// The names of its systems, by id.
    pub(crate) systems: Vec<String>,
}

/// A gate that leads out of an area.
#[derive(Debug, Serialize)]
pub(crate) struct Exit {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) security_class: String,
    pub(crate) region: String,
}

impl SystemView {
    pub(crate) fn of(now: &Snapshot, system: SystemIndex) -> Self {
        Self {
            system: SystemInfo::of(now, system, Detail::Full),
            position: now.map.system(system).position,
            data_version: now.map.version().to_owned(),
        }
    }
}

impl ConstellationView {
    pub(crate) fn of(now: &Snapshot, index: ConstellationIndex) -> Self {
        let map = &*now.map;
        let record = map.constellation(index);
        let region = map.region(record.region);
        let systems = record.systems.iter();
        Self {
            name: record.name.to_string(),
            constellation_id: record.id,
            region: region.name.to_string(),
            region_id: region.id,
            counts: Counts::of(map, &record.systems),
            systems: systems.map(|&system| SystemInfo::of(now, system, Detail::Summary)).collect(),
            exits: exits(map, &record.systems, |system| map.system(system).constellation == index),
            data_version: map.version().to_owned(),
        }
    }
}

impl RegionView {
    pub(crate) fn of(now: &Snapshot, index: RegionIndex) -> Self {
        let map = &*now.map;
        let record = map.region(index);
        let systems: Vec<SystemIndex> = map.systems_of(index).collect();
        let parts = record.constellations.iter().map(|&part| {
            let part = map.constellation(part);
            let names = part.systems.iter();
            RegionPart {
                name: part.name.to_string(),
                constellation_id: part.id,
                counts: Counts::of(map, &part.systems),
                systems: names.map(|&at| map.name(at).to_owned()).collect(),
            }
        });
        Self {
            name: record.name.to_string(),
            region_id: record.id,
            counts: Counts::of(map, &systems),
            constellations: parts.collect(),
            exits: exits(map, &systems, |system| map.system(system).region == index),
            activity: Danger::of(now, systems, &[], SystemTime::now()).map(|(danger, _)| danger),
            data_version: map.version().to_owned(),
        }
    }
}

impl Counts {
    pub(crate) fn of(map: &Map, systems: &[SystemIndex]) -> Self {
        let mut counts = Self::default();
        for &system in systems {
            counts.systems += 1;
            counts.borders += usize::from(map.system(system).border);
            match map.space(system) {
                Space::High => counts.high += 1,
                Space::Low => counts.low += 1,
                Space::Null => counts.null += 1,
                _ => counts.other += 1,
            }
        }
        counts
    }
}

fn exits(map: &Map, systems: &[SystemIndex], inside: impl Fn(SystemIndex) -> bool) -> Vec<Exit> {
    let mut exits = Vec::new();
    for &from in systems {
        for &to in map.neighbours(from).iter().filter(|to| !inside(**to)) {
            let there = map.system(to);
            exits.push(Exit {
                from: map.name(from).to_owned(),
                to: there.name.to_string(),
                security_class: there.class.to_string(),
                region: map.region(there.region).name.to_string(),
            });
        }
    }
    exits
}

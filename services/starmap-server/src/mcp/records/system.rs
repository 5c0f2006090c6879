//! A system as an object, with the requested members.

use serde::Serialize;

use crate::map::{Map, SecurityClass, SystemIndex};

use super::super::universe::Snapshot;
use super::{Counted, Detail, all_names};
use crate::explore;

/// A system. With detail `full` it also has the members from `system_id` on.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SystemInfo {
    pub(crate) name: String,
    /// Its unrounded security status, from -1 to 1.
    pub(crate) security: f64,
    /// HIGH from 0.45, LOW above 0, else NULL.
    pub(crate) security_class: String,
    /// The space in words, with the class of wormhole space.
    pub(crate) space: String,
    pub(crate) region: String,
    #[serde(flatten)]
    pub(crate) more: Option<More>,
    /// The activity in the system, if there is an overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) activity: Option<Counted>,
}

/// The members that detail `full` adds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct More {
    pub(crate) system_id: u32,
    pub(crate) constellation: String,
    pub(crate) constellation_id: u32,
    pub(crate) region_id: u32,
    /// The systems that its gates lead to, by id, each with its security status.
    pub(crate) neighbors: Vec<(String, f64)>,
    pub(crate) is_border: bool,
    /// The systems below 0.45 that a border system's gates lead to.
    pub(crate) adjacent_lowsec: Vec<String>,
}

impl SystemInfo {
    pub(crate) fn of(now: &Snapshot, system: SystemIndex, detail: Detail) -> Self {
        let map = &*now.map;
        let record = map.system(system);
        let overlay = now.activity.as_deref();
        Self {
            name: record.name.to_string(),
            security: record.security,
            security_class: record.class.to_string(),
            space: map.space(system).to_string(),
            region: map.region(record.region).name.to_string(),
            more: (detail == Detail::Full).then(|| More::of(map, system)),
            activity: overlay.map(|activity| Counted::of(activity, record.id)),
        }
    }
}

impl More {
    fn of(map: &Map, system: SystemIndex) -> Self {
        let record = map.system(system);
        let constellation = map.constellation(record.constellation);
        let around = map.neighbours(system).iter().map(|&it| map.system(it));
        Self {
            system_id: record.id,
            constellation: constellation.name.to_string(),
            constellation_id: constellation.id,
            region_id: map.region(record.region).id,
            neighbors: around.map(|it| (it.name.to_string(), it.security)).collect(),
            is_border: record.border,
            adjacent_lowsec: adjacent_lowsec(map, system),
        }
    }
}

/// The systems below 0.45 next to a border system, by id; empty for other systems.
pub(crate) fn adjacent_lowsec(map: &Map, system: SystemIndex) -> Vec<String> {
    let beside = match map.system(system).class {
        SecurityClass::High => explore::adjacent_lower(map, system).collect(),
        SecurityClass::Low | SecurityClass::Null => Vec::new(),
    };
    all_names(map, &beside)
}

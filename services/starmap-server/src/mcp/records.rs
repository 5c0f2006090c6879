//! What answers are made of.

mod activity;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::map::{Map, SecurityClass, SystemIndex};
use crate::route;

use super::universe::Snapshot;
pub(crate) use activity::{ActivityInfo, Counted, level};

/// How much of each system an answer tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Detail {
    // Names alone, in `names`.
    Names,
    // Name, security, class and region.
    #[default]
    Summary,
    // All there is: ids, constellation, neighbours, borders.
    Full,
}

/// The answer of a tool, with what every answer has.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer<T> {
    #[serde(flatten)]
    pub(crate) body: T,
    /// The version of the map's data.
    pub(crate) data_version: String,
    /// What was typed, and what was taken for it; only with `correct`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) corrections: BTreeMap<String, String>,
}

/// Systems, told as `detail` wants it: one of the two members is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SystemList {
    /// The systems in order; not with detail `names`.
    #[serde(skip_serializing_if = "Option::is_none")]
    systems: Option<Vec<SystemInfo>>,
    /// Their names in order, with detail `names`.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
}

/// A system. The members from `system_id` on come with detail `full`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SystemInfo {
    /// Its name.
    pub(crate) name: String,
    /// Its unrounded security status, from -1 to 1.
    pub(crate) security: f64,
    /// HIGH from 0.45, LOW above 0, else NULL.
    pub(crate) security_class: Class,
    /// Its region.
    pub(crate) region: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) system_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) constellation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) constellation_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) region_id: Option<u32>,
    /// Where its gates lead, by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) neighbors: Option<Vec<NeighborInfo>>,
    /// Whether it is high security beside a lower one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) is_border: Option<bool>,
    /// The systems below 0.45 that a border system's gates lead to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) adjacent_lowsec: Option<Vec<String>>,
    /// What happened there in the hour before the dump, where an activity overlay is loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) activity: Option<ActivityInfo>,
}

/// A system at the other end of a gate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NeighborInfo {
    pub(crate) name: String,
    pub(crate) security: f64,
    pub(crate) security_class: Class,
}

/// Systems with the way to each, told as `detail` wants it: one of the two members is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LocatedList {
    /// The systems in order; not with detail names.
    #[serde(skip_serializing_if = "Option::is_none")]
    systems: Option<Vec<Located>>,
    /// Their names in order, with detail names.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
}

/// A system with the way to it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Located {
    #[serde(flatten)]
    pub(crate) system: SystemInfo,
    /// Jumps from the origin; null if there is no origin or no way.
    pub(crate) jumps_from_origin: Option<u32>,
}

/// What the security status means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Class {
    High,
    Low,
    Null,
}

/// The security along a route. The three counts are of systems, so they sum to one more than total_jumps.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SecuritySummary {
    // These names are the contract's. They have no documentation of their own: the schemas have them often.
    pub(crate) total_jumps: usize,
    pub(crate) highsec_jumps: usize,
    pub(crate) lowsec_jumps: usize,
    pub(crate) nullsec_jumps: usize,
    pub(crate) lowest_security: f64,
    // The first system that has it.
    pub(crate) lowest_security_system: String,
}

impl<T> Answer<T> {
    pub(crate) fn new(map: &Map, body: T, corrections: BTreeMap<String, String>) -> Self {
        Self {
            body,
            data_version: map.version().to_owned(),
            corrections,
        }
    }
}

impl SystemList {
    /// The names of its systems in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        let systems = self.systems.iter().flatten();
        let names = self.names.iter().flatten().map(String::as_str);
        names.chain(systems.map(|system| &*system.name)).collect()
    }

    pub(crate) fn of(now: &Snapshot, systems: &[SystemIndex], detail: Detail) -> Self {
        let name = |system: &SystemIndex| now.map.system(*system).name.to_string();
        match detail {
            Detail::Names => Self {
                systems: None,
                names: Some(systems.iter().map(name).collect()),
            },
            detail => Self {
                systems: Some(
                    systems
                        .iter()
                        .map(|&system| SystemInfo::of(now, system, detail))
                        .collect(),
                ),
                names: None,
            },
        }
    }
}

impl LocatedList {
    pub(crate) fn of(
        now: &Snapshot,
        list: impl Iterator<Item = (SystemIndex, Option<u32>)>,
        detail: Detail,
    ) -> Self {
        let name = |system: SystemIndex| now.map.system(system).name.to_string();
        match detail {
            Detail::Names => Self {
                systems: None,
                names: Some(list.map(|(system, _)| name(system)).collect()),
            },
            detail => Self {
                systems: Some(
                    list.map(|(system, jumps_from_origin)| Located {
                        system: SystemInfo::of(now, system, detail),
                        jumps_from_origin,
                    })
                    .collect(),
                ),
                names: None,
            },
        }
    }
}

impl SystemInfo {
    pub(crate) fn of(now: &Snapshot, system: SystemIndex, detail: Detail) -> Self {
        let map = &*now.map;
        let record = map.system(system);
        let full = detail == Detail::Full;
        let constellation = map.constellation(record.constellation);
        let region = map.region(record.region);
        Self {
            name: record.name.to_string(),
            security: record.security,
            security_class: record.class.into(),
            region: region.name.to_string(),
            system_id: full.then_some(record.id),
            constellation: full.then(|| constellation.name.to_string()),
            constellation_id: full.then_some(constellation.id),
            region_id: full.then_some(region.id),
            neighbors: full.then(|| neighbors(map, system)),
            is_border: full.then_some(record.border),
            adjacent_lowsec: full.then(|| adjacent_lowsec(map, system)),
            activity: now
                .activity
                .as_deref()
                .map(|activity| ActivityInfo::of(activity, record.id)),
        }
    }
}

impl SecuritySummary {
    /// Of the systems of a route in order.
    pub(crate) fn of(map: &Map, systems: &[SystemIndex]) -> Self {
        let total_jumps = systems.len().saturating_sub(1);
        match route::summary(map, systems) {
            Some(summary) => Self {
                total_jumps,
                highsec_jumps: summary.high,
                lowsec_jumps: summary.low,
                nullsec_jumps: summary.null,
                lowest_security: summary.lowest,
                lowest_security_system: map.system(summary.lowest_system).name.to_string(),
            },
            None => Self {
                total_jumps,
                highsec_jumps: 0,
                lowsec_jumps: 0,
                nullsec_jumps: 0,
                lowest_security: 0.0,
                lowest_security_system: String::new(),
            },
        }
    }
}

impl From<SecurityClass> for Class {
    fn from(class: SecurityClass) -> Self {
        match class {
            SecurityClass::High => Self::High,
            SecurityClass::Low => Self::Low,
            SecurityClass::Null => Self::Null,
        }
    }
}

impl From<Class> for SecurityClass {
    fn from(class: Class) -> Self {
        match class {
            Class::High => Self::High,
            Class::Low => Self::Low,
            Class::Null => Self::Null,
        }
    }
}

/// Where the gates of a system lead, by id.
pub(crate) fn neighbors(map: &Map, system: SystemIndex) -> Vec<NeighborInfo> {
    let around = map.neighbours(system).iter();
    let around = around.map(|&system| map.system(system));
    around
        .map(|record| NeighborInfo {
            name: record.name.to_string(),
            security: record.security,
            security_class: record.class.into(),
        })
        .collect()
}

/// The systems below 0.45 beside a border system, by id; none beside any other.
pub(crate) fn adjacent_lowsec(map: &Map, system: SystemIndex) -> Vec<String> {
    if !map.system(system).border {
        return Vec::new();
    }
    let around = map.neighbours(system).iter();
    let around = around.map(|&system| map.system(system));
    around
        .filter(|record| record.class != SecurityClass::High)
        .map(|record| record.name.to_string())
        .collect()
}

//! `borders`: high-security systems beside lower ones, near a system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::UniverseError;
use crate::explore;
use crate::route::SecurityFilter;

use super::super::names::Names;
use super::super::records::{Answer, Detail, SystemInfo, adjacent_lowsec};
use super::super::universe::Snapshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The system to look from.
    origin: String,
    /// How many to give; 10 unless told.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u16>,
    /// How many jumps away at most; 15 unless told.
    #[schemars(range(min = 1, max = 30))]
    max_jumps: Option<u16>,
    /// Count only ways through high security; false unless told.
    highsec_travel_only: Option<bool>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Borders {
    origin: String,
    /// By distance, then by name; not with detail names.
    #[serde(skip_serializing_if = "Option::is_none")]
    borders: Option<Vec<BorderSystem>>,
    /// Their names, with detail names.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    /// How many there are within the radius.
    total_found: usize,
    /// The radius in jumps.
    search_radius: u32,
}

/// A high-security system beside a lower one.
#[derive(Debug, Serialize, JsonSchema)]
struct BorderSystem {
    name: String,
    system_id: u32,
    security: f64,
    jumps_from_origin: u32,
    /// The systems below 0.45 that its gates lead to, by id.
    adjacent_lowsec: Vec<String>,
    region: String,
    /// All of the system, with detail full.
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<SystemInfo>,
}

pub(super) fn borders(
    now: &Snapshot,
    arguments: &Arguments,
) -> Result<Answer<Borders>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let origin = names.system(&arguments.origin)?;
    let radius = u32::from(arguments.max_jumps.unwrap_or(15));
    let travel = match arguments.highsec_travel_only {
        Some(true) => SecurityFilter::HighSec,
        _ => SecurityFilter::Any,
    };
    let limit = usize::from(arguments.limit.unwrap_or(10));
    let found = explore::borders(map, origin, radius, travel, limit);
    let detail = arguments.detail.unwrap_or_default();
    let list = found.list.iter();
    let (borders, names_only) = match detail {
        Detail::Names => {
            let names = list.map(|near| map.system(near.system).name.to_string());
            (None, Some(names.collect()))
        }
        detail => {
            let borders = list.map(|near| {
                let record = map.system(near.system);
                BorderSystem {
                    name: record.name.to_string(),
                    system_id: record.id,
                    security: record.security,
                    jumps_from_origin: near.jumps,
                    adjacent_lowsec: adjacent_lowsec(map, near.system),
                    region: map.region(record.region).name.to_string(),
                    system: (detail == Detail::Full)
                        .then(|| SystemInfo::of(now, near.system, detail)),
                }
            });
            (Some(borders.collect()), None)
        }
    };
    let body = Borders {
        origin: map.system(origin).name.to_string(),
        borders,
        names: names_only,
        total_found: found.total,
        search_radius: radius,
    };
    Ok(Answer::new(map, body, names.corrections()))
}

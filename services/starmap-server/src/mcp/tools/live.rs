//! What happens in the systems: `activity`, `hotspots`, `gatecamp_risk`, `fw_frontlines`, `activity_cache_status`.
//!
//! All of them read the overlay that `--activity` names, and say so where there is none.

mod risk;
mod warfare;

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Kinds, Level, Measure};
use crate::errors::{UniverseError, shown};
use crate::explore;
use crate::route::SecurityFilter;

use super::super::names::Names;
use super::super::records::{Answer, Class, Counted, level};
use super::super::universe::Snapshot;

pub(super) use risk::gatecamp_risk;
pub(super) use warfare::fw_frontlines;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ActivityArguments {
    /// Names of systems.
    #[schemars(length(min = 1, max = 200))]
    systems: Vec<String>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Activities {
    /// In the order of the names, without those that are unknown.
    systems: Vec<Busy>,
    /// The names that are unknown.
    not_found: Vec<String>,
    /// How many seconds ago the dump was written; the figures are of the hour before.
    age_seconds: Option<u64>,
}

/// What happened in a system; what the dump does not tell of is absent.
#[derive(Debug, Serialize, JsonSchema)]
struct Busy {
    name: String,
    security_class: Class,
    #[serde(flatten)]
    figures: Counted,
    /// none, low (1), medium (5), high (20), extreme (50).
    #[serde(skip_serializing_if = "Option::is_none")]
    kills_level: Option<Level>,
    /// none, low (1), medium (50), high (200), extreme (500).
    #[serde(skip_serializing_if = "Option::is_none")]
    jumps_level: Option<Level>,
    /// none, low (1), medium (50), high (100), extreme (300).
    #[serde(skip_serializing_if = "Option::is_none")]
    ratting_level: Option<Level>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HotspotsArguments {
    /// The system to look from.
    origin: String,
    /// What to count: kills (unless told), jumps or ratting.
    activity_type: Option<Measure>,
    /// How many jumps away at most; 15 unless told.
    #[schemars(range(min = 1, max = 30))]
    max_jumps: Option<u16>,
    /// How many to give; 10 unless told.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u16>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hotspots {
    origin: String,
    activity_type: Measure,
    /// Where most is counted, then the nearest, then by name.
    hotspots: Vec<Hotspot>,
    /// In how many systems within the radius anything is counted.
    total_found: usize,
    /// The radius in jumps.
    search_radius: u32,
    /// How many seconds ago the dump was written; the figures are of the hour before.
    age_seconds: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hotspot {
    name: String,
    security: f64,
    security_class: Class,
    region: String,
    jumps_from_origin: u32,
    count: u32,
    level: Level,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Status {
    /// Whether an overlay is loaded.
    loaded: bool,
    /// What it tells of.
    has: Kinds,
    /// How many systems it tells of kills or jumps in.
    systems: usize,
    /// How many seconds ago it was written.
    age_seconds: Option<u64>,
    /// What this means.
    note: String,
}

pub(super) fn activity(
    now: &Snapshot,
    arguments: &ActivityArguments,
) -> Result<Answer<Activities>, UniverseError> {
    let map = &*now.map;
    let overlay = overlay(now, "activity")?;
    let mut names = Names::new(map, arguments.correct);
    let mut not_found = Vec::new();
    let mut systems = Vec::new();
    for name in &arguments.systems {
        let Some(system) = names.find(name) else {
            not_found.push(shown(name));
            continue;
        };
        let record = map.system(system);
        let level = |measure| level(overlay, record.id, measure);
        systems.push(Busy {
            name: record.name.to_string(),
            security_class: record.class.into(),
            figures: Counted::of(overlay, record.id),
            kills_level: level(Measure::Kills),
            jumps_level: level(Measure::Jumps),
            ratting_level: level(Measure::Ratting),
        });
    }
    let body = Activities {
        systems,
        not_found,
        age_seconds: overlay.age_seconds(SystemTime::now()),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

pub(super) fn hotspots(
    now: &Snapshot,
    arguments: &HotspotsArguments,
) -> Result<Answer<Hotspots>, UniverseError> {
    let map = &*now.map;
    let overlay = overlay(now, "hotspots")?;
    let mut names = Names::new(map, arguments.correct);
    let origin = names.system(&arguments.origin)?;
    let measure = arguments.activity_type.unwrap_or(Measure::Kills);
    counts(overlay, "hotspots", measure)?;
    let radius = u32::from(arguments.max_jumps.unwrap_or(15));
    let near = explore::within(map, origin, radius, SecurityFilter::Any).into_iter();
    let mut busy: Vec<_> = near
        .map(|near| {
            (
                overlay.figures(map.system(near.system).id).count(measure),
                near,
            )
        })
        .filter(|(count, _)| *count > 0)
        .collect();
    // They come by distance, then by name, and a stable sort keeps that.
    busy.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let first = busy.iter().take(usize::from(arguments.limit.unwrap_or(10)));
    let body = Hotspots {
        origin: map.system(origin).name.to_string(),
        activity_type: measure,
        hotspots: first
            .map(|(count, near)| {
                let record = map.system(near.system);
                Hotspot {
                    name: record.name.to_string(),
                    security: record.security,
                    security_class: record.class.into(),
                    region: map.region(record.region).name.to_string(),
                    jumps_from_origin: near.jumps,
                    count: *count,
                    level: measure.level(*count),
                }
            })
            .collect(),
        total_found: busy.len(),
        search_radius: radius,
        age_seconds: overlay.age_seconds(SystemTime::now()),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

pub(super) fn activity_cache_status(
    now: &Snapshot,
    _: &StatusArguments,
) -> Result<Answer<Status>, UniverseError> {
    let overlay = now.activity.as_deref();
    let age_seconds = overlay.and_then(|overlay| overlay.age_seconds(SystemTime::now()));
    let note = match (overlay, age_seconds) {
        (None, _) => no_overlay("The live tools").to_string(),
        (Some(_), Some(age)) if age > OLD => format!(
            "The dump is {} minutes old; the figures are of the hour before it was written.",
            age / 60
        ),
        (Some(_), _) => "The figures are of the hour before the dump was written.".to_owned(),
    };
    let body = Status {
        loaded: overlay.is_some(),
        has: overlay.map(Activity::has).unwrap_or_default(),
        systems: overlay.map_or(0, Activity::systems),
        age_seconds,
        note,
    };
    Ok(Answer::new(&now.map, body, Default::default()))
}

/// How many seconds a dump may be old before that is said: the API itself keeps its answers for an hour.
const OLD: u64 = 3_600;

/// The overlay that a tool cannot do without.
fn overlay<'n>(now: &'n Snapshot, tool: &str) -> Result<&'n Activity, UniverseError> {
    now.activity.as_deref().ok_or_else(|| no_overlay(tool))
}

/// That the overlay tells of what a tool cannot do without.
///
/// # Errors
/// It does not: its zeros would be taken for peace.
pub(super) fn counts(
    overlay: &Activity,
    tool: &str,
    measure: Measure,
) -> Result<(), UniverseError> {
    match (overlay.counts(measure), measure) {
        (true, _) => Ok(()),
        (false, Measure::Jumps) => Err(lacks(tool, "system_jumps")),
        (false, Measure::Kills | Measure::Ratting) => Err(lacks(tool, "system_kills")),
    }
}

/// That the overlay has not what a tool cannot do without.
fn lacks(tool: &str, array: &str) -> UniverseError {
    UniverseError::Universe(format!(
        "{tool}: the activity overlay has no {array}. Put that answer of the public API into the dump that --activity \
         names."
    ))
}

/// That there is no overlay, and what to do about it.
pub(super) fn no_overlay(what: &str) -> UniverseError {
    UniverseError::Universe(format!(
        "{what}: no activity overlay is loaded. Start the server with --activity and a dump of the public API \
         (system_kills, system_jumps, fw/systems). Everything else works without it."
    ))
}

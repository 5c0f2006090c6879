//! `analyze`, `distances` and `jump_range`: what is to be known of a way, of many ways, of none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connections::Connection;
use crate::errors::{RouteNotFoundError, UniverseError};
use crate::explore::{self, AnalyzeError, JumpRangeError};
use crate::map::{Map, SystemIndex};
use crate::route::{self, Mode, Query};

use super::super::extras;
use super::super::names::Names;
use super::super::records::{Answer, Class, Detail, SecuritySummary, SystemInfo, SystemList};
use super::super::universe::Snapshot;
use super::around::wrong;
use super::avoiding::{Wanted, invalid};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyzeArguments {
    /// The systems of a way, in order; each two that follow each other must be joined.
    #[schemars(length(min = 2, max = 500))]
    systems: Vec<String>,
    /// Connections besides the gates that the way takes.
    #[schemars(length(max = 500))]
    connections: Option<Vec<Connection>>,
    /// Also take the connections that the server was started with; true unless told.
    own_connections: Option<bool>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Analysis {
    #[serde(flatten)]
    list: SystemList,
    security_summary: SecuritySummary,
    /// Where the way crosses the edge of high security: the lower system of each step.
    chokepoints: Vec<SystemInfo>,
    /// Its stretches below 0.45.
    danger_zones: Vec<DangerZone>,
    /// A way between the same ends that enters less of low and null security; null if there is none.
    safest_alternative: Option<Alternative>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DangerZone {
    start_system: String,
    end_system: String,
    /// How many systems it has. The name is the contract's.
    jump_count: usize,
    min_security: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Alternative {
    jumps: usize,
    security_summary: SecuritySummary,
    names: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DistancesArguments {
    /// The systems of the rows.
    #[schemars(length(min = 1, max = 100))]
    systems: Vec<String>,
    /// The systems of the columns; the rows' own unless told.
    #[schemars(length(min = 1, max = 100))]
    to: Option<Vec<String>>,
    /// Systems not to pass through.
    #[schemars(length(max = 200))]
    avoid_systems: Option<Vec<String>>,
    /// Security classes not to pass through.
    #[schemars(length(max = 3))]
    avoid_security: Option<Vec<Class>>,
    /// Connections besides the gates.
    #[schemars(length(max = 500))]
    connections: Option<Vec<Connection>>,
    /// Also take the connections that the server was started with; true unless told.
    own_connections: Option<bool>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Distances {
    /// The systems of the rows.
    from: Vec<String>,
    /// The systems of the columns.
    to: Vec<String>,
    /// A row for each of `from`: the fewest jumps to each of `to`; null where there is no way.
    jumps: Vec<Vec<Option<u32>>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct JumpRangeArguments {
    /// The system to jump from.
    origin: String,
    /// The range of the drive in light years.
    #[schemars(range(min = 0, max = 100))]
    light_years: f64,
    /// How many to give, the nearest first; 50 unless told.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u16>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InRange {
    origin: String,
    light_years: f64,
    /// By distance, then by name; not with detail names.
    #[serde(skip_serializing_if = "Option::is_none")]
    systems: Option<Vec<Reached>>,
    /// Their names, with detail names.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    /// How many are in range.
    total_found: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Reached {
    #[serde(flatten)]
    system: SystemInfo,
    /// How far it is, to a thousandth.
    light_years: f64,
}

pub(super) fn analyze(
    now: &Snapshot,
    arguments: &AnalyzeArguments,
) -> Result<Answer<Analysis>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let systems = names.systems(&arguments.systems)?;
    let extras = extras::of_call(
        now,
        arguments.connections.as_deref(),
        arguments.own_connections,
        &mut names,
    )?;
    let found = explore::analyze(map, &systems, &extras).map_err(|error| {
        let reason = error.reason(map);
        match error {
            AnalyzeError::Invalid(error) => wrong(&error),
            AnalyzeError::NotJoined { from, to } => {
                RouteNotFoundError::new(name(map, from), name(map, to), Some(&reason)).into()
            }
        }
    })?;
    let detail = arguments.detail.unwrap_or_default();
    // Of a chokepoint more than the name is always wanted.
    let chokepoints = found.chokepoints.iter();
    let body = Analysis {
        list: SystemList::of(now, &systems, detail),
        security_summary: SecuritySummary::of(map, &systems),
        chokepoints: chokepoints
            .map(|&system| SystemInfo::of(now, system, detail))
            .collect(),
        danger_zones: found
            .danger_zones
            .iter()
            .map(|zone| DangerZone {
                start_system: name(map, zone.start).to_owned(),
                end_system: name(map, zone.end).to_owned(),
                jump_count: zone.systems,
                min_security: zone.min_security,
            })
            .collect(),
        safest_alternative: safer(map, &systems),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

/// The safe way between the ends of another, if it enters less of what is not high security. A round trip has none: who
/// stays at home is not on the way.
fn safer(map: &Map, systems: &[SystemIndex]) -> Option<Alternative> {
    let (origin, destination) = (*systems.first()?, *systems.last()?);
    if origin == destination {
        return None;
    }
    let query = Query::new(origin, destination, Mode::Safe);
    let safe = route::find(map, &query).ok()?;
    let risk = |systems: &[SystemIndex]| {
        let summary = SecuritySummary::of(map, systems);
        (summary.nullsec_jumps, summary.lowsec_jumps)
    };
    (risk(&safe.systems) < risk(systems)).then(|| Alternative {
        jumps: safe.jumps(),
        security_summary: SecuritySummary::of(map, &safe.systems),
        names: all_names(map, &safe.systems),
    })
}

pub(super) fn distances(
    now: &Snapshot,
    arguments: &DistancesArguments,
) -> Result<Answer<Distances>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let from = names.systems(&arguments.systems)?;
    let to = match &arguments.to {
        Some(to) => names.systems(to)?,
        None => from.clone(),
    };
    let wanted = Wanted {
        systems: arguments.avoid_systems.as_deref().unwrap_or_default(),
        classes: arguments.avoid_security.as_deref().unwrap_or_default(),
        ..Wanted::default()
    };
    let avoid = wanted.avoid(map, &mut names)?;
    let extras = extras::of_call(
        now,
        arguments.connections.as_deref(),
        arguments.own_connections,
        &mut names,
    )?;
    let body = Distances {
        jumps: explore::distances(map, &from, &to, &avoid, &extras)
            .map_err(|error| wrong(&error))?,
        from: all_names(map, &from),
        to: all_names(map, &to),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

pub(super) fn jump_range(
    now: &Snapshot,
    arguments: &JumpRangeArguments,
) -> Result<Answer<InRange>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let origin = names.system(&arguments.origin)?;
    let limit = usize::from(arguments.limit.unwrap_or(50));
    let found = explore::jump_range(map, origin, arguments.light_years, limit);
    let found = found.map_err(|error| match error {
        JumpRangeError::Invalid(error) => wrong(&error),
        error => invalid("origin", name(map, origin), &error.sentence(map)),
    })?;
    let list = found.list.iter();
    let (systems, names_only) = match arguments.detail.unwrap_or_default() {
        Detail::Names => {
            let names = list.map(|it| name(map, it.system).to_owned());
            (None, Some(names.collect()))
        }
        detail => {
            let systems = list.map(|it| Reached {
                system: SystemInfo::of(now, it.system, detail),
                light_years: (it.light_years * 1_000.0).round() / 1_000.0,
            });
            (Some(systems.collect()), None)
        }
    };
    let body = InRange {
        origin: name(map, origin).to_owned(),
        light_years: arguments.light_years,
        systems,
        names: names_only,
        total_found: found.total,
    };
    Ok(Answer::new(map, body, names.corrections()))
}

fn name(map: &Map, system: SystemIndex) -> &str {
    &map.system(system).name
}

fn all_names(map: &Map, systems: &[SystemIndex]) -> Vec<String> {
    let names = systems.iter();
    names.map(|&system| name(map, system).to_owned()).collect()
}

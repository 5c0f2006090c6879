//! `analyze`, `distances` and `jump_range`: a given route, many distances, and travel without gates.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::errors::{RouteNotFoundError, UniverseError, invalid};
use crate::explore::{self, AnalyzeError, JumpRangeError};
use crate::map::{Map, SystemIndex};
use crate::name::{List, Name};
use crate::route::{self, Mode, Query, Route, Travel};

use super::super::arguments::{Common, Ways};
use super::super::names::{Names, word};
use super::super::records::{Answer, SecuritySummary, SystemList, all_names, is_none};
use super::super::travel;
use super::super::universe::Snapshot;
use super::avoiding::Avoiding;
use super::rules;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct AnalyzeArguments {
    /// In order, each joined to the next
    #[schemars(length(min = 2, max = 500))]
    systems: List,
    #[serde(flatten)]
    ways: Ways,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Analysis {
    #[serde(flatten)]
    list: SystemList,
    security_summary: SecuritySummary,
    /// Where the way crosses the edge of high security: the lower system of each step.
    chokepoints: Vec<String>,
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

/// The way that `route` finds with mode safe.
#[derive(Debug, Serialize, JsonSchema)]
struct Alternative {
    jumps: usize,
    /// Systems of low and null security.
    #[serde(skip_serializing_if = "is_none")]
    lowsec: usize,
    #[serde(skip_serializing_if = "is_none")]
    nullsec: usize,
    lowest_security: f64,
    lowest_security_system: String,
    /// Without the ends, which are those of the way that was given.
    via: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct DistancesArguments {
    #[schemars(length(min = 1, max = 100))]
    systems: List,
    /// Default: systems
    #[schemars(length(min = 1, max = 100))]
    to: Option<List>,
    #[serde(flatten)]
    avoiding: Avoiding,
    #[serde(flatten)]
    ways: Ways,
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Distances {
    /// The systems of the columns. Without it a row has the jumps to the systems of the rows before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Vec<String>>,
    /// A row for each of `systems`: its name, then the fewest jumps; null where there is no way.
    #[schemars(with = "Vec<String>")]
    jumps: Vec<Vec<Value>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct JumpRangeArguments {
    origin: Name,
    /// Plan the jumps to this system instead.
    destination: Option<Name>,
    /// The drive's range; or give ship
    #[schemars(range(min = 0, max = 100))]
    light_years: Option<f64>,
    /// jump_freighter, rorqual, black_ops, carrier, dreadnought, force_auxiliary, supercarrier, titan
    ship: Option<String>,
    /// Skill Jump Drive Calibration, with ship; default 5
    #[schemars(range(min = 0, max = 5))]
    calibration: Option<u8>,
    /// Default 50
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u16>,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InRange {
    origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination: Option<String>,
    light_years: f64,
    /// By distance, then by name; to a destination where each jump ends, and how far it goes.
    #[serde(flatten)]
    list: SystemList,
    /// How many are in range; to a destination how many jumps it takes.
    total_found: usize,
    /// How many more are in range where no drive can bring a ship in, by the kind of space.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, usize>,
}

pub(super) fn analyze(
    now: &Snapshot,
    asked: &AnalyzeArguments,
) -> Result<Answer<Analysis>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let systems = names.systems(&asked.systems)?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let found = explore::analyze(map, &systems, &travel).map_err(|error| {
        let reason = error.reason(map);
        match error {
            AnalyzeError::Invalid(error) => UniverseError::from(error),
            AnalyzeError::NotJoined { from, to } | AnalyzeError::NotPassed { from, to, .. } => {
                RouteNotFoundError::new(map.name(from), map.name(to), Some(&reason)).into()
            }
        }
    })?;
    let zones = found.danger_zones.iter().map(|zone| DangerZone {
        start_system: map.name(zone.start).to_owned(),
        end_system: map.name(zone.end).to_owned(),
        jump_count: zone.systems,
        min_security: zone.min_security,
    });
    let safer = safer(map, &systems, &travel);
    let body = Analysis {
        list: SystemList::of(now, &systems, detail),
        security_summary: SecuritySummary::of(map, &systems),
        chokepoints: all_names(map, &found.chokepoints),
        danger_zones: zones.collect(),
        safest_alternative: safer.as_ref().map(|safe| Alternative::of(map, safe)),
    };
    let others = safer.into_iter().flat_map(|safe| safe.systems);
    Ok(Answer::new(now, body, names, systems.into_iter().chain(others)))
}

impl Alternative {
    fn of(map: &Map, safe: &Route) -> Self {
        let summary = SecuritySummary::of(map, &safe.systems);
        let via = safe.systems.get(1..safe.jumps()).unwrap_or_default();
        Self {
            jumps: summary.total_jumps,
            lowsec: summary.lowsec_systems,
            nullsec: summary.nullsec_systems,
            lowest_security: summary.lowest_security,
            lowest_security_system: summary.lowest_security_system,
            via: all_names(map, via),
        }
    }
}

/// The safe route between the ends of another route, if it enters less low and null security. A round trip has no such
/// route, because its ends are the same.
fn safer(map: &Map, systems: &[SystemIndex], travel: &Travel) -> Option<Route> {
    let (origin, destination) = (*systems.first()?, *systems.last()?);
    if origin == destination {
        return None;
    }
    let query = Query::new(origin, destination, Mode::Safe).with(travel);
    let safe = route::find(map, &query).ok()?;
    let risk = |systems: &[SystemIndex]| {
        let summary = SecuritySummary::of(map, systems);
        (summary.nullsec_systems, summary.lowsec_systems)
    };
    (risk(&safe.systems) < risk(systems)).then_some(safe)
}

pub(super) fn distances(
    now: &Snapshot,
    asked: &DistancesArguments,
) -> Result<Answer<Distances>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, asked.correct);
    let from = names.systems(&asked.systems)?;
    let to = asked.to.as_ref().map(|to| names.systems(to)).transpose()?;
    let avoid = asked.avoiding.avoid(map, &mut names)?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let columns = to.as_ref().unwrap_or(&from);
    let jumps = explore::distances(map, &from, columns, &avoid, &travel)?;
    let apart = from.iter().chain(columns).copied().filter(|&system| {
        map.neighbours(system).is_empty() && travel.leading_from(system).next().is_none()
    });
    let apart: std::collections::BTreeSet<SystemIndex> = apart.collect();
    let again = |lifted: &_| Some(explore::matrix(map, &from, columns, &avoid, lifted));
    let ruled = rules::around(map, &travel, None, &jumps, again);
    let locked = from.iter().find_map(|it| rules::locked(map, &travel, Some(*it)));
    let rules = locked.into_iter().chain(ruled);
    let mut nulls = from.iter().zip(&jumps).flat_map(|(from, row)| {
        columns
            .iter()
            .zip(row)
            .filter(|(_, jumps)| jumps.is_none())
            .map(move |(to, _)| (*from, *to))
    });
    let cut = nulls.find(|(a, b)| !apart.contains(a) && !apart.contains(b));
    let cut = cut.filter(|_| avoid.things().is_empty());
    let cut = cut.map(|(a, b)| {
        let apart = route::apart(map, [a, b]);
        format!("No way leads from {} to {}{apart}", map.name(a), map.name(b))
    });
    let warnings: Vec<String> = apart
        .iter()
        .map(|system| {
            let apart = route::apart(map, [*system]);
            format!("No gate leads to or from {}{apart}", map.name(*system))
        })
        .chain(cut)
        .chain(rules)
        .collect();
    // If all distances are symmetric, half of the matrix is enough.
    let cell = |row: usize, column: usize| jumps.get(row).and_then(|row| row.get(column));
    let mut pairs = (0..from.len()).flat_map(|row| (0..row).map(move |column| (row, column)));
    let half = to.is_none() && pairs.all(|(a, b)| cell(a, b) == cell(b, a));
    let rows = from.iter().zip(&jumps).enumerate().map(|(at, (from, row))| {
        let row = row.iter().take(if half { at } else { row.len() });
        std::iter::once(json!(map.name(*from))).chain(row.map(|jumps| json!(jumps))).collect()
    });
    let body = Distances { jumps: rows.collect(), to: (!half).then(|| all_names(map, columns)) };
    let systems = from.into_iter().chain(to.into_iter().flatten());
    Ok(Answer::new(now, body, names, systems).warn(warnings))
}

pub(super) fn jump_range(
    now: &Snapshot,
    asked: &JumpRangeArguments,
) -> Result<Answer<InRange>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let origin = names.system(&asked.origin)?;
    let light_years = range_of(asked)?;
    let failed = |error: JumpRangeError, end: SystemIndex| match error {
        JumpRangeError::Invalid(error) => UniverseError::from(error),
        JumpRangeError::NoWayIn(end) => {
            invalid("destination", map.name(end), JumpRangeError::NoWayIn(end).sentence(map))
        }
        error => invalid("origin", map.name(end), error.sentence(map)),
    };
    let destination = asked.destination.as_deref();
    let destination = destination.map(|name| names.system(name)).transpose()?;
    let range = match destination {
        None => {
            let limit = usize::from(asked.limit.unwrap_or(50));
            explore::jump_range(map, origin, light_years, limit).map_err(|it| failed(it, origin))?
        }
        Some(to) => {
            let plan = explore::jump_plan(map, origin, to, light_years);
            let list = plan.map_err(|it| failed(it, origin))?.ok_or_else(|| {
                let reason = format!("no chain of jumps of {light_years} light years leads there");
                RouteNotFoundError::new(map.name(origin), map.name(to), Some(&reason))
            })?;
            let found = explore::Limited { total: list.len(), list };
            explore::Range { found, closed: BTreeMap::new() }
        }
    };
    let list = &range.found.list;
    let systems: Vec<SystemIndex> = list.iter().map(|it| it.system).collect();
    let far = |at: usize| {
        let far = list.get(at).map_or(0.0, |it| it.light_years);
        vec![json!((far * 1_000.0).round() / 1_000.0)]
    };
    let unsure = systems.iter().chain([&origin]).find(|it| map.only_ends().contains(it));
    let unsure = unsure.map(|it| {
        format!("No source says whether a jump drive can be led to {} or out of it", map.name(*it))
    });
    let empty = (range.found.total == 0 && destination.is_none()).then(|| {
        if range.closed.is_empty() {
            format!("No system is within {light_years} light years: raise light_years")
        } else {
            "All that is in range is closed to jump drives, see left_out: raise light_years"
                .to_owned()
        }
    });
    let closed = range.closed.iter();
    let body = InRange {
        origin: map.name(origin).to_owned(),
        destination: destination.map(|it| map.name(it).to_owned()),
        light_years,
        list: SystemList::with(now, &systems, detail, &["light_years"], far),
        total_found: range.found.total,
        left_out: closed.map(|(space, count)| (space.to_string(), *count)).collect(),
    };
    Ok(Answer::new(now, body, names, systems).warn(empty.into_iter().chain(unsure)))
}

/// The range of a jump drive that is given, or that of a kind of ship with a level of the skill.
fn range_of(asked: &JumpRangeArguments) -> Result<f64, UniverseError> {
    match (asked.light_years, word("ship", asked.ship.as_deref(), &explore::DRIVES)?) {
        (Some(light_years), None) => Ok(light_years),
        (None, Some(base)) => Ok(base * (1.0 + 0.2 * f64::from(asked.calibration.unwrap_or(5)))),
        (Some(_), Some(_)) => Err(invalid("light_years", "", "give it or ship, not both")),
        (None, None) => Err(invalid("light_years", "", "give the range of the drive, or ship")),
    }
}

//! `loop` and `optimize_waypoints`: ways past many systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::{InsufficientBordersError, RouteNotFoundError, UniverseError};
use crate::map::{Map, SystemIndex};
use crate::tour::{
    self, LoopError, LoopQuery, Method, Optimize, Start, WaypointsError, WaypointsQuery,
};

use super::super::names::Names;
use super::super::records::{Answer, Class, Detail, SecuritySummary, SystemList};
use super::super::universe::Snapshot;
use super::around::wrong;
use super::avoiding::{Filter, Wanted, invalid};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoopArguments {
    /// The system it begins and ends in, in whatever security.
    origin: String,
    /// How many jumps it should have; 20 unless told.
    #[schemars(range(min = 10, max = 100))]
    target_jumps: Option<u16>,
    /// How many border systems to visit at least; 4 unless told.
    #[schemars(range(min = 2, max = 10))]
    min_borders: Option<u16>,
    /// How many at most, no fewer than min_borders; 8 unless told.
    #[schemars(range(min = 2, max = 15))]
    max_borders: Option<u16>,
    /// density (unless told): as many border systems as fit. coverage: as far from each other as fit.
    optimize: Option<Aim>,
    /// Which security to keep to: highsec, lowsec (high and low) or any; any unless told.
    security_filter: Option<Filter>,
    /// Systems not to pass through.
    #[schemars(length(max = 200))]
    avoid_systems: Option<Vec<String>>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Aim {
    #[default]
    Density,
    Coverage,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LoopResult {
    #[serde(flatten)]
    list: SystemList,
    total_jumps: usize,
    unique_systems: usize,
    /// The border systems it was made for, in the order they are visited.
    border_systems_visited: Vec<String>,
    /// How many jumps lead to where it has been; 1 at best, for it ends where it begins.
    backtrack_jumps: usize,
    /// The share of different systems.
    efficiency: f64,
    security_summary: SecuritySummary,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaypointsArguments {
    /// The systems to visit, in any order.
    #[schemars(length(min = 2, max = 50))]
    waypoints: Vec<String>,
    /// The system to start from; the first waypoint if it is to return and nothing is told, else the best of them.
    origin: Option<String>,
    /// Whether to end where it begins; true unless told.
    return_to_origin: Option<bool>,
    /// Which security to keep to between the waypoints: highsec, lowsec (high and low) or any; any unless told.
    security_filter: Option<Filter>,
    /// Systems not to pass through.
    #[schemars(length(max = 200))]
    avoid_systems: Option<Vec<String>>,
    /// Security classes not to pass through.
    #[schemars(length(max = 3))]
    avoid_security: Option<Vec<Class>>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Waypoints {
    /// The stops in order, the start first, and last again if it returns.
    stops: Vec<String>,
    /// How many jumps it is from each stop to the next.
    legs: Vec<usize>,
    total_jumps: usize,
    #[serde(flatten)]
    list: SystemList,
    security_summary: SecuritySummary,
    /// exact: no order is shorter. heuristic: a good order, never worse than going to the nearest next.
    method: &'static str,
    /// Waypoints to which there is no way; they are left out, and all others are in.
    unreachable: Vec<String>,
}

pub(super) fn loop_(
    now: &Snapshot,
    arguments: &LoopArguments,
) -> Result<Answer<LoopResult>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let origin = names.system(&arguments.origin)?;
    let wanted = Wanted {
        systems: arguments.avoid_systems.as_deref().unwrap_or_default(),
        ..Wanted::default()
    };
    let avoid = wanted.avoid(map, &mut names)?;
    let min_borders = arguments.min_borders.unwrap_or(4);
    // What is not told is no more in the way than it must be.
    let max_borders = arguments.max_borders.unwrap_or(min_borders.max(8));
    if max_borders < min_borders {
        let reason = format!("it is below min_borders, which is {min_borders}");
        return Err(invalid("max_borders", &max_borders.to_string(), &reason));
    }
    let query = LoopQuery {
        origin,
        target_jumps: arguments.target_jumps.unwrap_or(20).into(),
        min_borders: min_borders.into(),
        max_borders: max_borders.into(),
        optimize: match arguments.optimize.unwrap_or_default() {
            Aim::Density => Optimize::Density,
            Aim::Coverage => Optimize::Coverage,
        },
        security: arguments.security_filter.unwrap_or_default().into(),
        avoid: &avoid,
    };
    let found = tour::loop_(map, &query).map_err(|error| match error {
        LoopError::Invalid(error) => wrong(&error),
        LoopError::InsufficientBorders {
            found,
            required,
            search_radius,
            suggestion,
        } => InsufficientBordersError {
            found,
            required,
            search_radius: u32::try_from(search_radius).unwrap_or(u32::MAX),
            suggestion: suggestion.to_string(),
        }
        .into(),
    })?;
    let body = LoopResult {
        total_jumps: found.jumps(),
        unique_systems: found.unique_systems(),
        border_systems_visited: all_names(map, &found.borders),
        backtrack_jumps: found.backtrack_jumps(),
        efficiency: (found.efficiency() * 1_000.0).round() / 1_000.0,
        security_summary: SecuritySummary::of(map, &found.systems),
        list: SystemList::of(now, &found.systems, arguments.detail.unwrap_or_default()),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

pub(super) fn optimize_waypoints(
    now: &Snapshot,
    arguments: &WaypointsArguments,
) -> Result<Answer<Waypoints>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let waypoints = names.systems(&arguments.waypoints)?;
    let origin = arguments.origin.as_deref().map(|name| names.system(name));
    let origin = origin.transpose()?;
    let wanted = Wanted {
        systems: arguments.avoid_systems.as_deref().unwrap_or_default(),
        classes: arguments.avoid_security.as_deref().unwrap_or_default(),
        ..Wanted::default()
    };
    let avoid = wanted.avoid(map, &mut names)?;
    let start = match (origin, arguments.return_to_origin.unwrap_or(true)) {
        (Some(origin), true) => Start::FromAndBack(origin),
        (Some(origin), false) => Start::From(origin),
        (None, true) => Start::FirstAndBack,
        (None, false) => Start::Free,
    };
    let query = WaypointsQuery {
        waypoints: &waypoints,
        start,
        security: arguments.security_filter.unwrap_or_default().into(),
        avoid: &avoid,
    };
    let tour = tour::waypoints(map, &query).map_err(|error| match error {
        WaypointsError::Invalid(error) => wrong(&error),
        error @ WaypointsError::NoneReachable => {
            let from = origin.or(waypoints.first().copied());
            let to = waypoints.iter().copied().find(|it| Some(*it) != from);
            let name =
                |system: Option<SystemIndex>| system.map_or("", |system| &*map.system(system).name);
            RouteNotFoundError::new(name(from), name(to), Some(&error.to_string())).into()
        }
    })?;
    let body = Waypoints {
        stops: all_names(map, &tour.stops),
        total_jumps: tour.legs.iter().sum(),
        list: SystemList::of(now, &tour.systems, arguments.detail.unwrap_or_default()),
        security_summary: SecuritySummary::of(map, &tour.systems),
        method: match tour.method {
            Method::Exact => "exact",
            Method::Heuristic => "heuristic",
        },
        unreachable: all_names(map, &tour.unreachable),
        legs: tour.legs,
    };
    Ok(Answer::new(map, body, names.corrections()))
}

fn all_names(map: &Map, systems: &[SystemIndex]) -> Vec<String> {
    let names = systems.iter();
    names
        .map(|&system| map.system(system).name.to_string())
        .collect()
}

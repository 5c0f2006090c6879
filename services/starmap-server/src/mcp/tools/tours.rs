//! `loop` and `optimize_waypoints`: tours of many systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::{InsufficientBordersError, RouteNotFoundError, UniverseError, invalid};
use crate::map::{Map, SecurityClass, SystemIndex};
use crate::name::{List, Name};
use crate::route::{self, SecurityFilter};
use crate::tour::{
    self, Loop, LoopError, LoopQuery, Method, Optimize, Start, WaypointsError, WaypointsQuery,
};

use super::super::arguments::{Common, Ways};
use super::super::names::word;
use super::super::records::{Answer, SecuritySummary, SystemList, all_names};
use super::super::travel;
use super::super::universe::Snapshot;
use super::avoiding::{Avoiding, Wanted, security_filter};
use super::rules;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct LoopArguments {
    /// Where it begins and ends
    origin: Name,
    /// Default 20
    #[schemars(range(min = 10, max = 100))]
    target_jumps: Option<u16>,
    /// Default 4
    #[schemars(range(min = 2, max = 10))]
    min_borders: Option<u16>,
    /// Default 8
    #[schemars(range(min = 2, max = 15))]
    max_borders: Option<u16>,
    /// density (default): as many border systems as fit. coverage: far from each other
    optimize: Option<String>,
    /// highsec, lowsec (high and low) or any; default highsec from high security, else any
    security_filter: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 200))]
    avoid_systems: List,
    #[serde(flatten)]
    ways: Ways,
    #[serde(flatten)]
    common: Common,
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
    security_filter: &'static str,
    security_summary: SecuritySummary,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct WaypointsArguments {
    /// In any order
    #[schemars(length(min = 2, max = 50))]
    waypoints: List,
    /// Default: the first waypoint, or the best if it does not return
    origin: Option<Name>,
    /// Default true
    return_to_origin: Option<bool>,
    /// highsec, lowsec (high and low) or any (default), between the waypoints
    security_filter: Option<String>,
    #[serde(flatten)]
    avoiding: Avoiding,
    #[serde(flatten)]
    ways: Ways,
    #[serde(flatten)]
    common: Common,
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
    asked: &LoopArguments,
) -> Result<Answer<LoopResult>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let aims = [("density", Optimize::Density), ("coverage", Optimize::Coverage)];
    let optimize = word("optimize", asked.optimize.as_deref(), &aims)?.unwrap_or_default();
    let origin = names.system(&asked.origin)?;
    let wanted = Wanted { systems: &asked.avoid_systems, ..Wanted::default() };
    let avoid = wanted.avoid(map, &mut names)?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let chosen = security_filter(asked.security_filter.as_deref())?;
    let security = chosen.unwrap_or(match map.class(origin) {
        SecurityClass::High => SecurityFilter::HighSec,
        SecurityClass::Low | SecurityClass::Null => SecurityFilter::Any,
    });
    let min_borders = asked.min_borders.unwrap_or(4);
    // The defaults are 4 and 8. A larger min_borders also raises the default of max_borders.
    let max_borders = asked.max_borders.unwrap_or(min_borders.max(8));
    if max_borders < min_borders {
        let reason = format!("it is below min_borders, which is {min_borders}");
        return Err(invalid("max_borders", max_borders, reason));
    }
    let query = LoopQuery {
        origin,
        target_jumps: asked.target_jumps.unwrap_or(20).into(),
        min_borders: min_borders.into(),
        max_borders: max_borders.into(),
        optimize,
        security,
        avoid: &avoid,
        travel: &travel,
        stop: Some(&now.stop),
    };
    let found = tour::loop_(map, &query).map_err(|error| match error {
        LoopError::Invalid(error) => UniverseError::from(error),
        LoopError::Stopped => UniverseError::Universe(error.to_string()),
        LoopError::InsufficientBorders { found, required, search_radius, suggestion } => {
            InsufficientBordersError {
                found,
                required,
                search_radius: u32::try_from(search_radius).unwrap_or(u32::MAX),
                suggestion: match (chosen, security) {
                    (None, SecurityFilter::HighSec) => {
                        format!("{suggestion}, or leave high security with security_filter any")
                    }
                    _ => suggestion.to_string(),
                },
            }
            .into()
        }
    })?;
    let body = LoopResult {
        total_jumps: found.jumps(),
        unique_systems: found.unique_systems(),
        border_systems_visited: all_names(map, &found.borders),
        backtrack_jumps: found.backtrack_jumps(),
        efficiency: (found.efficiency() * 1_000.0).round() / 1_000.0,
        security_filter: match security {
            SecurityFilter::HighSec => "highsec",
            SecurityFilter::LowSec => "lowsec",
            SecurityFilter::Any => "any",
        },
        security_summary: SecuritySummary::of(map, &found.systems),
        list: SystemList::of(now, &found.systems, detail),
    };
    let lower = entered(map, &found);
    let length = misfit(&found, &query);
    let stops: Vec<SystemIndex> = [origin].into_iter().chain(found.borders).collect();
    let kept = avoid.and(map, security);
    let rule = rules::between(map, &travel, [&stops, &stops], &kept);
    let rule = rules::locked(map, &travel, Some(origin)).into_iter().chain(rule);
    let warnings = length.into_iter().chain(lower).chain(rule);
    Ok(Answer::new(now, body, names, found.systems).warn(warnings))
}

/// The warning that a round trip from high security leaves high security.
fn entered(map: &Map, found: &Loop) -> Option<String> {
    let origin = found.systems.first()?;
    let summary = SecuritySummary::of(map, &found.systems);
    let (low, null) = (summary.lowsec_systems, summary.nullsec_systems);
    (map.class(*origin) == SecurityClass::High && low + null > 0).then(|| {
        format!("The round trip leaves high security: it passes {low} low and {null} null security systems")
    })
}

/// The warning that a round trip is not as long as requested, and why.
fn misfit(found: &Loop, query: &LoopQuery<'_>) -> Option<String> {
    let (jumps, target) = (found.jumps(), query.target_jumps);
    if tour::fits(jumps, target) {
        return None;
    }
    let fewest = query.min_borders;
    Some(match found.bound {
        Some(bound) if bound >= jumps => format!(
            "{jumps} jumps instead of {target}: every round trip past {fewest} border systems takes {bound} or more; \
             lower min_borders or raise target_jumps"
        ),
        Some(bound) => format!(
            "{jumps} jumps instead of {target}: the shortest that was found past {fewest} border systems; it takes at \
             least {bound}; lower min_borders or raise target_jumps"
        ),
        None => format!(
            "{jumps} jumps instead of {target}: there is nowhere farther to go within security_filter and \
             avoid_systems; lower target_jumps"
        ),
    })
}

pub(super) fn optimize_waypoints(
    now: &Snapshot,
    asked: &WaypointsArguments,
) -> Result<Answer<Waypoints>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let waypoints = names.systems(&asked.waypoints)?;
    let origin = asked.origin.as_deref();
    let origin = origin.map(|name| names.system(name)).transpose()?;
    let avoid = asked.avoiding.avoid(map, &mut names)?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let start = match (origin, asked.return_to_origin.unwrap_or(true)) {
        (Some(origin), true) => Start::FromAndBack(origin),
        (Some(origin), false) => Start::From(origin),
        (None, true) => Start::FirstAndBack,
        (None, false) => Start::Free,
    };
    let query = WaypointsQuery {
        waypoints: &waypoints,
        start,
        security: security_filter(asked.security_filter.as_deref())?.unwrap_or_default(),
        avoid: &avoid,
        travel: &travel,
    };
    let tour = tour::waypoints(map, &query).map_err(|error| match error {
        WaypointsError::Invalid(error) => UniverseError::from(error),
        error @ WaypointsError::NoneReachable => {
            let from = origin.or(waypoints.first().copied());
            let to = waypoints.iter().copied().find(|it| Some(*it) != from);
            let name = |system| map.name(system).to_owned();
            let (from_name, to_name) = (from.map(name), to.map(name));
            let why = from.zip(to).map(|(from, to)| route::apart(map, [from, to]));
            let reason = format!("{error}{}", why.unwrap_or_default());
            let (from, to) = (from_name.unwrap_or_default(), to_name.unwrap_or_default());
            RouteNotFoundError::new(&from, &to, Some(&reason)).into()
        }
    })?;
    let unreachable = tour.unreachable.iter().map(|&system| {
        let name = map.name(system);
        format!("No way leads to {name} and back{}", route::apart(map, [system]))
    });
    let kept = avoid.and(map, query.security);
    let rule = rules::between(map, &travel, [&tour.stops, &tour.stops], &kept);
    let rule = rules::locked(map, &travel, tour.stops.first().copied()).into_iter().chain(rule);
    let warnings: Vec<String> = unreachable.take(MAX_REASONS).chain(rule).collect();
    let body = Waypoints {
        stops: all_names(map, &tour.stops),
        total_jumps: tour.legs.iter().sum(),
        list: SystemList::of(now, &tour.systems, detail),
        security_summary: SecuritySummary::of(map, &tour.systems),
        method: match tour.method {
            Method::Exact => "exact",
            Method::Heuristic => "heuristic",
        },
        unreachable: all_names(map, &tour.unreachable),
        legs: tour.legs,
    };
    Ok(Answer::new(now, body, names, tour.systems).warn(warnings))
}

/// For how many unreachable waypoints the result has a reason.
const MAX_REASONS: usize = 3;

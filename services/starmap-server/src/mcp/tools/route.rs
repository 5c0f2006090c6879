//! `route`: the way between two systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connections::Connection;
use crate::errors::{RouteNotFoundError, UniverseError};
use crate::map::{Map, SystemIndex};
use crate::route::{self, By, NoRoute, Query, Route};

use super::super::extras;
use super::super::names::Names;
use super::super::records::{Answer, Class, Detail, SecuritySummary, SystemList};
use super::super::universe::Snapshot;
use super::avoiding::{ModeName, Wanted, invalid};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteArguments {
    /// The system to start from.
    pub(crate) origin: String,
    /// The system to go to.
    pub(crate) destination: String,
    /// What to prefer; shortest unless told.
    pub(crate) mode: Option<ModeName>,
    /// With safer and less_secure: how much of a detour that is worth, 0 to 100; 50 unless told.
    #[schemars(range(min = 0, max = 100))]
    pub(crate) penalty: Option<u8>,
    /// Systems not to pass through.
    #[schemars(length(max = 200))]
    pub(crate) avoid_systems: Option<Vec<String>>,
    /// Constellations not to pass through.
    #[schemars(length(max = 200))]
    pub(crate) avoid_constellations: Option<Vec<String>>,
    /// Regions not to pass through.
    #[schemars(length(max = 200))]
    pub(crate) avoid_regions: Option<Vec<String>>,
    /// Security classes not to pass through.
    #[schemars(length(max = 3))]
    pub(crate) avoid_security: Option<Vec<Class>>,
    /// Connections besides the gates: jump bridges, wormholes.
    #[schemars(length(max = 500))]
    pub(crate) connections: Option<Vec<Connection>>,
    /// Also take the connections that the server was started with; true unless told.
    pub(crate) own_connections: Option<bool>,
    /// How many routes to give, the best first; 1 unless told.
    #[schemars(range(min = 1, max = 10))]
    pub(crate) alternatives: Option<u8>,
    /// Also compare the shortest route with the safe one.
    pub(crate) cost_of_safety: Option<bool>,
    /// names, summary or full; summary unless told.
    pub(crate) detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    pub(crate) correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RouteResult {
    pub(crate) origin: String,
    pub(crate) destination: String,
    pub(crate) mode: ModeName,
    /// How many jumps it takes.
    pub(crate) jumps: usize,
    /// What the jumps cost by the mode.
    pub(crate) cost: f64,
    #[serde(flatten)]
    pub(crate) list: SystemList,
    pub(crate) security_summary: SecuritySummary,
    /// Where the route takes a connection that is no gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) connections_used: Vec<Used>,
    /// What a pilot should know before he undocks.
    pub(crate) warnings: Vec<String>,
    /// The other routes that were asked for, dearer and dearer. There may be fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alternatives: Option<Vec<Brief>>,
    /// The shortest route beside the safe one, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_of_safety: Option<Compared>,
}

/// A step by a connection that is no gate.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Used {
    pub(crate) from: String,
    pub(crate) to: String,
}

/// A route in brief.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Brief {
    pub(crate) jumps: usize,
    pub(crate) cost: f64,
    pub(crate) security_summary: SecuritySummary,
    /// All its systems in order.
    pub(crate) names: Vec<String>,
}

/// Two routes between the same ends.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Compared {
    /// How many jumps more the safe one takes.
    pub(crate) more_jumps: usize,
    pub(crate) shortest: Brief,
    pub(crate) safe: Brief,
}

pub(crate) fn route(
    now: &Snapshot,
    arguments: &RouteArguments,
) -> Result<Answer<RouteResult>, UniverseError> {
    let map = &*now.map;
    let mut names = Names::new(map, arguments.correct);
    let origin = names.system(&arguments.origin)?;
    let destination = names.system(&arguments.destination)?;
    let mode_name = arguments.mode.unwrap_or_default();
    let wanted = Wanted {
        systems: arguments.avoid_systems.as_deref().unwrap_or_default(),
        constellations: arguments
            .avoid_constellations
            .as_deref()
            .unwrap_or_default(),
        regions: arguments.avoid_regions.as_deref().unwrap_or_default(),
        classes: arguments.avoid_security.as_deref().unwrap_or_default(),
    };
    let avoid = wanted.avoid(map, &mut names)?;
    let extras = extras::of_call(
        now,
        arguments.connections.as_deref(),
        arguments.own_connections,
        &mut names,
    )?;
    let query = Query::new(origin, destination, mode_name.with(arguments.penalty)?)
        .avoiding(&avoid)
        .with(&extras);
    let failed = |why: NoRoute| no_route(map, origin, destination, &why);
    let count = usize::from(arguments.alternatives.unwrap_or(1));
    let mut routes = match count {
        1 => vec![route::find(map, &query).map_err(failed)?],
        count => route::alternatives(map, &query, count).map_err(failed)?,
    };
    let others = routes.split_off(routes.len().min(1));
    let Some(best) = routes.pop() else {
        return Err(
            RouteNotFoundError::new(name(map, origin), name(map, destination), None).into(),
        );
    };
    let compared = match arguments.cost_of_safety {
        Some(true) => Some(route::cost_of_safety(map, &query).map_err(failed)?),
        _ => None,
    };
    let sentences = route::warnings(map, &query, &best).into_iter();
    let body = RouteResult {
        origin: name(map, origin).to_owned(),
        destination: name(map, destination).to_owned(),
        mode: mode_name,
        jumps: best.jumps(),
        cost: best.cost.value(),
        list: SystemList::of(now, &best.systems, arguments.detail.unwrap_or_default()),
        security_summary: SecuritySummary::of(map, &best.systems),
        connections_used: used(map, &best),
        warnings: sentences.map(|warning| warning.sentence(map)).collect(),
        alternatives: (count > 1).then(|| others.iter().map(|it| Brief::of(map, it)).collect()),
        cost_of_safety: compared.map(|both| Compared {
            more_jumps: both.more_jumps(),
            shortest: Brief::of(map, &both.shortest),
            safe: Brief::of(map, &both.safe),
        }),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

/// The systems of a route that avoids nothing, with the mode as a word.
pub(crate) fn plain_route(
    now: &Snapshot,
    origin: SystemIndex,
    destination: SystemIndex,
    mode: &str,
) -> Result<Vec<SystemIndex>, UniverseError> {
    let known = ModeName::of(mode).ok_or_else(|| {
        let reason = "it is shortest, safe, unsafe, safer or less_secure";
        invalid("mode", mode, reason)
    })?;
    let map = &*now.map;
    let query = Query::new(origin, destination, known.with(None)?).with(&now.extras);
    let found = route::find(map, &query);
    Ok(found
        .map_err(|why| no_route(map, origin, destination, &why))?
        .systems)
}

/// What is written above a picture of a route.
pub(crate) fn route_title(map: &Map, route: &[SystemIndex], mode: &str) -> String {
    let end = |system: Option<&SystemIndex>| system.map_or("", |system| name(map, *system));
    format!(
        "{} to {}: {} jumps, {}",
        end(route.first()),
        end(route.last()),
        route.len().saturating_sub(1),
        mode.trim().to_lowercase()
    )
}

/// Why there is no route, as the contract's error.
pub(crate) fn no_route(
    map: &Map,
    origin: SystemIndex,
    destination: SystemIndex,
    why: &NoRoute,
) -> UniverseError {
    let reason = why.reason(map);
    RouteNotFoundError::new(name(map, origin), name(map, destination), Some(&reason)).into()
}

fn name(map: &Map, system: SystemIndex) -> &str {
    &map.system(system).name
}

fn used(map: &Map, route: &Route) -> Vec<Used> {
    let steps = route.systems.iter().zip(route.systems.iter().skip(1));
    steps
        .zip(&route.by)
        .filter(|(_, by)| matches!(by, By::Extra(_)))
        .map(|((from, to), _)| Used {
            from: name(map, *from).to_owned(),
            to: name(map, *to).to_owned(),
        })
        .collect()
}

impl Brief {
    fn of(map: &Map, route: &Route) -> Self {
        let names = route.systems.iter();
        Self {
            jumps: route.jumps(),
            cost: route.cost.value(),
            security_summary: SecuritySummary::of(map, &route.systems),
            names: names.map(|&system| name(map, system).to_owned()).collect(),
        }
    }
}

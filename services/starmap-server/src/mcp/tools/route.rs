//! `route`: the route between two systems.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::Measure;
use crate::errors::{RouteNotFoundError, UniverseError, invalid};
use crate::map::{Map, Ship, SystemIndex};
use crate::name::{List, Name};
use crate::route::{self, About, Avoided, By, Cost, NoRoute, Query, Route, Travel, Warning};

use super::super::arguments::{Common, Ways};
use super::super::records::{Answer, Detail, SecuritySummary, SystemList, all_names};
use super::super::travel;
use super::super::universe::{Snapshot, seconds_now};
use super::avoiding::{Wanted, avoid, mode};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(crate) struct RouteArguments {
    pub(crate) origin: Name,
    pub(crate) destination: Name,
    /// Stops on the way, in this order
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub(crate) via: List,
    /// shortest (default): fewest jumps. safe: keeps to high security unless the detour is very long. unsafe: through
    /// low and null security. safer, less_secure: the game's autopilot settings, with penalty.
    pub(crate) mode: Option<String>,
    /// How much of a detour safer and less_secure take; default 50
    #[schemars(range(min = 0, max = 100))]
    pub(crate) penalty: Option<u8>,
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) avoid_systems: List,
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) avoid_constellations: List,
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub(crate) avoid_regions: List,
    /// high, low, null
    #[serde(default)]
    #[schemars(extend("maxItems" = 3))]
    pub(crate) avoid_security: List,
    /// Avoid systems with so many kills in the last hour.
    #[schemars(range(min = 1))]
    pub(crate) avoid_kills: Option<u32>,
    /// Extra cost in jumps for each recent kill in a system entered
    #[schemars(range(min = 0, max = 1_000))]
    pub(crate) danger_weight: Option<f64>,
    /// How many routes; default 1
    #[schemars(range(min = 1, max = 10))]
    pub(crate) alternatives: Option<u8>,
    /// Also compare shortest with safe.
    pub(crate) cost_of_safety: Option<bool>,
    #[serde(flatten)]
    pub(crate) ways: Ways,
    #[serde(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RouteResult {
    pub(crate) origin: String,
    pub(crate) destination: String,
    pub(crate) mode: &'static str,
    pub(crate) jumps: usize,
    /// With `via`: how many jumps it is from each stop to the next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) legs: Vec<usize>,
    /// What the jumps cost by the mode, if that is not their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    #[serde(flatten)]
    pub(crate) list: SystemList,
    pub(crate) security_summary: SecuritySummary,
    /// With detail full: the id of the stargate by which each jump leaves; null for what is no gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stargates: Option<Vec<Option<u32>>>,
    /// Where the route takes a connection that is not a gate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) connections_used: Vec<Used>,
    /// The other routes that were asked for, dearer and dearer. There may be fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alternatives: Option<Vec<Brief>>,
    /// The shortest route beside the safe one, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_of_safety: Option<Compared>,
}

/// A step by a connection that is not a gate.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Used {
    from: String,
    to: String,
    /// gate, bridge, wormhole, jump, other
    kind: &'static str,
    /// The largest ship that it lets through.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_ship: Option<&'static str>,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    /// file or call
    source: &'static str,
    #[serde(skip)]
    about: Option<About>,
}

/// A route in brief.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Brief {
    pub(crate) jumps: usize,
    pub(crate) cost: f64,
    pub(crate) security_summary: SecuritySummary,
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
    asked: &RouteArguments,
) -> Result<Answer<RouteResult>, UniverseError> {
    let map = &*now.map;
    let (mode_name, mode) = mode(asked.mode.as_deref(), asked.penalty)?;
    let (detail, mut names) = asked.common.begin(map)?;
    names.took(asked.mode.as_deref(), mode_name);
    let origin = names.system(&asked.origin)?;
    let destination = names.system(&asked.destination)?;
    let wanted = Wanted {
        systems: &asked.avoid_systems,
        constellations: &asked.avoid_constellations,
        regions: &asked.avoid_regions,
        classes: &asked.avoid_security,
        takes_areas: true,
    };
    let mut things = wanted.things(map, &mut names)?;
    if let Some(least) = asked.avoid_kills {
        let activity = now.counted("avoid_kills", Measure::Kills)?;
        let deadly = activity.systems_with_kills(least.max(1));
        let deadly = deadly.filter_map(|id| map.system_by_id(id));
        things.extend(deadly.map(Avoided::System));
    }
    let avoid = avoid(map, things)?;
    let surcharges = match asked.danger_weight {
        Some(weight) => surcharges(now, weight)?,
        None => Vec::new(),
    };
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let query = Query::new(origin, destination, mode)
        .avoiding(&avoid)
        .surcharged(&surcharges)
        .with(&travel);
    let failed = |why: NoRoute| no_route(map, &query, &why);
    let count = usize::from(asked.alternatives.unwrap_or(1));
    let via = names.systems(&asked.via)?;
    if !via.is_empty() && (count > 1 || asked.cost_of_safety == Some(true)) {
        let reason = "it goes without alternatives and cost_of_safety";
        return Err(invalid("via", "", reason));
    }
    let ((best, warned), legs) = match via.as_slice() {
        [] => (route::find_warned(map, &query).map_err(failed)?, Vec::new()),
        via => through(map, &query, via)?,
    };
    let routes = match count {
        1 => Vec::new(),
        count => route::alternatives(map, &query, count).map_err(failed)?,
    };
    // The first is the best.
    let others: Vec<Route> = routes.into_iter().skip(1).collect();
    let compared = match asked.cost_of_safety {
        Some(true) => Some(route::cost_of_safety(map, &query).map_err(failed)?),
        _ => None,
    };
    let alone = (count > 1 && others.is_empty()).then(|| ALONE.to_owned());
    let used = used(map, &travel, &best);
    let ends = used.iter().flat_map(Used::warnings);
    let warnings = warned.iter().map(|warning| warning.sentence(map));
    let warnings: Vec<String> = warnings.chain(alone).chain(ends).collect();
    let brief = |route: &Route| Brief {
        jumps: route.jumps(),
        cost: route.cost.value(),
        security_summary: SecuritySummary::of(map, &route.systems),
        names: all_names(map, &route.systems),
    };
    let both = compared.iter().flat_map(|it| [&it.shortest, &it.safe]);
    let all = others.iter().chain(both);
    let systems: Vec<SystemIndex> = all.flat_map(|route| &route.systems).copied().collect();
    let jumps = u32::try_from(best.jumps()).unwrap_or(u32::MAX);
    let body = RouteResult {
        origin: map.name(origin).to_owned(),
        destination: map.name(destination).to_owned(),
        mode: mode_name,
        jumps: best.jumps(),
        legs,
        stargates: (detail == Detail::Full).then(|| stargates(map, &best)),
        cost: (best.cost != Cost::jumps(jumps)).then(|| best.cost.value()),
        list: SystemList::of(now, &best.systems, detail),
        security_summary: SecuritySummary::of(map, &best.systems),
        connections_used: used,
        alternatives: (count > 1).then(|| others.iter().map(brief).collect()),
        cost_of_safety: compared.map(|both| Compared {
            more_jumps: both.more_jumps(),
            shortest: brief(&both.shortest),
            safe: brief(&both.safe),
        }),
    };
    Ok(Answer::along(now, body, names, &best.systems, systems).warn(warnings))
}

/// A route with its warnings.
type Warned = (Route, Vec<Warning>);

/// The route through stops in their order, the warnings for its legs, each once, and the jumps of each. A stop that is
/// only an end is left by the gate it was entered by.
fn through(
    map: &Map,
    query: &Query<'_>,
    via: &[SystemIndex],
) -> Result<(Warned, Vec<usize>), UniverseError> {
    let mut whole = Route { systems: vec![query.origin], by: Vec::new(), cost: Cost::ZERO };
    let (mut legs, mut warnings) = (Vec::new(), Vec::new());
    for stop in via.iter().copied().chain([query.destination]) {
        let (before, here) = match whole.systems.as_slice() {
            [.., before, here] => (Some(*before), *here),
            [here] => (None, *here),
            [] => (None, query.origin),
        };
        let start = whole.by.len();
        let back = before.filter(|_| stop != here && !query.travel.may_pass(map, here));
        if let Some((back, by)) = back.zip(whole.by.last().copied()) {
            whole.systems.push(back);
            whole.by.push(by);
            whole.cost = whole.cost + Cost::JUMP;
        }
        let leg = Query { origin: back.unwrap_or(here), destination: stop, ..*query };
        let found = route::find_warned(map, &leg).map_err(|why| no_route(map, &leg, &why))?;
        let (found, warned) = found;
        for warning in warned {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        whole.systems.extend(found.systems.into_iter().skip(1));
        whole.by.extend(found.by);
        whole.cost = whole.cost + found.cost;
        legs.push(whole.by.len() - start);
    }
    Ok(((whole, warnings), legs))
}

/// Why there are no alternatives ([`route::alternatives`]).
const ALONE: &str = "No alternatives: all other routes share most of their jumps with this one, or cost more than half as \
    much again and 5 jumps";

/// What the recent kills in each system add to the cost of entering it.
fn surcharges(now: &Snapshot, weight: f64) -> Result<Vec<Cost>, UniverseError> {
    let activity = now.counted("danger_weight", Measure::Kills)?;
    let time = SystemTime::now();
    let systems = now.map.systems().iter();
    let costs = systems.map(|system| Cost::new(activity.heat(system.id, time) * weight));
    let too_much = || invalid("danger_weight", weight, "it is from 0 to 1000");
    costs.collect::<Option<_>>().ok_or_else(too_much)
}

/// The systems of a route that avoids nothing, for a mode given as a word, and what the rules of the game mean for it.
pub(crate) fn plain_route(
    now: &Snapshot,
    origin: SystemIndex,
    destination: SystemIndex,
    word: Option<&str>,
) -> Result<(Vec<SystemIndex>, Vec<String>), UniverseError> {
    let map = &*now.map;
    let query = Query::new(origin, destination, mode(word, None)?.1).with(&now.travel);
    let found = route::find_warned(map, &query).map_err(|why| no_route(map, &query, &why))?;
    let ruled = |it: &Warning| matches!(it, Warning::Locked(_) | Warning::LeftOut { .. });
    let warnings = found.1.into_iter().filter(ruled).map(|warning| warning.sentence(map));
    Ok((found.0.systems, warnings.collect()))
}

/// The title of a picture of a route.
pub(crate) fn route_title(map: &Map, route: &[SystemIndex], mode: &str) -> String {
    let end = |system: Option<&SystemIndex>| system.map_or("", |system| map.name(*system));
    format!(
        "{} to {}: {} jumps, {}",
        end(route.first()),
        end(route.last()),
        route.len().saturating_sub(1),
        mode.trim().to_lowercase()
    )
}

/// Why there is no route, as the contract's error.
pub(crate) fn no_route(map: &Map, query: &Query<'_>, why: &NoRoute) -> UniverseError {
    let mut reason = why.reason(map);
    if !matches!(why, NoRoute::Closed { .. })
        && let Some((other, through, rule)) = route::ruled_out(map, query)
    {
        let left_out = Warning::LeftOut { through, rule, jumps: other.jumps() };
        reason = format!("{reason}. {}", left_out.sentence(map));
    }
    let (origin, destination) = (map.name(query.origin), map.name(query.destination));
    RouteNotFoundError::new(origin, destination, Some(&reason)).into()
}

fn used(map: &Map, travel: &Travel, route: &Route) -> Vec<Used> {
    let steps = route.systems.iter().zip(route.systems.iter().skip(1)).zip(&route.by);
    let extra = steps.filter_map(|(ends, by)| match by {
        By::Extra(place) => Some((ends, travel.about(*place))),
        By::Gate => None,
    });
    let used = extra.map(|((from, to), about)| Used {
        from: map.name(*from).to_owned(),
        to: map.name(*to).to_owned(),
        kind: about.map_or("other", |it| it.kind.word()),
        max_ship: about.and_then(|it| it.max_ship).map(Ship::word),
        expires: about
            .and_then(|it| jiff::Timestamp::from_second(it.expires?).ok())
            .map(|end| end.to_string()),
        source: about.map_or("call", |it| it.source),
        about: about.copied(),
    });
    used.collect()
}

/// The stargate by which each jump of a route leaves.
fn stargates(map: &Map, route: &Route) -> Vec<Option<u32>> {
    let steps = route.systems.iter().zip(route.systems.iter().skip(1)).zip(&route.by);
    let ids = steps.map(|((from, to), by)| match by {
        By::Gate => map.stargate(*from, *to),
        By::Extra(_) => None,
    });
    ids.collect()
}

/// A connection that ends within so many seconds is worth a warning.
const SOON_SECONDS: i64 = 4 * 3_600;

const END_OF_LIFE: &str = "is at the end of its life: it ends within 4 hours";
const CRITICAL: &str = "has little mass left: it may close before or behind the ship";

impl Used {
    fn warnings(&self) -> Vec<String> {
        let Some(about) = self.about else {
            return Vec::new();
        };
        let left = about.expires.map(|end| end - seconds_now()).filter(|it| *it < SOON_SECONDS);
        let end = match left {
            Some(left) => Some(format!("ends in {} minutes", left / 60)),
            None => about.end_of_life.then(|| END_OF_LIFE.to_owned()),
        };
        let critical = about.critical.then(|| CRITICAL.to_owned());
        let ways = end.into_iter().chain(critical);
        ways.map(|it| format!("The connection from {} to {} {it}", self.from, self.to)).collect()
    }
}

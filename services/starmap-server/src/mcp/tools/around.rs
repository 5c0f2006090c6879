//! `nearest`, `search` and `borders`: systems that match a filter, near or anywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::activity::Measure;
use crate::errors::{UniverseError, shown};
use crate::explore::{self, Filter, Near, Nearest};
use crate::map::{Map, SystemIndex, TRADE_HUBS, plain};
use crate::name::{List, Name};
use crate::route::SecurityFilter;

use super::super::arguments::{Common, Ways};
use super::super::names::{Names, did_you_mean};
use super::super::records::{Answer, Detail, SystemList, adjacent_lowsec};
use super::super::travel;
use super::super::universe::Snapshot;
use super::avoiding::security_class;
use super::empty::{alone, farther, region, why_none};
use super::rules;

// What systems are looked for by, in both tools. Not in the schema, which takes it for a description of the tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Kind {
    /// high, low or null
    security_class: Option<String>,
    /// Unrounded
    #[schemars(range(min = -1, max = 1))]
    security_min: Option<f64>,
    #[schemars(range(min = -1, max = 1))]
    security_max: Option<f64>,
    region: Option<String>,
    /// High security beside lower
    is_border: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct NearestArguments {
    /// Not itself in the answer
    origin: Name,
    /// Only of these; trade_hubs: the five
    #[schemars(length(max = 200))]
    among: Option<List>,
    #[serde(flatten)]
    kind: Kind,
    /// Neighbors below 0.45
    #[schemars(range(min = 0, max = 50))]
    min_adjacent_lowsec: Option<u16>,
    /// Kills in the last hour; needs activity data
    max_kills: Option<u32>,
    min_npc_kills: Option<u32>,
    /// Default 5
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u16>,
    /// Default 30
    #[schemars(range(min = 1, max = 50))]
    max_jumps: Option<u16>,
    #[serde(flatten)]
    ways: Ways,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AroundResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// With an origin by distance, then by name; else by name.
    #[serde(flatten)]
    list: SystemList,
    /// The same of the tool borders.
    #[serde(skip_serializing_if = "Option::is_none")]
    borders: Option<Vec<Value>>,
    /// How many there are, before the list was cut.
    total_found: usize,
    /// The radius in jumps.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_radius: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct SearchArguments {
    /// Count jumps from here.
    origin: Option<Name>,
    /// Needs origin
    #[schemars(range(min = 1, max = 50))]
    max_jumps: Option<u16>,
    /// Part of the name
    #[schemars(length(max = 100))]
    name: Option<String>,
    #[serde(flatten)]
    kind: Kind,
    /// Default 20
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u16>,
    #[serde(flatten)]
    ways: Ways,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct BordersArguments {
    origin: Name,
    /// Default 10
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u16>,
    /// Default 15
    #[schemars(range(min = 1, max = 30))]
    max_jumps: Option<u16>,
    /// Count only ways through high security.
    highsec_travel_only: Option<bool>,
    #[serde(flatten)]
    ways: Ways,
    #[serde(flatten)]
    common: Common,
}

impl Kind {
    fn filter(
        &self,
        map: &Map,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Filter>, UniverseError> {
        let class = security_class("security_class", self.security_class.as_deref())?;
        let region = region(map, self.region.as_deref(), warnings);
        Ok(region.map(|region| Filter {
            security_min: self.security_min.unwrap_or(-1.0),
            security_max: self.security_max.unwrap_or(1.0),
            class,
            region,
            border: self.is_border,
            ..Filter::default()
        }))
    }
}

pub(super) fn nearest(
    now: &Snapshot,
    asked: &NearestArguments,
) -> Result<Answer<AroundResult>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let origin = names.system(&asked.origin)?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let radius = u32::from(asked.max_jumps.unwrap_or(30));
    let limit = usize::from(asked.limit.unwrap_or(5));
    let among = asked.among.as_ref();
    let among = among.map(|among| among_of(among, &mut names)).transpose()?;
    let mut warnings = Vec::new();
    let filter = asked.kind.filter(map, &mut warnings)?.map(|filter| Filter {
        min_adjacent_lower: usize::from(asked.min_adjacent_lowsec.unwrap_or(0)),
        among,
        ..filter
    });
    let (most, least) = (asked.max_kills, asked.min_npc_kills);
    let kills = most.map(|_| now.counted("max_kills", Measure::Kills));
    let ratting = least.map(|_| now.counted("min_npc_kills", Measure::Ratting));
    let activity = kills.transpose()?.or(ratting.transpose()?);
    let mut found = match filter {
        None => explore::Limited { total: 0, list: Vec::new() },
        Some(filter) => {
            let query = Nearest {
                origin,
                max_jumps: radius,
                filter,
                // Activity is not on the map, so it is filtered afterwards.
                limit: activity.map_or(limit, |_| usize::MAX),
            };
            let found = explore::nearest(map, &travel, &query)?;
            let empty = || why_none(map, &travel, Some(origin), Some(radius), &query.filter);
            warnings.extend((found.total == 0).then(empty));
            let again = |lifted: &_| explore::nearest(map, lifted, &query).ok();
            warnings.extend(rules::around(map, &travel, Some(origin), &found, again));
            found
        }
    };
    if let (Some(activity), before @ 1..) = (activity, found.total) {
        found.list.retain(|near| {
            let figures = activity.figures(map.system(near.system).id);
            most.is_none_or(|most| figures.kills() <= most)
                && least.is_none_or(|least| figures.npc_kills >= least)
        });
        found.total = found.list.len();
        found.list.truncate(limit);
        if found.total == 0 {
            warnings.push(format!(
                "{before} systems match, but none by kills: change max_kills or min_npc_kills"
            ));
        }
    }
    let (systems, list) = located(now, &found.list, detail);
    let body = AroundResult {
        origin: Some(map.name(origin).to_owned()),
        list,
        borders: None,
        total_found: found.total,
        search_radius: Some(radius),
    };
    Ok(Answer::new(now, body, names, systems).warn(warnings))
}

pub(super) fn search(
    now: &Snapshot,
    asked: &SearchArguments,
) -> Result<Answer<AroundResult>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let origin = asked.origin.as_deref();
    let origin = origin.map(|name| names.system(name)).transpose()?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let mut warnings = Vec::new();
    let filter = asked
        .kind
        .filter(map, &mut warnings)?
        .map(|filter| Filter { name: asked.name.clone(), ..filter });
    let max_jumps = asked.max_jumps.map(u32::from);
    let found = match filter {
        None => explore::Limited { total: 0, list: Vec::new() },
        Some(filter) => {
            let query = explore::Search {
                origin,
                max_jumps,
                filter,
                limit: usize::from(asked.limit.unwrap_or(20)),
            };
            let found = explore::search(map, &travel, &query)?;
            let empty = || why_none(map, &travel, origin, max_jumps, &query.filter);
            warnings.extend((found.total == 0).then(empty));
            let alone =
                origin.filter(|_| found.total > 0).and_then(|origin| alone(map, &travel, origin));
            warnings.extend(alone);
            // Without an origin there is no way that a rule could leave out.
            let again = |lifted: &_| origin.and_then(|_| explore::search(map, lifted, &query).ok());
            warnings.extend(rules::around(map, &travel, origin, &found, again));
            found
        }
    };
    // A misspelled name is more likely than a part of a name.
    let misspelt = asked.name.as_deref().and_then(|name| misspelt(map, name));
    warnings.splice(0..0, misspelt);
    let systems: Vec<SystemIndex> = found.list.iter().map(|hit| hit.system).collect();
    let jumps = |at: usize| match origin {
        Some(_) => vec![json!(found.list.get(at).and_then(|hit| hit.jumps))],
        None => Vec::new(),
    };
    let columns: &[&str] = if origin.is_some() { &[JUMPS] } else { &[] };
    let body = AroundResult {
        origin: origin.map(|origin| map.name(origin).to_owned()),
        list: SystemList::with(now, &systems, detail, columns, jumps),
        borders: None,
        total_found: found.total,
        search_radius: max_jumps,
    };
    Ok(Answer::new(now, body, names, systems).warn(warnings))
}

pub(super) fn borders(
    now: &Snapshot,
    asked: &BordersArguments,
) -> Result<Answer<AroundResult>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let origin = names.system(&asked.origin)?;
    let travel = travel::of_call(now, &asked.ways, &mut names)?;
    let radius = u32::from(asked.max_jumps.unwrap_or(15));
    let only = asked.highsec_travel_only == Some(true);
    let security = if only { SecurityFilter::HighSec } else { SecurityFilter::Any };
    let limit = usize::from(asked.limit.unwrap_or(10));
    let found = explore::borders(map, &travel, origin, radius, security, limit);
    let again = |lifted: &_| explore::borders(map, lifted, origin, radius, security, limit);
    let rules = rules::around(map, &travel, Some(origin), &found, |lifted| Some(again(lifted)));
    let empty = (found.total == 0).then(|| {
        let anywhere = explore::borders(map, &travel, origin, u32::MAX, security, 1);
        let border = Filter { border: Some(true), ..Filter::default() };
        match (anywhere.list.first(), only) {
            (Some(near), _) => farther(map, near),
            (None, true) => {
                "No way through high security leads to one: leave out highsec_travel_only"
                    .to_owned()
            }
            (None, false) => why_none(map, &travel, Some(origin), Some(radius), &border),
        }
    });
    let systems: Vec<SystemIndex> = found.list.iter().map(|near| near.system).collect();
    let mut list =
        SystemList::with(now, &systems, detail, &["system_id", JUMPS, "adjacent_lowsec"], |at| {
            let near = found.list.get(at);
            let more = near.map(|near| {
                let id = map.system(near.system).id;
                vec![json!(id), json!(near.jumps), json!(adjacent_lowsec(map, near.system))]
            });
            more.unwrap_or_default()
        });
    let body = AroundResult {
        origin: Some(map.name(origin).to_owned()),
        borders: list.systems.take(),
        list,
        total_found: found.total,
        search_radius: Some(radius),
    };
    let lower = |system: &SystemIndex| explore::adjacent_lower(map, *system);
    let beside: Vec<SystemIndex> = systems.iter().flat_map(lower).collect();
    let answer = Answer::new(now, body, names, systems.into_iter().chain(beside));
    Ok(answer.warn(empty.into_iter().chain(rules)))
}

const JUMPS: &str = "jumps_from_origin";

/// Systems with their distances.
pub(super) fn located(
    now: &Snapshot,
    list: &[Near],
    detail: Detail,
) -> (Vec<SystemIndex>, SystemList) {
    let systems: Vec<SystemIndex> = list.iter().map(|near| near.system).collect();
    let jumps = |at: usize| -> Vec<Value> {
        list.get(at).map(|near| json!(near.jumps)).into_iter().collect()
    };
    let listed = SystemList::with(now, &systems, detail, &[JUMPS], jumps);
    (systems, listed)
}

/// A hint that the text for a part of a name may be a misspelled name.
fn misspelt(map: &Map, part: &str) -> Option<String> {
    if map.system_by_name(part).is_some() {
        return None;
    }
    let near = map.suggest(part, 1);
    let near = near.first().filter(|near| !plain(near).contains(&plain(part)))?;
    let near = did_you_mean([&(*near).to_owned()]);
    Some(format!("No system is called {}{near}", shown(part)))
}

/// The systems in a list, in which one name may stand for several systems.
fn among_of(among: &List, names: &mut Names<'_>) -> Result<Vec<SystemIndex>, UniverseError> {
    let mut systems = Vec::new();
    for name in among.iter() {
        let plain = name.trim().to_lowercase().replace([' ', '-'], "_");
        match plain.as_str() {
            "trade_hub" | "trade_hubs" => {
                // A map of another universe may lack all of them.
                systems.extend(TRADE_HUBS.iter().filter_map(|hub| names.find(hub)));
            }
            _ => systems.push(names.system(name)?),
        }
    }
    Ok(systems)
}

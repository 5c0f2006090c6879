//! `chokepoints`: where the space around a system can be cut.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::{UniverseError, invalid};
use crate::explore;
use crate::map::{Map, SystemIndex};
use crate::name::Name;
use crate::route::{SecurityFilter, Travel};

use super::super::names::{Names, did_you_mean, nearest_names};
use super::super::records::Answer;
use super::super::universe::Snapshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct ChokepointsArguments {
    /// A system, or instead a constellation or a region
    around: Name,
    /// Around a system; default 5
    #[schemars(range(min = 1, max = 30))]
    max_jumps: Option<u16>,
    /// Default 10
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u16>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Chokepoints {
    /// What was looked at.
    area: String,
    /// How many systems that are.
    area_systems: usize,
    /// Of the rows in `systems`: `cut_off` is how many systems the rest of the area then cannot reach.
    columns: [&'static str; 2],
    /// Systems without which the area falls apart, and how many systems each cuts off; the most first.
    systems: Vec<(String, usize)>,
    /// How many such systems there are.
    total_found: usize,
    /// Of the rows in `gates`.
    gate_columns: [&'static str; 3],
    /// Gates without which it falls apart, and how many systems each cuts off; the most first.
    gates: Vec<(String, String, usize)>,
    /// How many such gates there are.
    total_gates: usize,
}

pub(super) fn chokepoints(
    now: &Snapshot,
    asked: &ChokepointsArguments,
) -> Result<Answer<Chokepoints>, UniverseError> {
    let map = &*now.map;
    let names = Names::new(map, None);
    let limit = usize::from(asked.limit.unwrap_or(10));
    let (area, inside) = area(map, asked)?;
    let mut cuts = explore::cuts(map, &inside);
    let (total_found, total_gates) = (cuts.systems.len(), cuts.bridges.len());
    // The systems are in order of their ids, and a stable sort keeps that order among equals.
    cuts.systems.sort_by_key(|cut| std::cmp::Reverse(cut.cut_off));
    cuts.bridges.sort_by_key(|cut| std::cmp::Reverse(cut.cut_off));
    let name = |system: SystemIndex| map.name(system).to_owned();
    let empty = (total_found == 0).then(|| {
        format!("No single system cuts {area} apart: every two of its systems have two ways between them, or none")
    });
    let ends = inside.iter().filter_map(|it| Some((*it, map.only_end(*it)?)));
    let ends = ends.map(|(end, rule)| {
        format!("{} joins nothing here: {} ({})", map.name(end), rule.why, rule.source)
    });
    let warnings: Vec<String> = empty.into_iter().chain(ends).collect();
    let systems = cuts.systems.iter().take(limit);
    let gates = cuts.bridges.iter().take(limit);
    let ends = gates.clone().flat_map(|it| [it.from, it.to]);
    let shown: Vec<SystemIndex> = systems.clone().map(|it| it.system).chain(ends).collect();
    let body = Chokepoints {
        area,
        area_systems: inside.len(),
        columns: ["name", "cut_off"],
        gate_columns: ["from", "to", "cut_off"],
        systems: systems.map(|it| (name(it.system), it.cut_off)).collect(),
        total_found,
        gates: gates.map(|it| (name(it.from), name(it.to), it.cut_off)).collect(),
        total_gates,
    };
    Ok(Answer::new(now, body, names, shown).warn(warnings))
}

fn area(
    map: &Map,
    asked: &ChokepointsArguments,
) -> Result<(String, Vec<SystemIndex>), UniverseError> {
    let around = &asked.around;
    let radius = u32::from(asked.max_jumps.unwrap_or(5));
    if let Some(system) = map.find(around) {
        let near = explore::within(map, Travel::by_gates(), system, radius, SecurityFilter::Any);
        let what = format!("{} and {radius} jumps around it", map.name(system));
        return Ok((what, near.into_iter().map(|near| near.system).collect()));
    }
    if let Some(index) = map.constellation_by_name(around) {
        let it = map.constellation(index);
        return Ok((format!("the constellation {}", it.name), it.systems.clone()));
    }
    if let Some(index) = map.region_by_name(around) {
        let name = &map.region(index).name;
        return Ok((format!("the region {name}"), map.systems_of(index).collect()));
    }
    let areas = map.constellations().iter().map(|it| &*it.name);
    let areas = areas.chain(map.regions().iter().map(|it| &*it.name));
    let mut near: Vec<String> = map.suggest(around, 2).into_iter().map(str::to_owned).collect();
    near.extend(nearest_names(around, areas).into_iter().take(2));
    let reason = "no system, constellation or region has this name";
    Err(invalid("around", &**around, format!("{reason}{}", did_you_mean(&near))))
}

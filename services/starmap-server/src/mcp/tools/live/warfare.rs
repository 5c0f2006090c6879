//! `fw_frontlines`: the systems that factions fight for.

use std::cmp::Reverse;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::activity::{FACTIONS, Warfare, faction_id, faction_name};
use crate::errors::{UniverseError, invalid, shown};
use crate::map::SystemIndex;

use super::super::super::names::{Names, did_you_mean, nearest_names};
use super::super::super::records::{Answer, Rows};
use super::super::super::universe::{Snapshot, lacks};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(in super::super) struct WarfareArguments {
    /// Only what it owns or occupies: name, or first word of it
    faction: Option<String>,
    /// Default 50
    #[schemars(range(min = 1, max = 500))]
    limit: Option<u16>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct Frontlines {
    /// The faction that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    faction: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    /// The most fought for first, then by name: rows under `columns`.
    systems: Vec<Value>,
    /// How many there are, before the list was cut.
    total_found: usize,
    /// How many seconds ago the dump was written.
    age_seconds: Option<u64>,
}

/// How much of the way to vulnerable is done, in thousandths; then the name and the rest.
type Front<'a> = (Reverse<u64>, &'a str, SystemIndex, &'a Warfare);

pub(in super::super) fn fw_frontlines(
    now: &Snapshot,
    arguments: &WarfareArguments,
) -> Result<Answer<Frontlines>, UniverseError> {
    let map = &*now.map;
    let overlay = now.overlay("fw_frontlines")?;
    if !overlay.has().faction_warfare {
        return Err(lacks("fw_frontlines", "fw/systems", overlay));
    }
    let faction = match arguments.faction.as_deref() {
        None => None,
        Some(name) => Some(faction_id(name).ok_or_else(|| {
            let known: Vec<&str> = FACTIONS.iter().map(|(_, name)| *name).collect();
            let words = known.iter().filter_map(|name| name.split(' ').next());
            let near = did_you_mean(nearest_names(name, words).first());
            invalid("faction", name, format!("it is one of {}{near}", known.join(", ")))
        })?),
    };
    let mut fronts: Vec<Front<'_>> = Vec::new();
    for id in overlay.contested_systems() {
        // The dump may be newer than the map. Systems that are not on the map are left out.
        let (Some(system), Some(warfare)) = (map.system_by_id(id), overlay.warfare(id)) else {
            continue;
        };
        if faction.is_some_and(|it| it != warfare.owner && it != warfare.occupier) {
            continue;
        }
        let done = match warfare.threshold {
            0 => 0.0,
            threshold => f64::from(warfare.victory_points) * 1_000.0 / f64::from(threshold),
        };
        fronts.push((Reverse(done.round() as u64), map.name(system), system, warfare));
    }
    fronts.sort_by_key(|(done, name, ..)| (*done, *name));
    let total_found = fronts.len();
    fronts.truncate(usize::from(arguments.limit.unwrap_or(50)));
    let named: Vec<SystemIndex> = fronts.iter().map(|front| front.2).collect();
    let row = |(Reverse(done), name, system, warfare): &Front<'_>| {
        vec![
            ("name", json!(name)),
            ("owner", json!(faction_text(warfare.owner))),
            ("occupier", json!(faction_text(warfare.occupier))),
            ("contested", json!(shown(&warfare.contested))),
            ("contested_percent", json!(*done as f64 / 10.0)),
            ("region", json!(map.region(map.system(*system).region).name)),
        ]
    };
    let fronts: Vec<_> = fronts.iter().map(row).collect();
    let Rows { columns, rows } = Rows::of(&fronts);
    let body = Frontlines {
        faction: faction.map(faction_text),
        columns,
        systems: rows,
        total_found,
        age_seconds: overlay.age_seconds(SystemTime::now()),
    };
    let empty = (body.total_found == 0).then(|| match faction {
        Some(faction) => {
            format!("{} owns and occupies none of the systems of the dump", faction_text(faction))
        }
        None => "The dump has no system of this map".to_owned(),
    });
    Ok(Answer::new(now, body, Names::new(map, None), named).warn(empty))
}

fn faction_text(id: u32) -> String {
    faction_name(id).map_or_else(|| format!("faction {id}"), str::to_owned)
}

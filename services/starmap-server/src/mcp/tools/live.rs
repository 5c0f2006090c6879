//! The tools for live activity: `activity`, `hotspots`, `gatecamp_risk`, `fw_frontlines`, `activity_cache_status`.
//!
//! All of them read the overlay: the dump that `--activity` names, with the kills of the feed that `--feed` names.

mod risk;
mod warfare;

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::activity::{FeedReport, Kinds, Measure};
use crate::errors::{UniverseError, shown};
use crate::explore;
use crate::map::SystemIndex;
use crate::name::{List, Name};
use crate::route::{self, SecurityFilter};

use super::super::names::{Names, word};
use super::super::records::{Answer, Counted, Detail, Rows, SystemList, apart, level, old};
use super::super::universe::Snapshot;
use super::rules;

pub(super) use risk::gatecamp_risk;
pub(super) use warfare::fw_frontlines;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct ActivityArguments {
    #[schemars(length(min = 1, max = 200))]
    systems: List,
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Activities {
    columns: Vec<&'static str>,
    /// In the order of the names, without those that are unknown.
    systems: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_found: Vec<String>,
    /// How many seconds ago the kills were reported; all figures are of an hour.
    age_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct HotspotsArguments {
    origin: Name,
    /// kills (default), jumps or ratting
    activity_type: Option<String>,
    /// Default 15
    #[schemars(range(min = 1, max = 30))]
    max_jumps: Option<u16>,
    /// Default 10
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u16>,
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hotspots {
    origin: String,
    #[schemars(with = "String")]
    activity_type: Measure,
    #[serde(flatten)]
    list: SystemList,
    /// Where most is counted, then the nearest, then by name: rows under `columns`.
    hotspots: Option<Vec<Value>>,
    /// In how many systems within the radius anything is counted.
    total_found: usize,
    search_radius: u32,
    age_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct StatusArguments {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Status {
    /// Whether there are figures of anything.
    loaded: bool,
    /// What it has.
    has: Kinds,
    /// How many systems it has kills or jumps of.
    systems: usize,
    /// How many seconds ago its jumps and its warfare were written.
    age_seconds: Option<u64>,
    /// How many seconds ago its kills were reported.
    kills_age_seconds: Option<u64>,
    /// What came from the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    feed: Option<FeedReport>,
    /// Where the feed shows a gate camp or ganks.
    camps: Vec<String>,
    /// What this means.
    note: String,
}

pub(super) fn activity(
    now: &Snapshot,
    asked: &ActivityArguments,
) -> Result<Answer<Activities>, UniverseError> {
    let map = &*now.map;
    let overlay = now.overlay("activity")?;
    let mut names = Names::new(map, asked.correct);
    let mut not_found = Vec::new();
    let (mut known, mut systems) = (Vec::new(), Vec::new());
    for name in asked.systems.iter() {
        let Some(system) = names.find(name) else {
            not_found.push(shown(name));
            continue;
        };
        let record = map.system(system);
        known.push(system);
        let counted = Counted::of(overlay, record.id);
        let level = |measure| json!(level(overlay, record.id, measure));
        // What the overlay does not have is null. The levels of jumps begin at 1, 50, 200 and 500, those of ratting at
        // 1, 50, 100 and 300. The scene is by the feed.
        systems.push(vec![
            ("name", json!(record.name)),
            ("security_class", json!(record.class.to_string())),
            ("space", apart(map, system)),
            ("ship_kills", json!(counted.ship_kills)),
            ("pod_kills", json!(counted.pod_kills)),
            ("npc_kills", json!(counted.npc_kills)),
            ("ship_jumps", json!(counted.ship_jumps)),
            ("kills_level", json!(counted.kills_level)),
            ("jumps_level", level(Measure::Jumps)),
            ("ratting_level", level(Measure::Ratting)),
            ("scene", json!(overlay.scene(record.id).map(|it| it.kind.word()))),
        ]);
    }
    let Rows { columns, rows } = Rows::of(&systems);
    let body = Activities {
        columns,
        systems: rows,
        not_found,
        age_seconds: overlay.kills_age(SystemTime::now()),
    };
    Ok(Answer::new(now, body, names, known).with_figures_inside())
}

pub(super) fn hotspots(
    now: &Snapshot,
    asked: &HotspotsArguments,
) -> Result<Answer<Hotspots>, UniverseError> {
    let map = &*now.map;
    let measures =
        [("kills", Measure::Kills), ("jumps", Measure::Jumps), ("ratting", Measure::Ratting)];
    let measure = word("activity_type", asked.activity_type.as_deref(), &measures)?;
    let measure = measure.unwrap_or(Measure::Kills);
    let overlay = now.counted("hotspots", measure)?;
    let mut names = Names::new(map, asked.correct);
    let origin = names.system(&asked.origin)?;
    let radius = u32::from(asked.max_jumps.unwrap_or(15));
    let count = |system: SystemIndex| overlay.figures(map.system(system).id).count(measure);
    let within = |travel: &_, radius| {
        let near = explore::within(map, travel, origin, radius, SecurityFilter::Any);
        let counted = near.into_iter().map(|near| (count(near.system), near));
        counted.filter(|(count, _)| *count > 0).collect::<Vec<_>>()
    };
    let mut busy = within(&now.travel, radius);
    let again = |lifted: &_| Some(within(lifted, radius));
    let rules = rules::around(map, &now.travel, Some(origin), &busy, again);
    let empty = busy.is_empty().then(|| match within(&now.travel, u32::MAX).first() {
        Some((_, near)) => format!(
            "Nothing is counted within {radius} jumps; the nearest is {}, {} jumps away: raise max_jumps",
            map.name(near.system),
            near.jumps
        ),
        None => format!(
            "Nothing is counted in any system that can be reached from {}{}",
            map.name(origin),
            route::apart(map, [origin])
        ),
    });
    // The systems are in order of distance, then name, and a stable sort keeps that order among equals.
    busy.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let total_found = busy.len();
    busy.truncate(usize::from(asked.limit.unwrap_or(10)));
    let systems: Vec<SystemIndex> = busy.iter().map(|(_, near)| near.system).collect();
    let columns = ["jumps_from_origin", "count", "level"];
    let mut list = SystemList::with(now, &systems, Detail::Summary, &columns, |at| {
        let row = busy.get(at).map(|(count, near)| {
            vec![json!(near.jumps), json!(count), json!(measure.level(*count))]
        });
        row.unwrap_or_default()
    });
    let body = Hotspots {
        origin: map.name(origin).to_owned(),
        activity_type: measure,
        hotspots: list.systems.take(),
        list,
        total_found,
        search_radius: radius,
        age_seconds: overlay.kills_age(SystemTime::now()),
    };
    let answer = Answer::new(now, body, names, systems).warn(empty.into_iter().chain(rules));
    Ok(match measure {
        Measure::Kills => answer.with_figures_inside(),
        Measure::Jumps | Measure::Ratting => answer,
    })
}

pub(super) fn activity_cache_status(
    now: &Snapshot,
    _: &StatusArguments,
) -> Result<Answer<Status>, UniverseError> {
    let overlay = now.overlay("activity_cache_status")?;
    let time = SystemTime::now();
    let note = old(overlay, time)
        .unwrap_or_else(|| "The figures are of the hour before they were reported.".to_owned());
    let mut camps: Vec<String> = overlay
        .camps()
        .filter_map(|id| now.map.system_by_id(id))
        .map(|system| now.map.name(system).to_owned())
        .collect();
    camps.sort_unstable();
    let body = Status {
        loaded: overlay.has() != Kinds::default(),
        has: overlay.has(),
        feed: overlay.feed().cloned(),
        systems: overlay.systems(),
        age_seconds: overlay.age_seconds(time),
        kills_age_seconds: overlay.kills_age(time),
        camps,
        note,
    };
    let names = Names::new(&now.map, None);
    Ok(Answer::new(now, body, names, []).with_figures_inside())
}

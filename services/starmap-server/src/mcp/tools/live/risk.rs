//! `gatecamp_risk`: where on a route a gate camp is likely.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::activity::{Level, Measure, STALE_SECONDS};
use crate::errors::{UniverseError, invalid};
use crate::map::SystemIndex;
use crate::name::{List, Name};

use super::super::super::names::Names;
use super::super::super::records::{Answer, Rows, gates_of};
use super::super::super::universe::Snapshot;
use super::super::avoiding::mode;
use super::super::route::plain_route;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(in super::super) struct RiskArguments {
    /// In order; or give origin and destination
    #[schemars(length(min = 1, max = 500))]
    route: Option<List>,
    origin: Option<Name>,
    destination: Option<Name>,
    /// As in route
    mode: Option<String>,
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct Risks {
    /// How many systems were looked at.
    systems: usize,
    /// The highest risk on the way; unknown if the kills are older than a day.
    overall_risk: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    /// The systems with a risk from medium up, in the order of the way: rows under `columns`.
    risks: Vec<Value>,
    /// How many seconds ago the kills were reported.
    age_seconds: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Risk {
    name: String,
    security_class: String,
    /// Ships and capsules killed in the hour.
    kills: u32,
    /// medium from 5 kills, high from 10 and where a feed shows a camp, ganks or smartbombs, extreme from 20. What is
    /// at another gate than those of the way is medium.
    risk: Level,
    /// Whether it has one gate in and one out, so that there is no way round.
    is_pipe: bool,
    /// camp, gank, fight or kills, by the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    scene: Option<&'static str>,
    /// The system behind the gate where most were killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate_to: Option<String>,
    /// Whether the way takes one of the gates where ships were killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_way: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
}

impl Risk {
    /// Its members in the order of the columns.
    const COLUMNS: [&str; 9] =
        ["name", "security_class", "kills", "risk", "is_pipe", "scene", "gate_to", "on_way", "by"];
}

pub(in super::super) fn gatecamp_risk(
    now: &Snapshot,
    asked: &RiskArguments,
) -> Result<Answer<Risks>, UniverseError> {
    let map = &*now.map;
    let overlay = now.counted("gatecamp_risk", Measure::Kills)?;
    let mut names = Names::new(map, asked.correct);
    let (systems, rules) = way(now, asked, &mut names)?;
    let mut overall = Level::None;
    let mut risks = Vec::new();
    for &system in &systems {
        let record = map.system(system);
        let passed = gates_of(map, &systems, system);
        let scene = overlay.scene(record.id);
        let risk = overlay.camp_risk(record.id, &passed);
        overall = overall.max(risk);
        if risk >= Level::Medium {
            risks.push(json!(Risk {
                name: record.name.to_string(),
                security_class: record.class.to_string(),
                kills: overlay.figures(record.id).kills(),
                risk,
                is_pipe: map.neighbours(system).len() == 2,
                scene: scene.map(|it| it.kind.word()),
                gate_to: scene
                    .and_then(|it| map.behind(system, *it.gates.first()?))
                    .map(|it| map.system(it).name.to_string()),
                on_way: scene.filter(|it| !it.gates.is_empty()).map(|it| !it.is_beside(&passed)),
                by: scene.and_then(|it| match (it.tags.interdictors, it.tags.smartbombs) {
                    (true, true) => Some("interdictors and smartbombs"),
                    (true, false) => Some("interdictors"),
                    (false, true) => Some("smartbombs"),
                    (false, false) => None,
                }),
            }));
        }
    }
    let age_seconds = overlay.kills_age(SystemTime::now());
    let Rows { columns, rows } = Rows::of(&Risk::COLUMNS, &risks);
    let body = Risks {
        systems: systems.len(),
        overall_risk: match age_seconds {
            Some(STALE_SECONDS..) => "unknown".to_owned(),
            _ => overall.to_string(),
        },
        columns,
        risks: rows,
        age_seconds,
    };
    Ok(Answer::along(now, body, names, &systems, []).with_figures_inside().warn(rules))
}

/// The systems of the requested route.
fn way(
    now: &Snapshot,
    asked: &RiskArguments,
    names: &mut Names<'_>,
) -> Result<(Vec<SystemIndex>, Vec<String>), UniverseError> {
    match (&asked.route, &asked.origin, &asked.destination) {
        (Some(route), None, None) => Ok((names.systems(route)?, Vec::new())),
        (None, Some(origin), Some(destination)) => {
            let (origin, destination) = (names.system(origin)?, names.system(destination)?);
            names.took(asked.mode.as_deref(), mode(asked.mode.as_deref(), None)?.0);
            plain_route(now, origin, destination, asked.mode.as_deref())
        }
        (Some(_), _, _) => {
            Err(invalid("route", "", "give either a route, or origin and destination, not both"))
        }
        (None, None, _) => {
            Err(invalid("origin", "", "give a route, or both origin and destination"))
        }
        (None, Some(_), None) => {
            Err(invalid("destination", "", "give a route, or both origin and destination"))
        }
    }
}

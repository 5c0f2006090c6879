//! `gatecamp_risk`: where on a route a gate camp is likely.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::activity::{Level, Measure, STALE_SECONDS, SceneKind};
use crate::errors::{UniverseError, invalid};
use crate::map::SystemIndex;
use crate::name::{List, Name};

use super::super::super::names::Names;
use super::super::super::records::{Answer, Rows};
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
    /// medium from 5 kills, high from 10 and where a feed shows a camp, extreme from 20.
    risk: Level,
    /// Whether it has one gate in and one out, so that there is no way round.
    is_pipe: bool,
    /// camp, fight or kills, by the feed.
    #[serde(skip_serializing_if = "Option::is_none")]
    scene: Option<&'static str>,
}

impl Risk {
    /// Its members in the order of the columns.
    const COLUMNS: [&str; 6] = ["name", "security_class", "kills", "risk", "is_pipe", "scene"];
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
        let risk = overlay.camp_risk(record.id);
        overall = overall.max(risk);
        if risk >= Level::Medium {
            risks.push(json!(Risk {
                name: record.name.to_string(),
                security_class: record.class.to_string(),
                kills: overlay.figures(record.id).kills(),
                risk,
                is_pipe: map.neighbours(system).len() == 2,
                scene: overlay.scene(record.id).map(SceneKind::word),
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
    Ok(Answer::new(now, body, names, systems).with_figures_inside().warn(rules))
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

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
use super::super::super::records::{Answer, Rows, apart, gates_of};
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
    #[schemars(with = "String")]
    overall_risk: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    /// The systems with a risk from medium up, in the order of the way: rows under `columns`.
    risks: Vec<Value>,
    /// How many seconds ago the kills were reported.
    age_seconds: Option<u64>,
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
            let by = scene.and_then(|it| match (it.tags.interdictors, it.tags.smartbombs) {
                (true, true) => Some("interdictors and smartbombs"),
                (true, false) => Some("interdictors"),
                (false, true) => Some("smartbombs"),
                (false, false) => None,
            });
            // The system behind the gate where most were killed, and whether the way takes one of these gates.
            let gate_to = scene.and_then(|it| map.behind(system, *it.gates.first()?));
            let at_gates = scene.filter(|it| !it.gates.is_empty());
            risks.push(vec![
                ("name", json!(record.name)),
                ("security_class", json!(record.class.to_string())),
                ("space", apart(map, system)),
                ("kills", json!(overlay.figures(record.id).kills())),
                ("risk", json!(risk)),
                // One gate in and one out: there is no way round.
                ("is_pipe", json!(map.neighbours(system).len() == 2)),
                ("scene", json!(scene.map(|it| it.kind.word()))),
                ("gate_to", json!(gate_to.map(|it| map.name(it)))),
                ("on_way", json!(at_gates.map(|it| !it.is_beside(&passed)))),
                ("by", json!(by)),
            ]);
        }
    }
    let age_seconds = overlay.kills_age(SystemTime::now());
    let Rows { columns, rows } = Rows::of(&risks);
    let body = Risks {
        systems: systems.len(),
        overall_risk: match age_seconds {
            Some(STALE_SECONDS..) => json!("unknown"),
            _ => json!(overall),
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
        (None, origin, _) => {
            let lacks = if origin.is_none() { "origin" } else { "destination" };
            Err(invalid(lacks, "", "give a route, or both origin and destination"))
        }
    }
}

//! `gatecamp_risk`: where on a way somebody may wait at a gate.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::activity::{Level, Measure};
use crate::errors::UniverseError;
use crate::map::SystemIndex;
use crate::route::{self, Query};

use super::super::super::names::Names;
use super::super::super::records::{Answer, Class};
use super::super::super::universe::Snapshot;
use super::super::avoiding::{ModeName, invalid};
use super::super::route::no_route;
use super::{counts, overlay};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Arguments {
    /// The systems of a way, in order; or give origin and destination.
    #[schemars(length(min = 1, max = 500))]
    route: Option<Vec<String>>,
    /// The system to start from.
    origin: Option<String>,
    /// The system to go to.
    destination: Option<String>,
    /// What the way from origin to destination prefers; shortest unless told.
    mode: Option<ModeName>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in super::super) struct Risks {
    /// How many systems were looked at.
    systems: usize,
    /// The highest risk on the way.
    overall_risk: Level,
    /// The systems with a risk from medium up, in the order of the way.
    risks: Vec<Risk>,
    /// How many seconds ago the dump was written; the kills are of the hour before.
    age_seconds: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Risk {
    name: String,
    security_class: Class,
    /// Ships and capsules killed in the hour.
    kills: u32,
    /// medium from 5 kills, high from 10, extreme from 20.
    risk: Level,
    /// Whether it has one gate in and one out, so that there is no way round.
    is_pipe: bool,
}

pub(in super::super) fn gatecamp_risk(
    now: &Snapshot,
    arguments: &Arguments,
) -> Result<Answer<Risks>, UniverseError> {
    let map = &*now.map;
    let overlay = overlay(now, "gatecamp_risk")?;
    counts(overlay, "gatecamp_risk", Measure::Kills)?;
    let mut names = Names::new(map, arguments.correct);
    let systems = way(now, arguments, &mut names)?;
    let mut overall_risk = Level::None;
    let mut risks = Vec::new();
    for &system in &systems {
        let record = map.system(system);
        let figures = overlay.figures(record.id);
        let risk = figures.camp_risk();
        overall_risk = overall_risk.max(risk);
        if risk >= Level::Medium {
            risks.push(Risk {
                name: record.name.to_string(),
                security_class: record.class.into(),
                kills: figures.kills(),
                risk,
                is_pipe: map.neighbours(system).len() == 2,
            });
        }
    }
    let body = Risks {
        systems: systems.len(),
        overall_risk,
        risks,
        age_seconds: overlay.age_seconds(SystemTime::now()),
    };
    Ok(Answer::new(map, body, names.corrections()))
}

/// The systems of the way that is asked about.
fn way(
    now: &Snapshot,
    arguments: &Arguments,
    names: &mut Names<'_>,
) -> Result<Vec<SystemIndex>, UniverseError> {
    let map = &*now.map;
    match (&arguments.route, &arguments.origin, &arguments.destination) {
        (Some(route), None, None) => names.systems(route),
        (None, Some(origin), Some(destination)) => {
            let (origin, destination) = (names.system(origin)?, names.system(destination)?);
            let mode = arguments.mode.unwrap_or_default().with(None)?;
            let found = route::find(
                map,
                &Query::new(origin, destination, mode).with(&now.extras),
            );
            let found = found.map_err(|why| no_route(map, origin, destination, &why))?;
            Ok(found.systems)
        }
        (Some(_), _, _) => Err(invalid(
            "route",
            "",
            "give either a route, or origin and destination, not both",
        )),
        (None, None, _) => Err(invalid(
            "origin",
            "",
            "give a route, or both origin and destination",
        )),
        (None, Some(_), None) => Err(invalid(
            "destination",
            "",
            "give a route, or both origin and destination",
        )),
    }
}

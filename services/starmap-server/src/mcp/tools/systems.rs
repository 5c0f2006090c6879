//! `systems`: looking systems up by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::errors::{UniverseError, shown};

use super::super::names::Names;
use super::super::records::{Answer, Detail, SystemInfo};
use super::super::universe::Snapshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Names of systems, in any case, or their ids.
    #[schemars(length(min = 1, max = 200))]
    systems: Vec<String>,
    /// names, summary or full; summary unless told.
    detail: Option<Detail>,
    /// Take an unknown name for the only one that is a letter away; told in `corrections`.
    correct: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    /// In the order of the names; null in the place of one that is unknown.
    systems: Vec<Option<Looked>>,
    /// How many are known.
    found: usize,
    /// The names that are not.
    not_found: Vec<String>,
}

/// A system, or its name alone with detail `names`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum Looked {
    Name(String),
    System(Box<SystemInfo>),
}

pub(super) fn systems(
    now: &Snapshot,
    arguments: &Arguments,
) -> Result<Answer<Found>, UniverseError> {
    let map = &*now.map;
    let detail = arguments.detail.unwrap_or_default();
    let mut names = Names::new(map, arguments.correct);
    let mut not_found = Vec::new();
    let mut systems = Vec::with_capacity(arguments.systems.len());
    for name in &arguments.systems {
        let looked = names.find(name);
        if looked.is_none() {
            not_found.push(shown(name));
        }
        systems.push(looked.map(|system| match detail {
            Detail::Names => Looked::Name(map.system(system).name.to_string()),
            detail => Looked::System(Box::new(SystemInfo::of(now, system, detail))),
        }));
    }
    let body = Found {
        found: systems.len() - not_found.len(),
        systems,
        not_found,
    };
    Ok(Answer::new(map, body, names.corrections()))
}

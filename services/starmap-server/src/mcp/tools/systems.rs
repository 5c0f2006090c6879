//! `systems`: looking systems up by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::errors::{UniverseError, shown};
use crate::name::List;

use super::super::arguments::Common;
use super::super::records::{Answer, Detail, SystemInfo};
use super::super::universe::Snapshot;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct SystemsArguments {
    #[schemars(length(min = 1, max = 200))]
    systems: List,
    #[serde(flatten)]
    common: Common,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SystemsResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<[&'static str; 4]>,
    /// In the order of the names; null for an unknown name.
    systems: Vec<Value>,
    found: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_found: Vec<String>,
}

pub(super) fn systems(
    now: &Snapshot,
    asked: &SystemsArguments,
) -> Result<Answer<SystemsResult>, UniverseError> {
    let map = &*now.map;
    let (detail, mut names) = asked.common.begin(map)?;
    let mut not_found = Vec::new();
    let mut known = Vec::new();
    let mut warnings = Vec::new();
    let mut systems = Vec::with_capacity(asked.systems.len());
    for name in asked.systems.iter() {
        let Some(system) = names.find(name) else {
            not_found.push(shown(name));
            if warnings.len() < MAX_HINTS
                && let Err(unknown) = names.system(name)
            {
                warnings.push(unknown.sentence());
            }
            systems.push(Value::Null);
            continue;
        };
        known.push(system);
        let record = map.system(system);
        systems.push(match detail {
            Detail::Names => json!(record.name),
            Detail::Summary => {
                let space = map.space(system).to_string();
                json!([record.name, record.security, map.region(record.region).name, space])
            }
            Detail::Full => json!(SystemInfo::of(now, system, detail)),
        });
    }
    let body = SystemsResult {
        columns: (detail == Detail::Summary).then_some(["name", "security", "region", "space"]),
        found: systems.len() - not_found.len(),
        systems,
        not_found,
    };
    Ok(Answer::new(now, body, names, known).warn(warnings))
}

/// For how many unknown names the result has suggestions.
const MAX_HINTS: usize = 3;

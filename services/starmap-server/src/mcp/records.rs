//! The parts of answers.

mod danger;
mod system;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::SystemTime;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::errors::UniverseError;
use crate::map::{Map, SecurityClass, SystemIndex};
use crate::route;

use super::names::{Names, word};
use super::universe::Snapshot;
pub(crate) use danger::{Counted, Danger, gates_of, level, old};
pub(crate) use system::{SystemInfo, adjacent_lowsec};

/// How much detail an answer has about each system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Only the names, in `names`.
    Names,
    /// A row of name, security and region.
    #[default]
    Summary,
    /// All data: ids, constellation, neighbours, borders, activity.
    Full,
}

/// The answer of a tool, with the members that every answer has.
#[derive(Debug, Serialize)]
pub(crate) struct Answer<T> {
    #[serde(flatten)]
    pub(crate) body: T,
    /// The activity in the systems of the answer, if there is an overlay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) activity: Option<Danger>,
    /// Easily overlooked facts, why a list is empty, and what would help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// The version of the map's data.
    pub(crate) data_version: String,
    /// The names as they were typed, and the names that replaced them; only with `correct`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) corrections: BTreeMap<String, String>,
}

/// Systems in order, as `detail` wants them: `names`; else `systems`, rows under `columns`, or objects with detail
/// full.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SystemList {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) systems: Option<Vec<Value>>,
}

/// Things that are no systems in order, or more than that: rows under `columns`.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Value>,
}

/// The security along a route. The systems are counted with both ends, so they sum to one more than total_jumps.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SecuritySummary {
    pub(crate) total_jumps: usize,
    pub(crate) highsec_systems: usize,
    pub(crate) lowsec_systems: usize,
    // Of null security, which wormhole space, Pochven and the like are not.
    pub(crate) nullsec_systems: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) other_systems: BTreeMap<String, usize>,
    pub(crate) lowest_security: f64,
    // The first system with this status.
    pub(crate) lowest_security_system: String,
}

impl Detail {
    const WORDS: [(&str, Self); 3] =
        [("names", Self::Names), ("summary", Self::Summary), ("full", Self::Full)];

    pub(crate) fn of(given: Option<&str>) -> Result<Self, UniverseError> {
        Ok(word("detail", given, &Self::WORDS)?.unwrap_or_default())
    }
}

impl<T> Answer<T> {
    /// An answer that names these systems. It includes their activity.
    pub(crate) fn new(
        now: &Snapshot,
        body: T,
        names: Names<'_>,
        systems: impl IntoIterator<Item = SystemIndex>,
    ) -> Self {
        Self::along(now, body, names, &[], systems)
    }

    /// The same for a way, and other systems.
    pub(crate) fn along(
        now: &Snapshot,
        body: T,
        names: Names<'_>,
        way: &[SystemIndex],
        others: impl IntoIterator<Item = SystemIndex>,
    ) -> Self {
        let systems = way.iter().copied().chain(others);
        let (activity, warnings) = Danger::of(now, systems, way, SystemTime::now()).unzip();
        Self {
            body,
            activity,
            warnings: now.problems.iter().cloned().chain(warnings.unwrap_or_default()).collect(),
            data_version: now.map.version().to_owned(),
            corrections: names.corrections(),
        }
    }

    /// The same answer without `activity`, for a body that already has the figures.
    pub(crate) fn with_figures_inside(mut self) -> Self {
        self.activity = None;
        self
    }

    /// The same answer with these warnings before its own.
    pub(crate) fn warn(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.splice(0..0, warnings);
        self
    }
}

// The schema is short on purpose, because every client pays for it. No member is required, so that the body of an error
// also matches it.
impl<T: JsonSchema> JsonSchema for Answer<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let body = T::json_schema(generator);
        let members = body.get("properties").and_then(Value::as_object);
        let kinds = members.into_iter().flatten().map(|(name, schema)| {
            let kind = schema.get("type").filter(|kind| kind.is_string());
            let kind = kind.map_or_else(|| json!({}), |kind| json!({ "type": kind }));
            (name.clone(), kind)
        });
        let all = [
            ("warnings".to_owned(), json!({ "type": "array" })),
            ("data_version".to_owned(), json!({ "type": "string" })),
        ];
        let properties: serde_json::Map<String, Value> = kinds.chain(all).collect();
        json_schema!({ "type": "object", "properties": properties })
    }
}

impl SystemList {
    pub(crate) fn of(now: &Snapshot, systems: &[SystemIndex], detail: Detail) -> Self {
        Self::with(now, systems, detail, &[], |_| Vec::new())
    }

    /// The same with more data for each system: `more` gives the values for the system at an index, and `columns` their
    /// names. If there are systems of wormhole space and the like, rows have their space too.
    pub(crate) fn with(
        now: &Snapshot,
        systems: &[SystemIndex],
        detail: Detail,
        columns: &[&'static str],
        more: impl Fn(usize) -> Vec<Value>,
    ) -> Self {
        let map = &*now.map;
        if detail == Detail::Names {
            return Self { names: Some(all_names(map, systems)), ..Self::default() };
        }
        let any_apart = systems.iter().any(|it| map.space(*it).is_apart());
        let entries = systems.iter().enumerate().map(|(at, &system)| {
            let more = more(at);
            if detail == Detail::Full {
                let mut entry = json!(SystemInfo::of(now, system, Detail::Full));
                if let Some(members) = entry.as_object_mut() {
                    let named = columns.iter().map(|name| (*name).to_owned());
                    members.extend(named.zip(more));
                }
                return entry;
            }
            let record = map.system(system);
            let mut row = vec![json!(record.name), json!(record.security)];
            row.extend(more);
            row.extend(any_apart.then(|| apart(map, system)));
            let before = at.checked_sub(1).and_then(|before| systems.get(before));
            if before.is_none_or(|before| map.system(*before).region != record.region) {
                row.push(json!(map.region(record.region).name));
            }
            Value::Array(row)
        });
        let systems = Some(entries.collect());
        let columns = (detail == Detail::Summary).then(|| {
            let ends = ["name", "security"].into_iter();
            // A row leaves out the suffix, because the origin is clear.
            let more = columns.iter().map(|name| name.trim_end_matches("_from_origin"));
            ends.chain(more).chain(any_apart.then_some("space")).chain(["region"]).collect()
        });
        Self { names: None, columns, systems }
    }
}

impl Rows {
    /// Rows of cells with the names of their columns, which are the same in each. Columns without a value are left out.
    pub(crate) fn of(rows: &[Vec<(&'static str, Value)>]) -> Self {
        let cells = rows.iter().flatten();
        let has = |name| cells.clone().any(|(it, cell)| *it == name && !cell.is_null());
        let names = rows.iter().take(1).flatten().map(|(name, _)| *name);
        let columns: Vec<&'static str> = names.filter(|name| has(*name)).collect();
        let row = |cells: &Vec<(&'static str, Value)>| {
            let kept = cells.iter().filter(|(name, _)| columns.contains(name));
            kept.map(|(_, cell)| cell.clone()).collect()
        };
        Self { rows: rows.iter().map(row).collect(), columns }
    }
}

impl SecuritySummary {
    /// The summary for the systems of a route, in order.
    pub(crate) fn of(map: &Map, systems: &[SystemIndex]) -> Self {
        let summary = route::summary(map, systems);
        let count = |of: fn(&route::Summary) -> usize| summary.as_ref().map_or(0, of);
        let lowest = summary.as_ref().map(|it| map.system(it.lowest_system));
        let mut other_systems = BTreeMap::new();
        for space in systems.iter().map(|it| map.space(*it)).filter(|it| it.is_apart()) {
            *other_systems.entry(space.to_string()).or_default() += 1;
        }
        Self {
            total_jumps: systems.len().saturating_sub(1),
            highsec_systems: count(|it| it.high),
            lowsec_systems: count(|it| it.low),
            nullsec_systems: count(|it| it.null).saturating_sub(other_systems.values().sum()),
            other_systems,
            lowest_security: lowest.map_or(0.0, |it| it.security),
            lowest_security_system: lowest.map_or_else(String::new, |it| it.name.to_string()),
        }
    }
}

/// The space of a system in words, if its security class does not say it; else null.
pub(crate) fn apart(map: &Map, system: SystemIndex) -> Value {
    let space = Some(map.space(system)).filter(|it| it.is_apart());
    json!(space.map(|it| it.to_string()))
}

/// The names of systems in their order.
pub(crate) fn all_names(map: &Map, systems: &[SystemIndex]) -> Vec<String> {
    let names = systems.iter();
    names.map(|&system| map.name(system).to_owned()).collect()
}

/// Whether nothing was counted.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The words for the security classes.
pub(crate) const CLASSES: [(&str, SecurityClass); 6] = [
    ("high", SecurityClass::High),
    ("low", SecurityClass::Low),
    ("null", SecurityClass::Null),
    ("highsec", SecurityClass::High),
    ("lowsec", SecurityClass::Low),
    ("nullsec", SecurityClass::Null),
];

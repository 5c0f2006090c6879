//! The user's own connections besides the gates, kept in a file: the jump bridges of an alliance, the wormholes of the
//! day.
//!
//! The file is a JSON array of the same objects that tools take as `connections`:
//!
//! ```json
//! [{"from": "1DQ1-A", "to": "T5ZI-S"}, {"from": "Thera", "to": "Jita", "both_ways": false, "cost": 3}]
//! ```

use std::path::Path;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use crate::files::{self, FileError};
use crate::name::Name;
use crate::route::MAX_EXTRAS;

/// The largest file in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The most connections in a call.
pub const MAX_OF_A_CALL: usize = 500;
/// The most connections in a file. Together with those of a call they are as many as a search takes.
pub const MAX_OF_A_FILE: usize = MAX_EXTRAS - MAX_OF_A_CALL;

/// A connection besides the gates.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// The system it begins in, by name or id.
    #[serde(deserialize_with = "name")]
    pub from: String,
    /// The system it leads to.
    #[serde(deserialize_with = "name")]
    pub to: String,
    /// Whether it can also be used in the other direction; true by default.
    pub both_ways: Option<bool>,
    /// The cost of using it, in jumps. By default it costs as much as a gate.
    pub cost: Option<f64>,
    /// The largest ship that it lets through; by default any.
    #[serde(default, alias = "max_ship_size")]
    pub max_ship: Option<Ship>,
    /// When it ends, in seconds since 1970; in the file a time such as `2026-11-27T21:00:00Z`. By default never.
    #[serde(default, alias = "expires_at", deserialize_with = "time")]
    pub expires: Option<i64>,
}

/// A size of ships, as wormholes tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ship {
    /// Frigates and destroyers.
    Small,
    /// Up to battlecruisers.
    Medium,
    /// Up to battleships.
    Large,
    /// Up to freighters.
    Xlarge,
    /// Any ship.
    Capital,
}

impl Connection {
    /// Whether it lets a ship of this size through at this time, in seconds since 1970.
    pub fn is_open(&self, ship: Option<Ship>, now: i64) -> bool {
        let fits = ship.is_none_or(|ship| self.max_ship.is_none_or(|most| ship <= most));
        fits && self.expires.is_none_or(|end| now < end)
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(deserializer)?;
    let time = text.map(|text| text.parse::<jiff::Timestamp>()).transpose();
    Ok(time.map_err(serde::de::Error::custom)?.map(jiff::Timestamp::as_second))
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Name::deserialize(deserializer)?.to_string())
}

// Written by hand: many tools include this schema, and each copy adds to the size of `tools/list`.
impl JsonSchema for Connection {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Connection".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "from": { "type": ["string", "integer"] },
                "to": { "type": ["string", "integer"] },
                "both_ways": { "type": "boolean" },
                "cost": { "type": "number", "minimum": 0, "maximum": 1_000_000 },
                "max_ship": { "enum": ["small", "medium", "large", "xlarge", "capital"] },
                "expires": { "type": "string" },
            },
            "required": ["from", "to"],
            "additionalProperties": false,
        })
    }
}

/// The highest cost of a connection, in jumps.
const MOST_COST: f64 = 1_000_000.0;

/// Reads the connections in a file. It does not check whether the systems exist; that needs the map.
///
/// # Errors
/// [`FileError`]; a file is read as a whole or not at all.
pub fn load(path: &Path) -> Result<Vec<Connection>, FileError> {
    let wrong = |problem: String| FileError::content(path, problem);
    let contents = files::read(path, MAX_FILE_BYTES)?;
    let connections: Vec<Connection> = serde_json::from_slice(&contents.bytes).map_err(|error| {
        wrong(format!(
            "{error}; it takes an array such as [{{\"from\": \"1DQ1-A\", \"to\": \"T5ZI-S\"}}], with both_ways, cost, \
             max_ship and expires where they are wanted"
        ))
    })?;
    if connections.len() > MAX_OF_A_FILE {
        return Err(wrong(format!(
            "it has more than the {MAX_OF_A_FILE} connections that such a file may have"
        )));
    }
    for (number, connection) in (1..).zip(&connections) {
        let cost = connection.cost.unwrap_or_default();
        if !(0.0..=MOST_COST).contains(&cost) {
            return Err(wrong(format!(
                "the cost of connection {number} is {cost}; it is a number of jumps from 0 to {MOST_COST}"
            )));
        }
    }
    Ok(connections)
}

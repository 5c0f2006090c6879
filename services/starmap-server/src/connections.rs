//! The user's own connections besides the gates, kept in a file: the jump bridges of an alliance, the wormholes of the
//! day.
//!
//! The file is a JSON array of the same objects that tools take as `connections`:
//!
//! ```json
//! [{"from": "1DQ1-A", "to": "T5ZI-S"}, {"from": "Thera", "to": "Jita", "both_ways": false, "cost": 3}]
//! ```
//!
//! or what another tool writes, see [`load`].

mod layout;

use std::borrow::Cow;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use crate::errors::shown;
use crate::files::{self, FileError};
use crate::map::{Map, Ship, SystemIndex};
use crate::route::{About, ConnectionKind, Cost, Extra, MAX_EXTRAS};

/// The largest file in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The most connections in a call.
pub const MAX_OF_A_CALL: usize = 500;
/// The most connections in a file. Together with those of a call they are as many as a search takes.
pub const MAX_OF_A_FILE: usize = MAX_EXTRAS - MAX_OF_A_CALL;

/// A connection besides the gates.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub struct Connection {
    /// The system it begins in, by name or id.
    pub from: String,
    /// The system it leads to.
    pub to: String,
    /// Whether it can also be used in the other direction; true by default.
    pub both_ways: Option<bool>,
    /// The cost of using it, in jumps. By default it costs as much as a gate.
    pub cost: Option<f64>,
    /// What it is: gate, bridge, wormhole, jump, other.
    pub kind: Option<ConnectionKind>,
    /// The largest ship that it lets through; by default any.
    pub max_ship: Option<Ship>,
    /// When it ends, in seconds since 1970; in the file a time such as `2026-11-27T21:00:00Z`. By default never.
    pub expires: Option<i64>,
    /// Whether a map has marked it as a wormhole at the end of its life, which is its last four hours.
    pub end_of_life: bool,
    /// Whether a map has marked it as a wormhole of critical mass, which may close with the next ship.
    pub critical: bool,
}

/// What was read from a file of connections.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Connections {
    /// The connections.
    pub list: Vec<Connection>,
    /// What was not understood, as a sentence.
    pub report: Option<String>,
}

impl Connection {
    /// Whether it lets a ship of this size through at this time, in seconds since 1970.
    pub fn is_open(&self, ship: Option<Ship>, now: i64) -> bool {
        let fits = ship.is_none_or(|ship| self.max_ship.is_none_or(|most| ship <= most));
        fits && self.expires.is_none_or(|end| now < end)
    }

    /// Why it cannot be: no jump of a drive ends in some spaces.
    pub(crate) fn refused(&self, map: &Map, from: SystemIndex, to: SystemIndex) -> Option<String> {
        let back = self.both_ways.unwrap_or(true).then_some(from);
        let mut ends = [to].into_iter().chain(back);
        let end = ends.find(|it| !map.space(*it).lets_drives_in())?;
        (self.kind == Some(ConnectionKind::Jump))
            .then(|| format!("no jump ends in {}, which is in {}", map.name(end), map.space(end)))
    }

    /// The connection between two systems of a map.
    pub(crate) fn between(&self, from: SystemIndex, to: SystemIndex) -> Extra {
        let both_ways = self.both_ways.unwrap_or(true);
        Extra { from, to, both_ways, cost: self.cost.and_then(Cost::new) }
    }

    /// What is known of it.
    pub(crate) fn about(&self, source: &'static str) -> About {
        let kind = self.kind.unwrap_or_default();
        let Self { max_ship, expires, end_of_life, critical, .. } = *self;
        About { kind, max_ship, expires, end_of_life, critical, source }
    }
}

/// The connections of a file that let a ship of a size through at a time, what is known of them, and a sentence for
/// each that is left out because it is no connection of this map. A map may lack systems that the file names.
pub(crate) fn resolve(
    map: &Map,
    connections: &[Connection],
    ship: Option<Ship>,
    time: i64,
) -> (Vec<Extra>, Vec<About>, Vec<String>) {
    let (mut list, mut about, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for connection in connections {
        let system =
            |name: &str| map.find(name).ok_or_else(|| format!("Unknown system: {}", shown(name)));
        let why =
            match system(&connection.from).and_then(|from| Ok((from, system(&connection.to)?))) {
                Ok((from, to)) if from != to => match connection.refused(map, from, to) {
                    Some(refused) => refused,
                    None => {
                        if connection.is_open(ship, time) {
                            list.push(connection.between(from, to));
                            about.push(connection.about("file"));
                        }
                        continue;
                    }
                },
                Ok(_) => "it leads back to where it begins".to_owned(),
                Err(unknown) => unknown,
            };
        left_out.push(format!(
            "the connection from {} to {} is left out: {why}",
            shown(&connection.from),
            shown(&connection.to)
        ));
    }
    (list, about, left_out)
}

/// Reads the connections in a file: the array of this program, or a layout of eve-scout, Wanderer, Pathfinder or the
/// game's public API, or a list of bridges with a line for each. An entry that is not understood costs itself, an
/// unknown member nothing. It does not check whether the systems exist; that needs the map.
///
/// # Errors
/// [`FileError`] if nothing in the file is a connection.
pub fn load(path: &Path) -> Result<Connections, FileError> {
    let contents = files::read(path, MAX_FILE_BYTES)?;
    layout::read(&contents.bytes).map_err(|problem| FileError::content(path, problem))
}

impl TryFrom<serde_json::Value> for Connection {
    type Error = String;

    fn try_from(entry: serde_json::Value) -> Result<Self, String> {
        layout::one(&entry)
    }
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
            "type": ["object", "array"],
            // Some clients refuse an array of which the schema does not say the items.
            "items": {},
            "properties": {
                "from": { "type": ["string", "integer"] },
                "to": { "type": ["string", "integer"] },
                "both_ways": { "type": "boolean", "default": true },
                "cost": { "type": "number", "minimum": 0, "maximum": 1_000_000 },
                "kind": { "type": "string" },
                "max_ship": { "type": "string" },
                "expires": { "type": "string" },
            },
            "required": ["from", "to"],
            "additionalProperties": false,
        })
    }
}

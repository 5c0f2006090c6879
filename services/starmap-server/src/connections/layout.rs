//! The layouts of connections that other tools write.
//!
//! | source | layout |
//! |---|---|
//! | this program, the public API's `POST /route` | objects with `from` and `to`, or pairs of ids; also under `connections` |
//! | eve-scout, `/v2/public/signatures` | `out_system_id`, `in_system_id`, `max_ship_size`, `expires_at`, … |
//! | Wanderer, `/api/map/connections` | under `data`: `solar_system_source`, `solar_system_target`, `time_status`, … |
//! | Pathfinder, export of a map | under `data`: `systems` with `id` and `systemId`, `connections` with `source` and `target` |
//! | bridge lists (SMT, the names of Ansiblexes, tables, chats) | lines: `ID A --> B`, `A » B - name`, `A,B` |

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::{Connection, Connections, MAX_OF_A_FILE};
use crate::errors::shown;
use crate::map::Ship;
use crate::route::ConnectionKind;

/// The members that name the ends, by layout.
const ENDS: [(&str, &str); 9] = [
    ("from", "to"),
    ("out_system_id", "in_system_id"),
    ("out_system_name", "in_system_name"),
    ("solar_system_source", "solar_system_target"),
    ("source", "target"),
    ("from_system_id", "to_system_id"),
    ("from_system", "to_system"),
    ("system_a", "system_b"),
    ("sourceSolarSystem", "destinationSolarSystem"),
];
/// The members of this program's layout; others are told.
const KNOWN: [&str; 11] = [
    "from",
    "to",
    "both_ways",
    "cost",
    "kind",
    "max_ship",
    "max_ship_size",
    "expires",
    "expires_at",
    "time_status",
    "mass_status",
];
/// The members of a file that hold its connections.
const LISTS: [&str; 6] = ["connections", "signatures", "data", "wormholes", "bridges", "list"];
/// What stands between the ends in a line.
const ARROWS: [&str; 7] = ["-->", "»", "<->", "->", "=>", ";", ","];
/// The most unknown members that are told.
const MAX_TOLD: usize = 5;
/// The highest cost of a connection, in jumps.
const MOST_COST: f64 = 1_000_000.0;

const EXPECTED: &str = "it takes an array such as [{\"from\": \"1DQ1-A\", \"to\": \"T5ZI-S\"}], with both_ways, cost, \
     kind, max_ship and expires where they are wanted, the export of eve-scout, Wanderer or Pathfinder, or lines such \
     as 1DQ1-A --> T5ZI-S";

/// What was read so far.
#[derive(Default)]
struct Reading {
    list: Vec<Connection>,
    entries: usize,
    wrong: usize,
    first: Option<String>,
    unknown: BTreeSet<String>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Connections, String> {
    let mut reading = Reading::default();
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => reading.value(value)?,
        Err(error) => match str::from_utf8(bytes) {
            Ok(text) if !is_json(text) => reading.lines(text)?,
            _ => return Err(format!("{error}; {EXPECTED}")),
        },
    }
    reading.finish()
}

/// Whether a text that is no JSON was meant to be. A line of a chat begins with its time in brackets.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    let list = text.strip_prefix('[').map(str::trim_start);
    list.is_some_and(|it| !it.starts_with(|c: char| c.is_ascii_digit())) || text.starts_with('{')
}

/// A single connection, as tools take it.
pub(super) fn one(entry: &Value) -> Result<Connection, String> {
    Reading::default().entry(entry, &BTreeMap::new())
}

impl Reading {
    fn value(&mut self, value: Value) -> Result<(), String> {
        let (entries, ids) = entries(value)?;
        for entry in entries {
            let connection = self.entry(&entry, &ids);
            self.take(connection)?;
        }
        Ok(())
    }

    fn lines(&mut self, text: &str) -> Result<(), String> {
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
        for (number, line) in lines.enumerate() {
            let lower = line.to_lowercase();
            // The head of a table.
            if number == 0 && (lower.contains("from") || lower.contains("system")) {
                continue;
            }
            self.take(line_of(line))?;
        }
        Ok(())
    }

    fn take(&mut self, connection: Result<Connection, String>) -> Result<(), String> {
        self.entries += 1;
        if self.entries > MAX_OF_A_FILE {
            return Err(format!(
                "it has more than the {MAX_OF_A_FILE} connections that such a file may have"
            ));
        }
        match connection {
            Ok(connection) => self.list.push(connection),
            Err(why) => {
                self.wrong += 1;
                let number = self.entries;
                self.first.get_or_insert_with(|| format!("number {number}: {why}"));
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        entry: &Value,
        ids: &BTreeMap<String, String>,
    ) -> Result<Connection, String> {
        match entry {
            Value::Object(entry) => self.object(entry, ids),
            Value::Array(pair) => match pair.as_slice() {
                [from, to] => plain(text(from), text(to)),
                _ => Err("it is a list of other than two systems".to_owned()),
            },
            Value::String(line) => line_of(line),
            _ => Err("it is not an object".to_owned()),
        }
    }

    fn object(
        &mut self,
        entry: &Map<String, Value>,
        ids: &BTreeMap<String, String>,
    ) -> Result<Connection, String> {
        let ends =
            ENDS.iter().find(|(from, to)| entry.contains_key(*from) && entry.contains_key(*to));
        let Some((from, to)) = ends else {
            let names: Vec<&str> = entry.keys().take(12).map(String::as_str).collect();
            return Err(format!(
                "it does not say from where to where; it has {}",
                names.join(", ")
            ));
        };
        let end = |name: &str| {
            let given = entry.get(name).and_then(text);
            given.map(|given| ids.get(&given).cloned().unwrap_or(given))
        };
        let mut connection = plain(end(from), end(to))?;
        if *from == "from" {
            let unknown = entry.keys().filter(|it| !KNOWN.contains(&it.as_str()));
            self.unknown.extend(unknown.take(MAX_TOLD).map(|it| shown(it)));
        }
        let member = |names: &[&str]| {
            names.iter().find_map(|name| entry.get(*name)).filter(|it| !it.is_null())
        };
        if let Some(given) = member(&["both_ways"]) {
            let why = || format!("both_ways is {given}; it is true or false, without quotes");
            connection.both_ways = Some(given.as_bool().ok_or_else(why)?);
        }
        if let Some(cost) = member(&["cost"]) {
            let jumps = cost.as_f64().filter(|cost| (0.0..=MOST_COST).contains(cost));
            let why =
                || format!("the cost is {cost}; it is a number of jumps from 0 to {MOST_COST}");
            connection.cost = Some(jumps.ok_or_else(why)?);
        }
        if let Some(given) = member(&["max_ship", "max_ship_size", "ship_size_type", "maxShipSize"])
        {
            let why =
                || format!("the size {given} is none of small, medium, large, xlarge, capital");
            connection.max_ship = Some(ship(given).ok_or_else(why)?);
        }
        if let Some(given) = member(&["expires", "expires_at", "wh_expires_at", "expiresAt"]) {
            let given = given.as_str().ok_or("the time it ends is not text")?;
            connection.expires = Some(time(given)?);
        }
        let words = member(&["kind", "type", "scope", "signature_type", "connection_type"]);
        let words = words.map(|it| it.as_array().cloned().unwrap_or_else(|| vec![it.clone()]));
        for word in words.into_iter().flatten() {
            let number = word.as_u64().and_then(|it| {
                // Wanderer's numbers.
                [ConnectionKind::Wormhole, ConnectionKind::Gate, ConnectionKind::Bridge]
                    .get(usize::try_from(it).ok()?)
                    .copied()
            });
            let word = word.as_str().unwrap_or_default();
            // Pathfinder's words for sizes stand in the same list.
            connection.max_ship = connection
                .max_ship
                .or_else(|| ship(&word.trim_start_matches("wh_jump_mass_").into()));
            connection.kind = connection.kind.or(number).or_else(|| kind(word));
            match word {
                "wh_critical" => connection.critical = true,
                "wh_fresh" | "wh_reduced" => {}
                // Some of its versions have `wh_eol_critical` for the last hour.
                _ if word.starts_with("wh_eol") => connection.end_of_life = true,
                _ if word.starts_with("wh_") && !word.starts_with("wh_jump_mass_") => {
                    self.unknown.insert(format!("type {}", shown(word)));
                }
                _ => {}
            }
        }
        let mut status = |name: &str, most: u64, marked: RangeInclusive<u64>| {
            let given = member(&[name])?;
            let number = given.as_u64().filter(|it| *it <= most);
            if number.is_none() {
                self.unknown.insert(format!("{name} {}", shown(&given.to_string())));
            }
            number.map(|it| marked.contains(&it))
        };
        // Wanderer's numbers: 1 was the last four hours; now it is the last one, 2 the last four, and more are longer.
        connection.end_of_life |= status("time_status", 6, 1..=2).unwrap_or(false);
        connection.critical |= status("mass_status", 2, 2..=2).unwrap_or(false);
        if let Some(given) = entry.get("kind").filter(|_| connection.kind.is_none()) {
            self.unknown.insert(format!("kind {}", shown(&given.to_string())));
        }
        if connection.kind.is_none() && (entry.contains_key("wh_type") || *from == "source") {
            connection.kind = Some(ConnectionKind::Wormhole);
        }
        Ok(connection)
    }

    fn finish(self) -> Result<Connections, String> {
        let Self { list, entries, wrong, first, unknown } = self;
        if list.is_empty() && entries > 0 {
            let first = first.unwrap_or_default();
            return Err(format!("none of {entries} entries is a connection; {first}; {EXPECTED}"));
        }
        let wrong = first.map(|first| {
            format!("{wrong} of {entries} connections of the file are not understood; {first}")
        });
        let unknown: Vec<String> = unknown.into_iter().take(MAX_TOLD).collect();
        let unknown = (!unknown.is_empty())
            .then(|| format!("members of connections that are not known: {}", unknown.join(", ")));
        let report: Vec<String> = wrong.into_iter().chain(unknown).collect();
        Ok(Connections { list, report: (!report.is_empty()).then(|| report.join(". ")) })
    }
}

/// The entries of a file, and for Pathfinder the ids of systems by those of its own.
fn entries(value: Value) -> Result<(Vec<Value>, BTreeMap<String, String>), String> {
    let mut ids = BTreeMap::new();
    let mut value = value;
    // Lists may be one within the other, as in {"data": {"connections": []}}.
    for _ in 0..3 {
        let mut object = match value {
            Value::Array(list) => return Ok((list, ids)),
            Value::Object(object) => object,
            _ => break,
        };
        for system in object.get("systems").and_then(Value::as_array).into_iter().flatten() {
            let own = system.get("id").and_then(text);
            ids.extend(own.zip(system.get("systemId").and_then(text)));
        }
        let list = LISTS.iter().find_map(|name| object.remove(*name));
        value = list.ok_or_else(|| {
            let names: Vec<&str> = object.keys().take(12).map(String::as_str).collect();
            format!("its members are {}; {EXPECTED}", shown(&names.join(", ")))
        })?;
    }
    Err(EXPECTED.to_owned())
}

/// `1034323745897 1DQ1-A --> T5ZI-S`, `1DQ1-A » T5ZI-S - Keepstar road`, `1DQ1-A,T5ZI-S`
fn line_of(line: &str) -> Result<Connection, String> {
    let spoken = untagged(line);
    // In a chat of the game the time and the pilot stand before it.
    let spoken = match spoken.split_once(" > ") {
        Some((pilot, rest)) if !ARROWS.iter().any(|arrow| pilot.contains(arrow)) => rest,
        _ => &spoken,
    };
    let ends = ARROWS.iter().find_map(|arrow| spoken.split_once(arrow));
    let (from, to) = ends.ok_or_else(|| format!("{:?} does not name two systems", shown(line)))?;
    // The id of a structure stands before the first, a name or further columns behind the second.
    let from = from.trim().trim_matches('"');
    let structure = |word: &str| word.len() > 8 && word.bytes().all(|it| it.is_ascii_digit());
    let from = match from.split_once(char::is_whitespace) {
        Some((id, rest)) if structure(id) => rest,
        _ => from,
    };
    let to = to.split([',', ';', '\t']).next().unwrap_or_default();
    let to = to.split(" - ").next().unwrap_or_default();
    let end =
        |text: &str| Some(text.trim().trim_matches('"').to_owned()).filter(|it| !it.is_empty());
    let kind = Some(ConnectionKind::Bridge);
    Ok(Connection { kind, ..plain(end(from), end(to))? })
}

/// A line without the game's links, `<url=showinfo:35841//1034323745897>` and `</url>`. An arrow may be `<->`.
fn untagged(line: &str) -> String {
    let mut parts = line.split('<');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once('>') {
        Some((tag, rest)) if !tag.starts_with('-') => text + rest,
        _ => text + "<" + part,
    })
}

fn plain(from: Option<String>, to: Option<String>) -> Result<Connection, String> {
    let end =
        |end: Option<String>| end.ok_or_else(|| "an end of it is not a name or an id".to_owned());
    Ok(Connection { from: end(from)?, to: end(to)?, ..Connection::default() })
}

/// A name or an id; systems may also be objects with either.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(system) => {
            let named = ["solar_system_id", "system_id", "id", "name"];
            named.iter().find_map(|name| system.get(*name)).and_then(|it| match it {
                Value::Object(_) => None,
                plain => text(plain),
            })
        }
        _ => None,
    }
}

/// A time such as `2026-11-27T21:00:00Z`, in seconds since 1970. Without a zone it is of UTC, as in the game.
fn time(text: &str) -> Result<i64, String> {
    let zoned = text.parse::<jiff::Timestamp>().map(jiff::Timestamp::as_second);
    let in_utc = || {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        Some(civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
    };
    zoned.or_else(|error| in_utc().ok_or_else(|| error.to_string()))
}

/// A size by a word of this program, of eve-scout or of Pathfinder, or by a number of Wanderer.
fn ship(given: &Value) -> Option<Ship> {
    let number = given.as_u64().and_then(|it| usize::try_from(it).ok());
    if let Some((_, ship)) = number.and_then(|at| Ship::WORDS.get(at)) {
        return Some(*ship);
    }
    let word = given.as_str()?.trim().to_lowercase().replace([' ', '-', '_'], "");
    Some(match word.as_str() {
        "s" | "frigate" | "destroyer" => Ship::Small,
        "m" | "cruiser" | "battlecruiser" => Ship::Medium,
        "l" | "battleship" => Ship::Large,
        "xl" | "extralarge" | "freighter" | "verylarge" => Ship::Xlarge,
        "xxl" => Ship::Capital,
        other => Ship::WORDS.iter().find(|(word, _)| *word == other)?.1,
    })
}

fn kind(word: &str) -> Option<ConnectionKind> {
    let word = word.trim().to_lowercase().replace([' ', '-'], "_");
    let known = ConnectionKind::WORDS.iter().find(|(known, _)| *known == word);
    known.map(|(_, kind)| *kind)
}

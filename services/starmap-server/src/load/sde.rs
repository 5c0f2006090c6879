//! The Static Data Export in JSON Lines: documents with one object per line, its id in `_key`.
//!
//! The documents are described at <https://developers.eveonline.com/docs/services/static-data/>.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::error::{Problem, Table};
use super::source::{MAX_ENTRY_BYTES, MAX_LINE_BYTES};
use super::{Read, json};
use crate::map::{Kind, PartsConstellation, PartsRegion, PartsSystem, Warning, within};

/// A document of the export with data of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Document {
    /// The build number and date.
    About,
    Regions,
    Constellations,
    Systems,
    Gates,
}

impl Document {
    const ALL: [Self; 5] =
        [Self::About, Self::Regions, Self::Constellations, Self::Systems, Self::Gates];

    /// The name of its file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::About => "_sde.jsonl",
            Self::Regions => "mapRegions.jsonl",
            Self::Constellations => "mapConstellations.jsonl",
            Self::Systems => "mapSolarSystems.jsonl",
            Self::Gates => "mapStargates.jsonl",
        }
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Checks that all documents that a map needs are present.
pub(super) fn complete<T>(documents: &BTreeMap<Document, T>) -> Result<(), Problem> {
    let needed = [
        (Document::Systems, Table::Systems),
        (Document::Gates, Table::Gates),
        (Document::Constellations, Table::Constellations),
        (Document::Regions, Table::Regions),
    ];
    let mut needed = needed.into_iter();
    match needed.find(|(document, _)| !documents.contains_key(document)) {
        Some((_, table)) => Err(Problem::NoTable(table)),
        None => Ok(()),
    }
}

/// Whether this JSON has one object per line, the first of them with a `_key`.
pub(super) fn is_lines(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Keyed {
        #[serde(rename = "_key")]
        _key: IgnoredAny,
    }
    let first = bytes.split(|byte| *byte == b'\n').next();
    let first = json::without_mark(first.unwrap_or_default());
    serde_json::from_slice::<Keyed>(first).is_ok()
}

/// Reads one document, line by line.
pub(super) fn read(
    document: Document,
    reader: impl io::Read,
    read: &mut Read,
) -> Result<(), Problem> {
    let Read { parts, warnings, members, listed } = read;
    match document {
        // It has one line; any bound does.
        Document::About => lines(reader, Kind::Region, |about: About, _| {
            let build = about.build_number.map(|number| format!("SDE {number}"));
            let date = about.release_date.as_deref().and_then(|date| date.get(..10));
            let both = build.into_iter().chain(date.map(str::to_owned));
            parts.version = both.collect::<Vec<_>>().join(", ");
        }),
        Document::Regions => lines(reader, Kind::Region, |region: Region, _| {
            parts.wormhole_classes.extend(region.class.map(|class| (region.key, class)));
            parts.regions.push(PartsRegion { id: region.key, name: region.name.english() });
        }),
        Document::Constellations => lines(reader, Kind::Constellation, |it: Constellation, _| {
            parts.wormhole_classes.extend(it.class.map(|class| (it.key, class)));
            parts.constellations.push(PartsConstellation {
                id: it.key,
                name: it.name.english(),
                region: it.region,
            });
        }),
        Document::Systems => lines(reader, Kind::System, |mut it: System, line| {
            let id = it.key;
            let Some(security) = it.security else {
                let lacks = "securityStatus";
                members.entry(lacks).or_insert_with(|| members_of(line));
                warnings.push(Warning::Incomplete { kind: Kind::System, id, lacks });
                return;
            };
            for gate in it.gates {
                listed.insert(gate, id);
            }
            parts.wormhole_classes.extend(it.class.map(|class| (id, class)));
            parts.other_names.extend(it.name.others(id));
            parts.systems.push(PartsSystem {
                id,
                name: it.name.english(),
                security,
                constellation: it.constellation,
                position: it.position.map(json::Position::metres),
            });
        }),
        Document::Gates => {
            let read = lines(reader, Kind::Gate, |gate: Gate, line| {
                listed.remove(&gate.key);
                let (id, kind, lacks) = (gate.key, Kind::Gate, "destination");
                match gate.destination {
                    Some(to) => {
                        parts.gates.push((gate.system, to.system));
                        parts.gate_ids.push((gate.system, to.system, id));
                    }
                    None => {
                        members.entry(lacks).or_insert_with(|| members_of(line));
                        warnings.push(Warning::Incomplete { kind, id, lacks });
                    }
                }
            });
            // The systems have been read before.
            let missing = std::mem::take(listed).into_iter();
            warnings.extend(missing.map(|(gate, system)| Warning::NoGate { system, gate }));
            read
        }
    }
}

/// The document with the entries of a kind.
pub(super) fn file_of(kind: Kind) -> &'static str {
    let document = match kind {
        Kind::Region => Document::Regions,
        Kind::Constellation => Document::Constellations,
        Kind::System => Document::Systems,
        Kind::Gate => Document::Gates,
    };
    document.name()
}

/// The members of the object in a line, for an error.
fn members_of(line: &[u8]) -> String {
    let object: BTreeMap<String, IgnoredAny> = serde_json::from_slice(line).unwrap_or_default();
    let names: Vec<String> = object.into_keys().take(MAX_TOLD).collect();
    names.join(", ")
}

/// The most members of a line that an error names.
const MAX_TOLD: usize = 20;

#[derive(Deserialize)]
struct About {
    #[serde(rename = "buildNumber")]
    build_number: Option<u64>,
    #[serde(rename = "releaseDate")]
    release_date: Option<String>,
}

#[derive(Deserialize)]
struct Region {
    #[serde(rename = "_key")]
    key: u32,
    name: json::Name,
    #[serde(rename = "wormholeClassID")]
    class: Option<u8>,
}

#[derive(Deserialize)]
struct Constellation {
    #[serde(rename = "_key")]
    key: u32,
    name: json::Name,
    #[serde(rename = "regionID")]
    region: u32,
    #[serde(rename = "wormholeClassID")]
    class: Option<u8>,
}

#[derive(Deserialize)]
struct System {
    #[serde(rename = "_key")]
    key: u32,
    name: json::Name,
    #[serde(rename = "securityStatus")]
    security: Option<f64>,
    #[serde(rename = "constellationID")]
    constellation: u32,
    position: Option<json::Position>,
    #[serde(rename = "stargateIDs", default)]
    gates: Vec<u32>,
    #[serde(rename = "wormholeClassID")]
    class: Option<u8>,
}

#[derive(Deserialize)]
struct Gate {
    #[serde(rename = "_key")]
    key: u32,
    #[serde(rename = "solarSystemID")]
    system: u32,
    destination: Option<Destination>,
}

#[derive(Deserialize)]
struct Destination {
    #[serde(rename = "solarSystemID")]
    system: u32,
}

/// Reads each line that is not blank as one value, with bounds on their number and length.
fn lines<T: DeserializeOwned>(
    reader: impl io::Read,
    kind: Kind,
    mut each: impl FnMut(T, &[u8]),
) -> Result<(), Problem> {
    let mut reader = BufReader::new(reader.take(MAX_ENTRY_BYTES + 1));
    let mut line = Vec::new();
    let mut count = 0;
    for number in 1.. {
        line.clear();
        let mut bounded = reader.by_ref().take(MAX_LINE_BYTES + 1);
        bounded.read_until(b'\n', &mut line)?;
        if bounded.limit() == 0 {
            return Err(Problem::TooLarge { what: format!("line {number}"), most: MAX_LINE_BYTES });
        }
        if line.is_empty() {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        count += 1;
        within(kind, count)?;
        let text = json::without_mark(&line);
        let value = serde_json::from_slice(text);
        each(value.map_err(|error| Problem::line(number, json::said(&error)))?, text);
    }
    if reader.get_ref().limit() == 0 {
        return Err(Problem::TooLarge {
            what: "what is in the file".to_owned(),
            most: MAX_ENTRY_BYTES,
        });
    }
    Ok(())
}

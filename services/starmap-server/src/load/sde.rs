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
use crate::map::{
    Kind, MAX_CONSTELLATIONS, MAX_GATES, MAX_REGIONS, MAX_SYSTEMS, MapError, PartsConstellation,
    PartsRegion, PartsSystem, Warning,
};

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
    let Read { parts, warnings } = read;
    match document {
        Document::About => lines(reader, (Kind::System, MAX_LINES_ABOUT), |about: About| {
            let build = about.build_number.map(|number| format!("SDE {number}"));
            let date = about.release_date.as_deref().and_then(|date| date.get(..10));
            let both = build.into_iter().chain(date.map(str::to_owned));
            parts.version = both.collect::<Vec<_>>().join(", ");
        }),
        Document::Regions => lines(reader, (Kind::Region, MAX_REGIONS), |region: Region| {
            parts.regions.push(PartsRegion { id: region.key, name: region.name.english() });
        }),
        Document::Constellations => lines(
            reader,
            (Kind::Constellation, MAX_CONSTELLATIONS),
            |constellation: Constellation| {
                parts.constellations.push(PartsConstellation {
                    id: constellation.key,
                    name: constellation.name.english(),
                    region: constellation.region,
                });
            },
        ),
        Document::Systems => lines(reader, (Kind::System, MAX_SYSTEMS), |system: System| {
            let Some(security) = system.security else {
                warnings.push(Warning::Incomplete {
                    kind: Kind::System,
                    id: system.key,
                    lacks: "security status",
                });
                return;
            };
            parts.systems.push(PartsSystem {
                id: system.key,
                name: system.name.english(),
                security,
                constellation: system.constellation,
                position: system.position.map(json::Position::metres),
            });
        }),
        Document::Gates => {
            lines(reader, (Kind::Gate, MAX_GATES), |gate: Gate| match gate.destination {
                Some(destination) => parts.gates.push((gate.system, destination.system)),
                None => warnings.push(Warning::Incomplete {
                    kind: Kind::Gate,
                    id: gate.key,
                    lacks: "destination",
                }),
            })
        }
    }
}

/// How many lines the document about the export may have; so far it has one.
const MAX_LINES_ABOUT: usize = 100;

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
}

#[derive(Deserialize)]
struct Constellation {
    #[serde(rename = "_key")]
    key: u32,
    name: json::Name,
    #[serde(rename = "regionID")]
    region: u32,
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
    (kind, most): (Kind, usize),
    mut each: impl FnMut(T),
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
        if count > most {
            return Err(MapError::TooMany { kind, most }.into());
        }
        let value = serde_json::from_slice(json::without_mark(&line));
        let value = value.map_err(|error| Problem::line(number, json::said(&error)))?;
        each(value);
    }
    if reader.get_ref().limit() == 0 {
        return Err(Problem::TooLarge {
            what: "what is in the file".to_owned(),
            most: MAX_ENTRY_BYTES,
        });
    }
    Ok(())
}

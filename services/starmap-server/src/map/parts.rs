//! The contents of a file about a map, before the map is built.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The most systems of a map. New Eden has 8,437.
pub const MAX_SYSTEMS: usize = 100_000;
/// The most constellations of a map. New Eden has 1,175.
pub const MAX_CONSTELLATIONS: usize = 20_000;
/// The most regions of a map. New Eden has 113.
pub const MAX_REGIONS: usize = 5_000;
/// The most gates of a map. New Eden has 13,776.
pub const MAX_GATES: usize = 1_000_000;
/// The longest name, and the longest version, in bytes.
pub const MAX_NAME_BYTES: usize = 100;

/// The contents of a file about a map, in any order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parts {
    /// The version of the data. If it is empty, longer than a name may be, or not one line, a digest of the map
    /// replaces it.
    pub version: String,
    /// The regions.
    pub regions: Vec<PartsRegion>,
    /// The constellations.
    pub constellations: Vec<PartsConstellation>,
    /// The systems.
    pub systems: Vec<PartsSystem>,
    /// Pairs of system ids, once or twice for each connection: a gate leads in both directions.
    pub gates: Vec<(u32, u32)>,
    /// The ids of the stargates that are known: from a system to a system, the id.
    pub gate_ids: Vec<(u32, u32, u32)>,
    /// The class of wormhole space by the id of a system, else of its constellation, else of its region.
    pub wormhole_classes: BTreeMap<u32, u8>,
    /// Names of systems in other languages, with the id of the system.
    pub other_names: Vec<(String, u32)>,
}

/// A region in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsRegion {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A constellation in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsConstellation {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The id of its region.
    pub region: u32,
}

/// A system in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartsSystem {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its unrounded security status.
    pub security: f64,
    /// The id of its constellation.
    pub constellation: u32,
    /// Its position in metres.
    pub position: Option<[f64; 3]>,
}

/// What kind of thing an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A region.
    Region,
    /// A constellation.
    Constellation,
    /// A system.
    System,
    /// A stargate.
    Gate,
}

/// An entry of a file that was left out or changed. All other entries are on the map unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A constellation of a missing region was left out.
    NoRegion {
        /// The constellation.
        constellation: u32,
        /// The region it names.
        region: u32,
    },
    /// A system of a missing constellation was left out.
    NoConstellation {
        /// The system.
        system: u32,
        /// The constellation it names.
        constellation: u32,
    },
    /// A gate from or to a missing system was left out.
    NoSystem {
        /// Where it begins.
        from: u32,
        /// Where it leads.
        to: u32,
    },
    /// A system lists a gate that the file does not define.
    NoGate {
        /// The system.
        system: u32,
        /// The gate it lists.
        gate: u32,
    },
    /// A gate from a system to itself was left out.
    Circle {
        /// The system.
        system: u32,
    },
    /// A gate listed in one direction only, in a file that lists most gates from both ends. It leads in both
    /// directions.
    OneWay {
        /// Where it begins.
        from: u32,
        /// Where it leads.
        to: u32,
    },
    /// An entry that lacks a required member was left out.
    Incomplete {
        /// What it is.
        kind: Kind,
        /// Its id.
        id: u32,
        /// The missing member.
        lacks: &'static str,
    },
    /// An entry whose name belongs to an entry with a lower id was renamed, with its own id: `Name (30000142)`.
    SameName {
        /// The kind of entry.
        kind: Kind,
        /// The id of the renamed entry.
        id: u32,
        /// The name in the file.
        name: Box<str>,
        /// The id of the entry that keeps the name.
        first: u32,
    },
}

impl Kind {
    /// The most entries of the kind that a map may have.
    pub const fn most(self) -> usize {
        match self {
            Self::Region => MAX_REGIONS,
            Self::Constellation => MAX_CONSTELLATIONS,
            Self::System => MAX_SYSTEMS,
            Self::Gate => MAX_GATES,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Region => "region",
            Self::Constellation => "constellation",
            Self::System => "system",
            Self::Gate => "stargate",
        })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion { constellation: it, region } => {
                write!(f, "constellation {it} is left out: its region {region} is not in the file")
            }
            Self::NoConstellation { system: it, constellation } => write!(
                f,
                "system {it} is left out: its constellation {constellation} is not in the file"
            ),
            Self::NoSystem { from, to } => write!(
                f,
                "the gate from {from} to {to} is left out: one of the systems is not on the map"
            ),
            Self::NoGate { system, gate } => write!(
                f,
                "stargate {gate} of system {system} is left out: the file does not say where it leads"
            ),
            Self::Circle { system } => {
                write!(f, "a gate of system {system} is left out: it leads back to it")
            }
            Self::OneWay { from, to } => write!(
                f,
                "the gate from {from} to {to} has none that leads back: it is taken to lead both ways"
            ),
            Self::Incomplete { kind, id, lacks } => {
                write!(f, "{kind} {id} is left out: it has no {lacks}")
            }
            Self::SameName { kind, id, name, first } => write!(
                f,
                "{kind} {id} bears the name of {kind} {first}, {name:?}: it is called \"{name} ({id})\" here"
            ),
        }
    }
}

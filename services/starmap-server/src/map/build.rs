//! Putting a map together from what a file says.

use std::collections::{HashMap, HashSet};
use std::fmt;

use sha2::{Digest as _, Sha256};

use super::names::{Names, fold};
use super::{
    Constellation, ConstellationIndex, Map, Region, RegionIndex, SecurityClass, System, SystemIndex,
};

/// The most systems of a map. New Eden has 8,437.
pub const MAX_SYSTEMS: usize = 100_000;
/// The most constellations of a map. New Eden has 1,175.
pub const MAX_CONSTELLATIONS: usize = 20_000;
/// The most regions of a map. New Eden has 113.
pub const MAX_REGIONS: usize = 5_000;
/// The most gates of a map. New Eden has 13,776.
pub const MAX_GATES: usize = 1_000_000;
/// The longest name in bytes.
pub const MAX_NAME_BYTES: usize = 100;

/// What a file says about a map, in any order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// The version of the data; if empty, a digest of the map stands for it.
    pub version: String,
    /// The regions.
    pub regions: Vec<PartsRegion>,
    /// The constellations.
    pub constellations: Vec<PartsConstellation>,
    /// The systems.
    pub systems: Vec<PartsSystem>,
    /// From system to system by id, once or twice for each connection: a gate leads both ways.
    pub gates: Vec<(u32, u32)>,
}

/// A region in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartsRegion {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A constellation in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartsConstellation {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The id of its region.
    pub region: u32,
}

/// A system in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct PartsSystem {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its unrounded security status.
    pub security: f64,
    /// The id of its constellation.
    pub constellation: u32,
    /// Where it is, in metres.
    pub position: Option<[f64; 3]>,
}

/// An entry of a file that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A constellation of a region that is not there.
    NoRegion {
        /// The constellation.
        constellation: u32,
        /// The region it names.
        region: u32,
    },
    /// A system of a constellation that is not there.
    NoConstellation {
        /// The system.
        system: u32,
        /// The constellation it names.
        constellation: u32,
    },
    /// A gate from or to a system that is not there.
    NoSystem {
        /// Where it begins.
        from: u32,
        /// Where it leads.
        to: u32,
    },
    /// A gate that leads to where it begins.
    Circle {
        /// The system.
        system: u32,
    },
}

/// A map that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// There is nothing on it.
    #[error("there is no system in it")]
    Empty,
    /// More than a map may have.
    #[error("{count} {what} are more than the {most} that a map may have")]
    TooMany {
        /// Systems, constellations, regions or gates.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// Two entries with one id.
    #[error("two {what} have the id {id}")]
    SameId {
        /// Systems, constellations or regions.
        what: &'static str,
        /// The id.
        id: u32,
    },
    /// Two entries with one name.
    #[error("two {what} have the name {name:?}")]
    SameName {
        /// Systems, constellations or regions.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name that is empty or too long.
    #[error("the name {name:?} of {id} is empty or longer than {MAX_NAME_BYTES} bytes")]
    Name {
        /// The id of what bears it.
        id: u32,
        /// Its first characters.
        name: String,
    },
    /// A security status beyond -1 to 1, or none at all.
    #[error("the security status {security} of the system {id} is not between -1 and 1")]
    Security {
        /// The system.
        id: u32,
        /// The status.
        security: String,
    },
    /// A position that is no number.
    #[error("the position of the system {id} is not made of finite numbers")]
    Position {
        /// The system.
        id: u32,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion {
                constellation,
                region,
            } => write!(
                f,
                "constellation {constellation} is left out: its region {region} is not in the file"
            ),
            Self::NoConstellation {
                system,
                constellation,
            } => write!(
                f,
                "system {system} is left out: its constellation {constellation} is not in the file"
            ),
            Self::NoSystem { from, to } => write!(
                f,
                "the gate from {from} to {to} is left out: one of the systems is not in the file"
            ),
            Self::Circle { system } => {
                write!(
                    f,
                    "a gate of system {system} is left out: it leads back to it"
                )
            }
        }
    }
}

pub(super) fn build(mut parts: Parts) -> Result<(Map, Vec<Warning>), MapError> {
    judge(&parts)?;
    parts.regions.sort_unstable_by_key(|region| region.id);
    parts
        .constellations
        .sort_unstable_by_key(|constellation| constellation.id);
    parts.systems.sort_unstable_by_key(|system| system.id);
    let version = match parts.version.is_empty() {
        true => digest(&mut parts),
        false => std::mem::take(&mut parts.version),
    };
    let mut warnings = Vec::new();
    let mut regions: Vec<Region> = Vec::with_capacity(parts.regions.len());
    for region in parts.regions {
        regions.push(Region {
            id: region.id,
            name: region.name.trim().into(),
            constellations: Vec::new(),
        });
    }
    let constellations = constellations(parts.constellations, &mut regions, &mut warnings);
    let (mut systems, constellations) = systems(parts.systems, constellations, &mut warnings);
    if systems.is_empty() {
        return Err(MapError::Empty);
    }
    let (starts, neighbours) = arcs(&parts.gates, &systems, &mut warnings);
    let names = Names::new(&systems, &constellations, &regions);
    mark_borders(&mut systems, &starts, &neighbours);
    let map = Map {
        version,
        regions,
        constellations,
        systems,
        connections: neighbours.len() / 2,
        starts,
        neighbours,
        names,
    };
    Ok((map, warnings))
}

fn judge(parts: &Parts) -> Result<(), MapError> {
    let within = |what, count, most| match count <= most {
        true => Ok(()),
        false => Err(MapError::TooMany { what, count, most }),
    };
    within("systems", parts.systems.len(), MAX_SYSTEMS)?;
    within(
        "constellations",
        parts.constellations.len(),
        MAX_CONSTELLATIONS,
    )?;
    within("regions", parts.regions.len(), MAX_REGIONS)?;
    within("gates", parts.gates.len(), MAX_GATES)?;
    unique(
        "regions",
        parts.regions.iter().map(|it| (it.id, it.name.as_str())),
    )?;
    unique(
        "constellations",
        parts
            .constellations
            .iter()
            .map(|it| (it.id, it.name.as_str())),
    )?;
    unique(
        "systems",
        parts.systems.iter().map(|it| (it.id, it.name.as_str())),
    )?;
    for system in &parts.systems {
        if !(-1.0..=1.0).contains(&system.security) {
            return Err(MapError::Security {
                id: system.id,
                security: system.security.to_string(),
            });
        }
        if system
            .position
            .is_some_and(|position| !position.iter().all(|metres| metres.is_finite()))
        {
            return Err(MapError::Position { id: system.id });
        }
    }
    Ok(())
}

fn unique<'p>(
    what: &'static str,
    entries: impl Iterator<Item = (u32, &'p str)>,
) -> Result<(), MapError> {
    let mut ids = HashSet::new();
    let mut names = HashSet::new();
    for (id, name) in entries {
        let folded = fold(name);
        if folded.is_empty() || folded.len() > MAX_NAME_BYTES {
            let name = name.chars().take(40).collect();
            return Err(MapError::Name { id, name });
        }
        if !ids.insert(id) {
            return Err(MapError::SameId { what, id });
        }
        if !names.insert(folded) {
            let name = name.to_owned();
            return Err(MapError::SameName { what, name });
        }
    }
    Ok(())
}

fn constellations(
    parts: Vec<PartsConstellation>,
    regions: &mut [Region],
    warnings: &mut Vec<Warning>,
) -> Vec<Constellation> {
    let mut constellations = Vec::with_capacity(parts.len());
    for part in parts {
        let found = regions.binary_search_by_key(&part.region, |region| region.id);
        let found = found
            .ok()
            .and_then(|at| Some((handle(at), regions.get_mut(at)?)));
        let Some((at, region)) = found else {
            warnings.push(Warning::NoRegion {
                constellation: part.id,
                region: part.region,
            });
            continue;
        };
        region
            .constellations
            .push(ConstellationIndex(handle(constellations.len())));
        constellations.push(Constellation {
            id: part.id,
            name: part.name.trim().into(),
            region: RegionIndex(at),
            systems: Vec::new(),
        });
    }
    constellations
}

fn systems(
    parts: Vec<PartsSystem>,
    mut constellations: Vec<Constellation>,
    warnings: &mut Vec<Warning>,
) -> (Vec<System>, Vec<Constellation>) {
    let mut systems = Vec::with_capacity(parts.len());
    for part in parts {
        let found = constellations.binary_search_by_key(&part.constellation, |it| it.id);
        let found = found
            .ok()
            .and_then(|at| Some((handle(at), constellations.get_mut(at)?)));
        let Some((at, constellation)) = found else {
            warnings.push(Warning::NoConstellation {
                system: part.id,
                constellation: part.constellation,
            });
            continue;
        };
        constellation
            .systems
            .push(SystemIndex(handle(systems.len())));
        systems.push(System {
            id: part.id,
            name: part.name.trim().into(),
            // Some files write -0.0; adding zero makes it a plain 0.
            security: part.security + 0.0,
            class: SecurityClass::of(part.security),
            constellation: ConstellationIndex(at),
            region: constellation.region,
            position: part.position,
            border: false,
        });
    }
    (systems, constellations)
}

/// Neighbours of all systems one after the other, each list by id, and where each begins.
fn arcs(
    gates: &[(u32, u32)],
    systems: &[System],
    warnings: &mut Vec<Warning>,
) -> (Vec<u32>, Vec<SystemIndex>) {
    let places: HashMap<u32, u32> = (0..)
        .zip(systems)
        .map(|(at, system)| (system.id, at))
        .collect();
    let mut arcs = Vec::with_capacity(gates.len() * 2);
    for &(from, to) in gates {
        match (places.get(&from), places.get(&to)) {
            (Some(a), Some(b)) if a == b => warnings.push(Warning::Circle { system: from }),
            (Some(&a), Some(&b)) => arcs.extend([(a, b), (b, a)]),
            _ => warnings.push(Warning::NoSystem { from, to }),
        }
    }
    arcs.sort_unstable();
    arcs.dedup();
    let mut starts = vec![0; systems.len() + 1];
    for &(from, _) in &arcs {
        if let Some(count) = starts.get_mut(from as usize + 1) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    (
        starts,
        arcs.into_iter().map(|(_, to)| SystemIndex(to)).collect(),
    )
}

fn mark_borders(systems: &mut [System], starts: &[u32], neighbours: &[SystemIndex]) {
    let classes: Vec<SecurityClass> = systems.iter().map(|system| system.class).collect();
    let lower = |to: &SystemIndex| {
        classes
            .get(to.place())
            .is_some_and(|class| *class != SecurityClass::High)
    };
    for (system, span) in systems.iter_mut().zip(starts.windows(2)) {
        let [start, end] = span else { continue };
        let around = neighbours
            .get(*start as usize..*end as usize)
            .unwrap_or_default();
        system.border = system.class == SecurityClass::High && around.iter().any(lower);
    }
}

/// The first digits of SHA-256 over everything on the map, in the order of ids.
fn digest(parts: &mut Parts) -> String {
    let mut gates: Vec<_> = parts
        .gates
        .iter()
        .map(|&(a, b)| (a.min(b), a.max(b)))
        .collect();
    gates.sort_unstable();
    gates.dedup();
    let mut sha = Sha256::new();
    for region in &parts.regions {
        sha.update(format!("r{} {}\n", region.id, region.name));
    }
    for it in &parts.constellations {
        sha.update(format!("c{} {} {}\n", it.id, it.name, it.region));
    }
    for it in &parts.systems {
        sha.update(format!(
            "s{} {} {} {}\n",
            it.id,
            it.name,
            it.security + 0.0,
            it.constellation
        ));
    }
    for (from, to) in gates {
        sha.update(format!("g{from} {to}\n"));
    }
    let digest = sha.finalize();
    digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Bounded by [`MAX_SYSTEMS`] and its like, far below the end of the type.
fn handle(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

//! The map: systems in constellations in regions, and the gates that join them.

mod build;
mod digest;
mod judge;
mod names;
mod parts;
mod rules;
mod space;
mod table;

use std::fmt;
use std::sync::OnceLock;

pub use judge::MapError;
pub(crate) use judge::within;
use names::Names;
pub(crate) use names::plain;
pub use parts::{
    Kind, MAX_CONSTELLATIONS, MAX_GATES, MAX_NAME_BYTES, MAX_REGIONS, MAX_SYSTEMS, Parts,
    PartsConstellation, PartsRegion, PartsSystem, Warning,
};
pub use rules::{ONLY_ENDS, RULES, Rule, Ship};
pub use space::Space;
pub(crate) use table::PerSystem;

/// The main trade hubs of New Eden.
pub const TRADE_HUBS: [&str; 5] = ["Jita", "Amarr", "Dodixie", "Rens", "Hek"];

/// A map in memory. Systems, constellations and regions are sorted by id, and their handles are positions in these
/// lists. Functions may panic for handles of another, larger map.
#[derive(Debug, Clone)]
pub struct Map {
    version: String,
    regions: Vec<Region>,
    constellations: Vec<Constellation>,
    systems: Vec<System>,
    /// A second copy of the class of each system. Searches read it at every jump, and packed together all classes fit
    /// into the fastest cache.
    classes: Vec<SecurityClass>,
    /// For each system, the start of its neighbours in `neighbours`; the last entry is the end.
    starts: Vec<u32>,
    neighbours: Vec<SystemIndex>,
    /// The ids of the stargates at the same places; 0 where the file has none.
    gates: Vec<u32>,
    connections: usize,
    spaces: Vec<Space>,
    only_ends: Vec<SystemIndex>,
    names: Names,
    /// What is found out of each mode when it is first asked for.
    pub(crate) landmarks: Landmarks,
}

/// For each of five modes and each system, what ways from some others cost, and those to them.
pub(crate) type Landmarks = [OnceLock<PerSystem<[[u32; 2]; LANDMARKS]>>; 5];

pub(crate) const LANDMARKS: usize = 12;

/// A handle of a system of one map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemIndex(u32);

/// A handle of a constellation of one map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstellationIndex(u32);

/// A handle of a region of one map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionIndex(u32);

/// A region.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: Box<str>,
    /// Its constellations, by id.
    pub constellations: Vec<ConstellationIndex>,
}

/// A constellation.
#[derive(Debug, Clone, PartialEq)]
pub struct Constellation {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: Box<str>,
    /// Its region.
    pub region: RegionIndex,
    /// Its systems, by id.
    pub systems: Vec<SystemIndex>,
}

/// A solar system.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: Box<str>,
    /// Its security status as published, unrounded, from -1 to 1; never -0.0.
    pub security: f64,
    /// The class that follows from its security status.
    pub class: SecurityClass,
    /// Its constellation.
    pub constellation: ConstellationIndex,
    /// Its region.
    pub region: RegionIndex,
    /// Its position in metres; `None` if the file has none.
    pub position: Option<[f64; 3]>,
    /// Whether it is high security and has a gate to a system that is not.
    pub border: bool,
}

/// The class of a security status, always by its unrounded value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SecurityClass {
    /// At least 0.45.
    High,
    /// Above 0 and below 0.45.
    Low,
    /// 0 and below.
    Null,
}

impl Map {
    /// Builds a map. Invalid single entries (a gate to a system that does not exist, a system without a constellation,
    /// a name that occurs twice) are left out or repaired, and reported as a [`Warning`].
    ///
    /// # Errors
    /// [`MapError`] for an invalid map: without systems, too large, with a duplicate id, with invalid names, with
    /// numbers out of range.
    pub fn new(parts: Parts) -> Result<(Self, Vec<Warning>), MapError> {
        build::build(parts)
    }

    /// The version of the data from its file, else a digest of the map's contents.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// All systems, by id.
    pub fn systems(&self) -> &[System] {
        &self.systems
    }

    /// The handles of all systems, by id.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = SystemIndex> + use<> {
        (0..u32::try_from(self.systems.len()).unwrap_or(u32::MAX)).map(SystemIndex)
    }

    /// All constellations, by id.
    pub fn constellations(&self) -> &[Constellation] {
        &self.constellations
    }

    /// All regions, by id.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The systems that a way may begin or end in, but not lead through: those of [`ONLY_ENDS`] on this map.
    pub fn only_ends(&self) -> &[SystemIndex] {
        &self.only_ends
    }

    /// The rule that makes a system only an end, if it has one.
    pub fn only_end(&self, system: SystemIndex) -> Option<&'static Rule> {
        let id = self.system(system).id;
        ONLY_ENDS.iter().find(|(end, _)| *end == id).map(|(_, rule)| *rule)
    }

    /// The id of the stargate in one system that leads to the other, if the file has it.
    pub fn stargate(&self, from: SystemIndex, to: SystemIndex) -> Option<u32> {
        let at = self.neighbours(from).binary_search(&to).ok()?;
        let start = *self.starts.get(from.index())? as usize;
        self.gates.get(start + at).copied().filter(|id| *id != 0)
    }

    /// The system that the stargate with this id leads to, from this system.
    pub fn behind(&self, from: SystemIndex, stargate: u32) -> Option<SystemIndex> {
        self.neighbours(from).iter().copied().find(|to| self.stargate(from, *to) == Some(stargate))
    }

    /// How many pairs of systems are joined by a gate.
    pub fn connections(&self) -> usize {
        self.connections
    }
}

#[expect(clippy::indexing_slicing, reason = "the map creates its handles, so each is in range")]
impl Map {
    /// A system of this map.
    pub fn system(&self, index: SystemIndex) -> &System {
        &self.systems[index.0 as usize]
    }

    /// The name of a system of this map.
    pub fn name(&self, index: SystemIndex) -> &str {
        &self.system(index).name
    }

    /// The class of a system of this map: the same as [`System::class`], but without loading the whole system.
    pub fn class(&self, index: SystemIndex) -> SecurityClass {
        self.classes[index.0 as usize]
    }

    /// The kind of space that a system of this map is in.
    pub fn space(&self, index: SystemIndex) -> Space {
        self.spaces[index.0 as usize]
    }

    /// A constellation of this map.
    pub fn constellation(&self, index: ConstellationIndex) -> &Constellation {
        &self.constellations[index.0 as usize]
    }

    /// A region of this map.
    pub fn region(&self, index: RegionIndex) -> &Region {
        &self.regions[index.0 as usize]
    }

    /// Where the gates of a system lead, by id.
    pub fn neighbours(&self, index: SystemIndex) -> &[SystemIndex] {
        let at = index.0 as usize;
        &self.neighbours[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl Map {
    /// The systems of a region, by constellation and id.
    pub fn systems_of(&self, region: RegionIndex) -> impl Iterator<Item = SystemIndex> + Clone {
        let parts = self.region(region).constellations.iter();
        parts.flat_map(|part| self.constellation(*part).systems.iter().copied())
    }

    /// The system with this name, ignoring case, or with this id. Names may look like numbers, so ids are tried last.
    pub fn find(&self, name: &str) -> Option<SystemIndex> {
        let by_id = || self.system_by_id(name.trim().parse().ok()?);
        self.system_by_name(name).or_else(by_id)
    }

    /// The system with this id.
    pub fn system_by_id(&self, id: u32) -> Option<SystemIndex> {
        let at = self.systems.binary_search_by_key(&id, |system| system.id).ok()?;
        u32::try_from(at).ok().map(SystemIndex)
    }

    /// The system with this name, ignoring case and surrounding blanks.
    pub fn system_by_name(&self, name: &str) -> Option<SystemIndex> {
        self.names.system(name)
    }

    /// The simplified name of a system, see [`plain`].
    pub(crate) fn plain_name(&self, index: SystemIndex) -> &str {
        self.names.plain(index)
    }

    /// The constellation with this name, ignoring case and surrounding blanks.
    pub fn constellation_by_name(&self, name: &str) -> Option<ConstellationIndex> {
        self.names.constellation(name)
    }

    /// The region with this name, ignoring case and surrounding blanks.
    pub fn region_by_name(&self, name: &str) -> Option<RegionIndex> {
        self.names.region(name)
    }

    /// The release date of the data, if its version contains one.
    pub fn released(&self) -> Option<jiff::civil::Date> {
        let mut starts = self.version.char_indices().map(|(at, _)| at);
        starts.find_map(|at| self.version.get(at..at + 10)?.parse().ok())
    }

    /// At most `limit` names of systems that an unknown name may stand for. First come names that differ by one letter,
    /// then names that begin with it, then names two letters away with the same beginning, then names that contain it,
    /// then names a few letters away. Among equals, trade hubs come first, then systems with gates.
    pub fn suggest(&self, name: &str, limit: usize) -> Vec<&str> {
        self.names.suggest(name, limit, &self.systems)
    }

    /// The one system whose name differs from this unknown name by one letter, if there is exactly one. (A letter
    /// added, missing or replaced, or two neighbouring letters swapped.)
    pub fn correct(&self, name: &str) -> Option<SystemIndex> {
        self.names.correct(name)
    }
}

impl SystemIndex {
    /// Its index in [`Map::systems`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SecurityClass {
    /// The class of an unrounded security status.
    pub fn of(security: f64) -> Self {
        if security >= 0.45 {
            Self::High
        } else if security > 0.0 {
            Self::Low
        } else {
            Self::Null
        }
    }
}

impl fmt::Display for SecurityClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::High => "HIGH",
            Self::Low => "LOW",
            Self::Null => "NULL",
        })
    }
}

/// The status as the game shows it: one decimal, and 0.1 for values above 0 that would round to 0.
pub fn shown_security(security: f64) -> f64 {
    if security > 0.0 && security < 0.05 {
        return 0.1;
    }
    // Adding zero turns -0.0 into 0.
    (security * 10.0).round() / 10.0 + 0.0
}

//! What happens in the systems: an overlay on the map, read from a local dump of the game's public API.
//!
//! A dump is what the API answers, kept as files: `universe/system_kills`, `universe/system_jumps` and `fw/systems`, each
//! a JSON array of objects. They may be files of one folder under any names that end in `.json`, or members of one
//! object in one file. What an array holds is seen by its members, not by its name.

mod level;
mod read;

use std::collections::HashMap;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

pub use level::{Level, Measure};
pub use read::{MAX_DUMP_BYTES, MAX_DUMP_ENTRIES, MAX_DUMP_FILES, load};

/// What a dump says, by the ids of systems.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    systems: HashMap<u32, Figures>,
    warfare: HashMap<u32, Warfare>,
    has: Kinds,
    /// When the oldest of the files was written.
    written: Option<SystemTime>,
}

/// Which arrays a dump had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kinds {
    /// Ships, capsules and non-players killed.
    pub kills: bool,
    /// Jumps of ships.
    pub jumps: bool,
    /// Faction warfare.
    pub faction_warfare: bool,
}

/// What happened in a system in the hour before the dump. A system that is not in the dump has zeros: the API leaves
/// out those where nothing happened. What no array of the dump tells of is zero too ([`Activity::counts`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Players' ships killed.
    pub ship_kills: u32,
    /// Players' capsules killed.
    pub pod_kills: u32,
    /// Ships of non-players killed: how much is ratted there.
    pub npc_kills: u32,
    /// Ships that jumped in.
    pub ship_jumps: u32,
}

/// A system of faction warfare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warfare {
    /// The id of the faction that owns it.
    pub owner: u32,
    /// The id of the faction that occupies it.
    pub occupier: u32,
    /// `uncontested`, `contested`, `vulnerable` or `captured`, as the API says it.
    pub contested: String,
    /// Victory points of the attackers.
    pub victory_points: u32,
    /// At how many of them it becomes vulnerable.
    pub threshold: u32,
}

impl Activity {
    /// What happened in the system of this id.
    #[must_use]
    pub fn figures(&self, system: u32) -> Figures {
        self.systems.get(&system).copied().unwrap_or_default()
    }

    /// The state of faction warfare in the system of this id; `None` where there is none.
    #[must_use]
    pub fn warfare(&self, system: u32) -> Option<&Warfare> {
        self.warfare.get(&system)
    }

    /// The ids of the systems with faction warfare, in order.
    #[must_use]
    pub fn contested_systems(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.warfare.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Which arrays the dump had.
    #[must_use]
    pub fn has(&self) -> Kinds {
        self.has
    }

    /// Whether the dump has what is counted: if not, its zeros mean nothing.
    #[must_use]
    pub fn counts(&self, measure: Measure) -> bool {
        match measure {
            Measure::Kills | Measure::Ratting => self.has.kills,
            Measure::Jumps => self.has.jumps,
        }
    }

    /// How many systems the dump tells of kills or jumps in.
    #[must_use]
    pub fn systems(&self) -> usize {
        self.systems.len()
    }

    /// How many seconds ago the oldest file of the dump was written.
    #[must_use]
    pub fn age_seconds(&self, now: SystemTime) -> Option<u64> {
        let age = now.duration_since(self.written?).unwrap_or_default();
        Some(age.as_secs())
    }
}

impl Figures {
    /// Players' ships and capsules killed.
    #[must_use]
    pub fn kills(&self) -> u32 {
        self.ship_kills.saturating_add(self.pod_kills)
    }

    /// How many of what is counted.
    #[must_use]
    pub fn count(&self, measure: Measure) -> u32 {
        match measure {
            Measure::Kills => self.kills(),
            Measure::Jumps => self.ship_jumps,
            Measure::Ratting => self.npc_kills,
        }
    }

    /// How much that is.
    #[must_use]
    pub fn level(&self, measure: Measure) -> Level {
        measure.level(self.count(measure))
    }

    /// The risk that somebody waits at a gate here, by kills in the last hour.
    #[must_use]
    pub fn camp_risk(&self) -> Level {
        match self.kills() {
            0 => Level::None,
            1..5 => Level::Low,
            5..10 => Level::Medium,
            10..20 => Level::High,
            20.. => Level::Extreme,
        }
    }
}

/// The name of a faction that takes part in faction warfare, by its id in the API.
#[must_use]
pub fn faction_name(id: u32) -> Option<&'static str> {
    FACTIONS
        .iter()
        .find(|(faction, _)| *faction == id)
        .map(|(_, name)| *name)
}

/// The id of a faction by its name or the first word of it, whatever the case.
#[must_use]
pub fn faction_id(name: &str) -> Option<u32> {
    let name = name.trim().to_lowercase();
    FACTIONS
        .iter()
        .find(|(_, known)| {
            let known = known.to_lowercase();
            known == name || known.split(' ').next() == Some(&name)
        })
        .map(|(id, _)| *id)
}

/// The factions of faction warfare.
pub const FACTIONS: [(u32, &str); 6] = [
    (500_001, "Caldari State"),
    (500_002, "Minmatar Republic"),
    (500_003, "Amarr Empire"),
    (500_004, "Gallente Federation"),
    (500_010, "Guristas Pirates"),
    (500_011, "Angel Cartel"),
];

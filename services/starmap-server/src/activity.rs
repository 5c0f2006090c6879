//! Recent activity in the systems: an overlay on the map, read from a local dump of the game's public API.
//!
//! A dump holds the answers of the API as files: `universe/system_kills`, `universe/system_jumps` and `fw/systems`,
//! each a JSON array of objects. They may be files of one folder under any names that end in `.json`, or members of one
//! object in one file. An array is recognized by the members of its objects, not by its name. A [`Feed`] of killmails
//! adds what happened since.

mod feed;
mod level;
mod mail;
mod read;

use std::collections::HashMap;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

pub use feed::{Feed, FeedReport, MAX_MAILS, Scene, SceneKind};
pub use level::{Level, Measure};
pub use mail::Tags;
pub use read::{MAX_DUMP_BYTES, MAX_DUMP_ENTRIES, MAX_DUMP_FILES, load};

/// A system with at least this many kills in an hour is called dangerous.
pub const DANGEROUS_KILLS: u32 = 5;
/// Answers warn about data older than this many seconds. The public API counts the kills and jumps of one hour.
pub const OLD_SECONDS: u64 = 3_600;
/// Kills older than this many seconds (a day) are too old to judge a risk by.
pub const STALE_SECONDS: u64 = 86_400;

/// The contents of a dump, by system id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    systems: HashMap<u32, Figures>,
    warfare: HashMap<u32, Warfare>,
    has: Kinds,
    /// When the oldest of the files was written.
    written: Option<SystemTime>,
    /// The time of the last reported kill, if a feed is followed.
    kills_written: Option<SystemTime>,
    scenes: HashMap<u32, Scene>,
    feed: Option<FeedReport>,
    /// What of the dump was not understood.
    left_out: Option<String>,
}

/// Which arrays a dump had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kinds {
    /// Ships and capsules killed.
    pub kills: bool,
    /// Non-players killed.
    pub ratting: bool,
    /// Jumps of ships.
    pub jumps: bool,
    /// Faction warfare.
    pub faction_warfare: bool,
}

/// What happened in a system in the hour before the dump. A system that is not in the dump has zeros: the API leaves
/// out systems where nothing happened. Figures whose array is missing from the dump are zero too
/// ([`Activity::counts`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Players' ships killed.
    pub ship_kills: u32,
    /// Players' capsules killed.
    pub pod_kills: u32,
    /// Ships of non-players killed: a measure of ratting.
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
    /// `uncontested`, `contested`, `vulnerable` or `captured`, as in the API.
    pub contested: String,
    /// Victory points of the attackers.
    pub victory_points: u32,
    /// The number of victory points at which it becomes vulnerable.
    pub threshold: u32,
}

impl Activity {
    /// What happened in the system with this id.
    pub fn figures(&self, system: u32) -> Figures {
        self.systems.get(&system).copied().unwrap_or_default()
    }

    /// The state of faction warfare in the system with this id; `None` if there is no faction warfare.
    pub fn warfare(&self, system: u32) -> Option<&Warfare> {
        self.warfare.get(&system)
    }

    /// The ids of the systems with faction warfare, in order.
    pub fn contested_systems(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.warfare.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// The arrays that the dump contains.
    pub fn has(&self) -> Kinds {
        self.has
    }

    /// Whether the dump has data for this measure. If not, its zeros mean nothing.
    pub fn counts(&self, measure: Measure) -> bool {
        match measure {
            Measure::Kills => self.has.kills,
            Measure::Ratting => self.has.ratting,
            Measure::Jumps => self.has.jumps,
        }
    }

    /// The number of systems for which the dump has kills or jumps.
    pub fn systems(&self) -> usize {
        self.systems.len()
    }

    /// How many seconds ago the oldest file of the dump was written.
    pub fn age_seconds(&self, now: SystemTime) -> Option<u64> {
        let age = now.duration_since(self.written?).unwrap_or_default();
        Some(age.as_secs())
    }
}

impl Activity {
    /// How many seconds ago the kills were reported: by the feed if there is one, else by the dump.
    pub fn kills_age(&self, now: SystemTime) -> Option<u64> {
        let age = now.duration_since(self.kills_written.or(self.written)?);
        Some(age.unwrap_or_default().as_secs())
    }

    /// What came from the feed, if one is followed.
    pub fn feed(&self) -> Option<&FeedReport> {
        self.feed.as_ref()
    }

    /// What of the dump was not understood, as a sentence.
    pub fn left_out(&self) -> Option<&str> {
        self.left_out.as_deref()
    }

    /// The activity in the system with this id, according to the feed.
    pub fn scene(&self, system: u32) -> Option<&Scene> {
        self.scenes.get(&system)
    }

    /// The weight of the kills in the system with this id at this time. The weight of a kill is halved every 15 minutes
    /// if it comes from a feed, and every hour if it comes from a dump.
    pub fn heat(&self, system: u32, now: SystemTime) -> f64 {
        let dumped = || {
            let hours = self.kills_age(now).unwrap_or_default() as f64 / 3_600.0;
            f64::from(self.figures(system).kills()) * (-hours).exp2()
        };
        self.scenes.get(&system).map_or_else(dumped, |scene| scene.heat)
    }

    /// The risk at the gates of the system with this id: by the kills of the hour, and at least high if a feed shows a
    /// camp, ganks or smartbombs. `passed` are the gates of a way through it; a camp at another gate is a medium risk.
    pub fn camp_risk(&self, system: u32, passed: &[u32]) -> Level {
        let by_kills = self.figures(system).camp_risk();
        match self.scene(system).filter(|scene| scene.is_danger()) {
            Some(scene) if scene.is_beside(passed) => Level::Medium,
            Some(_) => by_kills.max(Level::High),
            None => by_kills,
        }
    }

    /// The ids of the systems where a feed shows a gate camp or ganks.
    pub(crate) fn camps(&self) -> impl Iterator<Item = u32> {
        let camps = self
            .scenes
            .iter()
            .filter(|(_, it)| matches!(it.kind, SceneKind::Camp | SceneKind::Gank));
        camps.map(|(id, _)| *id)
    }

    /// The ids of the systems where at least `least` ships and capsules were killed.
    pub(crate) fn systems_with_kills(&self, least: u32) -> impl Iterator<Item = u32> {
        let deadly = self.systems.iter().filter(move |(_, it)| it.kills() >= least);
        deadly.map(|(id, _)| *id)
    }
}

impl Figures {
    /// Players' ships and capsules killed.
    pub fn kills(&self) -> u32 {
        self.ship_kills.saturating_add(self.pod_kills)
    }

    /// The count for this measure.
    pub fn count(&self, measure: Measure) -> u32 {
        match measure {
            Measure::Kills => self.kills(),
            Measure::Jumps => self.ship_jumps,
            Measure::Ratting => self.npc_kills,
        }
    }

    /// The level for this measure.
    pub fn level(&self, measure: Measure) -> Level {
        measure.level(self.count(measure))
    }

    /// The risk of a camp at a gate here, by kills in the last hour.
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
pub fn faction_name(id: u32) -> Option<&'static str> {
    FACTIONS.iter().find(|(faction, _)| *faction == id).map(|(_, name)| *name)
}

/// The id of a faction by its name or the first word of its name, ignoring case.
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

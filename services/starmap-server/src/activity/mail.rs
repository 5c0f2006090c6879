//! A killmail from zKillboard's feeds, reduced to the members that are needed here.
//!
//! Two forms are read: the killmail itself with a member `zkb` (the websocket, and the daily archives), and the same in
//! `{"package": {"killmail": …, "zkb": …}}` (RedisQ). What the members mean:
//! <https://github.com/zKillboard/zKillboard/wiki> and the schema of `killmails` in the game's public API.

use serde::Deserialize;

/// The most sides that are kept for the attackers of one killmail.
const MAX_SIDES: usize = 16;
/// The ids that the game gives to stargates.
const STARGATES: std::ops::Range<u64> = 50_000_000..60_000_000;
/// The types of the two capsules.
const CAPSULES: [u32; 2] = [670, 33_328];

/// The members of a killmail that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mail {
    pub(super) id: u64,
    /// Seconds since 1970.
    pub(super) time: i64,
    pub(super) system: u32,
    /// Whether it happened at a stargate; `None` if the feed does not say where it happened.
    pub(super) at_gate: Option<bool>,
    pub(super) victim: u64,
    /// The alliance of the victim, else the corporation, else the pilot.
    pub(super) side: u64,
    pub(super) is_pod: bool,
    /// The sides of the players among the attackers, each once.
    pub(super) attackers: Vec<u64>,
}

#[derive(Deserialize)]
struct Line {
    package: Option<Package>,
    #[serde(flatten)]
    plain: Option<Kill>,
    zkb: Option<Zkb>,
}

#[derive(Deserialize)]
struct Package {
    killmail: Kill,
    zkb: Option<Zkb>,
}

#[derive(Deserialize)]
struct Kill {
    killmail_id: u64,
    killmail_time: String,
    solar_system_id: u32,
    victim: Pilot,
    #[serde(default)]
    attackers: Vec<Pilot>,
}

#[derive(Deserialize)]
struct Pilot {
    character_id: Option<u64>,
    corporation_id: Option<u64>,
    alliance_id: Option<u64>,
    ship_type_id: Option<u32>,
}

#[derive(Deserialize)]
struct Zkb {
    #[serde(rename = "locationID")]
    location: Option<u64>,
    #[serde(default)]
    npc: bool,
}

impl Mail {
    /// Reads one line. `None` for a line that does not count: an empty package, a kill by non-players, a structure.
    pub(super) fn read(line: &[u8]) -> Result<Option<Self>, String> {
        let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let (kill, zkb) = match (line.package, line.plain) {
            (Some(package), _) => (package.killmail, package.zkb),
            (None, Some(kill)) => (kill, line.zkb),
            (None, None) => return Ok(None),
        };
        let (Some(victim), Some(side)) = (kill.victim.character_id, kill.victim.side()) else {
            return Ok(None);
        };
        let players = kill.attackers.iter().filter(|it| it.character_id.is_some());
        let mut attackers: Vec<u64> = players.filter_map(Pilot::side).collect();
        attackers.sort_unstable();
        attackers.dedup();
        attackers.truncate(MAX_SIDES);
        if attackers.is_empty() || zkb.as_ref().is_some_and(|zkb| zkb.npc) {
            return Ok(None);
        }
        let time: Result<jiff::Timestamp, _> = kill.killmail_time.parse();
        let time = time.map_err(|error| error.to_string())?;
        let ship = kill.victim.ship_type_id.unwrap_or_default();
        Ok(Some(Self {
            id: kill.killmail_id,
            time: time.as_second(),
            system: kill.solar_system_id,
            at_gate: zkb.and_then(|zkb| zkb.location).map(|location| STARGATES.contains(&location)),
            victim,
            side,
            is_pod: CAPSULES.contains(&ship),
            attackers,
        }))
    }
}

impl Pilot {
    fn side(&self) -> Option<u64> {
        self.alliance_id.or(self.corporation_id).or(self.character_id)
    }
}

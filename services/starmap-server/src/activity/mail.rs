//! A killmail from zKillboard's feeds, reduced to the members that are needed here.
//!
//! These layouts are read:
//!
//! | source | layout |
//! |---|---|
//! | R2Z2, zKillboard's feed since 2026 | `{"killmail_id": …, "hash": …, "esi": KILLMAIL, "zkb": …}` |
//! | RedisQ, until May 2026 | `{"package": {"killmail": KILLMAIL, "zkb": …}}`; `{"package": null}` when nothing happened |
//! | its websocket | KILLMAIL with a member `zkb` |
//! | EVE Ref's archives, the game's public API | KILLMAIL |
//!
//! What the members mean: <https://github.com/zKillboard/zKillboard/wiki> and the schema of `killmails` in the API.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The most sides that are kept for the attackers of one killmail.
const MAX_SIDES: usize = 16;
/// The ids that the game gives to stargates.
const STARGATES: std::ops::Range<u64> = 50_000_000..60_000_000;
/// The most members of a line that an error names.
const MAX_TOLD: usize = 12;
/// The types of the two capsules.
const CAPSULES: [u32; 2] = [670, 33_328];
/// What is anchored in space and no ship: tractor units and depots.
const ANCHORED: [u32; 6] = [33_474, 33_475, 33_520, 33_522, 33_700, 33_702];
/// The corporation of those that punish attackers in high security.
const CONCORD: u64 = 1_000_125;
/// The first id of a corporation of players; the game's own are 1,000,000 to 1,999,999
/// (<https://developers.eveonline.com/docs/guides/id-ranges/>).
const FIRST_OF_PLAYERS: u64 = 98_000_000;
/// Interdictors and heavy interdictors: Sabre, Flycatcher, Heretic, Eris; Broadsword, Onyx, Devoter, Phobos.
const INTERDICTORS: [u32; 8] = [22_456, 22_464, 22_452, 22_460, 12_013, 11_995, 12_017, 12_021];
/// Smartbombs that are in use; there are rarer ones.
const SMARTBOMBS: [u32; 16] = [
    3_939, 3_943, 3_949, 3_955, 3_977, 3_979, 3_981, 3_983, 3_987, 3_989, 3_993, 3_995, 14_188,
    14_190, 15_963, 28_545,
];
/// Smartbombs changed by mutaplasmids.
const MUTATED: std::ops::Range<u32> = 84_434..84_446;

/// The members of a killmail that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mail {
    pub(super) id: u64,
    /// Seconds since 1970.
    pub(super) time: i64,
    pub(super) system: u32,
    /// The stargate where it happened, 0 for elsewhere; `None` if the feed does not say where it happened.
    pub(super) gate: Option<u32>,
    pub(super) victim: u64,
    /// The alliance of the victim, else the corporation, else the pilot.
    pub(super) side: u64,
    pub(super) is_pod: bool,
    /// The sides of the players, and of their structures, among the attackers, each once.
    pub(super) attackers: Vec<u64>,
    /// How many players are among the attackers.
    pub(super) pilots: usize,
    /// Whether it is the punishment of an attack in high security.
    pub(super) by_concord: bool,
    pub(super) tags: Tags,
}

/// By what a ship was held or hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tags {
    /// Interdictors, which keep ships from warping away.
    pub interdictors: bool,
    /// Smartbombs, which hit all ships around, at once.
    pub smartbombs: bool,
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
    weapon_type_id: Option<u32>,
}

#[derive(Deserialize)]
struct Zkb {
    #[serde(rename = "locationID")]
    location: Option<u64>,
    #[serde(default)]
    npc: bool,
}

impl Mail {
    /// Reads one killmail. `None` for one that does not count: an empty package, a kill by non-players, a structure.
    pub(super) fn read(line: Value) -> Result<Option<Self>, String> {
        let Some((kill, zkb)) = parts(line)? else {
            return Ok(None);
        };
        let (Some(victim), Some(side)) = (kill.victim.character_id, kill.victim.side()) else {
            return Ok(None);
        };
        let by_concord = kill.attackers.iter().any(|it| it.corporation_id == Some(CONCORD));
        let pilots = kill.attackers.iter().filter(|it| it.character_id.is_some()).count();
        let ships = || kill.attackers.iter().filter_map(|it| it.ship_type_id);
        let weapons = || kill.attackers.iter().filter_map(|it| it.weapon_type_id);
        let smartbomb = |it: u32| SMARTBOMBS.contains(&it) || MUTATED.contains(&it);
        let tags = Tags {
            interdictors: ships().any(|it| INTERDICTORS.contains(&it)),
            smartbombs: weapons().any(smartbomb),
        };
        let players = kill.attackers.iter().filter(|it| it.is_of_players());
        let mut attackers: Vec<u64> = players.filter_map(Pilot::side).collect();
        attackers.sort_unstable();
        attackers.dedup();
        attackers.truncate(MAX_SIDES);
        let ship = kill.victim.ship_type_id.unwrap_or_default();
        let by_npc = attackers.is_empty() || zkb.as_ref().is_some_and(|zkb| zkb.npc);
        if (by_npc && !by_concord) || ANCHORED.contains(&ship) {
            return Ok(None);
        }
        let time: Result<jiff::Timestamp, _> = kill.killmail_time.parse();
        let time = time.map_err(|error| error.to_string())?;
        let gate = |location: u64| {
            let gate = u32::try_from(location).unwrap_or_default();
            if STARGATES.contains(&location) { gate } else { 0 }
        };
        Ok(Some(Self {
            id: kill.killmail_id,
            time: time.as_second(),
            system: kill.solar_system_id,
            gate: zkb.and_then(|zkb| zkb.location).map(gate),
            victim,
            side,
            is_pod: CAPSULES.contains(&ship),
            attackers,
            pilots,
            by_concord,
            tags,
        }))
    }
}

/// The killmail of a line, and what zKillboard adds to it. `None` for a package without contents.
fn parts(line: Value) -> Result<Option<(Kill, Option<Zkb>)>, String> {
    let Value::Object(mut line) = line else {
        return Err("it is not an object".to_owned());
    };
    match line.remove("package") {
        None => {}
        Some(Value::Object(package)) => line = package,
        Some(Value::Null) => return Ok(None),
        Some(_) => return Err("its package is not an object".to_owned()),
    }
    let members = line.keys().take(MAX_TOLD).cloned().collect::<Vec<_>>().join(", ");
    let zkb = line.remove("zkb").map(typed).transpose()?;
    let kill = line.remove("esi").or_else(|| line.remove("killmail"));
    let kill = typed(kill.unwrap_or(Value::Object(line)));
    let kill = kill.map_err(|error| format!("{error}; its members are {members}"))?;
    Ok(Some((kill, zkb)))
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

impl Pilot {
    /// Whether it is a player, or has no pilot and belongs to a corporation of players, as a citadel.
    fn is_of_players(&self) -> bool {
        self.character_id.is_some() || self.corporation_id >= Some(FIRST_OF_PLAYERS)
    }

    fn side(&self) -> Option<u64> {
        self.alliance_id.or(self.corporation_id).or(self.character_id)
    }
}

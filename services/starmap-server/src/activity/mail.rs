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
    /// Reads one killmail. `None` for one that does not count: an empty package, a kill by non-players, a structure.
    pub(super) fn read(line: Value) -> Result<Option<Self>, String> {
        let Some((kill, zkb)) = parts(line)? else {
            return Ok(None);
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
    fn side(&self) -> Option<u64> {
        self.alliance_id.or(self.corporation_id).or(self.character_id)
    }
}

//! Danger as haulers know it: ganks, camps at a gate, smartbombs, on a map with ids of stargates.

use std::time::Duration;

use serde_json::{Value, json};
use starmap_server::load;
use starmap_server::map::{Map, Parts};
use tempfile::TempDir;

use crate::assert_has;
use crate::common::{id_of, small_parts};
use crate::harness::{call, names, soon};
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};

const SABRE: u32 = 22_456;
const CATALYST: u32 = 16_240;
const PROVIDENCE: u32 = 20_183;
const LARGE_EMP_SMARTBOMB: u32 = 3_995;
const ASTRAHUS: u32 = 35_832;
const CONCORD: u64 = 1_000_125;

/// The stargate from a system to another has the id 50,000,000 + 100 × the place of the one + that of the other.
fn gate(from: u32, to: u32) -> u32 {
    50_000_000 + 100 * (from - 30_000_000) + (to - 30_000_000)
}

fn parts() -> Parts {
    let mut parts = small_parts();
    parts.gate_ids = parts.gates.iter().map(|(from, to)| (*from, *to, gate(*from, *to))).collect();
    parts
}

/// Killmails as R2Z2 has them.
struct Mail {
    id: u64,
    ago: i64,
    system: &'static str,
    victim: u64,
    ship: u32,
    attackers: Vec<(u64, u32, u32)>,
    location: u32,
}

impl Mail {
    fn json(&self) -> Value {
        let time = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(self.ago);
        let attackers = self.attackers.iter().enumerate().map(|(at, (side, ship, weapon))| {
            // The game's ships and structures have no pilots.
            let pilot = (*side < CONCORD).then(|| json!(9_000 + 100 * self.id + at as u64));
            json!({"character_id": pilot, "corporation_id": side, "ship_type_id": ship, "weapon_type_id": weapon})
        });
        let esi = json!({
            "killmail_id": self.id,
            "killmail_time": time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "solar_system_id": id_of(self.system),
            "victim": {"character_id": self.victim, "corporation_id": 100 + self.victim, "ship_type_id": self.ship},
            "attackers": attackers.collect::<Vec<_>>(),
        });
        let zkb = json!({"locationID": self.location, "hash": "x", "npc": false});
        json!({"killmail_id": self.id, "hash": "x", "esi": esi, "zkb": zkb, "sequence_id": self.id})
    }
}

/// A server that follows these killmails.
async fn server(folder: &TempDir, mails: &[Mail]) -> Client {
    let graph = folder.path().join("map.graph");
    load::write(&Map::new(parts()).unwrap().0, &graph).unwrap();
    let feed = folder.path().join("feed.jsonl");
    let lines: String = mails.iter().map(|mail| format!("{}\n", mail.json())).collect();
    std::fs::write(&feed, lines).unwrap();
    let mut command = crate::harness::binary("starmap-server");
    command.arg("mcp").arg("--graph").arg(graph).arg("--feed").arg(feed);
    let client = Client::stdio(command, ClientConfig::new(Era::Modern)).await.unwrap();
    let read = mails.len();
    soon(async {
        loop {
            let status = call(&client, "activity_cache_status", json!({})).await.unwrap();
            if status["feed"]["lines"] == read {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    client
}

fn gank(id: u64, ago: i64) -> Mail {
    let attackers = vec![(7, CATALYST, CATALYST); 12];
    Mail { id, ago, system: "Ostra", victim: 500 + id, ship: PROVIDENCE, attackers, location: 0 }
}

async fn asked(client: &Client, tool: &str, arguments: Value) -> Value {
    call(client, tool, arguments).await.unwrap()
}

fn way() -> Value {
    json!({"origin": "Jita", "destination": "Amarr", "mode": "safe"})
}

// zKillboard/zKillboard#156: a freighter that twelve destroyers killed 24 minutes ago
#[tokio::test]
async fn one_freighter_and_twelve_destroyers_are_danger() {
    let folder = TempDir::new().unwrap();
    let client = server(&folder, &[gank(1, 24 * 60)]).await;
    let route = asked(&client, "route", way()).await;
    assert_has(&route["warnings"].to_string(), &["Dangerous: Ostra (1 kill, ganks"]);
    assert_eq!(route["activity"]["ganks"], json!(["Ostra"]));
    let risk = asked(&client, "gatecamp_risk", way()).await;
    assert_eq!(risk["overall_risk"], "high");
    assert_eq!(names(&risk["risks"]), ["Ostra"]);
    client.close().await.unwrap();
}

// zKillboard/zKillboard#156: the losses to CONCORD come as killmails of their own, minutes later
#[tokio::test]
async fn losses_to_concord_are_no_fight_and_no_kills() {
    let folder = TempDir::new().unwrap();
    let mut mails = vec![gank(1, 900), gank(2, 600), gank(3, 300)];
    for at in 0..36 {
        let mut attackers = vec![(CONCORD, 3_885, 3_885)];
        if at % 3 == 0 {
            // A bystander on the mail.
            attackers.push((900 + at, CATALYST, CATALYST));
        }
        let (id, ago) = (100 + at, 800 - 10 * i64::try_from(at).unwrap());
        mails.push(Mail {
            id,
            ago,
            system: "Ostra",
            victim: 7,
            ship: CATALYST,
            attackers,
            location: 0,
        });
    }
    let client = server(&folder, &mails).await;
    let route = asked(&client, "route", way()).await;
    assert_has(&route["warnings"].to_string(), &["Dangerous: Ostra (3 kills, ganks"]);
    assert_eq!(route["activity"]["fights"], Value::Null);
    client.close().await.unwrap();
}

/// A camp in Marrow: interdictors and smartbombs, at the gate to a system.
fn camp(to: &str, weapon: u32) -> Vec<Mail> {
    let location = gate(id_of("Marrow"), id_of(to));
    let mails = (0..4_u64).map(|at| Mail {
        id: 10 + at,
        ago: 60 + 120 * i64::try_from(at).unwrap(),
        system: "Marrow",
        victim: 600 + at,
        ship: 587,
        attackers: vec![(7, SABRE, SABRE), (7, 17_920, weapon)],
        location,
    });
    mails.collect()
}

// EVEInsight/Insight#20 and players' gate checks: where a camp is, and by what it holds and hits
#[tokio::test]
async fn a_camp_is_at_a_gate_that_the_way_takes_or_not() {
    let folder = TempDir::new().unwrap();
    let client = server(&folder, &camp("Jita", LARGE_EMP_SMARTBOMB)).await;
    let short = json!({"origin": "Jita", "destination": "Amarr"});
    let route = asked(&client, "route", short.clone()).await;
    assert_has(
        &route["warnings"].to_string(),
        &["Marrow (4 kills, a gate camp, interdictors, smartbombs, at the gate to Jita)"],
    );
    let risk = asked(&client, "gatecamp_risk", short).await;
    let row = &risk["risks"][0];
    let column = |name: &str| {
        let at = risk["columns"].as_array().unwrap().iter().position(|it| it == name).unwrap();
        &row[at]
    };
    assert_eq!((column("risk"), column("gate_to")), (&json!("high"), &json!("Jita")));
    assert_eq!(column("on_way"), true);
    assert_eq!(column("by"), "interdictors and smartbombs");
    // A way that comes and goes by the other gate.
    let other = json!({"route": ["Marrow", "Tarn", "Amarr"]});
    let risk = asked(&client, "gatecamp_risk", other).await;
    assert_eq!(risk["overall_risk"], "medium");
    let back = json!({"origin": "Tarn", "destination": "Marrow"});
    let route = asked(&client, "route", back).await;
    assert_has(&route["warnings"].to_string(), &["which this way does not take"]);
    client.close().await.unwrap();
}

// EVEInsight/Insight#20: tractor units that are shot are no ships
#[tokio::test]
async fn what_is_anchored_is_no_ship() {
    let folder = TempDir::new().unwrap();
    let mails = (0..6_u64).map(|id| Mail {
        id,
        ago: 60,
        system: "Marrow",
        victim: 700 + id,
        ship: 33_475,
        attackers: vec![(7, CATALYST, CATALYST)],
        location: 0,
    });
    let mails: Vec<Mail> = mails.collect();
    let client = server(&folder, &mails).await;
    let route = asked(&client, "route", json!({"origin": "Jita", "destination": "Amarr"})).await;
    assert!(!route["warnings"].to_string().contains("Dangerous"), "{route}");
    client.close().await.unwrap();
}

// evekb/evedev-kb#66, zKillboard/zKillboard#84, EVE-KILL/Issues#11: a citadel has no pilot, but players fire it
#[tokio::test]
async fn structures_of_players_kill_and_those_of_the_game_do_not() {
    let folder = TempDir::new().unwrap();
    let shot = |id, side, system| Mail {
        id,
        ago: 60 * i64::try_from(id).unwrap(),
        system,
        victim: 500 + id,
        ship: CATALYST,
        attackers: vec![(side, ASTRAHUS, ASTRAHUS)],
        location: 0,
    };
    let ours = (1..7).map(|id| shot(id, 98_111_111, "Marrow"));
    let mails: Vec<Mail> = ours.chain((11..17).map(|id| shot(id, 1_000_127, "Tarn"))).collect();
    let client = server(&folder, &mails).await;
    let asked_of = json!({"systems": ["Marrow", "Tarn"]});
    let activity = asked(&client, "activity", asked_of).await;
    assert_eq!((&activity["systems"][0][2], &activity["systems"][1][2]), (&json!(6), &json!(0)));
    let route = asked(&client, "route", json!({"origin": "Jita", "destination": "Marrow"})).await;
    assert_has(&route["warnings"].to_string(), &["Dangerous: Marrow (6 kills"]);
    client.close().await.unwrap();
}

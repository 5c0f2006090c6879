//! A feed of killmails through the real binary: camps distinguished from fights, decay, both sources.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use crate::assert_has;
use crate::common::id_of;
use crate::harness::{Built, binary, call, soon, to_amarr};

/// A killmail so many seconds ago, in the form of the websocket.
fn mail(id: u64, ago: i64, system: &str, victim: u64, side: u64, by: &[u64]) -> Value {
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(ago);
    let attackers =
        by.iter().map(|side| json!({"character_id": side + 9_000, "corporation_id": side}));
    json!({
        "killmail_id": id,
        "killmail_time": time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "solar_system_id": id_of(system),
        "victim": {"character_id": victim, "corporation_id": side, "ship_type_id": 587},
        "attackers": attackers.collect::<Vec<_>>(),
        "zkb": {"locationID": 50_000_001, "hash": "x", "npc": false},
    })
}

/// A camp in Marrow, a fight in Tarn, an old kill in Sable, a kill by non-players, and a line that is not JSON.
fn lines() -> String {
    let mut mails = Vec::new();
    for at in 0..6 {
        mails.push(mail(
            at,
            60 + 150 * i64::try_from(at).unwrap(),
            "Marrow",
            100 + at,
            200 + at,
            &[7],
        ));
        let (loses, kills) = if at % 2 == 0 { (8, 9) } else { (9, 8) };
        mails.push(mail(
            50 + at,
            30 * i64::try_from(at).unwrap(),
            "Tarn",
            300 + at,
            loses,
            &[kills],
        ));
    }
    mails.push(mail(90, 7_200, "Sable", 400, 401, &[7]));
    let mut npc = mail(91, 10, "Rook", 402, 403, &[]);
    npc["zkb"]["npc"] = json!(true);
    mails.push(npc);
    let packed = json!({"package": {"killmail": mails.pop().unwrap(), "zkb": {}}});
    let lines: String = mails.iter().map(|mail| format!("{mail}\n")).collect();
    format!("{lines}{packed}\nnot JSON\n{{\"package\": null}}\n")
}

async fn server(graph: &Path, more: &[&str]) -> Client {
    let mut command = binary("starmap-server");
    command.arg("mcp").arg("--graph").arg(graph).args(more);
    Client::stdio(command, ClientConfig::new(Era::Modern)).await.unwrap()
}

/// Asks until the feed has so many kills in Marrow.
async fn camped(client: &Client, kills: u64) -> Value {
    let route = json!({"origin": "Jita", "destination": "Amarr"});
    soon(async {
        loop {
            let answer = call(client, "route", route.clone()).await.unwrap();
            if answer["activity"]["kills"]["Marrow"] == kills {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_file_is_followed_and_camps_are_told_from_fights() {
    let built = Built::new();
    let feed = built.folder().join("feed.jsonl");
    let client = server(&built.graph(), &["--feed", feed.to_str().unwrap()]).await;
    // It may come later than the server.
    std::fs::write(&feed, lines()).unwrap();
    let route = camped(&client, 6).await;
    assert_eq!(route["activity"]["camps"], json!(["Marrow"]));
    assert_eq!(route["activity"]["fights"], json!(["Tarn"]));
    let warnings = route["warnings"].to_string();
    assert_has(&warnings, &["Marrow (6 kills, a gate camp)"]);
    let risk = json!({"route": ["Jita", "Marrow", "Tarn"]});
    let risk = call(&client, "gatecamp_risk", risk).await.unwrap();
    assert_eq!((&risk["overall_risk"], &risk["risks"][0][5]), (&json!("high"), &json!("camp")));
    let old = call(&client, "activity", json!({"systems": ["Sable", "Rook"]})).await.unwrap();
    assert_eq!(old["systems"][0][2], 0);
    assert_eq!(old["systems"][1][2], 0);
    // Ways round it: by a threshold, and by weight.
    let safe = ["Jita", "Ostra", "Velm", "Kestrel", "Pell", "Amarr"];
    for more in [json!({"avoid_kills": 5}), json!({"danger_weight": 10})] {
        let mut route = to_amarr(more);
        route["detail"] = json!("names");
        let route = call(&client, "route", route).await.unwrap();
        assert_eq!(route["names"], json!(safe));
    }
    // What is appended counts, once.
    let mut file = OpenOptions::new().append(true).open(&feed).unwrap();
    let more = mail(1_000, 5, "Marrow", 777, 778, &[7]);
    write!(file, "{more}\n{more}\n").unwrap();
    camped(&client, 7).await;
    client.close().await.unwrap();
}

#[tokio::test]
async fn the_output_of_a_command_is_followed() {
    let built = Built::new();
    let feed = built.folder().join("lines");
    std::fs::write(&feed, lines()).unwrap();
    let command = format!("cat {}; sleep 60", feed.display());
    let client = server(&built.graph(), &["--feed-command", &command]).await;
    camped(&client, 6).await;
    client.close().await.unwrap();
}

#[tokio::test]
async fn old_data_never_judges_the_risk_without_a_word() {
    let built = Built::new();
    let server = built.live_server();
    let month = std::time::SystemTime::now() - Duration::from_secs(30 * 86_400);
    let dump = std::fs::File::options().write(true).open(built.dump()).unwrap();
    dump.set_modified(month).unwrap();
    server.load_activity().unwrap();
    for era in crate::harness::ERAS {
        let client = crate::harness::connect(&server, era).await;
        let ends = json!({"origin": "Jita", "destination": "Amarr"});
        let risk = call(&client, "gatecamp_risk", ends.clone()).await.unwrap();
        assert_eq!(risk["overall_risk"], "unknown");
        for answer in [risk, call(&client, "route", ends).await.unwrap()] {
            let warnings = answer["warnings"].to_string();
            assert!(warnings.contains("30 days old"), "{warnings}");
        }
    }
}

// zKillboard/zKillboard#326, zKillboard/zKillboard#342, GQuantrill/eve-nexum#574 (R2Z2, RedisQ without the killmail),
// EVE Ref's archives
#[tokio::test]
async fn every_published_layout_is_read_and_the_rest_is_counted() {
    let built = Built::new();
    let feed = built.folder().join("feed.jsonl");
    let plain = |id| mail(id, 60, "Marrow", 100 + id, 200 + id, &[7]);
    let bare = |id| {
        let mut bare = plain(id);
        bare.as_object_mut().unwrap().remove("zkb");
        bare
    };
    let zkb = json!({"locationID": 50_000_001, "npc": false});
    let lines = [
        // R2Z2.
        json!({"killmail_id": 1, "hash": "ab", "esi": bare(1), "zkb": zkb}),
        // RedisQ, and when nothing happened.
        json!({"package": {"killID": 2, "killmail": bare(2), "zkb": zkb}}),
        json!({"package": null}),
        // The websocket, the API's own, and several at once.
        plain(3),
        bare(4),
        json!([bare(5), bare(6)]),
        // RedisQ after it lost the killmail.
        json!({"package": {"killID": 7, "zkb": {"href": "elsewhere"}}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&feed, format!("{lines}<html>\n")).unwrap();
    let client = server(&built.graph(), &["--feed", feed.to_str().unwrap()]).await;
    let route = camped(&client, 6).await;
    let told = "Feed: of 9 lines 2 were not understood; the first: missing field `killmail_id`; its members are killID, zkb";
    soon(async {
        loop {
            let asked = json!({"systems": ["Marrow"]});
            let answer = call(&client, "activity", asked).await.unwrap();
            if answer["warnings"].to_string().contains(told) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let status = call(&client, "activity_cache_status", json!({})).await.unwrap();
    assert_eq!((&status["feed"]["lines"], &status["feed"]["kept"]), (&json!(9), &json!(6)));
    assert_eq!((&status["feed"]["not_understood"], &status["loaded"]), (&json!(2), &json!(true)));
    drop(route);
    client.close().await.unwrap();
}

// zKillboard/zKillboard#342
#[tokio::test]
async fn a_feed_that_gives_nothing_is_no_quiet_space() {
    let built = Built::new();
    let feed = built.folder().join("feed.jsonl");
    let client = server(&built.graph(), &["--feed", feed.to_str().unwrap()]).await;
    let route = call(&client, "route", to_amarr(json!({}))).await.unwrap();
    assert_has(&route["warnings"].to_string(), &["no killmail has come since the start"]);
    let status = call(&client, "activity_cache_status", json!({})).await.unwrap();
    assert_eq!(status["loaded"], false);
    std::fs::write(&feed, "{\"package\":{\"zkb\":{}}}\n").unwrap();
    soon(async {
        loop {
            let asked = json!({"route": ["Jita", "Marrow"]});
            let refused = call(&client, "gatecamp_risk", asked).await.unwrap_err();
            if refused["message"].to_string().contains("of 1 lines 1 were not understood") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    client.close().await.unwrap();
}

// wanderer-industries/wanderer#550: a file of eve-scout is not read, and the answers say so;
// farshield/shortcircuit#22: so do the errors that it may be the cause of
#[tokio::test]
async fn files_that_are_not_read_are_told_in_the_answers() {
    let built = Built::new();
    let holes = built.folder().join("holes.json");
    std::fs::write(&holes, r#"{"signatures": [{"out_system_name": "Thera"}]}"#).unwrap();
    let dump = built.folder().join("activity.json");
    std::fs::write(&dump, r#"{"error": "Timeout contacting tranquility"}"#).unwrap();
    let files = [holes.to_str().unwrap(), dump.to_str().unwrap()];
    let client = server(&built.graph(), &["--connections", files[0], "--activity", files[1]]).await;
    let told =
        ["the file of connections could not be read", "the activity overlay could not be read"];
    let route = call(&client, "route", to_amarr(json!({}))).await.unwrap();
    assert_has(&route["warnings"].to_string(), &told);
    let none = json!({"origin": "Jita", "destination": "Lonely"});
    let gap = json!({"systems": ["Jita", "Amarr"]});
    let stops = json!({"waypoints": ["Jita", "Lonely"]});
    for (tool, asked) in [("route", none), ("analyze", gap), ("optimize_waypoints", stops)] {
        let refused = call(&client, tool, asked).await.unwrap_err();
        assert_eq!(refused["code"], "ROUTE_NOT_FOUND", "{refused}");
        assert_has(refused["message"].as_str().unwrap(), &told);
        assert_has(refused["data"]["reason"].as_str().unwrap(), &told);
    }
    // What is read later is told no more, but for the entries that are left out.
    std::fs::write(
        &holes,
        r#"[{"from": "Jita", "to": "Nowhere"}, {"from": "Jita", "to": "Pell"}]"#,
    )
    .unwrap();
    soon(async {
        loop {
            let route = call(&client, "route", to_amarr(json!({}))).await.unwrap();
            let said = route["warnings"].to_string();
            if route["jumps"] == 2 {
                assert_has(&said, &["1 of 2 connections of the file are left out", "Nowhere"]);
                assert!(!said.contains(told[0]), "{said}");
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    client.close().await.unwrap();
}

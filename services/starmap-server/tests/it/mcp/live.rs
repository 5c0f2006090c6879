//! The activity overlay: what it adds, what it answers, and doing without it.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::assert_has;
use crate::harness::{Built, ERAS, ask_in_both_eras, call, connect, names, to_amarr};

/// The answer of a tool with the overlay.
async fn answer_of(tool: &str, arguments: Value) -> Value {
    let server = Built::new().live_server();
    ask_in_both_eras(&server, tool, arguments).await.unwrap()
}

/// The error of a tool with the overlay.
async fn error_of(tool: &str, arguments: Value) -> Value {
    let server = Built::new().live_server();
    ask_in_both_eras(&server, tool, arguments).await.unwrap_err()
}

#[tokio::test]
async fn systems_are_told_with_what_happens_there() {
    let route = answer_of("route", json!({"origin": "Jita", "destination": "Amarr"})).await;
    assert_eq!(route["activity"]["kills"], json!({"Marrow": 21, "Tarn": 5}));
    let dangerous = "Dangerous: Marrow (21 kills), Tarn (5 kills)";
    assert!(route["warnings"].as_array().unwrap().contains(&json!(dangerous)), "{route}");
    let full = answer_of("systems", json!({"systems": "Marrow", "detail": "full"})).await;
    assert_eq!(
        full["systems"][0]["activity"],
        json!({"ship_kills": 15, "pod_kills": 6, "npc_kills": 3, "ship_jumps": 60, "kills_level": "high"})
    );
}

#[tokio::test]
async fn every_tool_that_names_a_dangerous_system_says_so() {
    let safe = to_amarr(json!({"mode": "safe", "cost_of_safety": true}));
    let jumps = json!({"origin": "Jita", "activity_type": "jumps"});
    for (tool, arguments) in [
        ("route", to_amarr(json!({}))),
        ("route", safe),
        ("analyze", json!({"systems": ["Jita", "Marrow"]})),
        ("systems", json!({"systems": "Marrow"})),
        ("search", json!({"name": "marrow"})),
        ("nearest", json!({"origin": "Jita"})),
        ("borders", json!({"origin": "Jita"})),
        ("chokepoints", json!({"around": "Marrow", "max_jumps": 1})),
        ("distances", json!({"systems": ["Jita", "Marrow"]})),
        ("optimize_waypoints", json!({"waypoints": ["Jita", "Marrow"]})),
        ("activity", json!({"systems": "Marrow"})),
        ("hotspots", jumps),
        ("gatecamp_risk", json!({"route": ["Jita", "Marrow"]})),
    ] {
        let mut answer = answer_of(tool, arguments).await;
        let body = answer.as_object_mut().unwrap();
        let activity = body.remove("activity");
        let warnings = body.remove("warnings").unwrap().to_string();
        assert!(answer.to_string().contains("Marrow"), "{tool}: {answer}");
        // Where the body has the figures they are not repeated.
        let figures = activity.unwrap_or_else(|| answer.clone()).to_string();
        let counted = ["\"Marrow\":21", "\"LOW\",21", "\"LOW\",15,6"];
        assert!(counted.iter().any(|it| figures.contains(it)), "{tool}: {figures}");
        assert!(warnings.contains("Marrow (21 kills)"), "{tool}: {warnings}");
    }
}

#[tokio::test]
async fn activity_has_levels() {
    let found =
        answer_of("activity", json!({"systems": ["Marrow", "Nowhere", "Tarn", "Nadir", "Jita"]}))
            .await;
    assert_eq!(found["not_found"], json!(["Nowhere"]));
    assert_eq!(
        found["columns"],
        json!([
            "name",
            "security_class",
            "ship_kills",
            "pod_kills",
            "npc_kills",
            "ship_jumps",
            "kills_level",
            "jumps_level",
            "ratting_level"
        ])
    );
    let rows = found["systems"].as_array().unwrap();
    let levels: Vec<[&str; 3]> =
        rows.iter().map(|it| [6, 7, 8].map(|level| it[level].as_str().unwrap())).collect();
    assert_eq!(
        levels,
        [
            ["high", "medium", "low"],
            ["medium", "none", "none"],
            ["none", "none", "extreme"],
            ["none", "extreme", "none"],
        ]
    );
}

#[tokio::test]
async fn hotspots_are_the_busiest_first() {
    let kills = answer_of("hotspots", json!({"origin": "Jita"})).await;
    assert_eq!(names(&kills["hotspots"]), ["Marrow", "Tarn"]);
    assert_eq!((&kills["hotspots"][0][3], &kills["hotspots"][0][2]), (&json!(21), &json!(1)));
    let ratting =
        json!({"origin": "Jita", "activity_type": "ratting", "max_jumps": 30, "limit": 1});
    let ratting = answer_of("hotspots", ratting).await;
    assert_eq!((names(&ratting["hotspots"]), &ratting["total_found"]), (vec!["Nadir"], &json!(2)));
    let wrong = error_of("hotspots", json!({"origin": "Jita", "activity_type": "mining"})).await;
    assert_eq!(wrong["data"]["parameter"], "activity_type");
}

#[tokio::test]
async fn gate_camps_are_feared_where_ships_died() {
    for way in [
        json!({"origin": "Jita", "destination": "Amarr"}),
        json!({"route": ["Jita", "Marrow", "Tarn", "Amarr"]}),
    ] {
        let risk = answer_of("gatecamp_risk", way).await;
        assert_eq!((&risk["overall_risk"], &risk["systems"]), (&json!("extreme"), &json!(4)));
        assert_eq!(
            (&risk["columns"], &risk["risks"]),
            (
                &json!(["name", "security_class", "kills", "risk", "is_pipe"]),
                &json!([
                    ["Marrow", "LOW", 21, "extreme", true],
                    ["Tarn", "LOW", 5, "medium", false],
                ])
            )
        );
    }
    let safe = to_amarr(json!({"mode": "safe"}));
    let safe = answer_of("gatecamp_risk", safe).await;
    assert_eq!((&safe["overall_risk"], &safe["risks"]), (&json!("none"), &json!([])));
    for (wrong, parameter) in [
        (json!({}), "origin"),
        (json!({"origin": "Jita"}), "destination"),
        (json!({"route": ["Jita"], "origin": "Jita", "destination": "Amarr"}), "route"),
    ] {
        assert_eq!(error_of("gatecamp_risk", wrong).await["data"]["parameter"], parameter);
    }
}

#[tokio::test]
async fn front_lines_are_the_most_fought_for_first() {
    let fronts = answer_of("fw_frontlines", json!({})).await;
    assert_eq!(
        (&fronts["columns"], &fronts["systems"]),
        (
            &json!(["name", "owner", "occupier", "contested", "contested_percent", "region"]),
            &json!([
                [
                    "Sable",
                    "Caldari State",
                    "Gallente Federation",
                    "vulnerable",
                    100.0,
                    "Southreach"
                ],
                ["Rook", "Minmatar Republic", "Minmatar Republic", "contested", 25.0, "Northmark"],
            ])
        )
    );
    let theirs = answer_of("fw_frontlines", json!({"faction": "gallente"})).await;
    assert_eq!(
        (names(&theirs["systems"]), &theirs["faction"]),
        (vec!["Sable"], &json!("Gallente Federation"))
    );
    let none = error_of("fw_frontlines", json!({"faction": "Jove"})).await;
    assert_has(none["message"].as_str().unwrap(), &["Caldari State"]);
}

#[tokio::test]
async fn nearest_can_ask_for_quiet_places() {
    let quiet = json!({"origin": "Jita", "security_class": "LOW", "max_kills": 5, "limit": 1});
    let quiet = answer_of("nearest", quiet).await;
    assert_eq!((names(&quiet["systems"]), &quiet["total_found"]), (vec!["Tarn"], &json!(2)));
    let ratted = answer_of("nearest", json!({"origin": "Jita", "min_npc_kills": 100})).await;
    assert_eq!(names(&ratted["systems"]), ["Nadir"]);
}

#[tokio::test]
async fn what_a_dump_does_not_tell_of_is_not_taken_for_nothing() {
    let built = Built::new();
    let path = built.folder().join("part.json");
    let ask = async |dump: Value, tool: &str, arguments: Value| {
        std::fs::write(&path, dump.to_string()).unwrap();
        let server = built.server().with_activity(&path);
        server.load_activity().unwrap();
        call(&connect(&server, ERAS[1]).await, tool, arguments).await
    };
    let jumps = || json!([{"system_id": crate::common::id_of("Jita"), "ship_jumps": 812}]);
    let kills = || json!([{"system_id": crate::common::id_of("Tarn"), "ship_kills": 4, "pod_kills": 1, "npc_kills": 0}]);
    let way = to_amarr(json!({}));
    let jita = json!({"origin": "Jita"});
    let quiet = json!({"origin": "Jita", "max_kills": 0});
    let by_jumps = json!({"origin": "Jita", "activity_type": "jumps"});
    for (dump, tool, arguments, lacks) in [
        (jumps(), "gatecamp_risk", way, "system_kills"),
        (jumps(), "hotspots", jita, "system_kills"),
        (jumps(), "nearest", quiet, "system_kills"),
        (kills(), "hotspots", by_jumps, "system_jumps"),
        (kills(), "fw_frontlines", json!({}), "fw/systems"),
    ] {
        let error = ask(dump, tool, arguments).await.unwrap_err();
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["code"], "UNIVERSE_ERROR");
        assert!(message.starts_with(tool) || tool == "nearest", "{message}");
        assert!(message.contains(&format!("has no {lacks}")), "{message}");
    }
    let jita = json!({"systems": ["Jita"]});
    let found = ask(jumps(), "activity", jita.clone()).await.unwrap();
    assert_eq!(found["columns"], json!(["name", "security_class", "ship_jumps", "jumps_level"]));
    assert_eq!(found["systems"], json!([["Jita", "HIGH", 812, "extreme"]]));
    let full = json!({"systems": ["Jita"], "detail": "full"});
    let found = ask(jumps(), "systems", full).await.unwrap();
    assert_eq!(found["systems"][0]["activity"], json!({"ship_jumps": 812}));
    assert_eq!(found["activity"].get("kills"), None);
    let found = ask(kills(), "activity", json!({"systems": ["Tarn"]})).await.unwrap();
    let columns = found["columns"].to_string();
    assert!(!columns.contains("ship_jumps"), "{columns}");
    assert_eq!(found["systems"][0][2], 4);
}

#[tokio::test]
async fn the_age_of_the_dump_is_told() {
    let built = Built::new();
    let server = built.live_server();
    let dump = built.dump();
    let old = SystemTime::now() - Duration::from_secs(2 * 3_600);
    File::options().write(true).open(&dump).unwrap().set_modified(old).unwrap();
    server.load_activity().unwrap();
    let client = connect(&server, ERAS[1]).await;
    let status = call(&client, "activity_cache_status", json!({})).await.unwrap();
    assert_eq!(status["loaded"], true);
    assert_eq!(
        status["has"],
        json!({"kills": true, "ratting": true, "jumps": true, "faction_warfare": true})
    );
    let age = status["age_seconds"].as_u64().unwrap();
    assert!((7_200..8_000).contains(&age), "{age}");
    assert_has(status["note"].as_str().unwrap(), &["120 minutes old"]);
}

#[tokio::test]
async fn without_an_overlay_the_live_tools_say_so_and_all_others_work() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let client = connect(&server, era).await;
        for (tool, arguments) in [
            ("route", to_amarr(json!({"avoid_kills": 5}))),
            ("route", to_amarr(json!({"danger_weight": 5}))),
            ("nearest", json!({"origin": "Jita", "max_kills": 0})),
        ] {
            let error = call(&client, tool, arguments).await.unwrap_err();
            assert_eq!(
                (&error["code"], &error["data"]),
                (&json!("UNIVERSE_ERROR"), &json!({})),
                "{tool}"
            );
            assert_has(error["message"].as_str().unwrap(), &["--activity"]);
        }
        let tools = client.list_tools().await.unwrap();
        assert!(tools.iter().all(|tool| tool.name != "hotspots"));
        call(&client, "nearest", json!({"origin": "Jita"})).await.unwrap();
    }
}

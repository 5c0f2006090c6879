//! Reasons in answers: why a list is empty, what a name is, what was meant.

use serde_json::{Value, json};

use super::tools::ask;
use crate::common::real_folder;
use crate::harness::run;

async fn warning(tool: &str, arguments: Value) -> String {
    let answer = ask(tool, arguments.clone()).await.unwrap();
    assert_eq!(answer["total_found"], 0, "{tool} {arguments}: {answer}");
    answer["warnings"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_route_without_alternatives_says_why() {
    let asked =
        json!({"origin": "Jita", "destination": "Amarr", "mode": "safe", "alternatives": 3});
    let route = ask("route", asked).await.unwrap();
    assert_eq!(route["alternatives"], json!([]));
    let warnings = route["warnings"].to_string();
    assert!(
        warnings.contains("No alternatives: all other routes"),
        "{warnings}"
    );
}

#[tokio::test]
async fn empty_lists_say_why_and_what_would_help() {
    for (tool, arguments, why) in [
        (
            "nearest",
            json!({"origin": "Jita", "security_class": "null", "max_jumps": 2}),
            "The nearest is Nadir",
        ),
        (
            "nearest",
            json!({"origin": "Lonely"}),
            "none of the others can be reached from Lonely",
        ),
        (
            "nearest",
            json!({"origin": "Jita", "region": "Northmark", "security_max": -0.5}),
            "without region",
        ),
        ("search", json!({"name": "qqq"}), "without name"),
        (
            "search",
            json!({"region": "Alder"}),
            "that is a constellation of the region Northmark",
        ),
        (
            "borders",
            json!({"origin": "Vex-7K", "max_jumps": 1}),
            "raise max_jumps",
        ),
        (
            "borders",
            json!({"origin": "Vex-7K", "highsec_travel_only": true}),
            "highsec_travel_only",
        ),
        (
            "jump_range",
            json!({"origin": "Jita", "light_years": 0.1}),
            "raise light_years",
        ),
        (
            "chokepoints",
            json!({"around": "Lonely"}),
            "No single system cuts",
        ),
    ] {
        let found = warning(tool, arguments.clone()).await;
        assert!(found.contains(why), "{tool} {arguments}: {found}");
    }
}

#[tokio::test]
async fn names_are_taken_as_people_type_them() {
    for (typed, message, near) in [
        (json!("Northmark"), "that is a region", None),
        (json!("alder"), "that is a constellation", None),
        (
            json!("Jita IV - Moon 4 - Assembly Plant"),
            "a station, moon or planet in Jita",
            Some("Jita"),
        ),
        (
            json!("Jita 4-4"),
            "a station, moon or planet in Jita",
            Some("Jita"),
        ),
        (json!(39_999_999), "39999999", None),
    ] {
        let way = json!({"origin": typed, "destination": "Amarr"});
        let error = ask("route", way).await.unwrap_err();
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{error}"
        );
        if let Some(near) = near {
            assert_eq!(error["data"]["suggestions"], json!([near]));
        }
    }
    let way = json!({"origin": 30_000_001, "destination": "30000005", "mode": "SAFE", "avoid_systems": "tarn",
                     "avoid_security": "NullSec", "detail": "Names"});
    let found = ask("route", way).await.unwrap();
    assert_eq!(
        (&found["mode"], &found["jumps"]),
        (&json!("safe"), &json!(5))
    );
    for (arguments, near) in [
        (
            json!({"origin": "Jita", "destination": "Amarr", "mode": "sfae"}),
            "did you mean safe?",
        ),
        (json!({"orgin": "Jita", "destination": "Amarr"}), "origin"),
        (
            json!({"origin": "Jita", "destination": "Amarr", "avoid_sytems": []}),
            "did you mean avoid_systems?",
        ),
        (
            json!({"origin": "Jita", "destination": "Amarr", "xyz": 1}),
            "the tool takes alternatives, ",
        ),
    ] {
        let error = ask("route", arguments).await.unwrap_err();
        assert!(error.to_string().contains(near), "{error}");
    }
}

#[tokio::test]
async fn loops_stay_in_high_security_and_say_what_does_not_fit() {
    let short = json!({"origin": "Jita", "target_jumps": 10, "min_borders": 3});
    let trip = ask("loop", short).await.unwrap();
    assert_eq!(trip["security_filter"], "highsec");
    assert_eq!(trip["security_summary"]["lowsec_jumps"], 0);
    let any =
        json!({"origin": "Jita", "target_jumps": 10, "min_borders": 3, "security_filter": "any"});
    let trip = ask("loop", any).await.unwrap();
    let entered = trip["security_summary"]["lowsec_jumps"].as_u64().unwrap();
    assert_eq!(
        trip.to_string().contains("leaves high security"),
        entered > 0
    );
    let long = json!({"origin": "Jita", "target_jumps": 100, "min_borders": 2});
    let trip = ask("loop", long).await.unwrap();
    let warning = trip["warnings"][0].as_str().unwrap();
    assert!(warning.contains("instead of 100"), "{trip}");
}

#[tokio::test]
async fn chokepoints_and_the_nearest_of_a_list() {
    let cuts = ask("chokepoints", json!({"around": "Pell", "max_jumps": 30}))
        .await
        .unwrap();
    assert_eq!(cuts["systems"][0], json!(["Pell", 7]));
    assert!(
        cuts["gates"]
            .as_array()
            .unwrap()
            .contains(&json!(["Pell", "Rook", 7])),
        "{cuts}"
    );
    assert!(
        ask("chokepoints", json!({"around": "Northmark"}))
            .await
            .is_ok()
    );
    let near = json!({"origin": "Rook", "among": "trade hubs"});
    let near = ask("nearest", near).await.unwrap();
    assert_eq!(
        near["systems"],
        json!([["Amarr", 1.0, 2, "Northmark"], ["Jita", 0.9459, 5]])
    );
}

#[tokio::test]
async fn the_games_rules_on_the_real_map_and_every_tool_as_a_command() {
    let Some(folder) = real_folder() else { return };
    for (arguments, says) in [
        (
            &["jump_range", "origin=Tama", "light_years=9", "limit=3"][..],
            "high security",
        ),
        (
            &["jump_range", "origin=Thera", "light_years=5"],
            "wormhole space, where jump drives do not work",
        ),
        (
            &["route", "Jita", "Thera"],
            "wormhole space, which no gates join to the rest; give the wormholes",
        ),
        (
            &["route", "Jita", "Ignebaener"],
            "Pochven, which no gates join to the rest",
        ),
        (
            &["search", "origin=Thera", "max_jumps=3"],
            "No way leads on from Thera (Thera is in wormhole space",
        ),
        (&["nearest", "origin=Renz"], "did you mean Rens"),
        (
            &["search", "name=Renz"],
            "No system is called Renz; did you mean Rens?",
        ),
        (
            &["search", "name=Ammar"],
            "No system is called Ammar; did you mean Amarr?",
        ),
        (&["systems", "systems=Ammar,Jita"], "did you mean Amarr"),
        (
            &["distances", "systems=Jita,Amarr"],
            "[\"Jita\"],[\"Amarr\",11]",
        ),
        (&["chokepoints", "around=The Forge"], "the region The Forge"),
    ] {
        let ended = run(Some(&folder), arguments).await;
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(all.contains(says), "{arguments:?}: {all}");
    }
}

//! Reasons in answers: why a list is empty, what a name is, what was meant.

use serde_json::{Value, json};

use super::tools::{answer_of, error_of};
use crate::assert_has;
use crate::common::real_folder;
use crate::harness::{run, to_amarr};

async fn warning(tool: &str, arguments: Value) -> String {
    let answer = answer_of(tool, arguments.clone()).await;
    assert_eq!(answer["total_found"], 0, "{tool} {arguments}: {answer}");
    answer["warnings"][0].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_route_without_alternatives_says_why() {
    let asked = to_amarr(json!({"mode": "safe", "alternatives": 3}));
    let route = answer_of("route", asked).await;
    assert_eq!(route["alternatives"], json!([]));
    let warnings = route["warnings"].to_string();
    assert_has(&warnings, &["No alternatives: all other routes"]);
}

#[tokio::test]
async fn empty_lists_say_why_and_what_would_help() {
    let low = json!({"origin": "Jita", "security_class": "null", "max_jumps": 2});
    let north = json!({"origin": "Jita", "region": "Northmark", "security_max": -0.5});
    let few = json!({"origin": "Vex-7K", "max_jumps": 1});
    let high = json!({"origin": "Vex-7K", "highsec_travel_only": true});
    let short = json!({"origin": "Jita", "light_years": 0.1});
    let lonely = "none of the others can be reached from Lonely";
    let constellation = "that is a constellation of the region Northmark";
    for (tool, arguments, why) in [
        ("nearest", low, "The nearest is Nadir"),
        ("nearest", json!({"origin": "Lonely"}), lonely),
        ("nearest", north, "without region"),
        ("search", json!({"name": "qqq"}), "without name"),
        ("search", json!({"region": "Alder"}), constellation),
        ("borders", few, "raise max_jumps"),
        ("borders", high, "highsec_travel_only"),
        ("jump_range", short, "raise light_years"),
        ("chokepoints", json!({"around": "Lonely"}), "No single system cuts"),
    ] {
        let found = warning(tool, arguments.clone()).await;
        assert!(found.contains(why), "{tool} {arguments}: {found}");
    }
}

#[tokio::test]
async fn names_are_taken_as_people_type_them() {
    let (station, jita) = ("a station, moon or planet in Jita", Some("Jita"));
    for (typed, message, near) in [
        (json!("Northmark"), "that is a region", None),
        (json!("alder"), "that is a constellation", None),
        (json!("Jita IV - Moon 4 - Assembly Plant"), station, jita),
        (json!("Jita 4-4"), station, jita),
        (json!(39_999_999), "39999999", None),
    ] {
        let way = json!({"origin": typed, "destination": "Amarr"});
        let error = error_of("route", way).await;
        assert_has(error["message"].as_str().unwrap(), &[message]);
        if let Some(near) = near {
            assert_eq!(error["data"]["suggestions"], json!([near]));
        }
    }
    let way = json!({"origin": 30_000_001, "destination": "30000005", "mode": "SAFE", "avoid_systems": "tarn",
                     "avoid_security": "NullSec", "detail": "Names"});
    let found = answer_of("route", way).await;
    assert_eq!((&found["mode"], &found["jumps"]), (&json!("safe"), &json!(5)));
    for (arguments, near) in [
        (json!({"mode": "sfae"}), "did you mean safe?"),
        (json!({"orgin": "Jita"}), "origin"),
        (json!({"avoid_sytems": []}), "did you mean avoid_systems?"),
        (json!({"xyz": 1}), "the tool takes allow, alternatives, "),
    ] {
        let error = error_of("route", to_amarr(arguments)).await;
        assert!(error.to_string().contains(near), "{error}");
    }
}

#[tokio::test]
async fn loops_stay_in_high_security_and_say_what_does_not_fit() {
    let short = json!({"origin": "Jita", "target_jumps": 10, "min_borders": 3});
    let trip = answer_of("loop", short).await;
    assert_eq!(trip["security_filter"], "highsec");
    assert_eq!(trip["security_summary"]["lowsec_systems"], 0);
    let any =
        json!({"origin": "Jita", "target_jumps": 10, "min_borders": 3, "security_filter": "any"});
    let trip = answer_of("loop", any).await;
    let entered = trip["security_summary"]["lowsec_systems"].as_u64().unwrap();
    assert_eq!(trip.to_string().contains("leaves high security"), entered > 0);
    let long = json!({"origin": "Jita", "target_jumps": 100, "min_borders": 2});
    let trip = answer_of("loop", long).await;
    let warning = trip["warnings"][0].as_str().unwrap();
    assert!(warning.contains("instead of 100"), "{trip}");
}

#[tokio::test]
async fn chokepoints_and_the_nearest_of_a_list() {
    let cuts = answer_of("chokepoints", json!({"around": "Pell", "max_jumps": 30})).await;
    assert_eq!(cuts["systems"][0], json!(["Pell", 7]));
    assert!(cuts["gates"].as_array().unwrap().contains(&json!(["Pell", "Rook", 7])), "{cuts}");
    answer_of("chokepoints", json!({"around": "Northmark"})).await;
    let near = json!({"origin": "Rook", "among": "trade hubs"});
    let near = answer_of("nearest", near).await;
    assert_eq!(near["systems"], json!([["Amarr", 1.0, 2, "Northmark"], ["Jita", 0.9459, 5]]));
}

#[tokio::test]
async fn the_games_rules_on_the_real_map_and_every_tool_as_a_command() {
    let Some(folder) = real_folder() else { return };
    for (command, says) in [
        ("jump_range origin=Tama light_years=9 limit=3", "high security"),
        ("jump_range origin=Thera light_years=5", "wormhole space, where jump drives do not work"),
        ("route Jita Thera", "wormhole space, which no gates join to the rest; give the wormholes"),
        ("route Jita Ignebaener", "Pochven, which no gates join to the rest"),
        (
            "search origin=Thera max_jumps=3",
            "No way leads on from Thera (Thera is in wormhole space",
        ),
        ("nearest origin=Renz", "did you mean Rens"),
        ("search name=Renz", "No system is called Renz; did you mean Rens?"),
        ("search name=Ammar", "No system is called Ammar; did you mean Amarr?"),
        ("systems systems=Ammar,Jita", "did you mean Amarr"),
        ("distances systems=Jita,Amarr", "[\"Jita\"],[\"Amarr\",11]"),
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let ended = run(Some(&folder), &arguments).await;
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(all.contains(says), "{command}: {all}");
    }
    let around = run(Some(&folder), &["chokepoints", "around=The Forge"]).await;
    let all = format!("{}{}", around.stdout, around.stderr);
    assert!(all.contains("the region The Forge"), "{all}");
}

// esi/esi-issues#1466: the words of the game's API, now (POST /route) and before (flag), and what players write
#[tokio::test]
async fn words_of_others_are_taken_and_reported() {
    for (typed, used) in [
        ("Shorter", "shortest"),
        ("fastest", "shortest"),
        ("secure", "safer"),
        ("insecure", "less_secure"),
        ("LessSecure", "less_secure"),
        ("least secure", "less_secure"),
    ] {
        let found = answer_of("route", to_amarr(json!({"mode": typed}))).await;
        assert_eq!(found["mode"], used, "{typed}");
        assert_eq!(found["corrections"], json!({typed: used}));
    }
    // Another case is the same word.
    let found = answer_of("route", to_amarr(json!({"mode": "Safer"}))).await;
    assert_eq!((&found["mode"], found.get("corrections")), (&json!("safer"), None));
}

#[tokio::test]
async fn no_suggestion_says_the_opposite() {
    for typed in ["most_secure", "secured", "securest", "safeish", "unsafer", "insafe", "unsecured"]
    {
        let error = error_of("route", to_amarr(json!({"mode": typed}))).await;
        let message = error["message"].as_str().unwrap();
        let denies = typed.starts_with("un") || typed.starts_with("in");
        let near = message.split("did you mean ").nth(1).unwrap_or_default();
        for word in ["unsafe", "less_secure", "safe?", "safer?"] {
            let opposite = denies != ["unsafe", "less_secure"].contains(&word);
            assert!(!(near.starts_with(word) && opposite), "{typed}: {message}");
        }
    }
}

// esi/esi-issues#1466 (preference, security_penalty), GoldenGnu/jeveassets#475 (via)
#[tokio::test]
async fn arguments_of_others_get_the_right_name() {
    for (tool, arguments, near) in [
        ("route", json!({"preference": "Safer"}), "did you mean mode?"),
        ("route", json!({"flag": "secure"}), "did you mean mode?"),
        ("route", json!({"security_penalty": 50}), "did you mean penalty?"),
        ("route", json!({"avoid": ["Northmark"]}), "did you mean avoid_regions?"),
        ("route", json!({"avoid": "alder"}), "did you mean avoid_constellations?"),
        ("route", json!({"avoid": ["Tarn"]}), "did you mean avoid_systems?"),
        ("route", json!({"avoid": ["low"]}), "did you mean avoid_security?"),
        ("route", json!({"waypoints": ["Velm"]}), "did you mean via?"),
        (
            "route",
            json!({"avoid_systems": ["Northmark"]}),
            "that is a region: give it in avoid_regions",
        ),
        ("route", json!({"avoid_systems": "alder"}), "give it in avoid_constellations"),
    ] {
        let error = error_of(tool, to_amarr(arguments.clone())).await;
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(near), "{arguments}: {message}");
    }
    let around = json!({"origin": "Jita", "avoid_systems": ["Northmark"]});
    let error = error_of("loop", around).await;
    assert_has(
        &error["message"].to_string(),
        &["that is a region", "route, which has avoid_regions"],
    );
}

//! What planners do: stops in a fixed order, ships of a size, jumps by hull and skill; and the rules for ships.

use serde_json::{Value, json};
use starmap_server::UniverseServer;
use starmap_server::load;
use starmap_server::map::{Map, PartsSystem};

use crate::assert_has;
use crate::common::{LIGHT_YEAR, id_of, small_parts};
use crate::harness::{Built, ERAS, Outcome, ask_in_both_eras, call, connect, names, to_amarr};

async fn ask(server: &UniverseServer, tool: &str, arguments: Value) -> Outcome {
    ask_in_both_eras(server, tool, arguments).await
}

// GoldenGnu/jeveassets#475: stops in a fixed order
#[tokio::test]
async fn stops_are_visited_in_the_order_they_are_given_in() {
    let built = Built::new();
    let server = built.server();
    let via = |via: Value| to_amarr(json!({"via": via, "detail": "names"}));
    let route = ask(&server, "route", via(json!(["Rook", "Velm"]))).await.unwrap();
    assert_eq!(route["legs"], json!([5, 3, 3]));
    assert_eq!(route["jumps"], 11);
    let way = names(&route["names"]);
    let at = |name: &str| way.iter().position(|it| *it == name).unwrap();
    assert!(at("Rook") == 5 && way[8] == "Velm" && way[11] == "Amarr", "{way:?}");
    let one = ask(&server, "route", via(json!("Kestrel"))).await.unwrap();
    assert_eq!(one["jumps"], 5);
    let unknown = ask(&server, "route", via(json!(["Nowhere"]))).await.unwrap_err();
    assert_eq!(unknown["code"], "SYSTEM_NOT_FOUND");
    let both = ask(&server, "route", to_amarr(json!({"via": ["Velm"], "alternatives": 3}))).await;
    assert_has(&both.unwrap_err()["message"].to_string(), &["without alternatives"]);
    let cut = ask(&server, "route", via(json!(["Isle-A"]))).await.unwrap_err();
    assert_has(&cut["message"].to_string(), &["No route from Jita to Isle-A"]);
}

fn with(built: &Built, systems: &[(u32, &str, u32)], gates: &[(&str, u32)]) -> UniverseServer {
    let mut parts = small_parts();
    for (id, name, constellation) in systems {
        parts.systems.push(PartsSystem {
            id: *id,
            name: (*name).to_owned(),
            security: -1.0,
            constellation: *constellation,
            position: Some([30.0 * LIGHT_YEAR, 0.0, 0.0]),
        });
        parts.wormhole_classes.insert(31_000_001, 1);
        parts.wormhole_classes.insert(31_000_013, 13);
    }
    for (from, to) in gates {
        parts.gates.extend([(id_of(from), *to), (*to, id_of(from))]);
    }
    load::write(&Map::new(parts).unwrap().0, &built.graph()).unwrap();
    built.server()
}

const CLASSES: [(u32, &str, u32); 2] =
    [(31_000_001, "J111111", 20_000_005), (31_000_013, "J131313", 20_000_005)];

// exodus4d/pathfinder#1013 and the game's rules: what a ship may enter
#[tokio::test]
async fn ships_keep_to_what_they_may_enter() {
    let built = Built::new();
    let server = with(&built, &CLASSES, &[]);
    let capital = |more: Value| {
        let mut arguments = json!({"origin": "Sable", "destination": "Amarr", "ship": "capital"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let refused = ask(&server, "route", capital(json!({}))).await.unwrap_err();
    assert_eq!(refused["code"], "ROUTE_NOT_FOUND");
    let said = refused["message"].to_string();
    assert_has(&said, &["capital ships cannot enter high security", "allow", "capitals"]);
    let lifted = ask(&server, "route", capital(json!({"allow": "capitals"}))).await.unwrap();
    assert_eq!(lifted["jumps"], 3);
    let down = ask(&server, "route", capital(json!({"destination": "Umbra"}))).await.unwrap();
    assert_eq!(down["jumps"], 3);
    // A hole through a system of class 1 lets battlecruisers through, one of class 13 destroyers.
    for (hole, small, medium, large) in [("J111111", 2, 2, 3), ("J131313", 2, 3, 3)] {
        let holes = json!([{"from": "Jita", "to": hole}, {"from": hole, "to": "Amarr"}]);
        for (ship, jumps) in [("small", small), ("medium", medium), ("large", large)] {
            let arguments = to_amarr(json!({"connections": holes, "ship": ship}));
            let route = ask(&server, "route", arguments).await.unwrap();
            assert_eq!(route["jumps"], jumps, "{hole} {ship}");
            let said = route["warnings"].to_string();
            assert_eq!(said.contains("wormhole_class"), jumps == 3, "{said}");
        }
    }
    let nearest = json!({"origin": "Sable", "among": ["Pell"], "ship": "capital"});
    let nearest = ask(&server, "nearest", nearest).await.unwrap();
    assert_eq!(nearest["total_found"], 0);
    assert_has(&nearest["warnings"].to_string(), &["capital ships cannot enter"]);
}

// wanderer-industries/wanderer#17, GQuantrill/eve-nexum#477, secondfry/shortcircuit#30
#[tokio::test]
async fn connections_say_what_they_are_and_when_they_end() {
    let built = Built::new();
    let server = built.server();
    let end = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + 1_800).unwrap();
    let hole = json!({"from": "Jita", "to": "Amarr", "kind": "wormhole", "max_ship": "large",
                      "expires": end.to_string()});
    let route = ask(&server, "route", to_amarr(json!({"connections": [hole]}))).await.unwrap();
    let used = &route["connections_used"][0];
    assert_eq!((&used["kind"], &used["max_ship"]), (&json!("wormhole"), &json!("large")));
    assert_eq!((&used["source"], &used["expires"]), (&json!("call"), &json!(end.to_string())));
    assert_has(&route["warnings"].to_string(), &["from Jita to Amarr ends in"]);
}

// GQuantrill/eve-nexum#607, GQuantrill/eve-nexum#610 (range by ship and skill), EVEInsight/Insight#9 (midpoints)
#[tokio::test]
async fn jumps_are_planned_by_hull_and_skill() {
    let built = Built::new();
    let server = built.server();
    let range = json!({"origin": "Sable", "ship": "jump_freighter", "limit": 100});
    let range = ask(&server, "jump_range", range).await.unwrap();
    assert_eq!(range["light_years"], 10.0);
    let titan = json!({"origin": "Sable", "ship": "Titan", "calibration": 4});
    let light_years = ask(&server, "jump_range", titan).await.unwrap()["light_years"].as_f64();
    assert!((light_years.unwrap() - 5.4).abs() < 1e-9);
    // From Marrow at 2 light years to Umbra at 16, by jumps of at most 7.
    let plan = json!({"origin": "Marrow", "destination": "Umbra", "ship": "carrier"});
    let plan = ask(&server, "jump_range", plan).await.unwrap();
    let stops = names(&plan["systems"]);
    assert_eq!(stops.last(), Some(&"Umbra"));
    assert_eq!(plan["total_found"], stops.len());
    let far = |at: usize| plan["systems"][at][2].as_f64().unwrap();
    assert!((0..stops.len()).all(|at| far(at) <= 7.0), "{plan}");
    let high = json!({"origin": "Marrow", "destination": "Amarr", "ship": "carrier"});
    let high = ask(&server, "jump_range", high).await.unwrap_err();
    assert_has(&high["message"].to_string(), &["no cynosural field can be lit there"]);
    let short = json!({"origin": "Marrow", "destination": "Umbra", "light_years": 1});
    let short = ask(&server, "jump_range", short).await.unwrap_err();
    assert_eq!(short["code"], "ROUTE_NOT_FOUND");
    let neither = ask(&server, "jump_range", json!({"origin": "Marrow"})).await.unwrap_err();
    assert_has(&neither["message"].to_string(), &["range of the drive, or ship"]);
}

// Names in other languages (the export has eight), words of other tools
#[tokio::test]
async fn systems_are_found_by_their_names_in_other_languages() {
    let built = Built::new();
    let mut parts = small_parts();
    parts.other_names = vec![("\u{5409}\u{4ed6}".to_owned(), id_of("Jita"))];
    load::write(&Map::new(parts).unwrap().0, &built.graph()).unwrap();
    let server = built.server();
    let route = json!({"origin": "\u{5409}\u{4ed6}", "destination": "Amarr"});
    let route = ask(&server, "route", route).await.unwrap();
    assert_eq!((&route["origin"], &route["jumps"]), (&json!("Jita"), &json!(3)));
}

// A station is in a system; what is null in a matrix has a reason.
#[tokio::test]
async fn stations_and_nulls_are_explained() {
    let built = Built::new();
    let server = built.server();
    let station = "Jita IV - Moon 4 - Caldari Navy Assembly Plant";
    let route = json!({"origin": station, "destination": "Amarr", "correct": true});
    let route = ask(&server, "route", route).await.unwrap();
    assert_eq!((&route["jumps"], &route["corrections"][station]), (&json!(3), &json!("Jita")));
    let rows = json!({"systems": ["Jita", "Isle-A", "Lonely"]});
    let rows = ask(&server, "distances", rows).await.unwrap();
    let said = rows["warnings"].to_string();
    assert_has(&said, &["No way leads from Jita to Isle-A", "No gate leads to or from Lonely"]);
}

#[tokio::test]
async fn schemas_describe_tools_and_stay_small() {
    let built = Built::new();
    let client = connect(&built.server(), ERAS[1]).await;
    let tools = client.list_tools().await.unwrap();
    for tool in &tools {
        let schema = json!(tool.input_schema);
        assert_eq!(schema.get("description"), None, "{}", tool.name);
    }
    let size = serde_json::to_string(&tools).unwrap().len();
    assert!(size < 21_600, "{size}");
    call(&client, "systems", json!({"systems": "Jita"})).await.unwrap();
}

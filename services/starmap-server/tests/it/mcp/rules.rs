//! What the rules of the game do to the answers of all tools, on the small map with Zarzakh between Ostra and Umbra.

use serde_json::{Value, json};
use starmap_server::UniverseServer;
use starmap_server::load;
use starmap_server::map::{Map, PartsSystem};

use crate::assert_has;
use crate::common::{LIGHT_YEAR, id_of, small_parts};
use crate::harness::{Built, ERAS, Outcome, call, connect, names};

const ZARZAKH: u32 = 30_100_000;

/// Zarzakh has gates to Ostra and to Umbra. Through it Ostra and Umbra are 2 jumps apart, else 8.
fn server(built: &Built) -> UniverseServer {
    let mut parts = small_parts();
    parts.systems.push(PartsSystem {
        id: ZARZAKH,
        name: "Zarzakh".to_owned(),
        security: -1.0,
        constellation: 20_000_003,
        position: Some([9.0 * LIGHT_YEAR, 0.0, 9.0 * LIGHT_YEAR]),
    });
    for end in ["Ostra", "Umbra"] {
        parts.gates.extend([(ZARZAKH, id_of(end)), (id_of(end), ZARZAKH)]);
    }
    load::write(&Map::new(parts).unwrap().0, &built.graph()).unwrap();
    built.server()
}

async fn ask(server: &UniverseServer, tool: &str, arguments: Value) -> Outcome {
    let client = connect(server, ERAS[1]).await;
    call(&client, tool, arguments).await
}

fn warnings(answer: &Value) -> String {
    answer["warnings"].to_string()
}

// secondfry/shortcircuit#30
#[tokio::test]
async fn a_route_begins_and_ends_in_zarzakh_and_never_leads_through() {
    let built = Built::new();
    let server = server(&built);
    for mode in ["shortest", "safe", "unsafe", "safer", "less_secure"] {
        let ends = |origin, destination, allow: Value| {
            json!({"origin": origin, "destination": destination, "mode": mode, "detail": "names",
                   "allow": allow})
        };
        let around = ask(&server, "route", ends("Ostra", "Umbra", json!([]))).await.unwrap();
        assert!(!names(&around["names"]).contains(&"Zarzakh"), "{mode}");
        let said = warnings(&around);
        assert_has(&said, &["2 jumps through Zarzakh is left out", "September 2024", "zarzakh"]);
        assert_has(&said, &["CCP, news"]);
        let through = ask(&server, "route", ends("Ostra", "Umbra", json!("Zarzakh"))).await;
        let through = through.unwrap();
        assert_eq!(names(&through["names"]), ["Ostra", "Zarzakh", "Umbra"]);
        assert!(!warnings(&through).contains("left out"));
        let into = ask(&server, "route", ends("Jita", "Zarzakh", json!([]))).await.unwrap();
        assert_eq!(into["jumps"], 2);
        assert!(!warnings(&into).contains("left out"), "{into}");
        let out = ask(&server, "route", ends("Zarzakh", "Jita", json!([]))).await.unwrap();
        assert_eq!(out["jumps"], 2);
        assert_has(&warnings(&out), &["way out of Zarzakh may be closed", "six hours"]);
    }
    // The rule made no difference: there is nothing to say.
    let near = ask(&server, "route", json!({"origin": "Jita", "destination": "Velm"})).await;
    assert!(!near.unwrap().to_string().contains("Zarzakh"));
}

#[tokio::test]
async fn no_tool_counts_a_way_through_zarzakh_unless_it_is_allowed() {
    let built = Built::new();
    let server = server(&built);
    let allow = |mut arguments: Value| {
        arguments["allow"] = json!(["zarzakh"]);
        arguments
    };
    let held = "A rule leaves out some ways: since September 2024";
    let distances = json!({"systems": ["Ostra", "Zarzakh"], "to": ["Umbra", "Zarzakh", "Ostra"]});
    let found = ask(&server, "distances", distances.clone()).await.unwrap();
    assert_eq!(found["jumps"], json!([["Ostra", 8, 1, 0], ["Zarzakh", 1, 0, 1]]));
    assert_has(&warnings(&found), &[held]);
    let found = ask(&server, "distances", allow(distances)).await.unwrap();
    assert_eq!(found["jumps"], json!([["Ostra", 2, 1, 0], ["Zarzakh", 1, 0, 1]]));
    assert!(!found.to_string().contains(held));
    let nearest = json!({"origin": "Ostra", "among": ["Umbra"]});
    let search = json!({"origin": "Ostra", "max_jumps": 3, "security_max": -0.5});
    let borders = json!({"origin": "Umbra", "max_jumps": 2});
    for (tool, asked, far, near) in
        [("nearest", nearest, 1, 1), ("search", search, 1, 3), ("borders", borders, 0, 1)]
    {
        let found = ask(&server, tool, asked.clone()).await.unwrap();
        assert_eq!(found["total_found"], far, "{tool} {found}");
        assert_has(&warnings(&found), &[held]);
        let found = ask(&server, tool, allow(asked)).await.unwrap();
        assert_eq!(found["total_found"], near, "{tool} {found}");
        assert!(!found.to_string().contains(held));
    }
    let way = json!({"systems": ["Ostra", "Zarzakh", "Umbra"]});
    let refused = ask(&server, "analyze", way.clone()).await.unwrap_err();
    assert_eq!(refused["code"], "ROUTE_NOT_FOUND");
    assert_has(&refused["message"].to_string(), &["six hours", "allow"]);
    ask(&server, "analyze", allow(way)).await.unwrap();
    let back = json!({"systems": ["Velm", "Ostra", "Zarzakh", "Ostra"]});
    ask(&server, "analyze", back).await.unwrap();
    // Ostra is no cut of the space around it by Zarzakh.
    let cuts = ask(&server, "chokepoints", json!({"around": "Velm", "max_jumps": 30})).await;
    let cuts = cuts.unwrap();
    assert_has(&cuts["systems"].to_string(), &["Sable"]);
    assert_has(&warnings(&cuts), &["Zarzakh joins nothing here", "September 2024"]);
}

#[tokio::test]
async fn a_tour_leaves_zarzakh_by_the_gate_it_was_entered_by() {
    let built = Built::new();
    let server = server(&built);
    let tour = |origin: &str, stops: Value, back: bool| json!({"origin": origin, "waypoints": stops, "return_to_origin": back, "detail": "names"});
    let found =
        ask(&server, "optimize_waypoints", tour("Jita", json!(["Zarzakh", "Velm"]), true)).await;
    let found = found.unwrap();
    assert_eq!((&found["total_jumps"], &found["method"]), (&json!(6), &json!("exact")));
    let way = names(&found["names"]);
    let at = way.iter().position(|name| *name == "Zarzakh").unwrap();
    assert_eq!((way[at - 1], way[at + 1]), ("Ostra", "Ostra"));
    assert_eq!(names(&found["stops"]).len(), 4);
    // The gate it was entered by is a stop itself.
    let both = tour("Jita", json!(["Ostra", "Zarzakh"]), true);
    let found = ask(&server, "optimize_waypoints", both).await.unwrap();
    assert_eq!(found["total_jumps"], 4);
    assert_eq!(names(&found["names"]), ["Jita", "Ostra", "Zarzakh", "Ostra", "Jita"]);
    assert_eq!(found["legs"].as_array().unwrap().len() + 1, names(&found["stops"]).len());
    // Without a way back it may be last.
    let found =
        ask(&server, "optimize_waypoints", tour("Jita", json!(["Zarzakh", "Velm"]), false)).await;
    assert_eq!(found.unwrap()["total_jumps"], 4);
    let unknown = json!({"origin": "Jita", "destination": "Velm", "allow": "pochven"});
    let error = ask(&server, "route", unknown).await.unwrap_err();
    assert_has(&error["message"].to_string(), &["allow", "zarzakh"]);
}

#[tokio::test]
async fn prompts_know_the_rule() {
    let built = Built::new();
    let client = connect(&server(&built), ERAS[1]).await;
    let ends = json!({"origin": "Ostra", "destination": "Umbra"});
    let haul = client
        .request("prompts/get", json!({"name": "plan_fleet_move", "arguments": ends}))
        .await
        .unwrap();
    assert_has(&haul.to_string(), &["2 jumps through Zarzakh is left out", "8 jumps"]);
    let picture = json!({"uri": "starmap://picture/route/Ostra/Umbra"});
    let picture = client.request("resources/read", picture).await.unwrap();
    assert_has(&picture.to_string(), &["8 jumps, shortest", "2 jumps through Zarzakh is left out"]);
}

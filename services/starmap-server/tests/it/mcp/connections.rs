//! Connections that the server was started with.

use serde_json::{Value, json};
use starmap_server::UniverseServer;
use starmap_server::load;
use starmap_server::map::Map;

use crate::assert_has;
use crate::common::small_parts;
use crate::harness::{Built, ERAS, Outcome, call, connect, names, to_amarr};

/// A bridge from Jita to Pell, a hole from Pell to Isle-A, and three that are none on this map.
fn file() -> Value {
    json!([
        {"from": "jita", "to": "Pell"},
        {"from": "Pell", "to": "Isle-A", "both_ways": false, "cost": 4},
        {"from": "Jita", "to": "Nowhere"},
        {"from": "Yesterday", "to": "Jita"},
        {"from": "Jita", "to": "JITA"},
    ])
}

fn server(built: &Built) -> UniverseServer {
    let path = built.folder().join("bridges.json");
    std::fs::write(&path, file().to_string()).unwrap();
    let server = built.live_server().with_connections(path);
    server.load_connections().unwrap();
    server
}

async fn ask(server: &UniverseServer, tool: &str, arguments: Value) -> Outcome {
    let client = connect(server, ERAS[1]).await;
    call(&client, tool, arguments).await
}

#[tokio::test]
async fn ways_take_them_unless_they_are_not_wanted() {
    let built = Built::new();
    let server = server(&built);
    let ends = |more: Value| {
        let mut ends = to_amarr(more);
        ends["detail"] = json!("names");
        ends
    };
    let bridge = |from: &str| json!({"connections": [{"from": from, "to": "Amarr"}]});
    let own = |own: bool| json!({"own_connections": own});
    for (more, way) in [
        (json!({}), vec!["Jita", "Pell", "Amarr"]),
        (own(true), vec!["Jita", "Pell", "Amarr"]),
        (own(false), vec!["Jita", "Marrow", "Tarn", "Amarr"]),
        (bridge("Jita"), vec!["Jita", "Amarr"]),
        (bridge("Umbra"), vec!["Jita", "Pell", "Amarr"]),
    ] {
        let route = ask(&server, "route", ends(more.clone())).await.unwrap();
        assert_eq!(names(&route["names"]), way, "{more}");
    }
    let route = ask(&server, "route", ends(json!({}))).await.unwrap();
    assert_eq!(
        route["connections_used"],
        json!([{"from": "Jita", "to": "Pell", "kind": "other", "source": "file"}])
    );
    // One way, with its cost.
    let out = json!({"origin": "Jita", "destination": "Isle-B"});
    let out = ask(&server, "route", out).await.unwrap();
    assert_eq!((&out["jumps"], &out["cost"]), (&json!(3), &json!(6.0)));
    let back = json!({"origin": "Isle-B", "destination": "Jita"});
    assert_eq!(ask(&server, "route", back).await.unwrap_err()["code"], "ROUTE_NOT_FOUND");
    // A call that cannot be meant is named by its own number.
    let circle = json!({"connections": [{"from": "Jita", "to": "Jita"}]});
    let circle = ask(&server, "route", ends(circle)).await.unwrap_err();
    let told = circle["message"].as_str().unwrap();
    assert!(told.contains("connection number 1 "), "{told}");
}

#[tokio::test]
async fn what_else_is_about_ways_takes_them_too() {
    let built = Built::new();
    let server = server(&built);
    let way = json!({"systems": ["Jita", "Pell", "Amarr"]});
    assert!(ask(&server, "analyze", way.clone()).await.is_ok());
    let mut gates = way.clone();
    gates["own_connections"] = json!(false);
    assert_eq!(ask(&server, "analyze", gates).await.unwrap_err()["code"], "ROUTE_NOT_FOUND");
    let jumps = json!({"systems": ["Jita"], "to": ["Amarr", "Isle-A"]});
    let found = ask(&server, "distances", jumps).await.unwrap();
    assert_eq!(found["jumps"], json!([["Jita", 2, 2]]));
    // Through Marrow, where it is dangerous, no way has to go.
    let risk = json!({"origin": "Jita", "destination": "Amarr"});
    let risk = ask(&server, "gatecamp_risk", risk).await.unwrap();
    assert_eq!((&risk["systems"], &risk["overall_risk"]), (&json!(3), &json!("none")));
    let client = connect(&server, ERAS[1]).await;
    let uri = json!({"uri": "starmap://picture/route/Jita/Amarr"});
    let picture = client.request("resources/read", uri).await.unwrap();
    let svg = picture["contents"][0]["text"].as_str().unwrap();
    assert_has(svg, &["2 jumps", "stroke-dasharray"]);
    let asked =
        json!({"name": "plan_haul", "arguments": {"origin": "Jita", "destination": "Amarr"}});
    let prompt = client.request("prompts/get", asked).await.unwrap();
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("shortest: 2 jumps"), "{text}");
}

#[tokio::test]
async fn on_another_map_they_join_the_same_systems() {
    let built = Built::new();
    let server = server(&built);
    // Without its first system all others have other places.
    let mut parts = small_parts();
    parts.systems.remove(0);
    let (map, _) = Map::new(parts).unwrap();
    load::write(&map, &built.graph()).unwrap();
    server.load_graph().unwrap();
    let route = json!({"origin": "Pell", "destination": "Isle-A", "detail": "names"});
    let route = ask(&server, "route", route).await.unwrap();
    assert_eq!(names(&route["names"]), ["Pell", "Isle-A"]);
}

// exodus4d/pathfinder#1013 (the size of holes), exodus4d/pathfinder#406, wanderer-industries/wanderer#17,
// GQuantrill/eve-nexum#477 (their end)
#[tokio::test]
async fn connections_have_a_size_and_an_end() {
    let built = Built::new();
    let path = built.folder().join("holes.json");
    let ends = |seconds: i64| {
        (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string()
    };
    let holes = json!([
        {"from": "Jita", "to": "Amarr", "expires_at": ends(-60)},
        {"from": "Jita", "to": "Pell", "max_ship_size": "medium", "expires": ends(3_600)},
    ]);
    std::fs::write(&path, holes.to_string()).unwrap();
    let server = built.server().with_connections(path);
    server.load_connections().unwrap();
    for (ship, jumps) in [(None, 2), (Some("small"), 2), (Some("medium"), 2), (Some("xlarge"), 3)] {
        let mut arguments = to_amarr(json!({}));
        if let Some(ship) = ship {
            arguments["ship"] = json!(ship);
        }
        let route = ask(&server, "route", arguments).await.unwrap();
        assert_eq!(route["jumps"], jumps, "{ship:?}");
        assert!(!route.to_string().contains("left out"), "what has ended is no fault of the file");
    }
    // Those of a call too.
    let hole = |more: Value| {
        let mut hole = json!({"from": "Jita", "to": "Amarr"});
        hole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        to_amarr(json!({"connections": [hole], "own_connections": false, "ship": "large"}))
    };
    for (more, jumps) in [
        (json!({}), 1),
        (json!({"max_ship": "large"}), 1),
        (json!({"max_ship": "medium"}), 3),
        (json!({"expires": ends(60)}), 1),
        (json!({"expires": ends(-60)}), 3),
    ] {
        let route = ask(&server, "route", hole(more.clone())).await.unwrap();
        assert_eq!(route["jumps"], jumps, "{more}");
    }
}

// GQuantrill/eve-nexum#597: what a map says of a dying hole is said of a route over it
#[tokio::test]
async fn routes_over_dying_holes_warn() {
    let built = Built::new();
    let (end, close) = ("ends within 4 hours", "may close before or behind the ship");
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(90);
    for (hole, told) in [
        (json!({"time_status": 0, "mass_status": 1}), vec![]),
        (json!({"time_status": 1, "mass_status": 0}), vec![end]),
        (json!({"time_status": 0, "mass_status": 2}), vec![close]),
        (json!({"time_status": 1, "mass_status": 2}), vec![end, close]),
        (json!({"time_status": 1, "expires_at": soon.to_string()}), vec!["minutes"]),
        (json!({"type": ["wh_eol", "wh_critical", "frigate"]}), vec![end, close]),
    ] {
        let mut hole = hole;
        hole["solar_system_source"] = json!("Jita");
        hole["solar_system_target"] = json!("Amarr");
        let path = built.folder().join("holes.json");
        std::fs::write(&path, json!({"data": [hole]}).to_string()).unwrap();
        let server = built.server().with_connections(path);
        server.load_connections().unwrap();
        let route = ask(&server, "route", to_amarr(json!({}))).await.unwrap();
        assert_eq!(route["jumps"], 1, "{hole}");
        let said = route["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let said: Vec<&str> = said.filter(|it| it.contains("from Jita to Amarr")).collect();
        assert_eq!(said.len(), told.len(), "{hole}: {said:?}");
        assert!(said.iter().zip(told).all(|(said, told)| said.contains(told)), "{hole}: {said:?}");
    }
}

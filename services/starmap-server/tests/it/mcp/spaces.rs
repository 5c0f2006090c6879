//! Wormhole space, Pochven and the like are said in words: their security class is that of null security, which they
//! are not.

use serde_json::{Value, json};
use starmap_server::UniverseServer;
use starmap_server::load;
use starmap_server::map::{Map, PartsSystem};

use crate::assert_has;
use crate::common::small_parts;
use crate::harness::{Built, ERAS, ask_in_both_eras, connect, to_amarr};

/// The small map with J100001, of class 4.
fn server(built: &Built) -> UniverseServer {
    let mut parts = small_parts();
    parts.systems.push(PartsSystem {
        id: 31_000_007,
        name: "J100001".to_owned(),
        security: -1.0,
        constellation: 20_000_005,
        position: None,
    });
    parts.wormhole_classes.insert(31_000_007, 4);
    load::write(&Map::new(parts).unwrap().0, &built.graph()).unwrap();
    let server = built.server().with_activity(built.dump());
    server.load_activity().unwrap();
    server
}

fn holes() -> Value {
    json!([{"from": "Jita", "to": "J100001"}, {"from": "J100001", "to": "Amarr"}])
}

// esi-docs: the class of wormhole space is in the static data.
#[tokio::test]
async fn a_way_through_wormhole_space_is_none_through_null_security() {
    let built = Built::new();
    let server = server(&built);
    for mode in ["shortest", "safe"] {
        let asked = to_amarr(json!({"mode": mode, "connections": holes(), "detail": "summary"}));
        let route = ask_in_both_eras(&server, "route", asked).await.unwrap();
        let through = route["jumps"] == 2;
        let summary = &route["security_summary"];
        assert_eq!(summary["nullsec_systems"], 0, "{route}");
        let said = route["warnings"].to_string();
        assert!(!said.contains("null-security"), "{said}");
        assert_eq!(through, mode == "shortest", "{route}");
        if through {
            assert_eq!(summary["other_systems"], json!({"wormhole space, class 4": 1}));
            assert_has(&said, &["enters 1 system of wormhole space"]);
            assert_eq!(route["columns"], json!(["name", "security", "space", "region"]));
            assert_eq!(route["systems"][0][2], Value::Null);
            assert_eq!(route["systems"][1][2], "wormhole space, class 4");
        } else {
            assert_eq!(summary["other_systems"], Value::Null);
            assert_eq!(route["columns"], json!(["name", "security", "region"]));
        }
    }
}

#[tokio::test]
async fn rows_have_the_space_where_the_class_misleads() {
    let built = Built::new();
    let server = server(&built);
    let asked = json!({"systems": ["Jita", "J100001"]});
    let activity = ask_in_both_eras(&server, "activity", asked).await.unwrap();
    let columns = activity["columns"].as_array().unwrap();
    let at = columns.iter().position(|it| it == "space").unwrap();
    assert_eq!(activity["systems"][1][at], "wormhole space, class 4");
    let only = ask_in_both_eras(&server, "activity", json!({"systems": "Jita"})).await.unwrap();
    assert!(!only["columns"].to_string().contains("space"));
    let client = connect(&server, ERAS[1]).await;
    let region = json!({"uri": "starmap://region/Farvoid"});
    let region = client.request("resources/read", region).await.unwrap();
    let region: Value =
        serde_json::from_str(region["contents"][0]["text"].as_str().unwrap()).unwrap();
    // J000001 and J000002 have ids of known space.
    assert_eq!((&region["counts"]["null"], &region["counts"]["other"]), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn a_connection_may_be_a_jump_of_a_drive_to_where_one_can_end() {
    let built = Built::new();
    let server = server(&built);
    let jump = |to: &str, both_ways: bool| {
        let jump = json!([{"from": "Jita", "to": to, "kind": "jump", "both_ways": both_ways}]);
        json!({"origin": "Jita", "destination": "Nadir", "connections": jump})
    };
    let route = ask_in_both_eras(&server, "route", jump("Nadir", false)).await.unwrap();
    assert_eq!(
        (&route["jumps"], &route["connections_used"][0]["kind"]),
        (&json!(1), &json!("jump"))
    );
    for (to, both_ways, told) in [
        ("Amarr", false, "no jump ends in Amarr, which is in high security"),
        ("J100001", false, "no jump ends in J100001, which is in wormhole space, class 4"),
        ("Nadir", true, "no jump ends in Jita, which is in high security"),
    ] {
        let refused = ask_in_both_eras(&server, "route", jump(to, both_ways)).await.unwrap_err();
        assert_eq!(refused["data"]["parameter"], "connections");
        assert_has(&refused["message"].to_string(), &[told]);
    }
}

// Prompts and resources rest on the same files as answers, and say what could not be read.
#[tokio::test]
async fn prompts_and_resources_say_what_was_not_understood() {
    let built = Built::new();
    let file = built.folder().join("bridges.json");
    std::fs::write(
        &file,
        r#"[{"from": "Jita", "to": "Nowhere"}, {"from": "Jita", "to": "Amarr"}]"#,
    )
    .unwrap();
    let server = built.server().with_connections(&file);
    server.load_connections().unwrap();
    for era in ERAS {
        let client = connect(&server, era).await;
        let haul =
            json!({"name": "plan_haul", "arguments": {"origin": "Jita", "destination": "Amarr"}});
        let haul = client.request("prompts/get", haul).await.unwrap();
        let told = "1 of 2 connections of the file are left out";
        assert_has(&haul["messages"][0].to_string(), &["1 jumps", told]);
        let read = json!({"uri": "starmap://system/Jita"});
        let read = client.request("resources/read", read).await.unwrap();
        assert_has(&read.to_string(), &[told]);
    }
}

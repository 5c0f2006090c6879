//! Tools: their list, and the route with all that it takes.

use std::sync::LazyLock;

use mcp_proto::Tool;
use serde_json::{Value, json};
use starmap_server::UniverseServer;

use crate::harness::{Built, ERAS, Outcome, ask_in_both_eras, connect, names, to_amarr};

/// Calls one tool of the small map in both eras, which must answer the same.
async fn ask(tool: &str, arguments: Value) -> Outcome {
    // Nothing that is asked changes it, so one serves all tests.
    static SERVER: LazyLock<UniverseServer> = LazyLock::new(|| Built::new().server());
    ask_in_both_eras(&SERVER, tool, arguments).await
}

/// The answer of a tool that must succeed.
pub(super) async fn answer_of(tool: &str, arguments: Value) -> Value {
    ask(tool, arguments).await.unwrap()
}

/// The error of a tool that must fail.
pub(super) async fn error_of(tool: &str, arguments: Value) -> Value {
    ask(tool, arguments).await.unwrap_err()
}

#[tokio::test]
async fn the_tools_are_listed_with_plain_schemas_and_only_read() {
    let built = Built::new();
    let server = built.server();
    for era in ERAS {
        let tools: Vec<Tool> = connect(&server, era).await.list_tools().await.unwrap();
        let mut listed: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        listed.sort_unstable();
        assert_eq!(
            listed,
            [
                "analyze",
                "borders",
                "chokepoints",
                "distances",
                "jump_range",
                "loop",
                "nearest",
                "optimize_waypoints",
                "route",
                "search",
                "systems",
            ]
        );
        for tool in &tools {
            let input = tool.input_schema.to_string();
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
            for keyword in ["\"oneOf\"", "\"anyOf\"", "\"$ref\""] {
                assert!(!input.contains(keyword), "{}: {input}", tool.name);
            }
            let output = tool.output_schema.as_ref().unwrap();
            assert_eq!(output["type"], "object", "{}", tool.name);
            assert_eq!(output["properties"]["data_version"]["type"], "string", "{}", tool.name);
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)));
        }
    }
}

#[tokio::test]
async fn a_route_is_told_in_three_sizes() {
    let ends = |detail: &str| json!({"origin": "JITA", "destination": "amarr", "detail": detail});
    let brief = answer_of("route", ends("names")).await;
    assert_eq!(brief["names"], json!(["Jita", "Marrow", "Tarn", "Amarr"]));
    assert_eq!(brief.get("systems"), None);
    let summary = answer_of("route", json!({"origin": "Jita", "destination": "Amarr"})).await;
    assert_eq!(
        summary,
        json!({
            "origin": "Jita", "destination": "Amarr", "mode": "shortest", "jumps": 3,
            "columns": ["name", "security", "region"],
            "systems": [
                ["Jita", 0.9459, "Northmark"], ["Marrow", 0.4499], ["Tarn", 0.3], ["Amarr", 1.0],
            ],
            "security_summary": {"total_jumps": 3, "highsec_systems": 2, "lowsec_systems": 2, "nullsec_systems": 0,
                                 "lowest_security": 0.3, "lowest_security_system": "Tarn"},
            "warnings": ["The route enters 2 low-security systems",
                         "The route passes through Marrow (LOW security), which has only two gates and is easily camped"],
            "data_version": "hand-made",
        })
    );
    assert_eq!(answer_of("route", ends("summary")).await, summary);
    let full = answer_of("route", ends("full")).await;
    assert_eq!(
        full["systems"][0],
        json!({
            "name": "Jita", "security": 0.9459, "security_class": "HIGH", "space": "high security", "region": "Northmark",
            "system_id": 30_000_001, "constellation": "Alder", "constellation_id": 20_000_001,
            "region_id": 10_000_001, "is_border": true, "adjacent_lowsec": ["Marrow"],
            "neighbors": [["Ostra", 0.8], ["Marrow", 0.4499]],
        })
    );
    // Without an overlay no answer speaks of activity.
    assert!(!full.to_string().contains("activity"));
}

#[tokio::test]
async fn a_route_prefers_and_avoids_what_it_is_told_to() {
    let short = ["Jita", "Marrow", "Tarn", "Amarr"].as_slice();
    let safe = ["Jita", "Ostra", "Velm", "Kestrel", "Pell", "Amarr"].as_slice();
    let bridged = ["Jita", "Pell", "Amarr"].as_slice();
    let bridge = |bridge: Value| json!({"connections": [bridge]});
    for (more, way) in [
        (json!({"mode": "safe"}), safe),
        (json!({"mode": "safer"}), safe),
        (json!({"mode": "safer", "penalty": 0}), short),
        (json!({"mode": "unsafe"}), short),
        (json!({"mode": "less_secure"}), short),
        (json!({"avoid_systems": ["tarn"]}), safe),
        (json!({"avoid_security": ["LOW"]}), safe),
        (bridge(json!({"from": "Jita", "to": "Pell"})), bridged),
        (bridge(json!({"from": "Pell", "to": "Jita"})), bridged),
        (bridge(json!({"from": "Pell", "to": "Jita", "both_ways": false})), short),
        (bridge(json!({"from": "Jita", "to": "Pell", "cost": 9.5})), short),
    ] {
        let mut arguments = to_amarr(more.clone());
        arguments["detail"] = json!("names");
        let route = answer_of("route", arguments).await;
        assert_eq!(route["names"], json!(way), "{more}");
    }
    let bridged = to_amarr(json!({"connections": [{"from": "Jita", "to": "Pell"}]}));
    let route = answer_of("route", bridged).await;
    assert_eq!(
        route["connections_used"],
        json!([{"from": "Jita", "to": "Pell", "kind": "other", "source": "call"}])
    );
    let here = answer_of("route", json!({"origin": "Jita", "destination": "Jita"})).await;
    assert_eq!((here["jumps"].as_u64(), names(&here["systems"])), (Some(0), vec!["Jita"]));
}

#[tokio::test]
async fn a_route_comes_with_others_and_with_what_safety_costs() {
    let arguments = to_amarr(json!({"alternatives": 3, "cost_of_safety": true}));
    let route = answer_of("route", arguments).await;
    let others = route["alternatives"].as_array().unwrap();
    assert!(!others.is_empty());
    assert!(
        others.iter().all(|other| other["names"] != json!(["Jita", "Marrow", "Tarn", "Amarr"]))
    );
    assert_eq!(route["cost_of_safety"]["more_jumps"], 2);
    // Whatever is asked for besides, the safe one is safe.
    for mode in ["unsafe", "less_secure", "safer"] {
        let arguments = to_amarr(json!({"mode": mode, "cost_of_safety": true}));
        let other = answer_of("route", arguments).await;
        let names = |route: &Value| route["cost_of_safety"]["safe"]["names"].clone();
        assert_eq!(names(&other), names(&route), "{mode}");
    }
    assert_eq!(route["cost_of_safety"]["safe"]["security_summary"]["lowsec_systems"], 0);
    let plain = answer_of("route", json!({"origin": "Jita", "destination": "Amarr"})).await;
    assert_eq!((plain.get("alternatives"), plain.get("cost_of_safety")), (None, None));
}

#[tokio::test]
async fn no_route_says_why() {
    let isle = "Isle-A can be reached only from 2 systems";
    let avoided = "without avoiding Nadir there is one";
    let no_gate = |name| format!("no gate leads to or from {name}");
    for (origin, destination, more, told) in [
        ("Jita", "Isle-A", json!([]), isle.to_owned()),
        ("Jita", "J000001", json!([]), no_gate("J000001")),
        ("Lonely", "Jita", json!([]), no_gate("Lonely")),
        ("Jita", "Umbra", json!(["Nadir"]), avoided.to_owned()),
    ] {
        let arguments =
            json!({"origin": origin, "destination": destination, "avoid_systems": more});
        let error = error_of("route", arguments).await;
        assert_eq!(error["code"], "ROUTE_NOT_FOUND", "{error}");
        assert_eq!(error["data"]["origin"], origin);
        assert_eq!(error["data"]["destination"], destination);
        let reason = error["data"]["reason"].as_str().unwrap();
        assert!(reason.contains(&told), "{reason}");
        assert_eq!(error["message"], format!("No route from {origin} to {destination}: {reason}"));
    }
}

#[tokio::test]
async fn names_are_corrected_only_on_request_and_told() {
    let typed = |correct| json!({"origin": "Juta", "destination": "Amarr", "detail": "names", "correct": correct});
    for correct in [json!(false), json!(null)] {
        let error = error_of("route", typed(correct)).await;
        assert_eq!(error["code"], "SYSTEM_NOT_FOUND");
    }
    let route = answer_of("route", typed(json!(true))).await;
    assert_eq!(route["corrections"], json!({"Juta": "Jita"}));
    assert_eq!(route["origin"], "Jita");
    // Isle-A and Isle-B are equally near: it is not known which is meant.
    let arguments = json!({"origin": "Isle-X", "destination": "Jita", "correct": true});
    let error = error_of("route", arguments).await;
    assert_eq!(error["data"]["suggestions"], json!(["Isle-A", "Isle-B"]));
    // An unknown name among what is to be avoided is no less an error.
    let arguments = to_amarr(json!({"avoid_systems": ["Nowhere"]}));
    assert_eq!(error_of("route", arguments).await["code"], "SYSTEM_NOT_FOUND");
}

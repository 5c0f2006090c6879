//! Parameters that cannot be meant, for every bound there is.

use mcp_proto::Era;
use serde_json::{Value, json};

use super::tools::error_of;
use crate::harness::{Built, call, connect, to_amarr};

async fn refused(tool: &str, arguments: Value, parameter: &str) -> Value {
    let error = error_of(tool, arguments.clone()).await;
    assert_eq!(error["code"], "INVALID_PARAMETER", "{tool} {arguments}: {error}");
    assert_eq!(error["data"]["parameter"], parameter, "{tool} {arguments}: {error}");
    let reason = error["data"]["reason"].as_str().unwrap();
    assert_eq!(error["message"], format!("Invalid {parameter}: {reason}"));
    assert!(error["data"]["value"].is_string(), "{error}");
    error
}

#[tokio::test]
async fn what_cannot_be_meant_is_an_invalid_parameter() {
    let ends = |name: &str, value: Value| to_amarr(json!({name: value}));
    let bridge = |bridge: Value| ends("connections", json!([bridge]));
    let origin = |name: &str, value: Value| json!({"origin": "Jita", name: value});
    let circle = json!({"from": "Jita", "to": "jita"});
    let cheap = json!({"from": "Jita", "to": "Amarr", "cost": -1});
    let reversed = json!({"security_min": 0.5, "security_max": 0.4});
    let few = json!({"origin": "Jita", "min_borders": 5, "max_borders": 4});
    let [one, many] = [1, 51].map(|count| json!({"waypoints": vec!["Jita"; count]}));
    let too_many = json!({"systems": vec!["Jita"; 101]});
    let cases = [
        ("route", ends("mode", json!("fast")), "mode"),
        ("route", ends("penalty", json!(50)), "penalty"),
        ("route", ends("penalty", json!(101)), "penalty"),
        ("route", ends("alternatives", json!(11)), "alternatives"),
        ("route", ends("unknown", json!(1)), "unknown"),
        ("route", ends("detail", json!("all")), "detail"),
        ("route", ends("avoid_systems", json!([[1]])), "avoid_systems.0"),
        ("route", ends("avoid_regions", json!(["Nowhere"])), "avoid_regions"),
        ("route", bridge(json!({"from": "Jita"})), "connections.0.to"),
        ("route", bridge(circle), "connections"),
        ("route", bridge(cheap), "connections.0.cost"),
        ("route", json!({"origin": "Jita"}), "destination"),
        ("systems", json!({"systems": []}), "systems"),
        ("borders", origin("limit", json!(0)), "limit"),
        ("borders", origin("limit", json!(51)), "limit"),
        ("borders", origin("max_jumps", json!(31)), "max_jumps"),
        ("search", json!({"max_jumps": 5}), "max_jumps"),
        ("search", origin("max_jumps", json!(51)), "max_jumps"),
        ("search", json!({"security_min": -1.1}), "security_min"),
        ("search", reversed, "security_min"),
        ("search", json!({"limit": 101}), "limit"),
        ("nearest", origin("limit", json!(51)), "limit"),
        ("nearest", origin("max_jumps", json!(51)), "max_jumps"),
        ("loop", origin("target_jumps", json!(9)), "target_jumps"),
        ("loop", origin("target_jumps", json!(101)), "target_jumps"),
        ("loop", origin("min_borders", json!(1)), "min_borders"),
        ("loop", origin("max_borders", json!(16)), "max_borders"),
        ("loop", few, "max_borders"),
        ("analyze", json!({"systems": ["Jita"]}), "systems"),
        ("optimize_waypoints", one, "waypoints"),
        ("optimize_waypoints", many, "waypoints"),
        ("distances", too_many, "systems"),
        ("jump_range", origin("light_years", json!(0)), "light_years"),
        ("jump_range", origin("light_years", json!(101)), "light_years"),
    ];
    for (tool, arguments, parameter) in cases {
        refused(tool, arguments, parameter).await;
    }
    let error = refused("borders", origin("limit", json!(51)), "limit").await;
    assert_eq!(
        error["data"],
        json!({"parameter": "limit", "value": "51",
                                     "reason": "51 is greater than the maximum of 50"})
    );
    // Several at once are all reported.
    let error = error_of("borders", json!({"limit": 0, "max_jumps": 99, "x": 1})).await;
    assert_eq!(error["data"]["findings"].as_array().unwrap().len(), 4, "{error}");
}

#[tokio::test]
async fn the_same_question_has_the_same_answer() {
    let built = Built::new();
    let server = built.server();
    let client = connect(&server, Era::Modern).await;
    for (tool, arguments) in [
        ("route", json!({"origin": "Jita", "destination": "Vex-7K", "alternatives": 5})),
        ("loop", json!({"origin": "Jita", "target_jumps": 10, "min_borders": 2})),
        ("search", json!({})),
        ("borders", json!({"origin": "Velm"})),
    ] {
        let first = call(&client, tool, arguments.clone()).await.unwrap();
        for _ in 0..3 {
            assert_eq!(call(&client, tool, arguments.clone()).await.unwrap(), first, "{tool}");
        }
    }
}

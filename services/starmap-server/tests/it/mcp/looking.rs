//! Tools that look around, measure and make tours.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::tools::{answer_of, error_of};
use crate::assert_has;
use crate::harness::names;

#[tokio::test]
async fn systems_keep_their_places() {
    let arguments = json!({"systems": ["Amarr", "Nowhere", "jita", "Amarr"]});
    let found = answer_of("systems", arguments.clone()).await;
    assert_eq!(found["systems"][1], Value::Null);
    assert_eq!(found["systems"][0][0], "Amarr");
    assert_eq!((&found["found"], &found["not_found"]), (&json!(3), &json!(["Nowhere"])));
    assert_eq!(found["systems"][0][3], "high security");
    assert_eq!(found["columns"], json!(["name", "security", "region", "space"]));
    let full = answer_of("systems", json!({"systems": ["Amarr"], "detail": "full"})).await;
    assert_eq!(names(&full["systems"][0]["neighbors"]), ["Pell", "Tarn"]);
    let brief =
        answer_of("systems", json!({"systems": ["Nowhere", "AMARR"], "detail": "names"})).await;
    assert_eq!(brief["systems"], json!([null, "Amarr"]));
}

#[tokio::test]
async fn borders_are_told_by_distance() {
    let found = answer_of("borders", json!({"origin": "Jita", "max_jumps": 3})).await;
    let border = |name: &str, jumps: u32, lower: &[&str]| {
        let found = found["borders"].as_array().unwrap().iter();
        let mut found = found.filter(|border| border[0] == name);
        let border = found.next().unwrap_or_else(|| panic!("{name}"));
        assert_eq!((&border[3], &border[4]), (&json!(jumps), &json!(lower)));
    };
    assert_eq!(names(&found["borders"]), ["Jita", "Amarr", "Kestrel"]);
    border("Jita", 0, &["Marrow"]);
    border("Amarr", 3, &["Tarn"]);
    assert_eq!((&found["total_found"], &found["search_radius"]), (&json!(3), &json!(3)));
    let first =
        answer_of("borders", json!({"origin": "Jita", "limit": 1, "detail": "names"})).await;
    assert_eq!((&first["names"], &first["search_radius"]), (&json!(["Jita"]), &json!(15)));
    assert!(first["total_found"].as_u64().unwrap() > 1);
    let by_high =
        json!({"origin": "Jita", "max_jumps": 3, "highsec_travel_only": true, "detail": "names"});
    assert_eq!(answer_of("borders", by_high).await["names"], json!(["Jita", "Kestrel"]));
}

#[tokio::test]
async fn search_and_nearest_filter() {
    for (arguments, found) in [
        (json!({"name": "vex7k"}), vec!["Vex-7K"]),
        (
            json!({"region": "southREACH", "security_min": 0}),
            vec!["Isle-A", "Isle-B", "Lonely", "Nadir", "Sable"],
        ),
        (json!({"security_class": "LOW"}), vec!["Marrow", "Sable", "Tarn"]),
        (json!({"origin": "Jita", "max_jumps": 1}), vec!["Jita", "Marrow", "Ostra"]),
        (json!({"is_border": true}), vec!["Amarr", "Jita", "Kestrel", "Rook"]),
        (json!({"security_min": 0.45, "security_max": 0.46}), vec!["Kestrel", "Rook"]),
    ] {
        let told = arguments.clone();
        let answer = answer_of("search", arguments).await;
        assert_eq!(names(&answer["systems"]), found, "{told}");
        assert_eq!(answer["total_found"], found.len());
    }
    let answer =
        answer_of("search", json!({"origin": "Jita", "is_border": false, "limit": 100})).await;
    let last = answer["systems"].as_array().unwrap().last().unwrap();
    assert_eq!(last[2], Value::Null, "what cannot be reached comes last");
    let unknown = answer_of("search", json!({"region": "Northmarsh"})).await;
    assert_eq!(unknown["systems"], json!([]));
    assert_eq!(unknown["warnings"], json!(["Unknown region: Northmarsh; did you mean Northmark?"]));

    for (arguments, found) in [
        (json!({"origin": "Jita", "security_class": "LOW"}), vec!["Marrow", "Tarn", "Sable"]),
        (json!({"origin": "Jita", "is_border": true, "limit": 2}), vec!["Amarr", "Kestrel"]),
        (
            json!({"origin": "Kestrel", "min_adjacent_lowsec": 1, "max_jumps": 2}),
            vec!["Marrow", "Amarr", "Rook", "Tarn"],
        ),
        (json!({"origin": "Jita", "region": "Nowhere"}), vec![]),
    ] {
        let answer = answer_of("nearest", arguments.clone()).await;
        let list = names(&answer["systems"]);
        let same: BTreeSet<_> = list.iter().collect();
        assert_eq!(same, found.iter().collect(), "{arguments}: {list:?}");
    }
}

#[tokio::test]
async fn analyze_finds_the_dangers() {
    let way = json!({"systems": ["Jita", "Marrow", "Tarn", "Kestrel", "Velm"]});
    let found = answer_of("analyze", way).await;
    assert_eq!(names(&found["chokepoints"]), ["Marrow", "Tarn"]);
    assert_eq!(
        found["danger_zones"],
        json!([{"start_system": "Marrow", "end_system": "Tarn", "jump_count": 2, "min_security": 0.3}])
    );
    assert_eq!(
        found["safest_alternative"],
        json!({"jumps": 2, "lowest_security": 0.6, "lowest_security_system": "Velm", "via": ["Ostra"]})
    );
    let safe = answer_of("analyze", json!({"systems": ["Jita", "Ostra"]})).await;
    assert_eq!(safe["safest_alternative"], Value::Null);
    // To stay at home is no way to make a round trip safer.
    let round = answer_of("analyze", json!({"systems": ["Jita", "Marrow", "Jita"]})).await;
    assert_eq!(round["safest_alternative"], Value::Null);
    let gap = error_of("analyze", json!({"systems": ["Jita", "Ostra", "Amarr"]})).await;
    assert_eq!(gap["code"], "ROUTE_NOT_FOUND");
    assert_eq!(
        (&gap["data"]["origin"], &gap["data"]["destination"]),
        (&json!("Ostra"), &json!("Amarr"))
    );
    assert_has(gap["data"]["reason"].as_str().unwrap(), &["no gate joins"]);
    let unknown = error_of("analyze", json!({"systems": ["Jita", "Ostrich"]})).await;
    assert_eq!(unknown["code"], "SYSTEM_NOT_FOUND");
}

#[tokio::test]
async fn distances_and_jump_range_measure() {
    let matrix = json!({"systems": ["Jita", "Isle-A"], "to": ["Amarr", "Isle-B", "Jita"]});
    assert_eq!(
        answer_of("distances", matrix).await["jumps"],
        json!([["Jita", 3, null, 0], ["Isle-A", null, 1, null]])
    );
    let square = json!({"systems": ["Jita", "Amarr"], "avoid_security": ["LOW"]});
    assert_eq!(answer_of("distances", square).await["jumps"], json!([["Jita"], ["Amarr", 5]]));
    let reach = answer_of("jump_range", json!({"origin": "Jita", "light_years": 5})).await;
    assert_eq!(names(&reach["systems"]), ["Marrow", "Tarn"], "high security cannot be jumped into");
    assert_eq!(reach["systems"][0][2], 2.062);
    let nowhere = json!({"origin": "J000002", "light_years": 5});
    assert_eq!(error_of("jump_range", nowhere).await["data"]["parameter"], "origin");
}

#[tokio::test]
async fn tours_are_closed_and_short() {
    let trip = json!({"origin": "Jita", "target_jumps": 10, "min_borders": 3});
    let trip = answer_of("loop", trip).await;
    let way = names(&trip["systems"]);
    assert_eq!((way.first(), way.last()), (Some(&"Jita"), Some(&"Jita")));
    assert_eq!(trip["total_jumps"].as_u64().unwrap() as usize, way.len() - 1);
    assert!(trip["border_systems_visited"].as_array().unwrap().len() >= 3);
    let few = error_of("loop", json!({"origin": "Isle-A"})).await;
    assert_eq!(few["code"], "INSUFFICIENT_BORDERS");
    assert_eq!((&few["data"]["found"], &few["data"]["required"]), (&json!(0), &json!(4)));
    assert_eq!(few["data"]["search_radius"], 10);
    assert!(!few["data"]["suggestion"].as_str().unwrap().is_empty());

    // GoldenGnu/jeveassets#209: a fixed start.
    let stops =
        json!({"waypoints": ["Amarr", "Velm", "Marrow"], "origin": "Jita", "detail": "names"});
    let tour = answer_of("optimize_waypoints", stops).await;
    assert_eq!((&tour["total_jumps"], &tour["method"]), (&json!(8), &json!("exact")));
    let ends = tour["stops"].as_array().unwrap();
    assert_eq!((ends.first(), ends.last()), (Some(&json!("Jita")), Some(&json!("Jita"))));
    let one_way =
        json!({"waypoints": ["Amarr", "Marrow"], "origin": "Jita", "return_to_origin": false});
    let one_way = answer_of("optimize_waypoints", one_way).await;
    assert_eq!(one_way["stops"], json!(["Jita", "Marrow", "Amarr"]));
    let hole = json!({"waypoints": ["Amarr", "Isle-A"], "origin": "Jita", "detail": "names"});
    let hole = answer_of("optimize_waypoints", hole).await;
    assert_eq!(hole["unreachable"], json!(["Isle-A"]));
    let none = json!({"waypoints": ["Isle-A", "Isle-B"], "origin": "Jita"});
    assert_eq!(error_of("optimize_waypoints", none).await["code"], "ROUTE_NOT_FOUND");
}

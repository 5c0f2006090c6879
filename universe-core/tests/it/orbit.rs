//! Where bodies are at a time.

use serde_json::{Value, json};
use universe_core::State;
use universe_core::orbit::Orbit;

fn near(found: [f64; 3], expected: [f64; 3]) {
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-9, "{found:?} instead of {expected:?}");
}

fn at(members: &Value, time: f64) -> [f64; 3] {
    Orbit::of(members).place(time)
}

#[test]
fn places_are_those_of_the_reference() {
    let circle = json!({ "orbitalDistance": 10, "orbitalSpeed": 2, "orbitalPhase": 0 });
    near(at(&circle, 45.0), [0.0, 0.0, 10.0]);
    let mut ellipse = json!({
        "orbitalDistance": 7, "semiMajorAxis": 51, "eccentricity": 0.2, "orbitalSpeed": 1.5, "orbitalPhase": 30,
    });
    near(at(&ellipse, 12.5), [33.626636570103514, 0.0, 37.56912749137101]);
    for (name, value) in [
        ("orbitRotX", 10),
        ("orbitRotY", 20),
        ("orbitRotZ", 30),
        ("orbitOffsetX", 1),
        ("orbitOffsetY", 2),
        ("orbitOffsetZ", 3),
    ] {
        ellipse[name] = json!(value);
    }
    near(at(&ellipse, 12.5), [41.214677241547335, 14.157070960077156, 30.877865547967186]);
}

#[test]
fn rogue_planets_go_their_own_way() {
    let mut rogue = json!({
        "orbitalDistance": 99, "isRoguePlanet": true,
        "roguePlanet": {
            "initialPosition": { "x": 1, "y": 2, "z": 3 }, "velocity": { "x": 0.1, "y": 0, "z": -0.2 },
        },
    });
    near(at(&rogue, 10.0), [2.0, 2.0, 1.0]);
    let path = [
        ("pathCurvature", 0.5),
        ("semiMajorAxis", 100.0),
        ("eccentricity", 0.3),
        ("pathPeriod", 400.0),
        ("orbitRotX", 15.0),
    ];
    for (name, value) in path {
        rogue["roguePlanet"][name] = json!(value);
    }
    near(at(&rogue, 50.0), [71.71067811865476, -15.458299069222122, 68.1552591400694]);
}

#[test]
fn a_place_in_the_world_is_the_sum_along_the_parents() {
    let body = |parent: Value, children: Value, distance: f64| {
        json!({
            "name": "x", "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": parent, "children": children,
            "orbitalDistance": distance, "orbitalSpeed": 0, "orbitalPhase": 90, "eccentricity": null,
        })
    };
    let mut stars = json!({
        "a": body(json!(null), json!(["b"]), 0.0),
        "b": body(json!("a"), json!(["c"]), 10.0),
        "c": body(json!("b"), json!([]), 2.0),
    });
    for id in ["a", "b", "c"] {
        stars[id]["id"] = json!(id);
    }
    let universe = json!({ "stars": stars, "rootIds": ["a"] });
    let universe = State::from_partial(universe).expect("a universe");
    near(universe.place(universe.star("c").unwrap(), 5.0), [0.0, 0.0, 12.0]);
}

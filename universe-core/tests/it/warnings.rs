//! What is odd is taken with a warning, or refused where that is asked for.

use serde_json::{Value, json};
use universe_core::{Command, State, Strictness, catalog};

fn warnings(command: &Value) -> Vec<String> {
    let (_, warnings) = Command::read(command.clone(), Strictness::Lenient).unwrap();
    warnings.iter().map(ToString::to_string).collect()
}

fn star(members: &Value) -> Value {
    let mut payload = json!({"name": "B", "mass": 1, "radius": 1, "color": "#FFAA00", "parentId": null,
        "orbitalDistance": 0, "orbitalSpeed": 0});
    for (name, value) in members.as_object().unwrap() {
        payload[name] = value.clone();
    }
    json!({"type": "addStar", "id": "b", "payload": payload})
}

#[test]
fn what_is_odd_is_named_with_its_path_and_what_was_probably_meant() {
    let ring = |inner: f64, outer: f64| json!({"innerRadiusMultiplier": inner, "outerRadiusMultiplier": outer});
    for (command, expected) in [
        (
            star(&json!({"eccentricty": 0.2})),
            "/payload/eccentricty: is not a known member of body; it was kept as it is; did you mean eccentricity?",
        ),
        (
            star(&json!({"massKg": 5e24})),
            "/payload/massKg: is derived and has no effect; it was kept as it is; set mass",
        ),
        (
            star(&json!({"inclinationDeg": 45})),
            "/payload/inclinationDeg: is derived and has no effect; it was kept as it is; set orbitRotX or elements.inclination",
        ),
        (star(&json!({"mass": -5})), "/payload/mass: -5 should be 0 or more; it was kept as it is"),
        (
            star(&json!({"eccentricity": 7})),
            "/payload/eccentricity: 7 should be 0 to below 1; it was kept as it is",
        ),
        (
            star(&json!({"eccentricity": 1})),
            "/payload/eccentricity: 1 should be 0 to below 1; it was kept as it is",
        ),
        (
            star(&json!({"color": "#GG0000"})),
            "/payload/color: \"#GG0000\" is not a CSS colour; it was kept as it is",
        ),
        (star(&json!({"parentId": ""})), ""),
        (
            star(&json!({"id": "c"})),
            "/payload/id: \"c\" differs from the id of the command, which counts",
        ),
        (
            star(&json!({"children": ["x"]})),
            "/payload/children: is not set by this command; it was left out",
        ),
        (
            star(&json!({"ring": ring(3.0, 2.0)})),
            "/payload/ring/innerRadiusMultiplier: 3 should be less than outerRadiusMultiplier, 2; it was kept as it is",
        ),
        (
            json!({"type": "tick", "dtt": 1}),
            "/dtt: is not a known member of tick; it was kept as it is; did you mean dt?",
        ),
        (json!({"type": "removeStar", "id": ""}), "/id: the id is empty; it was kept as it is"),
    ] {
        let found = warnings(&command);
        match expected {
            "" => assert_eq!(found, Vec::<String>::new(), "{command}"),
            _ => assert_eq!(found, [expected], "{command}"),
        }
    }
}

#[test]
fn strictly_the_same_is_refused() {
    let odd = star(&json!({"mass": -5, "eccentricty": 0.2}));
    let refused = Command::read(odd, Strictness::Strict).unwrap_err();
    let findings: Vec<_> = refused.findings().iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        [
            "/payload/eccentricty: is not a known member of body; did you mean eccentricity?",
            "/payload/mass: -5 should be 0 or more",
        ]
    );
}

#[test]
fn every_example_and_every_colour_of_css_is_without_a_warning() {
    for spec in catalog::commands() {
        assert_eq!(warnings(&spec.example()), Vec::<String>::new(), "{:?}", spec.kind);
    }
    for color in ["#fff", "#FFAA0080", "tomato", "rgb(1, 2, 3)", "hsl(120deg 50% 50%)"] {
        assert_eq!(warnings(&star(&json!({"color": color}))), Vec::<String>::new());
    }
}

#[test]
fn a_state_is_judged_alike() {
    let state = json!({"stas": {}, "nebulae": {}, "time": 5});
    let (read, warnings) = State::read_partial(state.clone(), Strictness::Lenient).unwrap();
    assert_eq!(read.time(), 5.0);
    let found: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["/stas: is not a known member of universe; it was kept as it is; did you mean stars?"]
    );
    assert!(State::read_partial(state, Strictness::Strict).is_err());
}

//! Bad input gets every finding at once: where it is, what is wrong, what would be right.

use serde_json::{Map, Value, json};
use universe_core::{Command, Findings, State};

fn findings(command: Value) -> Vec<String> {
    let error = Command::from_value(command).unwrap_err();
    error.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn every_finding_is_reported_with_its_path() {
    let given = json!({
        "type": "addStar",
        "payload": {
            "name": 5, "mass": "heavy", "radius": null, "color": "#FFF", "parentId": false,
            "orbitalSpeed": [], "bodyType": "dwarf", "comet": { "seed": true }, "bodytype": {},
        },
    });
    let expected = [
        "/id: is missing; expected text: a new id",
        "/payload/name: expected text, found 5",
        "/payload/mass: expected a number, found \"heavy\"",
        "/payload/radius: expected a number, found null",
        "/payload/parentId: expected an id or null, found false",
        "/payload/orbitalDistance: is missing; expected a number: radius of a circular orbit, length units",
        "/payload/orbitalSpeed: expected a number, found an array",
        "/payload/bodyType: expected one of star, planet, moon, asteroid, comet, lagrangePoint, \
         blackHole, found \"dwarf\"",
        "/payload/comet/seed: expected text or a number, found true",
    ];
    assert_eq!(findings(given), expected);
}

#[test]
fn what_is_no_command_at_all() {
    assert_eq!(findings(json!([])), ["/: expected an object with a \"type\", found an array"]);
    for (given, start) in [
        (json!({ "typ": "tick" }), "/type: is missing; expected one of tick, addStar, "),
        (json!({ "type": 5 }), "/type: 5 is not a command; expected one of tick, "),
        (json!({ "type": "Tick" }), "/type: \"Tick\" is not a command; did you mean tick?"),
        (
            json!({ "type": "ad_star" }),
            "/type: \"ad_star\" is not a command; did you mean addStar?",
        ),
        (json!({ "type": "explode" }), "/type: \"explode\" is not a command; expected one of"),
    ] {
        let found = findings(given);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(start), "{found:?}");
        // All of them where none is near.
        let all = found[0].ends_with(", removeRing, replaceSnapshot");
        assert_eq!(all, !found[0].contains("did you mean"), "{found:?}");
    }
}

#[test]
fn what_is_wrapped_is_explained_in_one_sentence() {
    for (given, told) in [
        (
            json!({ "command": { "type": "tick" } }),
            "/: holds the command once more in `command`: send the inner object itself",
        ),
        (
            json!({ "tick": { "dt": 1 } }),
            "/: has its type as a name: send {\"type\":\"tick\", …} with the members beside it",
        ),
    ] {
        assert_eq!(findings(given), [told]);
    }
    let other = findings(json!({ "tok": { "dt": 1 } }));
    assert!(other[0].starts_with("/type: is missing; "), "{other:?}");
}

#[test]
fn findings_are_bounded_in_number_and_size() {
    let long = "x".repeat(1_000_000);
    let fields: Map<_, _> =
        (0..100).map(|n| (format!("{long}{n}"), json!({ "id": long }))).collect();
    let error = Command::from_value(json!({ "type": "setSmallBodyFields", "fields": fields }));
    let error = error.unwrap_err();
    assert_eq!(error.findings().len(), Findings::LIMIT);
    // Each field lacks 17 members and has a wrong id.
    assert_eq!(error.findings().omitted(), 100 * 18 - Findings::LIMIT);
    assert!(error.to_string().len() < 50 * 400, "{}", error.to_string().len());
    assert!(error.to_string().ends_with("; and 1750 more"));
}

#[test]
fn an_import_reports_every_broken_link() {
    let star = |id: &str, parent: Option<&str>, children: &[&str]| {
        json!({
            "id": id, "name": "", "mass": 1, "radius": 1, "color": "", "parentId": parent,
            "children": children, "orbitalDistance": 1, "orbitalSpeed": 1, "orbitalPhase": 0,
        })
    };
    let group = |id: &str, parent: Option<&str>, children: Value| json!({ "id": id, "name": "", "parentGroupId": parent, "children": children });
    let a = json!({ "id": "a", "type": "system" });
    let universe = json!({
        "stars": {
            "a": star("a", None, &["b", "b", "ghost"]),
            "b": star("b", Some("a"), &["a"]),
            "c": star("c", Some("a"), &[]),
            "d": star("d", Some("ghost"), &[]),
        },
        "rootIds": ["a", "a", "c", "ghost"],
        "groups": {
            "g": group("g", None, json!([a, a, { "id": "g", "type": "group" }])),
            "h": group("h", Some("ghost"), json!([])),
        },
        "rootGroupIds": ["h"],
    });
    let found = State::from_partial(universe).unwrap_err();
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    let expected = [
        "/stars/a/children/0: the body \"b\" is listed more than once",
        "/stars/a/children/2: the body \"ghost\" does not exist",
        "/stars/b/children/0: the body \"a\" has another parentId",
        "/stars/c/parentId: names a body that does not list this one among its children",
        "/stars/d/parentId: names a body that does not exist",
        "/rootIds/0: the body \"a\" is listed more than once",
        "/rootIds/2: the body \"c\" has another parentId",
        "/rootIds/3: the body \"ghost\" does not exist",
        "/groups/g/parentGroupId: is null, but rootGroupIds does not list this group",
        "/groups/g/children/0: the system \"a\" is listed more than once",
        "/groups/g/children/2: the group \"g\" has another parentGroupId",
        "/groups/h/parentGroupId: names a group that does not exist",
        "/rootGroupIds/0: the group \"h\" has another parentGroupId",
    ];
    assert_eq!(found, expected);
}

#[test]
fn imports_default_what_is_missing_and_keep_what_is_unknown() {
    assert_eq!(State::from_partial(json!({})).unwrap(), State::default());
    let universe = json!({ "time": -0.0, "groups": null, "camera": { "zoom": 1.5 } });
    let state = State::from_partial(universe).unwrap();
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(
        text,
        r#"{"stars":{},"rootIds":[],"groups":{},"rootGroupIds":[],"belts":{},"smallBodyFields":{},"protoplanetaryDisks":{},"nebulae":{},"time":0.0,"camera":{"zoom":1.5}}"#
    );
    let stored = json!({ "stars": {}, "rootIds": [], "groups": {} });
    let missing = State::from_value(stored).unwrap_err().to_string();
    assert!(missing.starts_with("/time: is missing"), "{missing}");
    for wrong in [json!(null), json!([]), json!({ "stars": [] }), json!({ "time": "5" })] {
        assert!(State::from_partial(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn a_tick_beyond_all_numbers_is_refused() {
    let state = State::from_partial(json!({ "time": 1.7e308 })).unwrap();
    let tick = Command::from_value(json!({ "type": "tick", "dt": 1e308 })).unwrap();
    let refusal = state.apply(&tick).unwrap_err();
    assert_eq!((refusal.code(), refusal.events.len()), ("TIME_OVERFLOW", 0));
    for dt in [json!(null), json!("5"), json!(true), json!([])] {
        assert!(Command::from_value(json!({ "type": "tick", "dt": dt })).is_err(), "{dt}");
    }
}

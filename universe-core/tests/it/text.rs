//! Universes read from text: as stored, where entities stay text, and as given, one entity at a time.

use serde_json::{Value, json};
use universe_core::{Command, Entity, Family, State, Strictness, TextError};

use crate::support::cases;

/// Reads it as strictly as `serde_json` does.
fn value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|problem| problem.to_string())
}

/// A sun `a` with a planet `b`.
fn two() -> Value {
    let body = |id: &str, parent: Value, children: &[&str]| {
        json!({
            "id": id, "name": format!("the {id}"), "mass": 1, "radius": 1, "color": "#FFFFFF", "children": children,
            "parentId": parent, "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0.1, "bodyType": "star",
        })
    };
    json!({
        "stars": { "a": body("a", Value::Null, &["b"]), "b": body("b", json!("a"), &[]) },
        "rootIds": ["a"], "time": 0.5,
    })
}

/// The text that a universe is stored as, with something in it replaced.
fn stored(from: &str, to: &str) -> String {
    let text = serde_json::to_string(&State::from_value(two()).unwrap()).unwrap();
    assert!(text.contains(from), "{from} in {text}");
    text.replace(from, to)
}

#[test]
fn every_universe_is_the_same_from_its_text() {
    for case in cases("conform") {
        let state = State::from_value(case.state.clone()).unwrap();
        let text = serde_json::to_string(&state).unwrap();
        let again = State::from_text(text.clone()).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text, "{}", case.name);
        assert_eq!(again, state, "{}", case.name);
        assert_eq!(again.to_value(), state.to_value(), "{}", case.name);
        let given = case.state.to_string();
        let (given, warnings) = State::read_text(&given, Strictness::Lenient, &value).unwrap();
        assert_eq!(given, state, "{}", case.name);
        let partial = State::read_partial(case.state.clone(), Strictness::Lenient).unwrap();
        assert_eq!((given, warnings), partial, "{}", case.name);
        // Commands do to it what they do to the other.
        let (mut one, mut other) = (state, again);
        for command in &case.commands {
            let command = Command::from_value(command.clone()).unwrap();
            match (one.apply(&command), other.apply(&command)) {
                (Ok(applied), Ok(again)) => {
                    assert_eq!(applied.events, again.events, "{}", case.name);
                    (one, other) = (applied.state, again.state);
                }
                (Err(refused), Err(again)) => assert_eq!(refused, again, "{}", case.name),
                (one, other) => panic!("{}: {one:?}, {other:?}", case.name),
            }
            assert_eq!(one, other, "{}", case.name);
        }
    }
}

#[test]
fn ids_names_and_members_of_any_kind_survive() {
    let mut odd = two();
    odd["stars"]["a"]["name"] = json!("a \"quoted\",\"children\":[] name\n太陽");
    odd["stars"]["a"]["zoo"] = json!({"x": 1, "parentId": null, "children": []});
    odd["stars"]["a"]["nested"] = json!([{"children": [], "id": "q", "parentId": "z"}]);
    odd["stars"]["\"q\",\"id\":\""] = odd["stars"]["b"].take();
    odd["stars"]["\"q\",\"id\":\""]["id"] = json!("\"q\",\"id\":\"");
    odd["stars"].as_object_mut().unwrap().remove("b");
    odd["stars"]["a"]["children"] = json!(["\"q\",\"id\":\""]);
    odd["unknown"] = json!([1.50, 1e300, -0.0]);
    let state = State::from_value(odd).unwrap();
    let text = serde_json::to_string(&state).unwrap();
    let again = State::from_text(text.clone()).unwrap();
    assert_eq!((&again, serde_json::to_string(&again).unwrap()), (&state, text));
    let name = again.entity(Family::Stars, "a").and_then(Entity::name);
    assert_eq!(name.as_deref(), Some("a \"quoted\",\"children\":[] name\n太陽"));
    let sun = again.entity(Family::Stars, "a").unwrap();
    assert!(sun.has("zoo") && !sun.has("parentId") && !sun.has("x"));
    assert_eq!((sun.text("mass"), sun.text("none")), (None, None));
    assert_eq!(sun.get("zoo").unwrap()["x"], 1);
    // It was looked into by now.
    assert_eq!(sun.text("color").as_deref(), Some("#FFFFFF"));
    assert!(sun.has("zoo") && !sun.has("x"));
}

#[test]
fn white_space_and_another_order_make_no_difference() {
    let state = State::from_value(two()).unwrap();
    let pretty = serde_json::to_string_pretty(&two()).unwrap();
    assert_eq!(State::from_text(pretty).unwrap(), state);
    let (given, _) = State::read_text(&two().to_string(), Strictness::Strict, &value).unwrap();
    assert_eq!(given, state);
}

#[test]
fn a_stored_text_that_is_not_sound_is_refused_with_its_places() {
    for (from, to, told) in [
        (r#""parentId":"a""#, r#""parentId":"x""#, "/stars/b/parentId"),
        (r#""parentId":"a""#, r#""parentId":null"#, "/stars/a/children/0"),
        (r#""parentId":"a""#, r#""parentId":5"#, "expected an id or null, found 5"),
        (r#""children":["b"]"#, r#""children":[]"#, "does not list this one"),
        (r#""children":["b"]"#, r#""children":["b","b"]"#, "listed more than once"),
        (r#""children":["b"]"#, r#""children":["b","c"]"#, "does not exist"),
        (r#""rootIds":["a"]"#, r#""rootIds":["a","a"]"#, "/rootIds"),
        (r#""rootIds":["a"]"#, r#""rootIds":["b"]"#, "has another parentId"),
        (r#""rootIds":["a"],"#, "", "rootIds"),
        (r#""b":{"id":"b""#, r#""b":{"id":"c""#, "must equal its key"),
        (r#","time":0.5"#, "", "time"),
    ] {
        match State::from_text(stored(from, to)) {
            Err(TextError::Findings(findings)) => {
                assert!(findings.to_string().contains(told), "{to}: {findings}");
            }
            other => panic!("{to}: {other:?}"),
        }
    }
    let cycle = stored(r#""rootIds":["a"]"#, r#""rootIds":[]"#).replace("null", "\"b\"");
    let cycle = cycle.replace(r#""children":[]"#, r#""children":["a"]"#);
    let told = State::from_text(cycle).unwrap_err().to_string();
    assert!(told.contains("leads back to itself"), "{told}");
    for broken in ["", "{", "[]", "null", r#"{"stars":{"a":}}"#] {
        assert!(State::from_text(broken.to_owned()).is_err(), "{broken}");
    }
    assert!(matches!(State::from_text("{".to_owned()), Err(TextError::Json(_))));
}

#[test]
fn what_is_given_is_judged_entity_by_entity() {
    let mut wrong = two();
    wrong["stars"]["a"]["mass"] = json!("heavy");
    wrong["stars"]["b"]["id"] = json!("c");
    let wrong = wrong.to_string();
    let twice = stored(r#""mass":1"#, r#""mass":1,"mass":2"#);
    let strict = |text: &str| match text.matches("\"mass\"").count() {
        0 | 1 => value(text),
        _ => Err("the member \"mass\" is given twice".to_owned()),
    };
    for (text, told) in [
        (wrong.as_str(), ["/stars/a/mass", "/stars/b/id"]),
        (&twice, ["/stars/a: the member", "/stars/b: the member"]),
        (r#"{"rootIds":["x"]}"#, ["/rootIds/0", "does not exist"]),
        (r#"{"stars":5}"#, ["/stars", "found 5"]),
    ] {
        let found = State::read_text(text, Strictness::Lenient, &strict).unwrap_err();
        let found = found.to_string();
        assert!(told.iter().all(|told| found.contains(told)), "{found}");
    }
    let odd =
        stored(r#""mass":1"#, r#""mass":-1"#).replacen("{\"stars\"", "{\"starz\":1,\"stars\"", 1);
    let (_, warnings) = State::read_text(&odd, Strictness::Lenient, &value).unwrap();
    let paths: Vec<_> = warnings.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["/stars/a/mass", "/stars/b/mass", "/starz"]);
    assert!(State::read_text(&odd, Strictness::Strict, &value).is_err());
}

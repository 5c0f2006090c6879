//! Keplerian orbits, dates, and what follows from both.

use serde_json::{Value, json};
use universe_core::orbit::Orbit;
use universe_core::{Command, Instant, State};

/// A universe with an epoch, a root `sun`, `planet` with these elements, and `moon` around it.
fn universe(elements: &Value) -> Value {
    let body = |id: &str, parent: Value, children: Value| json!({ "id": id, "name": id, "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": parent, "children": children });
    let mut sun = body("sun", Value::Null, json!(["planet"]));
    for name in ["orbitalDistance", "orbitalSpeed", "orbitalPhase"] {
        sun[name] = json!(0);
    }
    let mut planet = body("planet", json!("sun"), json!(["moon"]));
    planet["elements"] = elements.clone();
    let mut moon = body("moon", json!("planet"), json!([]));
    moon["elements"] =
        json!({ "semiMajorAxis": 1, "period": 100, "meanAnomaly": 90, "plane": "parentEquator" });
    json!({
        "stars": { "sun": sun, "planet": planet, "moon": moon }, "rootIds": ["sun"], "time": 0,
        "epoch": "2000-01-01T12:00:00Z", "units": { "length": "au" },
    })
}

fn state(elements: &Value) -> State {
    State::from_value(universe(elements)).unwrap()
}

fn at(members: &Value, time: f64) -> [f64; 3] {
    Orbit::of(&json!({ "elements": members })).place(time)
}

fn near(found: [f64; 3], expected: [f64; 3]) {
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-9, "{found:?} instead of {expected:?}");
}

fn command(state: &State, command: Value) -> Result<State, String> {
    let command = Command::from_value(command).map_err(|error| error.to_string())?;
    state.apply(&command).map(|applied| applied.state).map_err(|refusal| refusal.to_string())
}

#[test]
fn north_is_minus_y_and_orbits_go_counter_clockwise_as_seen_from_there() {
    let circle = json!({ "semiMajorAxis": 2, "period": 100 });
    near(at(&circle, 0.0), [2.0, 0.0, 0.0]);
    near(at(&circle, 25.0), [0.0, 0.0, 2.0]);
    let polar = json!({ "semiMajorAxis": 2, "period": 100, "inclination": 90 });
    near(at(&polar, 25.0), [0.0, -2.0, 0.0]);
    let back = json!({ "semiMajorAxis": 2, "period": 100, "inclination": 180 });
    near(at(&back, 25.0), [0.0, 0.0, -2.0]);
    let node =
        json!({ "semiMajorAxis": 2, "period": 100, "inclination": 180, "ascendingNode": 90 });
    near(at(&node, 0.0), [0.0, 0.0, 2.0]);
    near(at(&node, 25.0), [2.0, 0.0, 0.0]);
}

#[test]
fn keplers_equation_is_solved_up_to_an_eccentricity_of_0_999() {
    for eccentricity in [0.0_f64, 0.2, 0.7, 0.967, 0.999] {
        for degrees in (-180..=180).step_by(5).chain([1, 359, 720]) {
            let angle = f64::from(degrees).to_radians();
            let mean = (angle - eccentricity * angle.sin()).to_degrees();
            let found = at(
                &json!({ "semiMajorAxis": 1, "period": 1, "eccentricity": eccentricity, "meanAnomaly": mean }),
                0.0,
            );
            let short = (1.0 - eccentricity * eccentricity).sqrt();
            near(found, [angle.cos() - eccentricity, 0.0, short * angle.sin()]);
        }
    }
}

/// The page has this computation once more; its test has the same numbers.
#[test]
fn the_place_is_that_of_an_independent_computation() {
    let mut given = universe(&json!({ "semiMajorAxis": 10, "period": 1000 }));
    given["stars"]["sun"]["axialTilt"] = json!(20);
    given["stars"]["sun"]["axialNode"] = json!(70);
    given["stars"]["planet"]["elements"] = json!({
        "semiMajorAxis": 2, "period": 400, "eccentricity": 0.5, "inclination": 60, "ascendingNode": 30,
        "argumentOfPeriapsis": 40, "meanAnomaly": 50, "epoch": "2000-01-01T12:01:40Z",
        "rates": { "ascendingNode": 1e8 }, "plane": "parentEquator",
    });
    let state = State::from_value(given).unwrap();
    let found = state.place(state.star("planet").unwrap(), 321.0);
    near(found, [0.6925155237740896, 2.5661732922389464, -0.2821312423523831]);
}

#[test]
fn rates_are_for_a_julian_century() {
    let century = 36_525.0 * 86_400.0;
    let turning = json!({ "semiMajorAxis": 1, "period": century, "rates": { "argumentOfPeriapsis": 90, "semiMajorAxis": 1 } });
    near(at(&turning, century), [0.0, 0.0, 2.0]);
    let faster = json!({ "semiMajorAxis": 1, "period": century, "rates": { "meanAnomaly": 90 } });
    near(at(&faster, century), [0.0, 0.0, 1.0]);
}

#[test]
fn what_follows_from_elements_is_the_same_ellipse_for_clients_of_the_original() {
    for (inclination, node, argument) in [
        (0, 0, 0),
        (7, 48, 29),
        (162, 58, 111),
        (90, 90, 90),
        (90, 0, 0),
        (98, 167, 3),
        (180, 20, 40),
    ] {
        let elements = json!({
            "semiMajorAxis": 3, "period": 1000, "eccentricity": 0.6, "inclination": inclination,
            "ascendingNode": node, "argumentOfPeriapsis": argument, "meanAnomaly": 200,
        });
        let state = state(&elements);
        let star = state.star("planet").unwrap();
        let mut old = serde_json::to_value(star).unwrap();
        let speed = old["orbitalSpeed"].as_f64().unwrap();
        assert!((speed - 0.36).abs() < 1e-12, "{speed}");
        old.as_object_mut().unwrap().remove("elements");
        let old = Orbit::of(&old);
        near(old.place(0.0), state.place(star, 0.0));
        for (old, new) in old.round(24, 0.0).into_iter().zip(state.orbit(star).round(24, 0.0)) {
            near(old, new);
        }
    }
}

#[test]
fn moons_lie_in_the_equator_of_their_parent() {
    let elements = json!({ "semiMajorAxis": 10, "period": 1000 });
    let state = state(&elements);
    near(state.place(state.star("moon").unwrap(), 0.0), [10.0, 0.0, 1.0]);
    let tilted = json!({ "type": "updateStar", "id": "planet", "payload": { "axialTilt": 90, "axialNode": 90 } });
    let tilted = command(&state, tilted).unwrap();
    near(tilted.place(tilted.star("moon").unwrap(), 0.0), [10.0, -1.0, 0.0]);
    // What is kept of the moon is that of the new plane.
    let moon = tilted.star("moon").unwrap();
    let old = Orbit::of(&json!({
        "orbitalDistance": 1, "orbitalPhase": moon.get("orbitalPhase"), "orbitRotX": moon.get("orbitRotX"),
        "orbitRotY": moon.get("orbitRotY"), "orbitRotZ": moon.get("orbitRotZ"),
    }));
    near(old.place(0.0), [0.0, -1.0, 0.0]);
}

#[test]
fn a_wrong_element_is_refused_by_its_path() {
    for (name, value, expected) in [
        ("eccentricity", json!(1), "must be 0 to 0.999, found 1"),
        ("eccentricity", json!(-0.1), "must be 0 to 0.999"),
        ("semiMajorAxis", json!(0), "must be more than 0"),
        ("semiMajorAxis", Value::Null, "expected a number"),
        ("period", json!(-5), "must be more than 0"),
        ("inclination", json!(181), "must be 0 to 180"),
        ("ascendingNode", json!("x"), "expected a number"),
        ("meanAnomaly", json!(true), "expected a number"),
        ("plane", json!("equator"), "expected one of ecliptic, parentEquator"),
        ("epoch", json!("yesterday"), "expected a date such as"),
        ("inclinaton", json!(5), "did you mean inclination"),
        ("rates", json!(5), "expected an object"),
    ] {
        let mut elements = json!({ "semiMajorAxis": 1, "period": 10 });
        elements[name] = value;
        let findings = State::from_value(universe(&elements)).unwrap_err();
        let found = findings.iter().next().unwrap();
        assert_eq!(found.path, format!("/stars/planet/elements/{name}"));
        assert!(found.message.contains(expected), "{}", found.message);
        let set =
            json!({ "type": "updateStar", "id": "planet", "payload": { "elements": elements } });
        let refused = Command::from_value(set).unwrap_err();
        assert_eq!(
            refused.findings().iter().next().unwrap().path,
            format!("/payload/elements/{name}")
        );
    }
    let elements = json!({ "semiMajorAxis": 1, "period": 10, "rates": { "node": 1 } });
    let findings = State::from_value(universe(&elements)).unwrap_err();
    assert_eq!(findings.iter().next().unwrap().path, "/stars/planet/elements/rates/node");
    for (member, value) in
        [("epoch", json!("soon")), ("epoch", json!(5)), ("units", json!({ "length": "mile" }))]
    {
        let mut wrong = universe(&json!({ "semiMajorAxis": 1, "period": 10 }));
        wrong[member] = value;
        let findings = State::from_value(wrong).unwrap_err();
        assert!(
            findings.iter().next().unwrap().path.starts_with(&format!("/{member}")),
            "{findings}"
        );
    }
}

#[test]
fn a_date_has_a_meaning_where_the_universe_has_an_epoch() {
    let dated = json!({ "semiMajorAxis": 1, "period": 400, "epoch": "2000-01-01T12:01:40Z" });
    let state = state(&dated);
    near(state.place(state.star("planet").unwrap(), 200.0), [0.0, 0.0, 1.0]);
    assert_eq!(state.date_of(86_400.0).as_deref(), Some("2000-01-02T12:00:00Z"));
    assert_eq!(state.time_of(Instant::parse("2000-01-02").unwrap()), Ok(43_200.0));
    let ticked =
        command(&state, json!({ "type": "tick", "until": "2026-11-27T00:00:00Z" })).unwrap();
    assert_eq!(ticked.time(), 849_009_600.0);
    assert_eq!(command(&ticked, json!({ "type": "tick", "until": 5 })).unwrap().time(), 5.0);
    let both = command(&state, json!({ "type": "tick", "until": 5, "dt": 5 })).unwrap_err();
    assert!(both.contains("/until") && both.contains("dt"), "{both}");
    let wrong = command(&state, json!({ "type": "tick", "until": "soon" })).unwrap_err();
    assert!(wrong.contains("a date such as"), "{wrong}");

    let mut without = universe(&json!({ "semiMajorAxis": 1, "period": 400 }));
    without.as_object_mut().unwrap().remove("epoch");
    let without = State::from_value(without).unwrap();
    let refused = command(&without, json!({ "type": "tick", "until": "2026-11-27" })).unwrap_err();
    assert!(refused.contains("no `epoch`"), "{refused}");
    let set = json!({ "type": "updateStar", "id": "planet", "payload": { "elements": dated } });
    assert!(command(&without, set).unwrap_err().contains("no `epoch`"));
    let mut wrong = universe(&dated);
    wrong.as_object_mut().unwrap().remove("epoch");
    let findings = State::from_value(wrong).unwrap_err();
    assert_eq!(findings.iter().next().unwrap().path, "/stars/planet/elements/epoch");
}

#[test]
fn what_follows_is_answered_and_not_stored() {
    let plain = state(&json!({ "semiMajorAxis": 4, "period": 400 }));
    let own = json!({ "type": "updateStar", "id": "planet", "payload": { "orbitalDistance": 77, "orbitalSpeed": 1 } });
    let state = command(&plain, own).unwrap();
    let distance = |state: &State| state.to_value()["stars"]["planet"]["orbitalDistance"].clone();
    assert_eq!(distance(&state), json!(4.0));
    let stored = String::from_utf8(state.to_stored_json(0).unwrap()).unwrap();
    let loaded = State::from_text(stored).unwrap();
    assert_eq!(loaded, state);
    assert_eq!(loaded.to_json().unwrap(), state.to_json().unwrap());
    let without = json!({ "type": "updateStar", "id": "planet", "payload": { "elements": null } });
    assert_eq!(distance(&command(&loaded, without).unwrap()), json!(77));
    // What was answered and is given back is not kept.
    let again = State::from_value(plain.to_value()).unwrap();
    let stored = String::from_utf8(again.to_stored_json(0).unwrap()).unwrap();
    assert!(!stored.contains("orbitRotX"), "{stored}");
    // A snapshot has an epoch of its own.
    let snapshot = json!({ "type": "replaceSnapshot", "snapshot": state.to_value() });
    let mut snapshot = snapshot;
    snapshot["snapshot"].as_object_mut().unwrap().remove("time");
    assert_eq!(command(&state, snapshot).unwrap().epoch(), state.epoch());
}

#[test]
fn a_period_against_the_masses_is_warned_of_and_a_tick_that_names_no_seconds() {
    let units = json!({ "length": "au", "mass": "solarMass" });
    let empty = State::from_value(json!({ "stars": {}, "rootIds": [], "time": 0, "units": units }))
        .unwrap();
    let star = |id: &str, parent: Value, mass: f64, more: Value| {
        let mut payload = json!({ "name": id, "mass": mass, "radius": 1, "color": "#FFF",
            "parentId": parent, "orbitalDistance": 0, "orbitalSpeed": 0 });
        payload["elements"] = more;
        json!({ "type": "addStar", "id": id, "payload": payload })
    };
    let sun = command(&empty, star("sun", Value::Null, 1.0, Value::Null)).unwrap();
    let warned = |state: &State, given: Value| {
        let command = Command::from_value(given).unwrap();
        let after = state.apply(&command).unwrap().state;
        let warnings = command.warnings(state, &after);
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let planet = |period: f64, mass: f64| {
        let elements = json!({ "semiMajorAxis": 1, "period": period });
        let mut planet = star("planet", json!("sun"), mass, elements);
        let payload = planet["payload"].as_object_mut().unwrap();
        payload.retain(|name, _| !name.starts_with("orbital"));
        planet
    };
    let right = warned(&sun, planet(31_558_000.0, 3e-6));
    assert_eq!(right, Vec::<String>::new());
    // Days, and a mass in Earths.
    for wrong in [planet(365.25, 3e-6), planet(31_558_000.0, 318.0)] {
        let [found] = warned(&sun, wrong).try_into().unwrap();
        assert!(found.starts_with("/payload/elements/period: "), "{found}");
        assert!(found.contains("Kepler's third law"), "{found}");
    }
    // Without units nothing is known, and what has no mass holds nothing.
    let plain = json!({ "stars": {}, "rootIds": [], "time": 0, "units": { "length": "au" } });
    let plain = State::from_value(plain).unwrap();
    let plain = command(&plain, star("sun", Value::Null, 1.0, Value::Null)).unwrap();
    assert_eq!(warned(&plain, planet(1.0, 0.0)), Vec::<String>::new());
    let point = command(&empty, star("sun", Value::Null, 0.0, Value::Null)).unwrap();
    assert_eq!(warned(&point, planet(1.0, 0.0)), Vec::<String>::new());

    assert_eq!(warned(&empty, json!({ "type": "tick" })), Vec::<String>::new());
    let [found] = warned(&empty, json!({ "type": "tick", "days": 3 })).try_into().unwrap();
    assert_eq!(found, "/dt: is missing: the time moved by 1 s; give the seconds to move by");
}

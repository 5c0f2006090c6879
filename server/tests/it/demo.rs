//! The demo universe holds the domain's invariants and the laws of physics.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use serde_json::{Map, Value};
use universe_core::State;
use universe_server::demo;

/// Newton's constant in m³ kg⁻¹ s⁻² (CODATA 2018).
const G: f64 = 6.674_30e-11;
const AU_M: f64 = 149_597_870_700.0;

fn state() -> Value {
    let sol = demo::sol().unwrap_or_else(|error| panic!("data/sol.json: {error}"));
    // As it is answered: with what follows from the elements.
    State::from_value(sol).expect("a universe").to_value()
}

fn stars(state: &Value) -> &Map<String, Value> {
    state["stars"].as_object().unwrap_or_else(|| panic!("stars is not an object"))
}

fn number(entity: &Value, member: &str) -> f64 {
    entity[member].as_f64().unwrap_or_else(|| panic!("{} has no number {member}", entity["id"]))
}

fn count(state: &Value, member: &str, value: &str) -> usize {
    stars(state).values().filter(|star| star[member] == value).count()
}

#[test]
fn has_everything_the_solar_system_is_known_for() {
    let state = state();
    assert_eq!(count(&state, "bodyType", "star"), 1);
    assert_eq!(count(&state, "bodyType", "planet"), 8);
    assert_eq!(count(&state, "kind", "dwarfPlanet"), 5);
    assert!(count(&state, "bodyType", "moon") >= 20);
    assert_eq!(count(&state, "bodyType", "comet"), 1);
    assert_eq!(count(&state, "bodyType", "lagrangePoint"), 2);
    assert!(stars(&state)["saturn"]["ring"].is_object());
    let belts: BTreeSet<_> = state["smallBodyFields"]
        .as_object()
        .expect("fields")
        .values()
        .map(|field| field["beltType"].as_str().expect("belt type"))
        .collect();
    assert_eq!(belts, BTreeSet::from(["kuiper", "main"]));
}

#[test]
fn holds_the_invariants_of_a_universe() {
    let state = state();
    let stars = stars(&state);
    let mut listed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (key, star) in stars {
        assert_eq!(star["id"], **key);
        for child in star["children"].as_array().expect("children") {
            listed.entry(child.as_str().expect("child id")).or_default().push(key);
        }
    }
    for (key, star) in stars {
        let parents = listed.remove(key.as_str()).unwrap_or_default();
        match star["parentId"].as_str() {
            Some(parent) => assert_eq!(parents, [parent], "{key} is listed once, by its parent"),
            None => assert_eq!(
                state["rootIds"],
                Value::from(vec![key.as_str()]),
                "{key} is the only root"
            ),
        }
        let mut ancestor = star;
        for _ in 0..stars.len() {
            match ancestor["parentId"].as_str() {
                Some(parent) => ancestor = &stars[parent],
                None => break,
            }
        }
        assert_eq!(ancestor["id"], "sun", "{key} circles the Sun in the end");
    }
    assert!(listed.is_empty(), "children that do not exist: {listed:?}");

    let groups = state["groups"].as_object().expect("groups");
    assert_eq!(state["rootGroupIds"], Value::from(groups.keys().cloned().collect::<Vec<_>>()));
    for (key, group) in groups {
        assert_eq!(group["id"], **key);
        assert!(group["parentGroupId"].is_null());
        for child in group["children"].as_array().expect("children") {
            assert_eq!(child["type"], "system");
            assert!(stars[child["id"].as_str().expect("id")]["parentId"].is_null());
        }
    }
}

#[test]
fn has_every_required_member_and_no_null_but_the_roots_parent() {
    const STATE: [&str; 9] = [
        "stars",
        "rootIds",
        "groups",
        "rootGroupIds",
        "belts",
        "smallBodyFields",
        "protoplanetaryDisks",
        "nebulae",
        "time",
    ];
    const STAR: [&str; 10] = [
        "id",
        "name",
        "color",
        "mass",
        "radius",
        "children",
        "parentId",
        "orbitalDistance",
        "orbitalSpeed",
        "orbitalPhase",
    ];
    const RING: [&str; 7] = [
        "innerRadiusMultiplier",
        "outerRadiusMultiplier",
        "thickness",
        "opacity",
        "albedo",
        "color",
        "density",
    ];
    const COMET: [&str; 9] = [
        "isPeriodic",
        "perihelionDistance",
        "aphelionDistance",
        "hasTail",
        "tailLengthBase",
        "tailWidthBase",
        "tailColor",
        "tailOpacityBase",
        "activityFalloffDistance",
    ];
    const LAGRANGE: [&str; 5] = ["primaryId", "secondaryId", "pointIndex", "stable", "pairType"];
    const FIELD: [&str; 18] = [
        "id",
        "systemId",
        "hostStarId",
        "innerRadius",
        "outerRadius",
        "thickness",
        "particleCount",
        "baseColor",
        "highlightColor",
        "opacity",
        "brightness",
        "clumpiness",
        "rotationSpeedMultiplier",
        "beltType",
        "regionLabel",
        "isIcy",
        "seed",
        "style",
    ];
    fn holds(entity: &Value, members: &[&str]) {
        for member in members {
            assert!(entity.get(member).is_some(), "{} lacks {member}", entity["id"]);
        }
    }
    let state = state();
    holds(&state, &STATE);
    assert_eq!(state.as_object().expect("object").len(), STATE.len() + 2, "epoch and units");
    for (key, star) in stars(&state) {
        holds(star, &STAR);
        let nulls = star.as_object().expect("object").iter().filter(|(_, v)| v.is_null());
        let nulls: Vec<_> = nulls.map(|(member, _)| member.as_str()).collect();
        assert_eq!(nulls, if key == "sun" { vec!["parentId"] } else { vec![] }, "{key}");
        match star["bodyType"].as_str().expect("body type") {
            "comet" => holds(&star["comet"], &COMET),
            "lagrangePoint" => holds(&star["lagrangePoint"], &LAGRANGE),
            "asteroid" => holds(star, &["asteroidSubType"]),
            _ => {}
        }
    }
    holds(&stars(&state)["saturn"]["ring"], &RING);
    for field in state["smallBodyFields"].as_object().expect("fields").values() {
        holds(field, &FIELD);
    }
}

/// The mass that pulls is the parent's, the body's own and that of its siblings further in: Nix and
/// Hydra circle Pluto and Charon together.
#[test]
fn every_orbit_obeys_keplers_third_law() {
    let state = state();
    let stars = stars(&state);
    let mut checked = 0;
    for (id, star) in stars {
        let Some(parent) =
            star["parentId"].as_str().filter(|_| star["bodyType"] != "lagrangePoint")
        else {
            continue;
        };
        let axis = number(star, "semiMajorAxis");
        let siblings = stars
            .values()
            .filter(|other| other["parentId"] == parent && other.get("massKg").is_some());
        let further_in: f64 = siblings
            .filter(|other| number(other, "semiMajorAxis") < axis)
            .map(|other| number(other, "massKg"))
            .sum();
        let mass = number(&stars[parent], "massKg") + number(star, "massKg") + further_in;
        let predicted = TAU * ((axis * AU_M).powi(3) / (G * mass)).sqrt();
        let period = 360.0 / number(star, "orbitalSpeed");
        let error = (predicted / period - 1.0).abs();
        assert!(error < 0.01, "{id}: predicted {predicted} s, given {period} s");
        assert!((period / 86_400.0 - number(star, "periodDays")).abs() < 1e-6 * period);
        checked += 1;
    }
    assert_eq!(checked, stars.len() - 3, "all but the Sun and two markers");
}

/// Where the simulator draws a body as seen from its parent, `angle` degrees past perihelion.
fn place(star: &Value, angle: f64) -> [f64; 3] {
    let (a, e) = (number(star, "semiMajorAxis"), number(star, "eccentricity"));
    let (sin, cos) = angle.to_radians().sin_cos();
    let (x, z) = (a * cos, a * (1.0 - e * e).sqrt() * sin);
    let (sin, cos) = number(star, "orbitRotZ").to_radians().sin_cos();
    let (x, y) = (x * cos, x * sin);
    let (sin, cos) = number(star, "orbitRotY").to_radians().sin_cos();
    let (x, z) = (x * cos + z * sin, -x * sin + z * cos);
    let (sin, cos) = number(star, "orbitRotX").to_radians().sin_cos();
    let (y, z) = (y * cos - z * sin, y * sin + z * cos);
    let offset = |axis| number(star, axis);
    [x + offset("orbitOffsetX"), y + offset("orbitOffsetY"), z + offset("orbitOffsetZ")]
}

fn distance(from: [f64; 3], to: [f64; 3]) -> f64 {
    from.iter().zip(to).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn the_parent_is_at_the_focus_of_every_orbit() {
    let state = state();
    for (id, star) in stars(&state).iter().filter(|(_, star)| star["parentId"].is_string()) {
        let (a, e) = (number(star, "semiMajorAxis"), number(star, "eccentricity"));
        for (angle, expected) in
            [(0.0, a * (1.0 - e)), (90.0, a), (180.0, a * (1.0 + e)), (270.0, a)]
        {
            let found = distance(place(star, angle), [0.0; 3]);
            assert!(
                (found - expected).abs() <= 1e-9 * a,
                "{id} at {angle}°: {found} au, not {expected} au"
            );
        }
    }
}

#[test]
fn halleys_comet_comes_as_close_as_it_did_in_1986() {
    let state = state();
    let halley = &stars(&state)["halley"];
    let comet = &halley["comet"];
    assert!((number(comet, "perihelionDistance") - 0.586).abs() < 1e-3);
    assert!((number(comet, "aphelionDistance") - 35.08).abs() < 1e-2);
    assert!(number(&halley["elements"], "inclination") > 90.0, "its orbit is retrograde");
    let universe = State::from_value(state.clone()).expect("a universe");
    let place =
        universe.place(universe.star("halley").expect("it"), number(comet, "lastPerihelionTime"));
    let near = distance(place, [0.0; 3]) - number(comet, "perihelionDistance");
    assert!(near.abs() < 1e-4, "{near} au from perihelion on 9 February 1986");
}

#[test]
fn at_j2000_planets_are_where_they_were() {
    // Earth passed perihelion on 3 January 2000; Jupiter stood 4.965 au from the Sun on 1 January.
    let state = state();
    let planet = |id: &str| {
        let star = &stars(&state)[id];
        (star, distance(place(star, number(star, "orbitalPhase")), [0.0; 3]))
    };
    let (earth, r) = planet("earth");
    assert!((r - 0.9833).abs() < 1e-3, "{r}");
    let days = (360.0 - number(earth, "orbitalPhase")) / number(earth, "orbitalSpeed") / 86_400.0;
    assert!((1.5..3.5).contains(&days), "{days}");
    let (_, r) = planet("jupiter");
    assert!((r - 4.965).abs() < 0.01, "{r}");
}

#[test]
fn trojan_points_are_a_sixth_of_a_turn_from_jupiter() {
    let state = state();
    let stars = stars(&state);
    let phase = |id: &str| number(&stars[id]["elements"], "meanAnomaly");
    for (id, ahead) in [("jupiter-l4", 60.0), ("jupiter-l5", 300.0)] {
        let lead = (phase(id) - phase("jupiter")).rem_euclid(360.0);
        assert!((lead - ahead).abs() < 1e-9, "{id} leads by {lead}°");
        assert_eq!(stars[id]["orbitalSpeed"], stars["jupiter"]["orbitalSpeed"]);
        assert_eq!(stars[id]["lagrangePoint"]["primaryId"], "sun");
        assert_eq!(stars[id]["lagrangePoint"]["secondaryId"], "jupiter");
        assert_eq!(stars[id]["lagrangePoint"]["stable"], true);
    }
}

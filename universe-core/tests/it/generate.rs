//! Generated universes: the random numbers, what a seed gives, and what recipes may say.

use serde_json::{Value, json};
use universe_core::generate::{MAX_BODIES, Preset, Random, Recipe, Scale, Seed, Style};
use universe_core::{State, Strictness};

fn recipe(given: &Value) -> Recipe {
    Recipe::read(given).unwrap()
}

#[test]
fn random_numbers_are_those_of_the_reference() {
    let text = |text: &str| Seed::Text(text.to_owned());
    let cases = [
        (
            text("test"),
            [0.601491040149318, 0.9633494370312937, 0.5429338768512765],
            [1, 4, 69, -4],
            false,
            [0.36686908215700853, 0.2406241475683929, 0.3321205097485981],
        ),
        (
            Seed::Number(42.0),
            [0.6606157208001621, 0.1117019639532224, 0.0791056456144914],
            [5, 5, 14, 0],
            true,
            [0.023769088381823122, 0.8741808975513359, 0.9688792075315185],
        ),
        (
            text("太陽"),
            [0.48154802809750763, 0.25707069227130075, 0.6730101736034304],
            [3, 2, 32, -5],
            false,
            [0.5882110733113124, 0.8888155126141476, 0.77096558581839],
        ),
    ];
    for (seed, floats, ints, flag, rest) in cases {
        let mut random = Random::new(&seed);
        assert_eq!([(); 3].map(|()| random.float()), floats, "{seed:?}");
        let drawn = [random.int(1, 6), random.int(6, 1), random.int(0, 99), random.int(-5, 5)];
        assert_eq!(drawn, ints, "{seed:?}");
        assert_eq!(random.bool(0.3), flag, "{seed:?}");
        let (x, y) = (random.fork("x").float(), random.fork("y").float());
        assert_eq!([x, y, random.float()], rest, "{seed:?}");
    }
}

#[test]
fn a_number_counts_modulo_two_to_the_32_without_its_fraction() {
    let same =
        |a, b| assert_eq!(Random::new(&Seed::Number(a)), Random::new(&Seed::Number(b)), "{a} {b}");
    same(42.9, 42.0);
    same(4_294_967_338.0, 42.0);
    same(-1.0, 4_294_967_295.0);
    same(-0.5, 0.0);
}

/// FNV-1a of 64 bits: enough to see a byte that differs.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn one_seed_is_one_universe_byte_for_byte() {
    let told = |given: Value| {
        let universe = recipe(&given).universe().expect("a universe");
        let text = serde_json::to_string(&universe).expect("JSON");
        (universe.star_count(), digest(&text))
    };
    // These bytes are the same on every machine and stay so: a seed that somebody wrote down must give what it gave.
    let found: Vec<_> =
        PINNED.iter().map(|(given, _)| told(serde_json::from_str(given).expect("JSON"))).collect();
    let expected: Vec<_> = PINNED.iter().map(|(_, expected)| *expected).collect();
    assert_eq!(found, expected);
    let first = told(json!({ "seed": "a" }));
    assert_eq!(first, told(json!({ "seed": "a" })));
    assert_ne!(first, told(json!({ "seed": "b" })));
}

const PINNED: &[(&str, (usize, u64))] = &[
    (r#"{"seed":"test"}"#, (75, 4_667_393_405_302_532_821)),
    (r#"{"seed":42,"preset":"moonRich","style":"crowded"}"#, (1_240, 9_371_348_749_057_860_576)),
    (
        r#"{"seed":"太陽","preset":"deepHierarchy","style":"superDenseExperimental","scale":"toy"}"#,
        (2_786, 13_060_689_654_476_209_261),
    ),
];

#[test]
fn every_kind_passes_the_strict_judgement_within_the_bounds() {
    // Each scale with every preset and with every style.
    let mut scales = Scale::ALL.into_iter().cycle();
    for preset in Preset::ALL {
        // So that the first style does not always have the first scale.
        let mut scales = scales.by_ref().skip(1);
        for style in Style::ALL {
            let scale = scales.next().expect("they go round");
            let mut recipe = Recipe::new(Seed::Text(format!("{preset:?} {style:?}")));
            (recipe.preset, recipe.style, recipe.scale) = (preset, style, scale);
            // More of them take longer and show nothing else.
            recipe.systems = style.systems().min(5);
            let universe = recipe.universe().unwrap_or_else(|odd| panic!("{recipe:?}: {odd}"));
            universe.check().expect("the invariants hold");
            let most = MAX_BODIES * recipe.systems as usize;
            assert!(universe.star_count() <= most, "{recipe:?}");
            // What is written is read again as the same, strictly.
            let again = State::read_partial(universe.to_value(), Strictness::Strict);
            assert_eq!(again.expect("strict").0, universe, "{recipe:?}");
            assert_eq!(Recipe::read(&recipe.to_value()), Ok(recipe));
        }
    }
}

#[test]
fn presets_differ_as_they_say() {
    let bodies = |preset: &str, kind: &str| {
        let mut counts = Vec::new();
        for seed in 0..20 {
            let recipe = recipe(&json!({ "seed": seed, "preset": preset, "systems": 1 }));
            let universe = recipe.universe().expect("a universe");
            let kinds = universe.stars().filter(|star| star.get("isRoguePlanet").is_none());
            counts.push(kinds.filter(|star| star.get("bodyType") == Some(&json!(kind))).count());
        }
        (counts.iter().min().copied().unwrap(), counts.iter().max().copied().unwrap())
    };
    let within =
        |found: (usize, usize), min, max| assert!(found.0 >= min && found.1 <= max, "{found:?}");
    within(bodies("compact", "planet"), 1, 2);
    within(bodies("compact", "star"), 1, 1);
    within(bodies("compact", "moon"), 5, 36);
    within(bodies("multiStarHeavy", "planet"), 1, 4);
    within(bodies("moonRich", "planet"), 3, 6);
    within(bodies("moonRich", "moon"), 12, 150);
    within(bodies("sparseOutpost", "planet"), 0, 2);
    within(bodies("deepHierarchy", "planet"), 2, 5);
    assert!(bodies("multiStarHeavy", "star").1 > 1);
}

#[test]
fn everything_wrong_with_a_recipe_is_reported_at_once_with_the_nearest_names() {
    let given =
        json!({ "sed": 1, "preset": "moonrch", "style": 3, "systems": 51, "scale": "huge" });
    let findings = Recipe::read(&given).expect_err("five things");
    let told = findings.to_string();
    assert_eq!(findings.len(), 6, "{told}");
    for part in [
        "/sed: is not a member of generate; did you mean seed?",
        "/seed: is missing",
        "did you mean moonRich?",
        "/style: expected one of sparse, solarLike",
        "/scale: is \"huge\", expected one of realistic, compressed, toy, keplerian",
        "/systems: must be a whole number from 1 to 50",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let long = json!({ "seed": "x".repeat(201) });
    assert!(Recipe::read(&long).unwrap_err().to_string().contains("at most 200 characters"));
    assert!(Recipe::read(&json!("test")).unwrap_err().to_string().contains("expected an object"));
    assert!(Recipe::read(&json!({ "seed": null })).is_err());
    assert_eq!(recipe(&json!({ "seed": 1, "systems": 3.0 })).systems, 3);
}

#[test]
fn keplerian_periods_obey_the_third_law() {
    let given = json!({ "seed": "kepler", "scale": "keplerian", "style": "crowded" });
    let universe = recipe(&given).universe().unwrap();
    let number = |star: &universe_core::Star, member: &str| {
        star.get(member).and_then(Value::as_f64).unwrap()
    };
    let mut constants = Vec::new();
    for star in universe.stars() {
        let Some(parent) = star.parent_id().and_then(|id| universe.star(id)) else { continue };
        let of = star.get("elements").unwrap_or_else(|| panic!("{} has elements", star.id()));
        // What shares the orbit of a planet goes with it.
        if star.get("bodyType") == Some(&json!("lagrangePoint"))
            || star.get("lagrangeHostId").is_some()
        {
            continue;
        }
        let (axis, period) =
            (of["semiMajorAxis"].as_f64().unwrap(), of["period"].as_f64().unwrap());
        constants.push(axis.powi(3) / (period * period * number(parent, "mass")));
    }
    assert!(constants.len() > 50);
    let (least, most) =
        constants.iter().fold((f64::MAX, 0.0_f64), |(a, b), &c| (a.min(c), b.max(c)));
    assert!(most / least < 1.02, "{least} to {most}");
}

//! The map: what is put together from parts, and what is asked of it.

mod names;

use starmap_server::map::{
    Kind, Map, MapError, Parts, PartsRegion, SecurityClass, Warning, shown_security,
};

use super::common::{LIGHT_YEAR, generated, id_of, index_of, real, small, small_parts};

#[test]
fn the_map_made_by_hand_is_as_it_is_drawn() {
    let map = small();
    assert_eq!(map.systems().len(), 20);
    assert_eq!(map.connections(), 18);
    let names = |name: &str| -> Vec<&str> {
        let around = map.neighbours(index_of(&map, name)).iter();
        around.map(|to| &*map.system(*to).name).collect()
    };
    assert_eq!(names("Tarn"), ["Kestrel", "Amarr", "Marrow"]);
    assert_eq!(names("Lonely"), [""; 0]);
    let borders = map.systems().iter().filter(|system| system.border);
    let borders: Vec<&str> = borders.map(|system| &*system.name).collect();
    assert_eq!(borders, ["Jita", "Kestrel", "Amarr", "Rook"]);
    let rook = map.system(index_of(&map, " rOOk "));
    assert_eq!(rook.class, SecurityClass::High);
    assert_eq!(rook.position, Some([8.0 * LIGHT_YEAR, 0.0, 2.0 * LIGHT_YEAR]));
    assert_eq!(&*map.constellation(rook.constellation).name, "Birch");
    assert_eq!(&*map.region(rook.region).name, "Northmark");
    assert!(map.system(index_of(&map, "Nadir")).security.is_sign_positive());
    assert_eq!(map.system_by_id(id_of("Rook")), Some(index_of(&map, "Rook")));
    assert_eq!((map.system_by_id(5), map.system_by_name("")), (None, None));
    let birch = map.constellation_by_name("BIRCH").unwrap();
    assert_eq!(map.constellation(birch).systems.len(), 5);
    let farvoid = map.region_by_name("farvoid").unwrap();
    assert_eq!(map.region(farvoid).id, 10_000_003);
}

#[test]
fn a_gate_is_listed_once_or_twice_to_nowhere_or_back_and_harms_nothing() {
    let mut parts = small_parts();
    let (jita, ostra) = (id_of("Jita"), id_of("Ostra"));
    parts.gates.extend([(ostra, jita), (jita, jita), (jita, 5)]);
    let (map, warnings) = Map::new(parts).unwrap();
    let circle = Warning::Circle { system: jita };
    assert_eq!(warnings, [circle, Warning::NoSystem { from: jita, to: 5 }]);
    assert_eq!(map.connections(), small().connections());
}

#[test]
fn a_gate_without_its_other_end_is_told_where_most_have_one() {
    let ends = (id_of("Jita"), id_of("Ostra"));
    let mut parts = small_parts();
    parts.gates.retain(|gate| *gate != (ends.1, ends.0));
    let (map, warnings) = Map::new(parts).unwrap();
    let (from, to) = ends;
    assert_eq!(warnings, [Warning::OneWay { from, to }]);
    assert_eq!(map.connections(), 18);
    // A file that lists each connection once means nothing by it.
    let mut parts = small_parts();
    parts.gates.retain(|(from, to)| from < to);
    let (map, warnings) = Map::new(parts).unwrap();
    assert_eq!((map.connections(), warnings.len()), (18, 0));
}

#[test]
fn the_second_of_two_with_one_name_gets_its_id_behind_it() {
    let mut parts = small_parts();
    parts.systems[7].name = " JITA ".to_owned();
    parts.constellations[1].name = "alder".to_owned();
    parts.regions[2].name = "Northmark".to_owned();
    // The order in the file does not matter, the lower id keeps the name.
    parts.systems.reverse();
    let (map, warnings) = Map::new(parts).unwrap();
    let same =
        |kind, id, name: &str, first| Warning::SameName { kind, id, name: name.into(), first };
    assert_eq!(
        warnings,
        [
            same(Kind::Region, 10_000_003, "Northmark", 10_000_001),
            same(Kind::Constellation, 20_000_002, "alder", 20_000_001),
            same(Kind::System, 30_000_008, "JITA", 30_000_001),
        ]
    );
    assert_eq!(
        warnings[2].to_string(),
        "system 30000008 bears the name of system 30000001, \"JITA\": it is called \"JITA (30000008)\" here"
    );
    assert_eq!(map.system(index_of(&map, "jita")).id, 30_000_001);
    let second = index_of(&map, "jita (30000008)");
    assert_eq!(&*map.system(second).name, "JITA (30000008)");
    assert_eq!(map.neighbours(second).len(), 2);
    assert!(map.constellation_by_name("Alder (20000002)").is_some());
    assert!(map.region_by_name("Northmark (10000003)").is_some());
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused = |change: &dyn Fn(&mut Parts)| {
        let mut parts = small_parts();
        change(&mut parts);
        Map::new(parts).expect_err("it was taken").to_string()
    };
    let region = |id| PartsRegion { id, name: format!("R{id}") };
    let unused =
        "none of its entries can be used (25 are left out; the first: constellation 20000001";
    let regions = "there are more than the 5000 regions that a map may have";
    let gates = "there are more than the 1000000 stargates";
    let same_system = "two systems have the id 30000001";
    let same_constellation = "two constellations have the id 20000001";
    let same_region = "two regions have the id 10000002";
    let blank = "the name \" \\n\" of system 30000001 is empty";
    let long = "of region 10000001 is empty, longer than 100 bytes";
    let (escape, control) = ("a\u{1b}[2J", "of constellation 20000001 is empty");
    let high = "the security status 1.0001 of system 30000001 is not between -1 and 1";
    let low = "the security status -1.0001";
    let not_a_number = "the security status NaN";
    let (far, place) = ([0.0, f64::INFINITY, 0.0], "the position of system 30000001");
    type Change<'c> = &'c dyn Fn(&mut Parts);
    let cases: [(Change<'_>, &str); 16] = [
        (&|it| it.systems.clear(), "there is no system in it"),
        (&|it| it.regions.clear(), unused),
        (&|it| it.regions = (0..5_001).map(region).collect(), regions),
        (&|it| it.gates = vec![(1, 2); 1_000_001], gates),
        (&|it| it.systems[3].id = 30_000_001, same_system),
        (&|it| it.constellations[4].id = 20_000_001, same_constellation),
        (&|it| it.regions[0].id = 10_000_002, same_region),
        (&|it| it.systems[0].name = " \n".to_owned(), blank),
        (&|it| it.regions[0].name = "é".repeat(51), long),
        (&|it| it.constellations[0].name = escape.to_owned(), control),
        (&|it| it.systems[0].security = 1.000_1, high),
        (&|it| it.systems[0].security = -1.000_1, low),
        (&|it| it.systems[0].security = f64::NAN, not_a_number),
        (&|it| it.systems[0].position = Some(far), place),
        (
            &|it| {
                it.systems[0].name = "Ostra (30000003)".to_owned();
                it.systems[2].name = "Ostra".to_owned();
            },
            "two systems have the name \"Ostra\"; the id 30000003 of one cannot tell them apart",
        ),
        (
            &|it| {
                it.systems[0].name = "x".repeat(95);
                it.systems[2].name = "x".repeat(95);
            },
            "cannot tell them apart",
        ),
    ];
    for (change, what) in cases {
        let said = refused(change);
        assert!(said.contains(what), "{what}: {said}");
    }
    assert_eq!(Map::new(Parts::default()).unwrap_err(), MapError::Empty);
}

#[test]
fn a_version_is_one_short_line_or_a_digest_stands_for_it() {
    let version = |version: &str| {
        let mut parts = small_parts();
        parts.version = version.to_owned();
        Map::new(parts).unwrap().0.version().to_owned()
    };
    assert_eq!(version(" v1 "), "v1");
    let digest = version("");
    assert_eq!(digest.len(), 12);
    assert_eq!([version("a\nb"), version(&"v".repeat(101))], [digest.clone(), digest]);
}

#[test]
fn classes_and_shown_security_go_by_the_unrounded_status() {
    let cases = [
        (0.45, "HIGH", 0.5),
        (0.449_999_999_9, "LOW", 0.4),
        (0.04, "LOW", 0.1),
        (0.000_1, "LOW", 0.1),
        (0.05, "LOW", 0.1),
        (0.0, "NULL", 0.0),
        (-0.0, "NULL", 0.0),
        (-0.04, "NULL", 0.0),
        (-0.05, "NULL", -0.1),
        (1.0, "HIGH", 1.0),
    ];
    for (security, class, shown) in cases {
        assert_eq!(SecurityClass::of(security).to_string(), class, "{security}");
        assert_eq!(shown_security(security).to_bits(), f64::to_bits(shown), "{security}");
    }
}

#[test]
fn suggestions_are_a_letter_away_then_beginnings_then_parts() {
    let map = small();
    assert_eq!(map.suggest("Juta", 3), ["Jita"]);
    assert_eq!(map.suggest("sle", 3), ["Isle-A", "Isle-B", "Sable"]);
    // A trade hub comes before what is as near, known space before wormholes.
    assert_eq!(map.suggest("j", 3), ["Jita", "J000001", "J000002"]);
    assert_eq!(map.suggest("a", 3), ["Amarr", "Jita", "Isle-A"]);
    assert_eq!(map.suggest("Isle-C", 3), ["Isle-A", "Isle-B"]);
    for nothing in ["", " ", "Xyzzyx", &"J".repeat(101)] {
        assert_eq!(map.suggest(nothing, 3), [""; 0], "{nothing}");
    }
}

#[test]
fn a_name_is_corrected_if_one_letter_is_wrong_and_one_name_is_near() {
    let map = small();
    for typed in ["Juta", "Jit", "JITTA", "Jtia"] {
        assert_eq!(map.correct(typed), Some(index_of(&map, "Jita")), "{typed}");
    }
    for typed in ["Isle-C", "Isle-", "Jutta", "", "Jita"] {
        assert_eq!(map.correct(typed), None, "{typed}");
    }
}

#[test]
fn generated_maps_are_whole_and_repeat() {
    for (seed, count) in [(1, 1), (2, 50), (3, 2_000)] {
        assert_eq!(generated(seed, count), generated(seed, count));
        let (map, warnings) = Map::new(generated(seed, count)).unwrap();
        assert_eq!(warnings, []);
        assert_eq!(map.systems().len(), count);
    }
}

#[test]
fn the_real_map_has_the_counts_it_is_known_by() {
    let Some(map) = real() else { return };
    assert_eq!(map.systems().len(), 8_437);
    assert_eq!(map.connections(), 6_888);
    let of = |class| map.systems().iter().filter(|it| it.class == class).count();
    assert_eq!(of(SecurityClass::High), 1_194);
    assert_eq!(of(SecurityClass::Low), 687);
    assert_eq!(of(SecurityClass::Null), 6_556);
    assert_eq!(map.systems().iter().filter(|it| it.border).count(), 239);
}

// esi/esi-docs: "static data" has the class of wormholes, "system security" the edges of the classes
#[test]
fn space_is_said_in_words() {
    let map = small();
    for (name, words) in
        [("Rook", "high security"), ("Marrow", "low security"), ("Nadir", "null security")]
    {
        assert_eq!(map.space(index_of(&map, name)).to_string(), words);
    }
    let Some(map) = real() else { return };
    for (name, words) in [
        ("J100744", "wormhole space, class 1"),
        ("J132024", "wormhole space, class 2"),
        ("J001670", "wormhole space, class 3"),
        ("J104404", "wormhole space, class 4"),
        ("J140600", "wormhole space, class 5"),
        ("J145523", "wormhole space, class 6"),
        ("J000487", "wormhole space, class 13"),
        ("Thera", "wormhole space, class 12 (Thera)"),
        ("Enderailen", "low security"),
        ("Kulelen", "high security"),
        ("Zarzakh", "null security"),
        ("Niarja", "Pochven"),
    ] {
        assert_eq!(map.space(index_of(&map, name)).to_string(), words, "{name}");
    }
    let region = map.region_by_name("K-R00033").unwrap();
    let drifters = map.region(region).constellations[0];
    let system = map.constellation(drifters).systems[0];
    assert_eq!(map.space(system).to_string(), "wormhole space, of the Drifters");
}

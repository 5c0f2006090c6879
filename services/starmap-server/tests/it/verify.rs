//! Judging a map.

use starmap_server::map::{Map, Parts};
use starmap_server::verify::{Outcome, TRADE_HUBS, passed, verify};

use super::common::{generated, id_of, real, small, small_parts};

/// The outcome and the note of the one check that has this word in its name.
fn outcome(map: &Map, word: &str) -> (Outcome, String) {
    let mut checks = verify(map).into_iter().filter(|it| it.name.contains(word));
    let (Some(check), None) = (checks.next(), checks.next()) else {
        panic!("not one check of {word}");
    };
    (check.outcome, check.note)
}

/// The small map with names of trade hubs for those of other systems.
fn with_hubs(names: &[(&str, &str)]) -> Parts {
    let mut parts = small_parts();
    for (old, new) in names {
        let system = parts.systems.iter_mut().find(|it| it.name == *old);
        system.unwrap().name = (*new).to_owned();
    }
    parts
}

fn map(parts: Parts) -> Map {
    Map::new(parts).unwrap().0
}

#[test]
fn the_real_map_passes_every_check() {
    let Some(map) = real() else { return };
    let checks = verify(&map);
    assert!(
        checks.iter().all(|it| it.outcome == Outcome::Passed || it.name.contains("older")),
        "{checks:?}"
    );
    assert_eq!(outcome(&map, "position").1, "5215 judged");
}

// zKillboard/zKillboard#344, zKillboard/zKillboard#345: data may be old, and CSV does not say of when it is.
#[test]
fn the_age_of_the_data_is_told_where_it_is_known() {
    for (version, outcome_is, told) in [
        ("SDE 3532181, 2023-07-01", Outcome::Skipped, "build a newer one"),
        ("", Outcome::Skipped, "does not say when it was released"),
        ("hand-made", Outcome::Skipped, "does not say when it was released"),
    ] {
        let (outcome, note) =
            outcome(&map(Parts { version: version.to_owned(), ..small_parts() }), "older");
        assert_eq!(outcome, outcome_is);
        assert!(note.contains(told), "{note}");
    }
}

#[test]
fn a_map_without_trade_hubs_is_not_asked_for_them() {
    let map = map(generated(1, 300));
    let checks = verify(&map);
    assert!(passed(&checks));
    assert_eq!(outcome(&map, "hubs are there").0, Outcome::Skipped);
    assert_eq!(outcome(&map, "joined").0, Outcome::Skipped);
    let line = checks[0].to_string();
    assert_eq!(line, "passed  the map has systems (300 systems)");
}

#[test]
fn a_map_with_some_of_the_trade_hubs_fails() {
    let map = small();
    let missing = "missing: Dodixie, Rens, Hek".to_owned();
    assert_eq!(outcome(&map, "hubs are there"), (Outcome::Failed, missing));
    assert!(!passed(&verify(&map)));
    assert_eq!(outcome(&map, "joined").0, Outcome::Passed);
}

#[test]
fn trade_hubs_that_cannot_be_reached_fail() {
    let near = [("Ostra", "Dodixie"), ("Velm", "Rens"), ("Pell", "Hek")];
    let all = map(with_hubs(&near));
    assert_eq!(outcome(&all, "hubs are there"), (Outcome::Passed, TRADE_HUBS.join(", ")));
    assert_eq!(outcome(&all, "joined").0, Outcome::Passed);
    let far = [("Ostra", "Dodixie"), ("Velm", "Rens"), ("Isle-A", "Hek")];
    let cut = map(with_hubs(&far));
    assert_eq!(outcome(&cut, "hubs are there").0, Outcome::Passed);
    let note = "no way from Jita to Hek".to_owned();
    assert_eq!(outcome(&cut, "joined"), (Outcome::Failed, note));
}

#[test]
fn a_system_with_gates_but_without_a_position_fails_unless_none_has_one() {
    assert_eq!(outcome(&small(), "position"), (Outcome::Passed, "17 judged".to_owned()));
    let mut parts = small_parts();
    let at = parts.systems.iter().position(|it| it.id == id_of("Tarn")).unwrap();
    parts.systems[at].position = None;
    let note = "1 of 17 are not: Tarn".to_owned();
    assert_eq!(outcome(&map(parts), "position"), (Outcome::Failed, note));
    let mut parts = small_parts();
    for system in &mut parts.systems {
        system.position = None;
    }
    assert_eq!(outcome(&map(parts), "position").0, Outcome::Skipped);
}

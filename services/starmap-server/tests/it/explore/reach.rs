//! What jump drives reach, and distances of many to many.

use starmap_server::explore::{
    JumpRangeError, MAX_DISTANCES, distances, jump_range, light_years_between,
};
use starmap_server::map::{Map, SecurityClass};
use starmap_server::route::{Avoid, Avoided, Cost, Extra, Travel};

use crate::common::{LIGHT_YEAR, index_of, real, small, small_parts};

#[test]
fn jump_drives_reach_by_light_years_but_not_into_high_security() {
    let map = small();
    let reach = |from, range, limit| {
        let found = jump_range(&map, index_of(&map, from), range, limit).unwrap().found;
        let listed =
            found.list.iter().map(|it| (map.system(it.system).name.to_string(), it.light_years));
        (found.total, listed.collect::<Vec<_>>())
    };
    let (total, list) = reach("Rook", 4.0, 10);
    assert_eq!(total, 2);
    assert_eq!(list, [("Sable".to_owned(), 2.0), ("Nadir".to_owned(), 4.0)]);
    assert_eq!(reach("Rook", 3.999, 10).0, 1);
    assert_eq!(reach("Rook", 4.0, 1).1.len(), 1);
    // Nine below high security have a position.
    assert_eq!(reach("Jita", 1e6, 100).0, 9);
    let apart =
        light_years_between(&map, index_of(&map, "Jita"), index_of(&map, "Marrow")).unwrap();
    assert!((apart - (4.0_f64 + 0.25).sqrt()).abs() < 1e-12);
    assert!((LIGHT_YEAR - 9.46e15).abs() < 1.0);
}

#[test]
fn a_jump_range_without_positions_is_refused() {
    let mut parts = small_parts();
    parts.systems[0].position = None;
    let (map, _) = Map::new(parts).unwrap();
    let error = |name, range| jump_range(&map, index_of(&map, name), range, 1).unwrap_err();
    assert_eq!(error("Jita", 5.0), JumpRangeError::NoPosition(index_of(&map, "Jita")));
    assert_eq!(
        error("Jita", 5.0).sentence(&map),
        "the map does not say where Jita is; a map with positions is needed"
    );
    for range in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(error("Rook", range), JumpRangeError::Invalid(it) if it.parameter == "light_years")
        );
    }
    let Some(map) = real() else { return };
    let hole = index_of(&map, "J105443");
    let error = jump_range(&map, hole, 5.0, 1).unwrap_err();
    assert_eq!(error, JumpRangeError::NoWayOut(hole));
    let reached = jump_range(&map, index_of(&map, "Jita"), 10.0, 10_000).unwrap();
    let reached = reached.found;
    assert!(reached.total > 50);
    for it in reached.list {
        let system = map.system(it.system);
        assert!(system.class != SecurityClass::High && system.id < 31_000_000);
    }
}

#[test]
fn distances_are_a_matrix_with_gaps() {
    let map = small();
    let index = |name| index_of(&map, name);
    let (jita, amarr, lonely, wend) =
        (index("Jita"), index("Amarr"), index("Lonely"), index("Wend"));
    let from = [jita, lonely, wend, jita];
    let to = [amarr, jita, lonely];
    let plain = distances(&map, &from, &to, Avoid::nothing(), Travel::by_gates()).unwrap();
    assert_eq!(
        plain,
        [
            [Some(3), Some(0), None],
            [None, None, Some(0)],
            [Some(5), Some(8), None],
            [Some(3), Some(0), None]
        ]
    );
    // An avoided system is an end, but not passed; a dear connection is one jump all the same.
    let avoid = Avoid::new(&map, [Avoided::System(amarr), Avoided::System(index("Tarn"))]).unwrap();
    let dear = Extra { from: jita, to: wend, both_ways: false, cost: Cost::new(99.0) };
    let travel = Travel::new(vec![dear]).unwrap();
    let matrix = distances(&map, &[jita, amarr], &[amarr, wend, jita], &avoid, &travel).unwrap();
    assert_eq!(matrix, [[Some(5), Some(1), Some(0)], [Some(0), Some(5), Some(5)]]);
}

#[test]
fn a_matrix_has_bounds() {
    let map = small();
    let many = vec![index_of(&map, "Jita"); MAX_DISTANCES + 1];
    let error = |from, to| {
        let it = distances(&map, from, to, Avoid::nothing(), Travel::by_gates()).unwrap_err();
        format!("{} {}: {}", it.parameter, it.value, it.reason)
    };
    assert_eq!(error(&many, &many[..1]), "from 101: must be between 1 and 100");
    assert_eq!(error(&many[..1], &[]), "to 0: must be between 1 and 100");
    let full =
        distances(&map, &many[1..], &many[1..], Avoid::nothing(), Travel::by_gates()).unwrap();
    assert!(full.iter().flatten().all(|cell| *cell == Some(0)));
}

//! The warnings about a route.

use starmap_server::route::{Mode, Query, Travel, Warning, find, find_warned};

use super::super::brute::safer;
use super::super::common::{index_of, small};
use super::{avoid, extra, query};
use starmap_server::map::Map;

fn found_warnings(map: &Map, query: &Query<'_>) -> Vec<Warning> {
    let (route, warnings) = find_warned(map, query).unwrap();
    assert_eq!(route, find(map, query).unwrap());
    warnings
}

#[test]
fn entering_lower_security_is_told_unless_one_is_there_already() {
    let map = small();
    let marrow = Warning::Pipe(index_of(&map, "Marrow"));
    for mode in [Mode::Shortest, Mode::Unsafe] {
        let found = found_warnings(&map, &query(&map, "Jita", "Amarr", mode));
        assert_eq!(found, [Warning::LowerSecurity { low: 2, null: 0 }, marrow]);
    }
    let to_null = found_warnings(&map, &query(&map, "Pell", "Nadir", Mode::Shortest));
    let sable = Warning::Pipe(index_of(&map, "Sable"));
    assert_eq!(to_null, [Warning::LowerSecurity { low: 1, null: 1 }, sable]);
    assert_eq!(found_warnings(&map, &query(&map, "Tarn", "Jita", Mode::Shortest)), [marrow]);
    assert_eq!(found_warnings(&map, &query(&map, "Jita", "Velm", Mode::Shortest)), []);
}

#[test]
fn a_safe_route_that_leaves_high_security_says_so() {
    let map = small();
    let leaves = |low, null| Warning::LeavesHighSecurity { low, null };
    for mode in [Mode::Safe, safer(50)] {
        assert_eq!(found_warnings(&map, &query(&map, "Jita", "Amarr", mode)), []);
        assert_eq!(found_warnings(&map, &query(&map, "Jita", "Marrow", mode)), [leaves(1, 0)]);
        let deep = found_warnings(&map, &query(&map, "Jita", "Nadir", mode));
        assert_eq!(deep[0], leaves(1, 1));
        // It is below high security to begin with.
        assert_eq!(found_warnings(&map, &query(&map, "Marrow", "Jita", mode)), []);
    }
}

#[test]
fn a_pipe_is_passed_through_not_gone_to() {
    let map = small();
    assert_eq!(found_warnings(&map, &query(&map, "Marrow", "Tarn", Mode::Shortest)), []);
    let sable = Warning::Pipe(index_of(&map, "Sable"));
    assert_eq!(found_warnings(&map, &query(&map, "Nadir", "Rook", Mode::Shortest)), [sable]);
}

#[test]
fn a_pipe_has_exactly_two_gates() {
    let map = small();
    let through = ["Jita", "J000001", "Lonely"];
    let bridges = through.windows(2).map(|it| extra(&map, it[0], it[1], true, None));
    let bridges = Travel::new(bridges.collect()).unwrap();
    let query = query(&map, "Jita", "Lonely", Mode::Shortest).with(&bridges);
    let found = found_warnings(&map, &query);
    assert_eq!(found, [Warning::LowerSecurity { low: 0, null: 1 }]);
}

#[test]
fn an_avoided_end_is_told() {
    let map = small();
    let avoid = avoid(&map, &["Jita", "Velm"]);
    let query = query(&map, "Jita", "Velm", Mode::Safe).avoiding(&avoid);
    let found = found_warnings(&map, &query);
    assert_eq!(found, [Warning::AvoidedEnd(query.origin), Warning::AvoidedEnd(query.destination)]);
    assert_eq!(
        found[0].sentence(&map),
        "Jita is to be avoided, but the route begins or ends there"
    );
    let stays = Query { destination: query.origin, ..query };
    assert_eq!(found_warnings(&map, &stays).len(), 1);
}

#[test]
fn warnings_are_sentences() {
    let map = small();
    let sentence = |warning: Warning| warning.sentence(&map);
    assert_eq!(
        sentence(Warning::LowerSecurity { low: 1, null: 2 }),
        "The route enters 1 low-security system and 2 null-security systems"
    );
    assert_eq!(
        sentence(Warning::LeavesHighSecurity { low: 0, null: 1 }),
        "The route leaves high security although it was asked to be safe: it enters 1 null-security system"
    );
    assert_eq!(
        sentence(Warning::Pipe(index_of(&map, "Sable"))),
        "The route passes through Sable (LOW security), which has only two gates and is easily camped"
    );
}

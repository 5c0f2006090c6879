//! Other ways than the best.

use std::collections::HashSet;

use proptest::prelude::*;
use starmap_server::map::Map;
use starmap_server::route::{
    MAX_ALTERNATIVES, MOST_SHARED_PERCENT, Mode, Query, Route, Travel, alternatives,
    cost_of_safety, find,
};

use super::super::brute::{assert_adjacent, few_systems, nth};
use super::super::common::{real, small};
use super::{extra, names, query};

#[test]
fn the_second_way_around_is_found_and_no_senseless_one() {
    let map = small();
    let found = alternatives(&map, &query(&map, "Jita", "Amarr", Mode::Shortest), 5).unwrap();
    let found: Vec<_> = found.iter().map(|route| names(&map, &route.systems)).collect();
    assert_eq!(
        found,
        [
            vec!["Jita", "Marrow", "Tarn", "Amarr"],
            vec!["Jita", "Ostra", "Velm", "Kestrel", "Pell", "Amarr"],
        ]
    );
    let one = alternatives(&map, &query(&map, "Rook", "Sable", Mode::Safe), 5).unwrap();
    assert_eq!(one.len(), 1);
}

#[test]
fn there_are_no_more_than_asked_for() {
    let Some(map) = real() else { return };
    let query = query(&map, "Jita", "Amarr", Mode::Shortest);
    for count in [0, 1, 2, 5, MAX_ALTERNATIVES, 1_000] {
        let found = alternatives(&map, &query, count).unwrap();
        assert_eq!(found.len(), count.clamp(1, MAX_ALTERNATIVES));
        judge(&map, &query, &found);
    }
}

/// Out by a one-way connection and back by another: the best way past those systems passes Ostra twice.
#[test]
fn a_way_that_passes_a_system_twice_is_none() {
    let map = small();
    let one_way = [("Ostra", "Wend"), ("Nadir", "Ostra")];
    let one_way = one_way.map(|(from, to)| extra(&map, from, to, false, None));
    let travel = Travel::new(one_way.to_vec()).unwrap();
    let query = query(&map, "Jita", "Velm", Mode::Shortest).with(&travel);
    let found = alternatives(&map, &query, 5).unwrap();
    let found: Vec<_> = found.iter().map(|it| names(&map, &it.systems)).collect();
    assert_eq!(
        found,
        [
            vec!["Jita", "Ostra", "Velm"],
            vec!["Jita", "Marrow", "Tarn", "Kestrel", "Velm"],
            vec!["Jita", "Marrow", "Tarn", "Amarr", "Pell", "Kestrel", "Velm"],
        ]
    );
}

#[test]
fn without_a_way_there_is_no_alternative() {
    let map = small();
    let query = query(&map, "Jita", "Lonely", Mode::Safe);
    assert_eq!(alternatives(&map, &query, 3), Err(find(&map, &query).unwrap_err()));
    assert!(cost_of_safety(&map, &query).is_err());
}

#[test]
fn the_cost_of_safety_is_in_jumps() {
    let map = small();
    let cost = cost_of_safety(&map, &query(&map, "Jita", "Amarr", Mode::Safe)).unwrap();
    assert_eq!((cost.shortest.jumps(), cost.safe.jumps(), cost.more_jumps()), (3, 5, 2));
    let by_default = cost_of_safety(&map, &query(&map, "Jita", "Amarr", Mode::Shortest));
    assert_eq!(by_default.unwrap(), cost);
    let Some(map) = real() else { return };
    let cost = cost_of_safety(&map, &query(&map, "Jita", "Amarr", Mode::Safe)).unwrap();
    assert_eq!((cost.shortest.jumps(), cost.safe.jumps()), (11, 45));
}

/// All that is promised of alternatives.
fn judge(map: &Map, query: &Query<'_>, found: &[Route]) {
    assert_eq!(found[0], find(map, query).unwrap());
    assert!(found.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
    let dearest = found[0].cost.value() * 1.5 + 5.0;
    assert!(found.iter().all(|route| route.cost.value() <= dearest));
    for (at, route) in found.iter().enumerate() {
        assert_adjacent(map, &route.systems);
        assert_eq!(route.systems[0], query.origin);
        assert_eq!(*route.systems.last().unwrap(), query.destination);
        let unique: HashSet<_> = route.systems.iter().collect();
        assert_eq!(unique.len(), route.systems.len(), "a loop");
        let jumps = |route: &Route| -> HashSet<_> {
            route.systems.windows(2).map(|pair| (pair[0], pair[1])).collect()
        };
        for other in &found[..at] {
            let shared = jumps(route).intersection(&jumps(other)).count();
            assert!(shared * 100 <= MOST_SHARED_PERCENT * route.jumps());
        }
    }
}

proptest! {
    #[test]
    fn alternatives_keep_their_promises(
        parts in few_systems(9), from in 0_usize..9, to in 0_usize..9, safe in any::<bool>(),
    ) {
        let (map, _) = Map::new(parts).unwrap();
        let mode = if safe { Mode::Safe } else { Mode::Shortest };
        let query = Query::new(nth(&map, from), nth(&map, to), mode);
        let Ok(found) = alternatives(&map, &query, 10) else {
            prop_assert!(find(&map, &query).is_err());
            return Ok(());
        };
        judge(&map, &query, &found);
        // Each is the best through one of its systems, and every best way through a system that was left out is like
        // one that was taken, or passes a system twice.
        for via in map.indices() {
            let part = |origin, destination| find(&map, &Query { origin, destination, ..query });
            let (Ok(head), Ok(tail)) = (part(query.origin, via), part(via, query.destination)) else {
                continue;
            };
            let least = head.cost + tail.cost;
            for route in found.iter().filter(|route| route.systems.contains(&via)) {
                prop_assert!(route.cost >= least);
            }
        }
        let is_best = |route: &Route| route.systems.iter().any(|via| {
            let part = |origin, destination| find(&map, &Query { origin, destination, ..query }).unwrap();
            part(query.origin, *via).cost + part(*via, query.destination).cost == route.cost
        });
        prop_assert!(found.iter().all(is_best));
    }
}

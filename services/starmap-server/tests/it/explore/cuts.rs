//! Where an area falls apart.

use proptest::prelude::*;
use starmap_server::explore::{Bridge, CutSystem, cuts};
use starmap_server::map::{Map, SystemIndex};

use super::super::brute::few_systems;
use super::super::common::{index_of, real, small};

#[test]
fn chokepoints_of_the_map_made_by_hand() {
    let map = small();
    let all: Vec<SystemIndex> = map.indices().collect();
    let found = cuts(&map, &all);
    let systems: Vec<_> =
        found.systems.iter().map(|it| (&*map.system(it.system).name, it.cut_off)).collect();
    assert_eq!(systems, [("Pell", 7), ("Rook", 6), ("Sable", 5), ("Nadir", 4)]);
    let bridges: Vec<_> = found
        .bridges
        .iter()
        .map(|it| {
            let name = |system| &*map.system(system).name;
            (name(it.from), name(it.to), it.cut_off)
        })
        .collect();
    assert_eq!(
        bridges,
        [("Pell", "Rook", 7), ("Rook", "Sable", 6), ("Sable", "Nadir", 5), ("Isle-A", "Isle-B", 1)]
    );
}

#[test]
fn an_area_is_judged_without_what_lies_around_it() {
    let map = small();
    let index = |name| index_of(&map, name);
    let area = ["Jita", "Marrow", "Tarn", "Jita"].map(index);
    let found = cuts(&map, &area);
    assert_eq!(found.systems, [CutSystem { system: index("Marrow"), cut_off: 1 }]);
    assert_eq!(found.bridges.len(), 2);
    assert_eq!(cuts(&map, &[]), cuts(&map, &[index("Jita")]));
}

#[test]
fn the_whole_real_map_is_no_recursion_too_deep() {
    let Some(map) = real() else { return };
    let all: Vec<SystemIndex> = map.indices().collect();
    let found = cuts(&map, &all);
    assert!(found.systems.len() > 500 && found.bridges.len() > 500);
}

/// The parts of an area without some systems and a connection.
fn parts(
    map: &Map,
    area: &[SystemIndex],
    without: &[SystemIndex],
    cut: Option<(SystemIndex, SystemIndex)>,
) -> Vec<Vec<SystemIndex>> {
    let mut left: Vec<SystemIndex> =
        area.iter().filter(|it| !without.contains(it)).copied().collect();
    let mut parts = Vec::new();
    while let Some(first) = left.pop() {
        let mut part = vec![first];
        let mut at = 0;
        while at < part.len() {
            let here = part[at];
            for far in map.neighbours(here) {
                let is_cut = cut == Some((here, *far)) || cut == Some((*far, here));
                if let (false, Some(place)) = (is_cut, left.iter().position(|it| it == far)) {
                    part.push(left.remove(place));
                }
            }
            at += 1;
        }
        parts.push(part);
    }
    parts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn cuts_are_what_taking_away_shows(sketch in few_systems(10), inside in any::<u16>()) {
        let (map, _) = Map::new(sketch).unwrap();
        let area: Vec<SystemIndex> = map.indices().filter(|it| inside & (1 << it.index()) != 0).collect();
        let found = cuts(&map, &area);
        let whole = parts(&map, &area, &[], None);
        let held = |system: &SystemIndex| whole.iter().find(|part| part.contains(system)).unwrap();
        let mut systems = Vec::new();
        let mut bridges = Vec::new();
        for system in &area {
            let part = held(system);
            let pieces = parts(&map, part, &[*system], None);
            let largest = pieces.iter().map(Vec::len).max().unwrap_or(0);
            if pieces.len() > 1 {
                systems.push(CutSystem { system: *system, cut_off: part.len() - 1 - largest });
            }
            for far in map.neighbours(*system).iter().filter(|far| *far > system && area.contains(far)) {
                let pieces = parts(&map, part, &[], Some((*system, *far)));
                if pieces.len() > 1 {
                    let cut_off = pieces.iter().map(Vec::len).min().unwrap();
                    bridges.push(Bridge { from: *system, to: *far, cut_off });
                }
            }
        }
        prop_assert_eq!(found.systems, systems);
        prop_assert_eq!(found.bridges, bridges);
    }
}

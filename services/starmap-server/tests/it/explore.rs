//! What lies around, on the map made by hand and on random ones.

mod cuts;
mod random;
mod reach;

use starmap_server::explore::{
    AnalyzeError, Filter, Near, Nearest, Search, adjacent_lower, analyze, borders, nearest, search,
    within,
};
use starmap_server::map::{Map, SecurityClass, SystemIndex};
use starmap_server::route::{Extra, SecurityFilter, Travel};

use super::common::{index_of, small, small_parts};

fn listed<'m>(map: &'m Map, near: &[Near]) -> Vec<(&'m str, u32)> {
    near.iter().map(|it| (&*map.system(it.system).name, it.jumps)).collect()
}

fn found(map: &Map, query: &Search) -> Vec<String> {
    let hits = search(map, starmap_server::route::Travel::by_gates(), query).unwrap().list;
    hits.iter().map(|hit| map.system(hit.system).name.to_string()).collect()
}

#[test]
fn within_goes_by_distance_then_name() {
    let map = small();
    let jita = index_of(&map, "Jita");
    let all = within(&map, starmap_server::route::Travel::by_gates(), jita, 2, SecurityFilter::Any);
    let expected = [("Jita", 0), ("Marrow", 1), ("Ostra", 1), ("Tarn", 2), ("Velm", 2)];
    assert_eq!(listed(&map, &all), expected);
    let high =
        within(&map, starmap_server::route::Travel::by_gates(), jita, 2, SecurityFilter::HighSec);
    assert_eq!(listed(&map, &high), [("Jita", 0), ("Ostra", 1), ("Velm", 2)]);
    let none = within(
        &map,
        starmap_server::route::Travel::by_gates(),
        index_of(&map, "Lonely"),
        9,
        SecurityFilter::Any,
    );
    assert_eq!(listed(&map, &none), [("Lonely", 0)]);
    // One is where one is, whatever the filter.
    let out = within(
        &map,
        starmap_server::route::Travel::by_gates(),
        index_of(&map, "Marrow"),
        1,
        SecurityFilter::HighSec,
    );
    assert_eq!(listed(&map, &out), [("Marrow", 0), ("Jita", 1)]);
}

#[test]
fn borders_count_all_before_the_list_is_cut_and_the_origin_too() {
    let map = small();
    let jita = index_of(&map, "Jita");
    let all =
        borders(&map, starmap_server::route::Travel::by_gates(), jita, 15, SecurityFilter::Any, 50);
    let expected = [("Jita", 0), ("Amarr", 3), ("Kestrel", 3), ("Rook", 5)];
    assert_eq!(listed(&map, &all.list), expected);
    for limit in 0..=4 {
        let cut = borders(
            &map,
            starmap_server::route::Travel::by_gates(),
            jita,
            15,
            SecurityFilter::Any,
            limit,
        );
        assert_eq!((cut.total, &cut.list[..]), (4, &all.list[..limit]));
    }
    let high = borders(
        &map,
        starmap_server::route::Travel::by_gates(),
        jita,
        5,
        SecurityFilter::HighSec,
        50,
    );
    let expected = [("Jita", 0), ("Kestrel", 3), ("Amarr", 5), ("Rook", 5)];
    assert_eq!(listed(&map, &high.list), expected);
    assert_eq!(
        borders(&map, starmap_server::route::Travel::by_gates(), jita, 2, SecurityFilter::Any, 50)
            .total,
        1
    );
}

#[test]
fn systems_next_to_a_border_may_be_of_null_security_too() {
    let mut parts = small_parts();
    let id = |name: &str| super::common::id_of(name);
    parts.gates.push((id("Rook"), id("Quill")));
    let (map, _) = Map::new(parts).unwrap();
    let lower: Vec<_> = adjacent_lower(&map, index_of(&map, "Rook")).collect();
    assert_eq!(lower, [index_of(&map, "Sable"), index_of(&map, "Quill")]);
}

#[test]
fn search_without_origin_goes_by_name() {
    let map = small();
    let by = |filter| found(&map, &Search { filter, limit: 20, ..Search::default() });
    let all = Filter::default;
    assert_eq!(by(Filter { security_min: 0.8, ..all() }), ["Amarr", "Jita", "Ostra"]);
    assert_eq!(
        by(Filter { security_min: 0.45, security_max: 0.5, ..all() }),
        ["Kestrel", "Lonely", "Pell", "Rook"]
    );
    assert_eq!(
        by(Filter { class: Some(SecurityClass::Low), ..all() }),
        ["Marrow", "Sable", "Tarn"]
    );
    assert_eq!(
        by(Filter { region: map.region_by_name("Farvoid"), ..all() }),
        ["J000001", "J000002"]
    );
    assert_eq!(
        by(Filter { constellation: map.constellation_by_name("Dogwood"), ..all() }),
        ["Isle-A", "Isle-B", "Lonely"]
    );
    assert_eq!(by(Filter { border: Some(true), ..all() }), ["Amarr", "Jita", "Kestrel", "Rook"]);
    assert_eq!(by(Filter { border: Some(false), ..all() }).len(), 16);
    assert_eq!(
        by(Filter { min_adjacent_lower: 2, ..all() }),
        ["Nadir", "Quill", "Umbra", "Vex-7K", "Wend"]
    );
    for typed in ["isleb", "ISLE B", "isle-b", "-leb"] {
        assert_eq!(by(Filter { name: Some(typed.to_owned()), ..all() }), ["Isle-B"]);
    }
}

#[test]
fn search_with_an_origin_goes_by_distance_and_keeps_what_it_cannot_reach() {
    let map = small();
    let mut query = Search {
        origin: Some(index_of(&map, "Rook")),
        filter: Filter { security_min: 0.6, ..Filter::default() },
        limit: 20,
        ..Search::default()
    };
    assert_eq!(found(&map, &query), ["Amarr", "Velm", "Ostra", "Jita", "Isle-A", "Isle-B"]);
    let hits = search(&map, starmap_server::route::Travel::by_gates(), &query).unwrap();
    let jumps: Vec<_> = hits.list.iter().map(|hit| hit.jumps).collect();
    assert_eq!(jumps, [Some(2), Some(3), Some(4), Some(5), None, None]);
    query.max_jumps = Some(4);
    assert_eq!(found(&map, &query), ["Amarr", "Velm", "Ostra"]);
    query.limit = 1;
    let cut = search(&map, starmap_server::route::Travel::by_gates(), &query).unwrap();
    assert_eq!((cut.total, cut.list.len()), (3, 1));
}

#[test]
fn filters_that_cannot_be_meant_are_refused() {
    let map = small();
    let all = Filter::default;
    let error = |filter| {
        let it = search(
            &map,
            starmap_server::route::Travel::by_gates(),
            &Search { filter, limit: 1, ..Search::default() },
        )
        .unwrap_err();
        format!("{} {}: {}", it.parameter, it.value, it.reason)
    };
    assert_eq!(
        error(Filter { security_min: 0.5, security_max: 0.2, ..all() }),
        "security_min 0.5: must not be above security_max, which is 0.2"
    );
    assert_eq!(
        error(Filter { security_max: 1.5, ..all() }),
        "security_max 1.5: must be between -1 and 1"
    );
    assert_eq!(
        error(Filter { security_min: f64::NAN, ..all() }),
        "security_min NaN: must be between -1 and 1"
    );
    assert_eq!(
        error(Filter { name: Some(" - ".to_owned()), ..all() }),
        "name  - : must have a letter or a digit"
    );
    let query = Search { max_jumps: Some(3), limit: 1, ..Search::default() };
    let it = search(&map, starmap_server::route::Travel::by_gates(), &query).unwrap_err();
    assert_eq!((&*it.parameter, &*it.value), ("max_jumps", "3"));
    assert_eq!(it.reason, "needs an origin to count from");
}

#[test]
fn nearest_leaves_the_origin_out() {
    let map = small();
    let mut query = Nearest {
        origin: index_of(&map, "Kestrel"),
        max_jumps: 30,
        filter: Filter { border: Some(true), ..Filter::default() },
        limit: 2,
    };
    let found = nearest(&map, starmap_server::route::Travel::by_gates(), &query).unwrap();
    assert_eq!(found.total, 3);
    assert_eq!(listed(&map, &found.list), [("Amarr", 2), ("Rook", 2)]);
    query.max_jumps = 1;
    assert_eq!(nearest(&map, starmap_server::route::Travel::by_gates(), &query).unwrap().total, 0);
    query.filter.security_max = -2.0;
    assert_eq!(
        nearest(&map, starmap_server::route::Travel::by_gates(), &query).unwrap_err().parameter,
        "security_max"
    );
}

#[test]
fn a_way_is_analyzed() {
    let map = small();
    let way = |names: &[&str]| -> Vec<SystemIndex> {
        names.iter().map(|it| index_of(&map, it)).collect()
    };
    let systems = way(&["Jita", "Marrow", "Tarn", "Amarr", "Pell", "Rook", "Sable", "Nadir"]);
    let found = analyze(&map, &systems, Travel::by_gates()).unwrap();
    assert_eq!(found.chokepoints, way(&["Marrow", "Tarn", "Sable"]));
    let zones: Vec<_> = found
        .danger_zones
        .iter()
        .map(|it| (it.start, it.end, it.systems, it.min_security))
        .collect();
    let ends = way(&["Marrow", "Tarn", "Sable", "Nadir"]);
    assert_eq!(zones, [(ends[0], ends[1], 2, 0.3), (ends[2], ends[3], 2, 0.0)]);
    assert_eq!((found.summary.high, found.summary.low, found.summary.null), (4, 3, 1));
}

#[test]
fn a_list_that_is_no_way_is_refused_by_name() {
    let map = small();
    let index = |name| index_of(&map, name);
    let (jita, ostra, velm, wend) = (index("Jita"), index("Ostra"), index("Velm"), index("Wend"));
    let error = analyze(&map, &[jita, ostra, jita, velm], Travel::by_gates()).unwrap_err();
    assert_eq!(error, AnalyzeError::NotJoined { from: jita, to: velm });
    assert_eq!(
        error.reason(&map),
        "no gate joins Jita and Velm, which follow each other in the list"
    );
    let twice = analyze(&map, &[jita, jita], Travel::by_gates()).unwrap_err();
    assert_eq!(twice, AnalyzeError::NotJoined { from: jita, to: jita });
    for few in [&[][..], &[jita]] {
        let error = analyze(&map, few, Travel::by_gates()).unwrap_err();
        assert_eq!(error.reason(&map), "a way has at least 2 systems");
    }
    let one_way = Extra { from: jita, to: wend, both_ways: false, cost: None };
    let bridge = Travel::new(vec![one_way]).unwrap();
    assert!(analyze(&map, &[ostra, jita, wend], &bridge).is_ok());
    assert!(analyze(&map, &[wend, jita], &bridge).is_err());
}

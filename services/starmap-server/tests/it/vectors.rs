//! The computed answers of `tests/vectors.jsonl` on the real map.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use starmap_server::explore::{
    Filter, Nearest, Search, adjacent_lower, analyze, borders, distances, nearest, search, within,
};
use starmap_server::map::{Map, SystemIndex};
use starmap_server::route::{
    Avoid, Avoided, Extra, Mode, Query, Route, SecurityFilter, Travel, find,
};
use starmap_server::tour::{self, LoopQuery, Method, Optimize, Start, WaypointsQuery};

use super::brute::{assert_adjacent, less_secure, safer};
use super::common::{index_of, real};

const VECTORS: &str = include_str!("../vectors.jsonl");

#[test]
fn every_vector_is_answered() {
    let Some(map) = real() else { return };
    let mut asked = 0;
    for line in VECTORS.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        println!("{line}");
        match text(&case, "kind") {
            "route_shortest" => route(&map, &case, Mode::Shortest),
            "route_safe" => route(&map, &case, Mode::Safe),
            "route_unsafe" => route(&map, &case, Mode::Unsafe),
            "route_ingame_safer" => route(&map, &case, safer(50)),
            "route_ingame_less_secure" => route(&map, &case, less_secure(50)),
            "route_shortest_avoid" => avoiding(&map, &case),
            "within_jumps" => near(&map, &case),
            "borders" => border(&map, &case),
            "search" => searched(&map, &case),
            "systems" => system(&map, &case),
            "analyze" => analyzed(&map, &case),
            "suggest" => suggested(&map, &case),
            "distances" => table(&map, &case),
            "nearest" => nearby(&map, &case),
            "waypoints" => ordered(&map, &case),
            "loop" => round_trip(&map, &case),
            kind => panic!("no such kind: {kind}"),
        }
        asked += 1;
    }
    assert_eq!(asked, 66);
}

fn route(map: &Map, case: &Value, mode: Mode) {
    let found = find(map, &ends(map, case, mode));
    if case.get("error").is_some() {
        assert_eq!(text(case, "error"), "ROUTE_NOT_FOUND");
        assert!(found.is_err());
        return;
    }
    let route = found.unwrap();
    match case.get("jumps") {
        Some(jumps) => assert_eq!(jumps, route.jumps()),
        None => {
            let cost = case["cost"].as_f64().unwrap();
            // A weight is rounded to a millionth before it is added, and doubled for null security.
            let rounding = 1e-6 * route.jumps() as f64;
            assert!((route.cost.value() - cost).abs() <= rounding, "{:?}", route.cost);
            assert_eq!(case["min_jumps_at_that_cost"], route.jumps());
        }
    }
}

fn avoiding(map: &Map, case: &Value) {
    let avoided = texts(&case["avoid_systems"]);
    let things = avoided.iter().map(|name| Avoided::System(index_of(map, name)));
    let avoid = Avoid::new(map, things).unwrap();
    let query = ends(map, case, Mode::Shortest);
    if case.get("error").is_some() {
        assert!(find(map, &query.avoiding(&avoid)).is_err());
        return;
    }
    let jumps = |route: Route| route.jumps();
    assert_eq!(case["jumps_without_avoid"], jumps(find(map, &query).unwrap()));
    let around = find(map, &query.avoiding(&avoid)).unwrap();
    assert!(!around.systems.iter().any(|system| avoid.contains(*system)));
    assert_eq!(case["jumps"], around.jumps());
}

fn near(map: &Map, case: &Value) {
    let origin = index_of(map, text(case, "origin"));
    let max_jumps = number(case, "max_jumps");
    let near = within(
        map,
        starmap_server::route::Travel::by_gates(),
        origin,
        max_jumps,
        SecurityFilter::Any,
    );
    assert_eq!(case["count_including_origin"], near.len());
    let at = |jumps| near.iter().filter(|it| it.jumps == jumps).count();
    let counts: Vec<usize> = (0..=max_jumps).map(at).collect();
    assert_eq!(case["per_distance"], serde_json::json!(counts));
    let systems: Vec<SystemIndex> = near.iter().map(|near| near.system).collect();
    same_names(map, case, &systems);
}

fn border(map: &Map, case: &Value) {
    let origin = index_of(map, text(case, "origin"));
    let find = |travel, limit| {
        borders(
            map,
            starmap_server::route::Travel::by_gates(),
            origin,
            number(case, "max_jumps"),
            travel,
            limit,
        )
    };
    let all = find(SecurityFilter::Any, 60);
    assert_eq!(case["total_within"], all.total);
    let listed: Vec<Value> = (all.list.iter())
        .map(|near| {
            let mut lower = names(map, &adjacent_lower(map, near.system).collect::<Vec<_>>());
            lower.sort_unstable();
            serde_json::json!({"name": name(map, near.system), "jumps_from_origin": near.jumps,
                "adjacent_lowsec_sorted": lower})
        })
        .collect();
    assert_eq!(case["borders_by_distance_then_name"], Value::from(listed));
    let cut = find(SecurityFilter::Any, 2);
    assert_eq!((cut.total, &cut.list[..]), (all.total, &all.list[..2]));
    let high = find(SecurityFilter::HighSec, 60);
    let expected = &case["highsec_travel_only"];
    assert_eq!(expected["total_within"], high.total);
    let listed: Vec<Value> = (high.list.iter())
        .map(|near| serde_json::json!([name(map, near.system), near.jumps]))
        .collect();
    assert_eq!(expected["by_distance_then_name"], Value::from(listed));
}

fn searched(map: &Map, case: &Value) {
    let filters = &case["filters"];
    let bound = |key, default| filters[key].as_f64().unwrap_or(default);
    let found = search(
        map,
        starmap_server::route::Travel::by_gates(),
        &Search {
            origin: filters["origin"].as_str().map(|it| index_of(map, it)),
            max_jumps: filters.get("max_jumps").map(|_| number(filters, "max_jumps")),
            filter: Filter {
                security_min: bound("security_min", -1.0),
                security_max: bound("security_max", 1.0),
                region: filters["region"].as_str().map(|it| map.region_by_name(it).unwrap()),
                border: filters["is_border"].as_bool(),
                ..Filter::default()
            },
            limit: usize::MAX,
        },
    );
    let found = found.unwrap();
    assert_eq!(case["matching_total"], found.total);
    let systems: Vec<SystemIndex> = found.list.iter().map(|hit| hit.system).collect();
    same_names(map, case, &systems);
}

fn system(map: &Map, case: &Value) {
    let index = index_of(map, text(case, "query"));
    let system = map.system(index);
    assert_eq!(case["name"], *system.name);
    assert_eq!(case["system_id"], system.id);
    assert_eq!(case["security"], system.security);
    assert_eq!(case["security_class"], system.class.to_string());
    let constellation = map.constellation(system.constellation);
    assert_eq!(case["constellation"], *constellation.name);
    assert_eq!(case["constellation_id"], constellation.id);
    assert_eq!(case["region"], *map.region(system.region).name);
    assert_eq!(case["region_id"], map.region(system.region).id);
    assert_eq!(case["is_border"], system.border);
    let sorted = |systems: &[SystemIndex]| {
        let mut names = names(map, systems);
        names.sort_unstable();
        serde_json::json!(names)
    };
    assert_eq!(case["neighbors_sorted"], sorted(map.neighbours(index)));
    // Of others than border systems nothing is listed.
    let lower = adjacent_lower(map, index).filter(|_| system.border);
    let lower: Vec<SystemIndex> = lower.collect();
    assert_eq!(case["adjacent_lowsec_sorted"], sorted(&lower));
}

fn analyzed(map: &Map, case: &Value) {
    let systems: Vec<SystemIndex> =
        (texts(&case["systems"]).iter()).map(|name| index_of(map, name)).collect();
    let found = analyze(map, &systems, Travel::by_gates()).unwrap();
    let summary = found.summary;
    assert_eq!(case["total_jumps"], systems.len() - 1);
    assert_eq!(case["highsec_systems"], summary.high);
    assert_eq!(case["lowsec_systems"], summary.low);
    assert_eq!(case["nullsec_systems"], summary.null);
    assert_eq!(case["lowest_security"], summary.lowest);
    assert_eq!(case["lowest_security_system"], name(map, summary.lowest_system));
    let chokepoints = serde_json::json!(names(map, &found.chokepoints));
    assert_eq!(case["chokepoints_in_order"], chokepoints);
    let zones: Vec<Value> = (found.danger_zones.iter())
        .map(|zone| {
            serde_json::json!({"start_system": name(map, zone.start), "end_system": name(map, zone.end),
                "system_count": zone.systems, "min_security": zone.min_security})
        })
        .collect();
    assert_eq!(case["danger_zones"], Value::from(zones));
}

fn suggested(map: &Map, case: &Value) {
    let query = text(case, "query");
    assert_eq!(map.system_by_name(query), None);
    assert!(map.suggest(query, 3).contains(&text(case, "must_contain")));
}

fn table(map: &Map, case: &Value) {
    let systems = |key| -> Vec<SystemIndex> {
        texts(&case[key]).iter().map(|name| index_of(map, name)).collect()
    };
    let (from, to) = (systems("systems"), systems("to"));
    let jumps = distances(map, &from, &to, Avoid::nothing(), Travel::by_gates()).unwrap();
    assert_eq!(case["jumps"], serde_json::json!(jumps));
    // The same by a search: a connection that helps nobody keeps the labels from being used.
    let (j1, j2) = (index_of(map, "J100744"), index_of(map, "J132024"));
    let hole = Extra { from: j1, to: j2, both_ways: true, cost: None };
    let searched = Travel::new(vec![hole]).unwrap();
    let jumps = distances(map, &from, &to, Avoid::nothing(), &searched).unwrap();
    assert_eq!(case["jumps"], serde_json::json!(jumps));
}

fn nearby(map: &Map, case: &Value) {
    let filters = &case["filters"];
    let among = texts(&filters["among"]);
    let query = Nearest {
        origin: index_of(map, text(filters, "origin")),
        max_jumps: number(filters, "max_jumps"),
        filter: Filter {
            among: Some(among.iter().map(|name| index_of(map, name)).collect()),
            ..Filter::default()
        },
        limit: number(filters, "limit") as usize,
    };
    let found = nearest(map, Travel::by_gates(), &query).unwrap();
    let found: Vec<Value> = (found.list.iter())
        .map(|near| serde_json::json!([name(map, near.system), near.jumps]))
        .collect();
    assert_eq!(case["by_distance_then_name"], Value::from(found));
}

fn ordered(map: &Map, case: &Value) {
    let origin = index_of(map, text(case, "origin"));
    let waypoints: Vec<SystemIndex> =
        texts(&case["waypoints"]).iter().map(|name| index_of(map, name)).collect();
    let back = case["return_to_origin"] == true;
    let query = WaypointsQuery {
        waypoints: &waypoints,
        start: if back { Start::FromAndBack(origin) } else { Start::From(origin) },
        security: SecurityFilter::Any,
        avoid: Avoid::nothing(),
        travel: Travel::by_gates(),
    };
    let tour = tour::waypoints(map, &query).unwrap();
    assert_eq!(case["min_total_jumps"], tour.jumps());
    assert_eq!(tour.legs.iter().sum::<usize>(), tour.jumps());
    assert_eq!((tour.method, tour.unreachable.len()), (Method::Exact, 0));
    assert_eq!(tour.stops.len(), waypoints.len() + 1 + usize::from(back));
    assert!(waypoints.iter().all(|it| tour.stops.contains(it)));
    assert_flyable(map, &tour.systems);
}

fn round_trip(map: &Map, case: &Value) {
    let bound = |key| number(case, key) as usize;
    let origin = index_of(map, text(case, "origin"));
    let query = LoopQuery {
        origin,
        target_jumps: bound("target_jumps"),
        min_borders: bound("min_borders"),
        max_borders: bound("max_borders"),
        optimize: Optimize::Density,
        security: SecurityFilter::Any,
        avoid: Avoid::nothing(),
        travel: Travel::by_gates(),
        stop: None,
    };
    let found = tour::loop_(map, &query).unwrap();
    assert_eq!((found.systems.first(), found.systems.last()), (Some(&origin), Some(&origin)));
    assert!(found.borders.len() >= bound("min_borders"));
    assert!(found.jumps() * 3 <= bound("target_jumps") * 4, "{}", found.jumps());
    for closed in texts(&case["never_between"]) {
        let inside = &found.systems[1..found.jumps()];
        assert!(!inside.contains(&index_of(map, closed)), "{closed}");
    }
    assert_flyable(map, &found.systems);
}

/// Every step is by a gate, and what is only an end is left by the gate it was entered by.
fn assert_flyable(map: &Map, systems: &[SystemIndex]) {
    assert_adjacent(map, systems);
    for way in systems.windows(3) {
        assert!(way[0] == way[2] || map.system(way[1]).id != 30_100_000, "{way:?}");
    }
}

/// The names are those listed, and those of which the digest was taken.
fn same_names(map: &Map, case: &Value, systems: &[SystemIndex]) {
    let mut names = names(map, systems);
    names.sort_unstable();
    if let Some(listed) = case.get("names_sorted") {
        assert_eq!(*listed, serde_json::json!(names));
    }
    let digest = Sha256::digest(names.join("\n"));
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(case["sha256_of_sorted_names_lf_joined"], digest);
}

fn ends(map: &Map, case: &Value, mode: Mode) -> Query<'static> {
    let end = |name, id| {
        let system = index_of(map, text(case, name));
        assert_eq!(
            map.system(system).id,
            case.get(id).map_or(map.system(system).id, |_| number(case, id))
        );
        system
    };
    Query::new(end("origin", "origin_id"), end("destination", "destination_id"), mode)
}

fn name(map: &Map, system: SystemIndex) -> &str {
    &map.system(system).name
}

fn names<'m>(map: &'m Map, systems: &[SystemIndex]) -> Vec<&'m str> {
    systems.iter().map(|system| name(map, *system)).collect()
}

fn text<'c>(case: &'c Value, key: &str) -> &'c str {
    case[key].as_str().unwrap()
}

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap()).collect()
}

fn number(case: &Value, key: &str) -> u32 {
    u32::try_from(case[key].as_u64().unwrap()).unwrap()
}

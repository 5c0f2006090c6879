//! Routes: each rule on the map made by hand, then many random ones against answers found another way.

mod alternatives;
mod full;
mod led;
mod none;
mod random;
mod warnings;

use starmap_server::map::{Map, SecurityClass, SystemIndex};
use starmap_server::route::{
    Avoid, Avoided, By, Cost, Extra, MAX_AVOIDED, MAX_EXTRAS, Mode, Penalty, Query, Route, Travel,
    TravelError, find, summary,
};

use super::brute::{less_secure, safer};
use super::common::{index_of, small};

/// The names of systems.
fn names<'m>(map: &'m Map, systems: &[SystemIndex]) -> Vec<&'m str> {
    systems.iter().map(|it| &*map.system(*it).name).collect()
}

fn query(map: &Map, origin: &str, destination: &str, mode: Mode) -> Query<'static> {
    Query::new(index_of(map, origin), index_of(map, destination), mode)
}

fn avoid(map: &Map, systems: &[&str]) -> Avoid {
    let things = systems.iter().map(|name| Avoided::System(index_of(map, name)));
    Avoid::new(map, things).unwrap()
}

fn extra(map: &Map, from: &str, to: &str, both_ways: bool, cost: Option<f64>) -> Extra {
    Extra {
        from: index_of(map, from),
        to: index_of(map, to),
        both_ways,
        cost: cost.map(|cost| Cost::new(cost).unwrap()),
    }
}

#[test]
fn modes_prefer_what_they_say() {
    let map = small();
    let route = |mode| find(&map, &query(&map, "Jita", "Amarr", mode)).unwrap();
    let short = ["Jita", "Marrow", "Tarn", "Amarr"];
    let safe = ["Jita", "Ostra", "Velm", "Kestrel", "Pell", "Amarr"];
    for (mode, systems, cost) in [
        (Mode::Shortest, &short[..], 3.0),
        (Mode::Safe, &safe, 5.0),
        (Mode::Unsafe, &short, 14.0),
        (safer(50), &safe, 4.5),
        (safer(0), &short, 2.9),
        (less_secure(50), &short, 1.8 + f64::exp(7.5)),
    ] {
        let found = route(mode);
        assert_eq!(names(&map, &found.systems), systems, "{mode:?}");
        assert!((found.cost.value() - cost).abs() < 1e-6, "{mode:?}: {:?}", found.cost);
        assert_eq!(found.by, vec![By::Gate; systems.len() - 1]);
        assert_eq!(found.jumps(), systems.len() - 1);
    }
}

/// A weight belongs to a direction: into low security it is 50 from high and 10 from low, whichever id is the smaller.
#[test]
fn the_two_directions_of_a_gate_cost_what_they_enter() {
    let map = small();
    let cost = |from, to| find(&map, &query(&map, from, to, Mode::Safe)).unwrap().cost;
    assert_eq!(cost("Jita", "Marrow"), Cost::jumps(50));
    assert_eq!(cost("Marrow", "Jita"), Cost::jumps(1));
    assert_eq!(cost("Marrow", "Tarn"), Cost::jumps(10));
    assert_eq!(cost("Amarr", "Tarn"), Cost::jumps(50));
    assert_eq!(cost("Tarn", "Amarr"), Cost::jumps(1));
    assert_eq!(cost("Sable", "Nadir"), Cost::jumps(100));
    assert_eq!(cost("Nadir", "Sable"), Cost::jumps(10));
}

#[test]
fn a_mode_tells_the_cost_of_a_jump() {
    use SecurityClass::{High, Low, Null};
    assert_eq!(Mode::Safe.cost(High, Low), Cost::jumps(50));
    assert_eq!(Mode::Safe.cost(Null, Low), Cost::jumps(10));
    assert_eq!(Mode::Unsafe.cost(Low, High), Cost::jumps(10));
    assert_eq!(safer(0).cost(High, Null), Cost::jumps(2));
    assert_eq!(less_secure(100).cost(Low, Low), Cost::new(0.9).unwrap());
    assert_eq!(Penalty::default().get(), 50);
    assert_eq!(Penalty::new(101), None);
    assert_eq!(Cost::new(-0.1), None);
    assert_eq!(Cost::new(f64::NAN), None);
    assert_eq!(Cost::new(f64::from(Cost::MOST) * 1.01), None);
}

#[test]
fn from_a_system_to_itself_it_is_no_jump() {
    let map = small();
    let route = find(&map, &query(&map, "Lonely", "Lonely", Mode::Safe)).unwrap();
    let here = index_of(&map, "Lonely");
    let still = Route { systems: vec![here], by: vec![], cost: Cost::ZERO };
    assert_eq!(route, still);
}

#[test]
fn what_is_avoided_is_not_passed_from_either_side() {
    let map = small();
    for name in ["Marrow", "Tarn"] {
        let avoid = avoid(&map, &[name]);
        for (from, to, jumps) in [("Jita", "Amarr", 5), ("Amarr", "Jita", 5)] {
            let query = query(&map, from, to, Mode::Shortest).avoiding(&avoid);
            let route = find(&map, &query).unwrap();
            assert_eq!(route.jumps(), jumps, "{from} to {to} without {name}");
        }
    }
}

#[test]
fn constellations_regions_and_classes_are_avoided_as_their_systems() {
    let map = small();
    let jumps = |thing, from, to| {
        let avoid = Avoid::new(&map, [thing]).unwrap();
        let query = query(&map, from, to, Mode::Shortest).avoiding(&avoid);
        find(&map, &query).map(|route| route.jumps())
    };
    let birch = Avoided::Constellation(map.constellation_by_name("Birch").unwrap());
    assert_eq!(jumps(birch, "Jita", "Kestrel"), Ok(3));
    assert!(jumps(birch, "Jita", "Sable").is_err());
    let low = Avoided::Class(SecurityClass::Low);
    assert_eq!(jumps(low, "Jita", "Amarr"), Ok(5));
    let north = Avoided::Region(map.region_by_name("Northmark").unwrap());
    assert_eq!(jumps(north, "Rook", "Wend"), Ok(3));
    assert!(jumps(north, "Jita", "Amarr").is_err());
}

/// A pilot who sits in an avoided system, or wants to go there, still gets a way.
#[test]
fn an_avoided_end_is_allowed() {
    let map = small();
    let avoid = avoid(&map, &["Jita", "Amarr"]);
    let query = query(&map, "Jita", "Amarr", Mode::Shortest).avoiding(&avoid);
    assert_eq!(find(&map, &query).unwrap().jumps(), 3);
}

#[test]
fn too_much_to_avoid_is_refused() {
    let map = small();
    let same = |count| std::iter::repeat_n(Avoided::Class(SecurityClass::Low), count);
    assert!(Avoid::new(&map, same(MAX_AVOIDED + 1)).is_ok());
    let (big, _) = Map::new(super::common::generated(1, MAX_AVOIDED + 1)).unwrap();
    let error = Avoid::new(&big, big.indices().map(Avoided::System)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "10001 things to avoid are more than the 10000 that are possible at once"
    );
}

#[test]
fn extra_connections_are_taken_in_their_directions_at_their_cost() {
    let map = small();
    let travel = |both_ways, cost| {
        let extra = extra(&map, "Jita", "Wend", both_ways, cost);
        Travel::new(vec![extra]).unwrap()
    };
    let find =
        |travel: &Travel, from, to, mode| find(&map, &query(&map, from, to, mode).with(travel));
    let one_way = travel(false, None);
    let route = find(&one_way, "Ostra", "Wend", Mode::Shortest).unwrap();
    assert_eq!(names(&map, &route.systems), ["Ostra", "Jita", "Wend"]);
    assert_eq!(route.by, [By::Gate, By::Extra(0)]);
    assert_eq!(find(&one_way, "Wend", "Ostra", Mode::Shortest).unwrap().jumps(), 7);
    let both = travel(true, None);
    assert_eq!(find(&both, "Wend", "Ostra", Mode::Shortest).unwrap().jumps(), 2);
    // By the mode it is 100 into null security; at a cost of its own it is that.
    assert_eq!(find(&both, "Jita", "Wend", Mode::Safe).unwrap().cost, Cost::jumps(100));
    let cheap = find(&travel(true, Some(2.5)), "Jita", "Wend", Mode::Safe).unwrap();
    assert_eq!(cheap.cost, Cost::new(2.5).unwrap());
    // Dear enough, the way through the gates is taken although jumps count alike.
    let dear = find(&travel(true, Some(60.0)), "Jita", "Wend", Mode::Shortest).unwrap();
    assert_eq!((dear.jumps(), dear.cost), (8, Cost::jumps(8)));
}

#[test]
fn extra_connections_reach_what_gates_do_not() {
    let map = small();
    let travel = vec![
        extra(&map, "Jita", "J000001", true, Some(0.0)),
        extra(&map, "J000001", "Lonely", true, None),
    ];
    let travel = Travel::new(travel).unwrap();
    let query = query(&map, "Velm", "Lonely", Mode::Shortest).with(&travel);
    let route = find(&map, &query).unwrap();
    assert_eq!(names(&map, &route.systems), ["Velm", "Ostra", "Jita", "J000001", "Lonely"]);
    assert_eq!(route.cost, Cost::jumps(3));
}

#[test]
fn of_parallel_connections_the_cheapest_is_taken_and_a_gate_before_others() {
    let map = small();
    let between = |cost| extra(&map, "Jita", "Ostra", true, cost);
    let by = |list| {
        let travel = Travel::new(list).unwrap();
        let query = query(&map, "Ostra", "Jita", Mode::Shortest).with(&travel);
        find(&map, &query).unwrap().by
    };
    assert_eq!(by(vec![between(None), between(Some(1.0))]), [By::Gate]);
    assert_eq!(by(vec![between(Some(0.5)), between(Some(0.4))]), [By::Extra(1)]);
    assert_eq!(by(vec![between(Some(0.4)), between(Some(0.4))]), [By::Extra(0)]);
}

#[test]
fn extra_connections_that_cannot_be_meant_are_refused() {
    let map = small();
    let fine = extra(&map, "Jita", "Wend", true, None);
    let circle = extra(&map, "Jita", "Jita", true, None);
    assert_eq!(
        Travel::new(vec![fine, circle]).unwrap_err().to_string(),
        "extra connection number 2 leads back to where it begins"
    );
    assert_eq!(
        Travel::new(vec![fine; MAX_EXTRAS + 1]).unwrap_err(),
        TravelError::TooMany(MAX_EXTRAS + 1)
    );
}

#[test]
fn a_summary_counts_systems_by_class() {
    let map = small();
    let route = find(&map, &query(&map, "Pell", "Umbra", Mode::Shortest)).unwrap();
    let summary = summary(&map, &route.systems).unwrap();
    assert_eq!((summary.high, summary.low, summary.null), (2, 1, 3));
    assert_eq!(summary.lowest_system, index_of(&map, "Umbra"));
    assert!((summary.lowest + 0.55).abs() < 1e-12);
    assert_eq!(starmap_server::route::summary(&map, &[]), None);
}

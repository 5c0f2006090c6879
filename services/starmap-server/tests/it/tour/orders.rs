//! The order of waypoints.

use starmap_server::explore::distances;
use starmap_server::map::{Map, SystemIndex};
use starmap_server::route::{Avoid, Avoided, SecurityFilter, Travel};
use starmap_server::tour::{
    MAX_EXACT, MAX_WAYPOINTS, Method, Start, Tour, WaypointsError, WaypointsQuery, waypoints,
};

use super::super::brute::assert_adjacent;
use super::super::common::{Random, generated, id_of, index_of, real, small, small_parts};
use super::{names, systems};

fn query(waypoints: &[SystemIndex], start: Start) -> WaypointsQuery<'_> {
    WaypointsQuery {
        waypoints,
        start,
        security: SecurityFilter::Any,
        avoid: Avoid::nothing(),
        travel: starmap_server::route::Travel::by_gates(),
    }
}

#[test]
fn each_start_means_what_it_says() {
    let map = small();
    let jita = index_of(&map, "Jita");
    let stops = systems(&map, &["Wend", "Ostra", "Rook"]);
    let tour = |start| waypoints(&map, &query(&stops, start)).unwrap();
    for (start, expected, jumps) in [
        (Start::Free, &["Ostra", "Rook", "Wend"][..], 7),
        (Start::FirstAndBack, &["Wend", "Ostra", "Rook", "Wend"], 14),
        (Start::From(jita), &["Jita", "Ostra", "Rook", "Wend"], 8),
        (Start::FromAndBack(jita), &["Jita", "Ostra", "Rook", "Wend", "Jita"], 16),
    ] {
        let tour = tour(start);
        let mut backwards = expected.to_vec();
        backwards.reverse();
        let order = names(&map, &tour.stops);
        assert!(order == expected || order == backwards, "{start:?}: {order:?}");
        assert_eq!(tour.jumps(), jumps, "{start:?}");
        judge(&map, &tour);
        assert_eq!(tour.method, Method::Exact);
    }
}

#[test]
fn waypoints_named_twice_and_the_start_among_them_are_visited_once() {
    let map = small();
    let stops = systems(&map, &["Jita", "Ostra", "Ostra", "Jita", "Velm"]);
    let tour = waypoints(&map, &query(&stops, Start::From(index_of(&map, "Jita")))).unwrap();
    assert_eq!(names(&map, &tour.stops), ["Jita", "Ostra", "Velm"]);
    let one = systems(&map, &["Jita"]);
    for start in [Start::Free, Start::From(one[0])] {
        let tour = waypoints(&map, &query(&one, start)).unwrap();
        assert_eq!((tour.stops, tour.systems), (one.clone(), one.clone()));
    }
    let there = waypoints(&map, &query(&one, Start::FromAndBack(one[0]))).unwrap();
    assert_eq!((there.jumps(), there.systems), (0, one));
}

/// A waypoint that cannot be reached is reported, and the tour past the others has no hole.
#[test]
fn what_cannot_be_reached_is_listed() {
    let map = small();
    let stops = systems(&map, &["Isle-A", "Velm", "Lonely", "Marrow"]);
    let jita = index_of(&map, "Jita");
    let tour = waypoints(&map, &query(&stops, Start::FromAndBack(jita))).unwrap();
    assert_eq!(names(&map, &tour.unreachable), ["Isle-A", "Lonely"]);
    assert_eq!(tour.stops.len(), 4);
    judge(&map, &tour);
    let without_start = waypoints(&map, &query(&stops[1..], Start::Free)).unwrap();
    assert_eq!(names(&map, &without_start.unreachable), ["Lonely"]);
    let error = waypoints(&map, &query(&stops, Start::Free)).unwrap_err();
    assert_eq!(error, WaypointsError::NoneReachable);
}

#[test]
fn security_and_what_is_avoided_bind_the_way_but_not_the_stops() {
    let map = small();
    let amarr = systems(&map, &["Amarr"]);
    let mut query = query(&amarr, Start::FromAndBack(index_of(&map, "Jita")));
    assert_eq!(waypoints(&map, &query).unwrap().jumps(), 6);
    query.security = SecurityFilter::HighSec;
    let high = waypoints(&map, &query).unwrap();
    assert_eq!(high.jumps(), 10);
    let velm = Avoid::new(&map, [Avoided::System(index_of(&map, "Velm"))]).unwrap();
    query.avoid = &velm;
    assert_eq!(waypoints(&map, &query), Err(WaypointsError::NoneReachable));
    query.security = SecurityFilter::LowSec;
    assert_eq!(waypoints(&map, &query).unwrap().jumps(), 6);
    let low = systems(&map, &["Tarn", "Velm"]);
    query.waypoints = &low;
    query.security = SecurityFilter::HighSec;
    assert_eq!(waypoints(&map, &query).unwrap().jumps(), 8);
}

#[test]
fn the_number_of_waypoints_has_bounds() {
    let map = small();
    let many = vec![index_of(&map, "Jita"); MAX_WAYPOINTS + 1];
    let error = |stops| match waypoints(&map, &query(stops, Start::Free)).unwrap_err() {
        WaypointsError::Invalid(it) => format!("{} {}: {}", it.parameter, it.value, it.reason),
        other => panic!("{other}"),
    };
    assert_eq!(error(&many), "waypoints 51: must be between 1 and 50");
    assert_eq!(error(&[]), "waypoints 0: must be between 1 and 50");
}

/// Around a ring of four it is as far on either side; the way back is the other one.
#[test]
fn of_ways_as_short_the_one_that_repeats_least_is_taken() {
    let mut parts = small_parts();
    let ring = [("Jita", "Ostra"), ("Jita", "Velm"), ("Ostra", "Kestrel"), ("Velm", "Kestrel")];
    parts.gates = ring.map(|(from, to)| (id_of(from), id_of(to))).to_vec();
    let (map, _) = Map::new(parts).unwrap();
    let stops = systems(&map, &["Kestrel"]);
    let tour = waypoints(&map, &query(&stops, Start::FromAndBack(index_of(&map, "Jita"))));
    let systems = tour.unwrap().systems;
    assert_eq!(names(&map, &systems), ["Jita", "Ostra", "Kestrel", "Velm", "Jita"]);
}

/// Turning any row of stops around, or moving a stop elsewhere, makes a good tour no shorter.
#[test]
fn a_heuristic_tour_cannot_be_bettered_by_one_change() {
    let (map, _) = Map::new(generated(5, 800)).unwrap();
    let mut random = Random(77);
    let joined: Vec<SystemIndex> =
        map.indices().filter(|it| map.neighbours(*it).len() > 2).collect();
    for _ in 0..10 {
        let stops: Vec<SystemIndex> = (0..30).map(|_| joined[random.below(joined.len())]).collect();
        let tour = waypoints(&map, &query(&stops, Start::FirstAndBack)).unwrap();
        assert_eq!(tour.method, Method::Heuristic);
        let order = &tour.stops;
        let jumps = distances(&map, order, order, Avoid::nothing(), Travel::by_gates()).unwrap();
        let length = |places: &[usize]| -> u32 {
            places.windows(2).map(|pair| jumps[pair[0]][pair[1]].unwrap()).sum()
        };
        let places: Vec<usize> = (0..order.len()).collect();
        let least = length(&places);
        for first in 1..order.len() - 1 {
            for last in 1..order.len() - 1 {
                let mut changed = places.clone();
                if first < last {
                    changed[first..=last].reverse();
                    assert!(length(&changed) >= least, "{first} to {last} turned");
                }
                let mut changed = places.clone();
                let stop = changed.remove(first);
                changed.insert(last, stop);
                assert!(length(&changed) >= least, "{first} moved to {last}");
            }
        }
    }
}

/// On the real map: exact to the bound, beyond it never longer than always going to the nearest.
#[test]
fn tours_are_no_longer_than_nearest_neighbours() {
    let Some(map) = real() else { return };
    let gated: Vec<SystemIndex> =
        map.indices().filter(|it| map.neighbours(*it).len() > 1).collect();
    let mut random = Random(12);
    let mut shorter = 0;
    for count in [2, 5, MAX_EXACT, MAX_EXACT + 1, 20, 35, MAX_WAYPOINTS, MAX_WAYPOINTS] {
        let stops: Vec<SystemIndex> =
            (0..count).map(|_| gated[random.below(gated.len())]).collect();
        for back in [false, true] {
            let home = stops[0];
            let start = if back { Start::FromAndBack(home) } else { Start::From(home) };
            let tour = waypoints(&map, &query(&stops, start)).unwrap();
            judge(&map, &tour);
            assert_eq!(tour, waypoints(&map, &query(&stops, start)).unwrap());
            let reached: Vec<SystemIndex> =
                stops.iter().filter(|it| !tour.unreachable.contains(it)).copied().collect();
            let nearest = nearest_neighbours(&map, &reached, back);
            assert!(tour.jumps() <= nearest, "{count}: {} {nearest}", tour.jumps());
            shorter += usize::from(tour.jumps() < nearest);
        }
    }
    assert!(shorter > 8, "{shorter} of 16 are shorter");
}

fn nearest_neighbours(map: &Map, stops: &[SystemIndex], back: bool) -> usize {
    let jumps = distances(map, stops, stops, Avoid::nothing(), Travel::by_gates()).unwrap();
    let mut left: Vec<usize> = (1..stops.len()).collect();
    let (mut here, mut length) = (0, 0);
    while !left.is_empty() {
        let at = (0..left.len()).min_by_key(|at| jumps[here][left[*at]].unwrap()).unwrap();
        let next = left.remove(at);
        length += jumps[here][next].unwrap();
        here = next;
    }
    let home = if back { jumps[here][0].unwrap() } else { 0 };
    usize::try_from(length + home).unwrap()
}

/// All that is promised of every tour.
pub(super) fn judge(map: &Map, tour: &Tour) {
    assert_adjacent(map, &tour.systems);
    assert_eq!(tour.legs.len(), tour.stops.len() - 1);
    assert_eq!(tour.legs.iter().sum::<usize>(), tour.jumps());
    let mut at = 0;
    assert_eq!(tour.systems[0], tour.stops[0]);
    for (leg, stop) in tour.legs.iter().zip(&tour.stops[1..]) {
        at += leg;
        assert_eq!(tour.systems[at], *stop);
    }
}

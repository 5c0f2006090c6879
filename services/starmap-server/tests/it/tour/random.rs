//! Random tours on small maps against all orders there are.

use proptest::prelude::*;
use starmap_server::map::{Map, SystemIndex};
use starmap_server::route::{Avoid, SecurityFilter};
use starmap_server::tour::{
    LoopError, LoopQuery, Optimize, Start, WaypointsError, WaypointsQuery, loop_, tolerance,
    waypoints,
};

use super::super::brute::{all_jumps, few_systems, nth, permutations};
use super::{loops, orders};

fn filter() -> impl Strategy<Value = SecurityFilter> {
    prop::sample::select(vec![SecurityFilter::HighSec, SecurityFilter::LowSec, SecurityFilter::Any])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_order_of_waypoints_is_the_best(
        sketch in few_systems(12), stops in prop::collection::vec(0_usize..12, 1..7),
        home in prop::option::of(0_usize..12), back in any::<bool>(), security in filter(),
    ) {
        let (map, _) = Map::new(sketch).unwrap();
        let stops: Vec<SystemIndex> = stops.iter().map(|it| nth(&map, *it)).collect();
        let start = match (home, back) {
            (None, false) => Start::Free,
            (None, true) => Start::FirstAndBack,
            (Some(at), false) => Start::From(nth(&map, at)),
            (Some(at), true) => Start::FromAndBack(nth(&map, at)),
        };
        let query = WaypointsQuery { waypoints: &stops, start, security, avoid: Avoid::nothing(), travel: starmap_server::route::Travel::by_gates() };
        let home = match start {
            Start::Free => None,
            Start::FirstAndBack => Some(stops[0]),
            Start::From(home) | Start::FromAndBack(home) => Some(home),
        };
        let passed = |it| security.admits(map.system(it).class) || stops.contains(&it) || home == Some(it);
        let table = all_jumps(&map, passed);
        let jumps = |from: SystemIndex, to: SystemIndex| table[from.index()][to.index()];
        let from = home.unwrap_or(stops[0]);
        let mut wanted: Vec<SystemIndex> = Vec::new();
        for stop in &stops {
            if !wanted.contains(stop) && home != Some(*stop) && jumps(from, *stop) < 10_000 {
                wanted.push(*stop);
            }
        }
        let lost = stops.iter().any(|stop| jumps(from, *stop) >= 10_000);
        let tour = match waypoints(&map, &query) {
            Ok(tour) => tour,
            Err(error) => {
                prop_assert_eq!(error, WaypointsError::NoneReachable);
                prop_assert!(lost && wanted.iter().all(|it| *it == from));
                return Ok(());
            }
        };
        orders::judge(&map, &tour);
        prop_assert_eq!(lost, !tour.unreachable.is_empty());
        let all = permutations(wanted.len()).into_iter().map(|order| {
            let back = home.filter(|_| back);
            let order: Vec<SystemIndex> = home.into_iter()
                .chain(order.into_iter().map(|at| wanted[at])).chain(back).collect();
            order.windows(2).map(|pair| jumps(pair[0], pair[1])).sum::<u32>()
        });
        prop_assert_eq!(tour.jumps(), usize::try_from(all.min().unwrap()).unwrap());
    }

    #[test]
    fn the_round_trip_is_the_best(
        sketch in few_systems(12), origin in 0_usize..12, target_jumps in 10_usize..16,
        min_borders in 2_usize..4, more in 0_usize..3, coverage in any::<bool>(), security in filter(),
    ) {
        let (map, _) = Map::new(sketch).unwrap();
        let query = LoopQuery {
            origin: nth(&map, origin),
            target_jumps,
            min_borders,
            max_borders: min_borders + more,
            optimize: if coverage { Optimize::Coverage } else { Optimize::Density },
            security,
            avoid: Avoid::nothing(),
            travel: starmap_server::route::Travel::by_gates(),
            stop: None,
        };
        let admits = |it| it == query.origin || security.admits(map.system(it).class);
        let table = all_jumps(&map, admits);
        let jumps = |from: SystemIndex, to: SystemIndex| table[from.index()][to.index()] as usize;
        let near: Vec<SystemIndex> = map.indices()
            .filter(|it| map.system(*it).border && *it != query.origin && admits(*it))
            .filter(|it| jumps(query.origin, *it) <= target_jumps / 2)
            .collect();
        let home = usize::from(map.system(query.origin).border);
        let trip = match loop_(&map, &query) {
            Ok(trip) => trip,
            Err(error) => {
                prop_assert!(near.len() + home < min_borders);
                let LoopError::InsufficientBorders { found, search_radius, .. } = error else {
                    panic!("{error}");
                };
                prop_assert_eq!((found, search_radius), (near.len() + home, target_jumps / 2));
                return Ok(());
            }
        };
        loops::judge(&map, &query, &trip);
        // Every choice of border systems, each in its best order.
        let score = |stops: &[SystemIndex], length: usize| {
            let off = length.abs_diff(target_jumps);
            let visited: Vec<_> = stops.iter().copied().chain((home == 1).then_some(query.origin)).collect();
            let pairs = visited.iter().enumerate().flat_map(|(at, a)| {
                visited[at + 1..].iter().map(|b| jumps(*a, *b))
            });
            let worth = if coverage { pairs.min().unwrap() } else { visited.len() };
            (off.saturating_sub(tolerance(target_jumps)), std::cmp::Reverse(worth), off)
        };
        let sets = (0_usize..1 << near.len()).map(|set| -> Vec<SystemIndex> {
            near.iter().enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, it)| *it).collect()
        });
        let fits = sets.filter(|set| (min_borders..=query.max_borders).contains(&(set.len() + home)));
        let best = fits.map(|set| {
            let lengths = permutations(set.len()).into_iter().map(|order| {
                let stops = order.iter().map(|at| set[*at]).chain([query.origin]);
                let mut here = query.origin;
                stops.map(|stop| jumps(std::mem::replace(&mut here, stop), stop)).sum::<usize>()
            });
            score(&set, lengths.min().unwrap())
        }).min().unwrap();
        let visited: Vec<SystemIndex> =
            trip.borders.iter().filter(|it| **it != query.origin).copied().collect();
        // A detour may bring it nearer than any choice of border systems alone.
        prop_assert!(score(&visited, trip.jumps()) <= best);
    }
}

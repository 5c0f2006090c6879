//! Random questions on small maps against tables of all distances.

use proptest::prelude::*;
use starmap_server::explore::{distances, within};
use starmap_server::map::{Map, SystemIndex};
use starmap_server::route::{Avoid, Avoided, Extra, Mode, Query, SecurityFilter, Travel, find};

use super::super::brute::{all_jumps, few_systems, nth};
use super::super::common::{Random, generated};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn distances_are_those_of_the_table(sketch in few_systems(10), closed in any::<u16>()) {
        let (map, _) = Map::new(sketch).unwrap();
        let is_closed = |system: SystemIndex| closed & (1 << system.index()) != 0;
        let avoided = map.indices().filter(|it| is_closed(*it)).map(Avoided::System);
        let avoid = Avoid::new(&map, avoided).unwrap();
        let table = all_jumps(&map, |middle| !is_closed(middle));
        let all: Vec<SystemIndex> = map.indices().collect();
        let matrix = distances(&map, &all, &all, &avoid, Travel::by_gates()).unwrap();
        for (row, expected) in matrix.iter().zip(&table) {
            let expected: Vec<_> = expected.iter().map(|it| (*it < 10_000).then_some(*it)).collect();
            prop_assert_eq!(row, &expected);
        }
    }

    #[test]
    fn within_finds_all_and_nothing_else(
        sketch in few_systems(10), from in 0_usize..10, most in 0_u32..6, high in any::<bool>(),
    ) {
        let (map, _) = Map::new(sketch).unwrap();
        let travel = if high { SecurityFilter::HighSec } else { SecurityFilter::LowSec };
        let admits = |it| travel.admits(map.system(it).class);
        let origin = nth(&map, from);
        let table = &all_jumps(&map, admits)[origin.index()];
        let mut expected: Vec<_> = map.indices()
            .filter(|it| *it == origin || admits(*it) && table[it.index()] <= most)
            .map(|it| (table[it.index()], map.system(it).name.to_string(), it))
            .collect();
        expected.sort();
        let expected: Vec<_> = expected.into_iter().map(|(jumps, _, it)| (it, jumps)).collect();
        let found = within(&map, starmap_server::route::Travel::by_gates(), origin, most, travel);
        let found: Vec<_> = found.iter().map(|near| (near.system, near.jumps)).collect();
        prop_assert_eq!(found, expected);
    }
}

/// Up to as many rows as there may be: sets of origins of every size, and more than one word of them.
#[test]
fn a_matrix_of_any_size_counts_the_jumps_of_shortest_routes() {
    for (seed, count) in [(1, 1), (2, 30), (3, 64), (4, 65), (5, 100)] {
        let (map, _) = Map::new(generated(seed, 200)).unwrap();
        let mut random = Random(seed);
        let mut some = |count: usize| -> Vec<SystemIndex> {
            (0..count).map(|_| nth(&map, random.below(200))).collect()
        };
        let (from, to) = (some(count), some(20));
        let avoid = Avoid::new(&map, some(10).into_iter().map(Avoided::System)).unwrap();
        let ends = some(6).into_iter().zip(some(6));
        let extra = |(at, (from, to))| Extra { from, to, both_ways: at % 2 == 0, cost: None };
        let travel: Vec<Extra> = (0..).zip(ends.filter(|(a, b)| a != b)).map(extra).collect();
        let travel = Travel::new(travel).unwrap();
        let matrix = distances(&map, &from, &to, &avoid, &travel).unwrap();
        let jumps = |from, to| {
            let query = Query::new(from, to, Mode::Shortest);
            let route = find(&map, &query.avoiding(&avoid).with(&travel)).ok()?;
            Some(u32::try_from(route.jumps()).unwrap())
        };
        for (from, row) in from.iter().zip(&matrix) {
            let expected: Vec<_> = to.iter().map(|to| jumps(*from, *to)).collect();
            assert_eq!(row, &expected, "{seed}: {from:?} {to:?}");
        }
    }
}

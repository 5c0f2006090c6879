//! A search that is led to its end finds what one finds that looks everywhere.

use starmap_server::map::{Map, PartsSystem, SecurityClass, Ship, SystemIndex};
use starmap_server::route::{
    Avoid, Avoided, Cost, Extra, Mode, Query, Travel, Warning, find, find_warned,
};

use super::super::brute::{less_secure, safer};
use super::super::common::{Random, generated};

const ZARZAKH: u32 = 30_100_000;

/// A map with a system that is only an end, between four others.
fn map(seed: u64, random: &mut Random) -> Map {
    let mut parts = generated(seed, 400);
    let middle = parts.systems[0].clone();
    let gates = [(); 4].map(|()| parts.systems[random.below(parts.systems.len())].id);
    parts.gates.extend(gates.map(|to| (ZARZAKH, to)));
    let (id, name) = (ZARZAKH, "Zarzakh".to_owned());
    parts.systems.push(PartsSystem { id, name, security: -1.0, ..middle });
    Map::new(parts).unwrap().0
}

/// Connections between any systems, some of one way, some with costs of their own.
fn extras(all: &[SystemIndex], random: &mut Random) -> Vec<Extra> {
    let extras = (0..40).map(|_| {
        let [from, to] = [(); 2].map(|()| all[random.below(all.len())]);
        let cost = [None, None, Cost::new(0.0), Cost::new(0.5), Cost::new(7.0)];
        Extra { from, to, both_ways: random.below(2) == 0, cost: cost[random.below(5)] }
    });
    extras.filter(|extra| extra.from != extra.to).collect()
}

#[test]
fn a_led_search_finds_the_same_as_one_that_looks_everywhere() {
    let mut random = Random(44);
    let modes = [Mode::Shortest, Mode::Safe, Mode::Unsafe, safer(50), less_secure(50)];
    let (mut found, mut through, mut left_out) = (0, 0, 0);
    for seed in 0..20 {
        let map = map(seed, &mut random);
        let all: Vec<SystemIndex> = map.indices().collect();
        let end = map.system_by_id(ZARZAKH).unwrap();
        // A connection between systems without gates changes no way, but nothing is known with it.
        let (from, to) = (all[9], all[19]);
        assert!(map.neighbours(from).is_empty() && map.neighbours(to).is_empty());
        let aside = Travel::new(vec![Extra { from, to, both_ways: false, cost: None }]).unwrap();
        let extras = Travel::new(extras(&all, &mut random)).unwrap();
        let pairs = [(Travel::default(), aside), (extras.clone().kept(), extras)];
        for round in 0..200 {
            let mut ends = [(); 2].map(|()| all[random.below(all.len())]);
            if round % 20 == 0 {
                ends[random.below(2)] = end;
            }
            if ends.iter().any(|it| [from, to].contains(it)) {
                continue;
            }
            let class = (random.below(20) == 0).then_some(Avoided::Class(SecurityClass::Null));
            let some = [0, 0, 1, 5, 20][random.below(5)];
            let some = (0..some).map(|_| Avoided::System(all[random.below(all.len())]));
            let avoid = Avoid::new(&map, some.chain(class)).unwrap();
            let dear = random.below(3) == 0;
            let systems = all.iter().filter(|_| dear);
            let surcharges = systems.map(|_| Cost::jumps(u32::from(random.below(10) == 0)));
            let surcharges: Vec<Cost> = surcharges.collect();
            let ship = (random.below(4) == 0).then_some(Ship::Capital);
            let lifted = ["zarzakh", "capitals"].map(|it| (random.below(3) == 0).then_some(it));
            // Some regions have the ids of Jove space, which is open as long as there is no connection.
            let lifted = lifted.into_iter().flatten().chain(["jove"]);
            let (led, plain) = &pairs[random.below(2)];
            let [led, plain] =
                [led, plain].map(|it| it.clone().for_ship(ship).allowing(lifted.clone()));
            let query = Query::new(ends[0], ends[1], modes[random.below(modes.len())]);
            let query = query.avoiding(&avoid).surcharged(&surcharges).with(&led);
            let other = query.with(&plain);
            assert_eq!(find(&map, &query), find(&map, &other), "{seed} {round}");
            let warned = find_warned(&map, &query);
            assert_eq!(warned, find_warned(&map, &other), "{seed} {round}");
            if let Ok((route, warnings)) = warned {
                found += 1;
                through += usize::from(route.systems.contains(&end));
                let is_left_out = |it: &Warning| matches!(it, Warning::LeftOut { .. });
                left_out += usize::from(warnings.iter().any(is_left_out));
            }
        }
    }
    assert!(found > 2_000 && through > 100 && left_out > 100, "{found} {through} {left_out}");
}

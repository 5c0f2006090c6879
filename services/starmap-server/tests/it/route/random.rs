//! Random queries on small maps against all ways there are.

use proptest::prelude::*;
use starmap_server::map::{Map, SecurityClass, SystemIndex};
use starmap_server::route::{Avoid, Avoided, By, Cost, Extra, Mode, NoRoute, Query, Travel, find};

use super::super::brute::{CLOSE, few_systems, less_secure, nth, safer, weight};

/// The best of all simple ways, by cost, then jumps, then ids.
struct Best<'q> {
    map: &'q Map,
    mode: Mode,
    travel: &'q [Extra],
    avoid: &'q Avoid,
    destination: SystemIndex,
    best: Option<(f64, Vec<SystemIndex>)>,
}

impl Best<'_> {
    fn arcs(&self, from: SystemIndex) -> Vec<(SystemIndex, f64)> {
        let gate = |to: SystemIndex| {
            let security = |it| self.map.system(it).security;
            (to, weight(self.mode, security(from), security(to)))
        };
        let mut arcs: Vec<_> = self.map.neighbours(from).iter().map(|to| gate(*to)).collect();
        for extra in self.travel {
            let mut add = |near, far| {
                if near == from {
                    arcs.push(extra.cost.map_or_else(|| gate(far), |cost| (far, cost.value())));
                }
            };
            add(extra.from, extra.to);
            if extra.both_ways {
                add(extra.to, extra.from);
            }
        }
        arcs
    }

    fn go(&mut self, path: &mut Vec<SystemIndex>, cost: f64) {
        let here = *path.last().unwrap();
        if here == self.destination {
            let better = self.best.as_ref().is_none_or(|(least, systems)| {
                if (cost - least).abs() < CLOSE {
                    (path.len(), &*path) < (systems.len(), systems)
                } else {
                    cost < *least
                }
            });
            if better {
                self.best = Some((cost, path.clone()));
            }
            return;
        }
        for (far, more) in self.arcs(here) {
            let closed = self.avoid.contains(far) && far != self.destination;
            if !closed && !path.contains(&far) {
                path.push(far);
                self.go(path, cost + more);
                path.pop();
            }
        }
    }
}

fn best(map: &Map, query: &Query<'_>) -> Option<(f64, Vec<SystemIndex>)> {
    let mut best = Best {
        map,
        mode: query.mode,
        travel: query.travel.list(),
        avoid: query.avoid,
        destination: query.destination,
        best: None,
    };
    best.go(&mut vec![query.origin], 0.0);
    best.best
}

fn mode() -> impl Strategy<Value = Mode> {
    let penalty = prop::sample::select(vec![0_u8, 1, 20, 50, 100]);
    prop_oneof![
        Just(Mode::Shortest),
        Just(Mode::Safe),
        Just(Mode::Unsafe),
        penalty.clone().prop_map(safer),
        penalty.prop_map(less_secure),
    ]
}

/// Places of two systems, whether both ways, a cost.
type ExtraSketch = (usize, usize, bool, Option<f64>);

fn travel() -> impl Strategy<Value = Vec<ExtraSketch>> {
    let cost = prop::option::of(prop::sample::select(vec![0.0, 0.5, 1.0, 3.0, 200.0]));
    prop::collection::vec((0_usize..8, 0_usize..8, any::<bool>(), cost), 0..4)
}

fn on(map: &Map, travel: &[ExtraSketch]) -> Travel {
    let travel = travel.iter().map(|(from, to, both_ways, cost)| Extra {
        from: nth(map, *from),
        to: nth(map, *to),
        both_ways: *both_ways,
        cost: cost.map(|cost| Cost::new(cost).unwrap()),
    });
    Travel::new(travel.filter(|extra| extra.from != extra.to).collect()).unwrap()
}

fn avoided() -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop::collection::vec((0_u8..6, 0_usize..8), 0..4)
}

fn things(map: &Map, sketch: &[(u8, usize)]) -> Avoid {
    let things = sketch.iter().map(|(kind, place)| {
        let system = map.system(nth(map, *place));
        match kind {
            0 => Avoided::Constellation(system.constellation),
            1 => Avoided::Region(system.region),
            2 => Avoided::Class(SecurityClass::of(system.security)),
            _ => Avoided::System(nth(map, *place)),
        }
    });
    Avoid::new(map, things).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_best_route_is_the_best_of_all_ways(
        parts in few_systems(8), from in 0_usize..8, to in 0_usize..8,
        mode in mode(), travel in travel(), avoid in avoided(),
    ) {
        let (map, _) = Map::new(parts).unwrap();
        let (travel, avoid) = (on(&map, &travel), things(&map, &avoid));
        let query = Query::new(nth(&map, from), nth(&map, to), mode);
        let query = query.avoiding(&avoid).with(&travel);
        match (find(&map, &query), best(&map, &query)) {
            (Ok(route), Some((cost, systems))) => {
                prop_assert!((route.cost.value() - cost).abs() < CLOSE, "{:?} {}", route.cost, cost);
                prop_assert_eq!(&route.systems, &systems);
                prop_assert_eq!(sum(&map, &query, &route.systems, &route.by), route.cost);
            }
            (Err(why), None) => explained(&map, &query, &why)?,
            (found, best) => prop_assert!(false, "{found:?} {best:?}"),
        }
    }
}

/// What the jumps cost as they say they are made.
fn sum(map: &Map, query: &Query<'_>, systems: &[SystemIndex], by: &[By]) -> Cost {
    let class = |system| map.system(system).class;
    let cost = |(pair, by): (&[SystemIndex], &By)| {
        let own = match by {
            By::Gate => {
                assert!(map.neighbours(pair[0]).contains(&pair[1]));
                None
            }
            By::Extra(place) => {
                let extra = query.travel.list()[*place];
                let there = (extra.from, extra.to) == (pair[0], pair[1]);
                let back = (extra.to, extra.from) == (pair[0], pair[1]);
                assert!(there || back && extra.both_ways);
                extra.cost
            }
        };
        own.unwrap_or_else(|| query.mode.cost(class(pair[0]), class(pair[1])))
    };
    systems.windows(2).zip(by).map(cost).fold(Cost::ZERO, |all, one| all + one)
}

/// The reason is true, and asks for no more than it must.
fn explained(map: &Map, query: &Query<'_>, why: &NoRoute) -> Result<(), TestCaseError> {
    prop_assert!(!why.reason(map).is_empty());
    let shortest = |avoid: &Avoid| {
        let query = Query { mode: Mode::Shortest, avoid, ..*query };
        // Costs of its own do not matter to the number of jumps.
        let list = query.travel.list().iter().map(|it| Extra { cost: None, ..*it });
        let travel = Travel::new(list.collect()).unwrap();
        best(map, &query.with(&travel)).map(|(_, systems)| systems.len() - 1)
    };
    let without = |given_up: &[Avoided]| {
        let kept = query.avoid.things().iter().filter(|thing| !given_up.contains(thing));
        shortest(&Avoid::new(map, kept.copied()).unwrap())
    };
    match why {
        NoRoute::Closed { .. } => prop_assert!(false, "no ship has a size here"),
        NoRoute::Avoided { give_up, jumps } => {
            prop_assert_eq!(without(give_up), Some(*jumps));
            let single = query.avoid.things().iter().any(|thing| without(&[*thing]).is_some());
            prop_assert_eq!(single, give_up.len() == 1);
            for thing in give_up {
                let fewer: Vec<_> = give_up.iter().filter(|it| *it != thing).copied().collect();
                prop_assert!(fewer.is_empty() || without(&fewer).is_none());
            }
        }
        NoRoute::NoGates { system } => {
            prop_assert_eq!(shortest(Avoid::nothing()), None);
            let mut others = map.indices().filter(|it| it != system);
            let find = |origin, destination| {
                let query = Query { origin, destination, avoid: Avoid::nothing(), ..*query };
                best(map, &query).is_some()
            };
            let reached =
                |it| if *system == query.origin { find(*system, it) } else { find(it, *system) };
            prop_assert!(!others.any(reached));
        }
        NoRoute::CutOff { from_origin, to_destination, .. } => {
            prop_assert_eq!(shortest(Avoid::nothing()), None);
            let count = |joined: &dyn Fn(SystemIndex) -> Query<'static>| {
                let joined =
                    map.indices().filter(|it| best(map, &joined(*it).with(query.travel)).is_some());
                joined.count()
            };
            let from = count(&|it| Query::new(query.origin, it, Mode::Shortest));
            let to = count(&|it| Query::new(it, query.destination, Mode::Shortest));
            prop_assert_eq!((*from_origin, *to_destination), (from, to));
        }
    }
    Ok(())
}

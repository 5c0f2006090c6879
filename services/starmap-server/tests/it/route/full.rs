//! The real map: random routes in every mode against the Dijkstra of petgraph, with weights of its own and the game's
//! rule for Zarzakh: who enters it does not go on.

use std::cmp::Ordering;
use std::ops::Add;

use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};
use starmap_server::map::{Map, SystemIndex};
use starmap_server::route::{Mode, Query, find};

use super::super::brute::{CLOSE, assert_adjacent, less_secure, safer, weight};
use super::super::common::{Random, index_of, real};
use super::query;

/// By cost, then by jumps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Way {
    cost: f64,
    jumps: u32,
}

impl Add for Way {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cost: self.cost + other.cost, jumps: self.jumps + other.jumps }
    }
}

impl PartialOrd for Way {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if (self.cost - other.cost).abs() < CLOSE {
            Some(self.jumps.cmp(&other.jumps))
        } else {
            self.cost.partial_cmp(&other.cost)
        }
    }
}

const ZARZAKH: u32 = 30_100_000;

/// The gates, without those that lead out of a locked system.
fn graph(map: &Map, mode: Mode, locked: Option<SystemIndex>) -> DiGraph<(), Way> {
    let mut graph = DiGraph::new();
    for _ in map.indices() {
        graph.add_node(());
    }
    let security = |it| map.system(it).security;
    for from in map.indices().filter(|from| Some(*from) != locked) {
        for to in map.neighbours(from) {
            let cost = weight(mode, security(from), security(*to));
            graph.add_edge(node(from), node(*to), Way { cost, jumps: 1 });
        }
    }
    graph
}

fn node(system: SystemIndex) -> NodeIndex {
    NodeIndex::new(system.index())
}

/// 2,000 routes of a mode from 100 origins, every one as cheap and as short as petgraph says. Zarzakh is among the
/// ends.
fn compare(mode: Mode) {
    let Some(map) = real() else { return };
    let zarzakh = map.system_by_id(ZARZAKH).unwrap();
    let [locked, open] = [Some(zarzakh), None].map(|locked| graph(&map, mode, locked));
    let gated: Vec<SystemIndex> =
        map.indices().filter(|it| !map.neighbours(*it).is_empty()).collect();
    let mut random = Random(4_004);
    let (mut found, mut longer) = (0, 0);
    for nth in 0..100 {
        let origin = if nth == 0 { zarzakh } else { gated[random.below(gated.len())] };
        let all = dijkstra(&open, node(origin), None, |edge| *edge.weight());
        let graph = if origin == zarzakh { &open } else { &locked };
        let ways = dijkstra(graph, node(origin), None, |edge| *edge.weight());
        for nth in 0..20 {
            let destination = if nth == 0 { zarzakh } else { gated[random.below(gated.len())] };
            let query = Query::new(origin, destination, mode);
            let Some(way) = ways.get(&node(destination)) else {
                assert!(find(&map, &query).is_err());
                continue;
            };
            let route = find(&map, &query).unwrap();
            assert!((route.cost.value() - way.cost).abs() < 1e-3, "{query:?}");
            assert_eq!(route.jumps(), way.jumps as usize, "{query:?}");
            assert_adjacent(&map, &route.systems);
            longer += usize::from(all[&node(destination)] < *way);
            assert_eq!(route.systems[0], origin);
            assert_eq!(*route.systems.last().unwrap(), destination);
            if nth < 2 {
                assert_eq!(find(&map, &query).unwrap(), route);
            }
            found += 1;
        }
    }
    assert!(found > 1_900, "{found} of 2,000 have a way");
    assert!(longer > 100, "the rule makes {longer} of them longer");
}

// secondfry/shortcircuit#30
#[test]
fn shortest() {
    compare(Mode::Shortest);
}

#[test]
fn safe() {
    compare(Mode::Safe);
}

#[test]
fn r#unsafe() {
    compare(Mode::Unsafe);
}

#[test]
fn the_games_safer() {
    compare(safer(50));
}

#[test]
fn the_games_less_secure() {
    compare(less_secure(50));
}

#[test]
fn jita_to_amarr_and_the_farthest_pair() {
    let Some(map) = real() else { return };
    let jumps = |from, to, mode| find(&map, &query(&map, from, to, mode)).unwrap().jumps();
    assert_eq!(jumps("Jita", "Amarr", Mode::Shortest), 11);
    assert_eq!(jumps("Jita", "Amarr", Mode::Safe), 45);
    assert_eq!(jumps("UW-6MW", "MVUO-F", Mode::Shortest), 84);
    assert_eq!(map.system(index_of(&map, "jita")).id, 30_000_142);
}

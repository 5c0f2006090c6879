//! Answers found the long way, to judge the short one: all ways tried, all distances tabulated, weights written again.

use proptest::prelude::*;
use starmap_server::map::{Map, Parts, PartsConstellation, PartsRegion, PartsSystem, SystemIndex};
use starmap_server::route::{Mode, Penalty};

/// The smallest difference between costs that counts: far above the rounding of sums, far below any real difference.
pub(crate) const CLOSE: f64 = 1e-5;

/// What a jump costs, by the published rules and the unrounded security at both ends.
pub(crate) fn weight(mode: Mode, from: f64, to: f64) -> f64 {
    let (high, low) = (to >= 0.45, to > 0.0 && to < 0.45);
    let base = |penalty: Penalty| f64::exp(0.15 * f64::from(penalty.get()));
    match mode {
        Mode::Shortest => 1.0,
        Mode::Safe if high => 1.0,
        Mode::Safe if low && from >= 0.45 => 50.0,
        Mode::Safe if low => 10.0,
        Mode::Safe => 100.0,
        Mode::Unsafe if high => 10.0,
        Mode::Unsafe if low => 2.0,
        Mode::Unsafe => 1.0,
        Mode::Safer { .. } if high => 0.9,
        Mode::LessSecure { .. } if low => 0.9,
        Mode::Safer { penalty } | Mode::LessSecure { penalty } if high || low => base(penalty),
        Mode::Safer { penalty } | Mode::LessSecure { penalty } => 2.0 * base(penalty),
    }
}

pub(crate) fn safer(penalty: u8) -> Mode {
    let penalty = Penalty::new(penalty).unwrap();
    Mode::Safer { penalty }
}

pub(crate) fn less_secure(penalty: u8) -> Mode {
    let penalty = Penalty::new(penalty).unwrap();
    Mode::LessSecure { penalty }
}

/// Jumps between all pairs by Floyd and Warshall; inner systems must be allowed. 10,000 and more means no way.
pub(crate) fn all_jumps(map: &Map, may_pass: impl Fn(SystemIndex) -> bool) -> Vec<Vec<u32>> {
    let all: Vec<SystemIndex> = map.indices().collect();
    let mut jumps = vec![vec![10_000; all.len()]; all.len()];
    for here in &all {
        jumps[here.index()][here.index()] = 0;
        for far in map.neighbours(*here) {
            jumps[here.index()][far.index()] = 1;
        }
    }
    for middle in all.iter().filter(|middle| may_pass(**middle)) {
        for from in &all {
            for to in &all {
                let around =
                    jumps[from.index()][middle.index()] + jumps[middle.index()][to.index()];
                let straight = &mut jumps[from.index()][to.index()];
                *straight = around.min(*straight);
            }
        }
    }
    jumps
}

/// Each system is a neighbour of the one before it.
pub(crate) fn assert_adjacent(map: &Map, systems: &[SystemIndex]) {
    for pair in systems.windows(2) {
        assert!(map.neighbours(pair[0]).contains(&pair[1]), "{pair:?}");
    }
}

/// Maps of a few systems with every kind of security, in two regions of two constellations.
pub(crate) fn few_systems(most: usize) -> impl Strategy<Value = Parts> {
    let security =
        prop::sample::select(vec![1.0, 0.9, 0.5, 0.45, 0.4499, 0.2, 0.04, 0.0, -0.0, -0.5, -1.0]);
    let systems = prop::collection::vec((security, 0_u32..4), 2..=most);
    let dense = prop::collection::vec((0..most, 0..most), 0..=most * 2);
    (systems, dense).prop_map(|(systems, gates)| {
        let count = systems.len();
        let gates = gates.into_iter().map(|(a, b)| (a % count, b % count));
        let id = |at: usize| 30_000_000 + u32::try_from(at).unwrap();
        Parts {
            version: "few".to_owned(),
            regions: (0..2)
                .map(|at| PartsRegion { id: 10_000_000 + at, name: format!("region {at}") })
                .collect(),
            constellations: (0..4)
                .map(|at| PartsConstellation {
                    id: 20_000_000 + at,
                    name: format!("constellation {at}"),
                    region: 10_000_000 + at / 2,
                })
                .collect(),
            systems: (systems.iter().enumerate())
                .map(|(at, (security, constellation))| PartsSystem {
                    id: id(at),
                    name: format!("system {at}"),
                    security: *security,
                    constellation: 20_000_000 + constellation,
                    position: None,
                })
                .collect(),
            gates: (gates.filter(|(a, b)| a != b)).map(|(a, b)| (id(a), id(b))).collect(),
            ..Parts::default()
        }
    })
}

/// The handle of the system at this place, counted around.
pub(crate) fn nth(map: &Map, place: usize) -> SystemIndex {
    map.indices().nth(place % map.systems().len()).unwrap()
}

/// All orders of so many things, by Heap's algorithm.
pub(crate) fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut all = vec![order.clone()];
    let mut turns = vec![0; count];
    let mut at = 1;
    while at < count {
        if turns[at] < at {
            order.swap(if at % 2 == 0 { 0 } else { turns[at] }, at);
            all.push(order.clone());
            turns[at] += 1;
            at = 1;
        } else {
            turns[at] = 0;
            at += 1;
        }
    }
    all
}

//! Plausible maps by seed: the same seed always gives the same map.

use std::collections::BTreeSet;

use starmap_server::map::{Parts, PartsConstellation, PartsRegion, PartsSystem};

use super::LIGHT_YEAR;

/// SplitMix64: small, and the same everywhere.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// A number from 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / 4_294_967_296.0
    }
}

/// A map of `count` systems (at least 1): security falls with the distance from the middle, most systems are joined to
/// near ones, one in ten has no gate (half of these no position), and some groups are cut off from the rest.
pub(crate) fn generated(seed: u64, count: usize) -> Parts {
    let mut random = Random(seed);
    let places: Vec<[f64; 3]> = (0..count)
        .map(|_| [0, 1, 2].map(|axis| (random.unit() - 0.5) * if axis == 1 { 20.0 } else { 100.0 }))
        .collect();
    let constellations = count.div_ceil(7);
    let systems = places.iter().enumerate().map(|(at, place)| {
        let from_middle = (place[0] * place[0] + place[2] * place[2]).sqrt();
        let security = (1.0 - from_middle / 25.0 + random.unit() * 0.2).clamp(-1.0, 1.0);
        PartsSystem {
            id: id(30_000_000, at),
            name: name("S", at),
            security: (security * 10_000.0).round() / 10_000.0,
            constellation: id(20_000_000, at % constellations),
            position: (at % 20 != 19).then(|| place.map(|it| (it * LIGHT_YEAR).round())),
        }
    });
    let systems = systems.collect();
    let mut gates = BTreeSet::new();
    for at in (0..count).filter(|at| at % 10 != 9) {
        for _ in 0..1 + random.below(3) {
            // The nearest of a few: gates join what is near, but not always the nearest.
            let distance = |to: &usize| {
                let apart = [0, 1, 2].map(|axis| places[at][axis] - places[*to][axis]);
                apart.iter().map(|it| it * it).sum::<f64>()
            };
            let few: Vec<usize> = (0..8).map(|_| random.below(count)).collect();
            let near = few.into_iter().filter(|to| *to != at && to % 10 != 9);
            if let Some(to) = near.min_by(|a, b| distance(a).total_cmp(&distance(b))) {
                gates.insert((at.min(to), at.max(to)));
            }
        }
    }
    Parts {
        version: format!("generated {seed} {count}"),
        regions: (0..constellations.div_ceil(8))
            .map(|at| PartsRegion { id: id(10_000_000, at), name: name("R", at) })
            .collect(),
        constellations: (0..constellations)
            .map(|at| PartsConstellation {
                id: id(20_000_000, at),
                name: name("C", at),
                region: id(10_000_000, at / 8),
            })
            .collect(),
        systems,
        gates: gates.into_iter().map(|(a, b)| (id(30_000_000, a), id(30_000_000, b))).collect(),
        ..Parts::default()
    }
}

fn id(first: u32, at: usize) -> u32 {
    first + u32::try_from(at).unwrap()
}

/// Letters that count: no two numbers have the same.
fn name(kind: &str, mut number: usize) -> String {
    const SYLLABLES: [&str; 10] = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu"];
    let mut name = String::from(kind);
    loop {
        name.push_str(SYLLABLES[number % 10]);
        number /= 10;
        if number == 0 {
            return name;
        }
    }
}

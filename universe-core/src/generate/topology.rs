//! What circles what: how many stars, planets and moons a system has.

use super::{Preset, Random};

/// The most planets of a system.
const MAX_PLANETS: usize = 12;
/// The most moons of a planet, and of a moon.
const MAX_MOONS: usize = 25;

/// A planet or moon, and how much circles it: for each of its moons, how many moons that has.
pub(super) type Moons = Vec<usize>;

/// The shape of a system.
pub(super) struct Topology {
    /// One star or more.
    pub(super) stars: usize,
    /// For each planet its moons.
    pub(super) planets: Vec<Moons>,
}

impl Topology {
    /// Draws one, of at most `max_stars`.
    pub(super) fn new(preset: Preset, max_stars: usize, random: &mut Random) -> Self {
        let shares = match preset {
            Preset::Classic => [0.65, 0.25, 0.1],
            Preset::MultiStarHeavy => [0.05, 0.55, 0.4],
            _ => [1.0, 0.0, 0.0],
        };
        let stars = (1 + drawn(&shares, random)).min(max_stars.max(1));
        let planets = match preset {
            Preset::Classic => random.geometric(0.4, MAX_PLANETS),
            Preset::Compact => count(random, 1, 2),
            Preset::MultiStarHeavy => count(random, 1, 4),
            Preset::MoonRich => count(random, 3, 6),
            Preset::SparseOutpost => drawn(&[0.15, 0.6, 0.25], random),
            Preset::DeepHierarchy => count(random, 2, 5),
        };
        let planets = (0..planets).map(|_| moons(preset, random)).collect();
        Self { stars, planets }
    }
}

fn moons(preset: Preset, random: &mut Random) -> Moons {
    let moons = match preset {
        Preset::Classic => random.geometric(0.3, MAX_MOONS),
        Preset::Compact => count(random, 5, 18),
        Preset::MultiStarHeavy if random.bool(0.7) => count(random, 1, 3),
        Preset::SparseOutpost if random.bool(0.25) => count(random, 1, 2),
        Preset::MultiStarHeavy | Preset::SparseOutpost => 0,
        Preset::MoonRich => count(random, 4, 25),
        Preset::DeepHierarchy => count(random, 2, 6),
    };
    let below = |_| match preset {
        Preset::DeepHierarchy if random.bool(0.5) => count(random, 1, 4),
        _ => 0,
    };
    (0..moons).map(below).collect()
}

/// The place of one of these shares, each drawn as often as it says.
fn drawn(shares: &[f64], random: &mut Random) -> usize {
    let mut left = random.float();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(shares.len().saturating_sub(1))
}

fn count(random: &mut Random, min: i32, max: i32) -> usize {
    usize::try_from(random.int(min, max)).unwrap_or_default()
}

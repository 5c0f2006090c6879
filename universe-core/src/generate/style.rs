//! What the styles and scales mean in numbers.

use super::{Scale, Style};

/// How much there is of everything. A probability is per system or per planet.
pub(super) struct Settings {
    pub(super) max_stars: usize,
    /// The least and the greatest eccentricity of planets and moons.
    pub(super) eccentricity: (f64, f64),
    /// The greatest inclination, degrees.
    pub(super) inclination: f64,
    pub(super) belt: f64,
    pub(super) kuiper: f64,
    pub(super) ring: f64,
    pub(super) comets: (i32, i32),
    /// That a planet has its Lagrange points marked.
    pub(super) lagrange: f64,
    pub(super) disk: f64,
    pub(super) nebulae: (i32, i32),
    pub(super) rogues: (i32, i32),
}

/// How far apart orbits are, and how fast.
pub(super) struct Spacing {
    /// The first orbit, world units.
    pub(super) base: f64,
    /// Each orbit to the one before.
    pub(super) growth: f64,
    /// Degrees per second at a distance of 1; less by the root of the distance.
    pub(super) speed: f64,
    /// Whether speeds follow from Kepler's third law instead: those of `speed` around a mass of 100 at `base`.
    pub(super) is_keplerian: bool,
}

impl Style {
    /// How many systems a universe has unless the recipe says otherwise.
    pub fn systems(self) -> u32 {
        match self {
            Self::Sparse => 3,
            Self::SolarLike => 5,
            Self::Crowded => 15,
            Self::SuperDenseExperimental => 50,
        }
    }

    // A table, read by column.
    #[rustfmt::skip]
    pub(super) fn settings(self) -> Settings {
        match self {
            Self::Sparse => Settings {
                max_stars: 1, eccentricity: (0.0, 0.0), inclination: 5.0, belt: 0.15, kuiper: 0.1, ring: 0.1,
                comets: (0, 1), lagrange: 0.0, disk: 0.05, nebulae: (0, 1), rogues: (0, 1),
            },
            Self::SolarLike => Settings {
                max_stars: 2, eccentricity: (0.0, 0.0), inclination: 10.0, belt: 0.7, kuiper: 0.6, ring: 0.3,
                comets: (1, 3), lagrange: 0.2, disk: 0.1, nebulae: (1, 2), rogues: (1, 2),
            },
            Self::Crowded => Settings {
                max_stars: 3, eccentricity: (0.0, 0.3), inclination: 25.0, belt: 0.8, kuiper: 0.6, ring: 0.45,
                comets: (2, 5), lagrange: 0.3, disk: 0.3, nebulae: (2, 4), rogues: (2, 5),
            },
            Self::SuperDenseExperimental => Settings {
                max_stars: 3, eccentricity: (0.1, 0.7), inclination: 45.0, belt: 0.9, kuiper: 0.7, ring: 0.6,
                comets: (3, 8), lagrange: 0.4, disk: 0.4, nebulae: (4, 8), rogues: (5, 12),
            },
        }
    }
}

impl Scale {
    pub(super) fn spacing(self) -> Spacing {
        let (base, growth, speed) = match self {
            Self::Realistic | Self::Keplerian => (8.0, 1.8, 20.0),
            Self::Compressed => (5.0, 1.6, 18.0),
            Self::Toy => (3.0, 1.5, 15.0),
        };
        Spacing { base, growth, speed, is_keplerian: self == Self::Keplerian }
    }
}

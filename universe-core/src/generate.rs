//! Generates universes from a seed. The same seed and parameters give the same bytes on every machine.
//!
//! Random numbers are xoshiro128** ([`Random`]), a separate stream for each part of a universe. Logarithms, sines and
//! powers come from `libm`, which is plain Rust; all other operations (sums, products, quotients, square roots) are
//! exactly defined by IEEE 754. Numbers are rounded to four decimals; ids describe the body (`s1-p2-m3` is the third
//! moon of the second planet of the first system).
//!
//! ```
//! use serde_json::json;
//! use universe_core::generate::Recipe;
//!
//! let recipe = Recipe::read(&json!({ "seed": "test", "preset": "moonRich", "systems": 1 }))?;
//! let universe = recipe.universe()?;
//! assert_eq!(universe, recipe.universe()?);
//! assert!(universe.star("s1").is_some());
//! # Ok::<_, universe_core::Findings>(())
//! ```

mod bodies;
mod names;
mod random;
mod read;
mod regions;
mod style;
mod system;
mod topology;

use serde_json::{Map, Value, json};

use crate::finding::Findings;
use crate::state::State;
use crate::warning::Strictness;
pub use random::Random;
use system::System;

/// The most systems of a universe.
pub const MAX_SYSTEMS: u32 = 50;
/// The most bodies of a system: the most planets, each with the most moons, and all other bodies. So a universe has
/// at most 50 times as many.
pub const MAX_BODIES: usize = 360;
/// The most characters of a seed that is text.
pub const MAX_SEED: usize = 200;

/// The seed of a universe.
#[derive(Debug, Clone, PartialEq)]
pub enum Seed {
    /// Any text.
    Text(String),
    /// A finite number. It counts modulo 2³², without its fraction.
    Number(f64),
}

/// How a system is built: which bodies orbit which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Mostly one star, a few planets, few moons.
    Classic,
    /// One star, one or two planets, many moons.
    Compact,
    /// Two or three stars.
    MultiStarHeavy,
    /// Three to six planets with 4 to 25 moons each.
    MoonRich,
    /// Hardly any planets.
    SparseOutpost,
    /// Moons that have moons.
    DeepHierarchy,
}

/// How much there is of everything, and how round and flat the orbits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Three systems of circular orbits and little else.
    Sparse,
    /// Five systems such as ours.
    SolarLike,
    /// Fifteen systems with every kind of entity.
    Crowded,
    /// Fifty systems of tilted, long orbits.
    SuperDenseExperimental,
}

/// How far apart orbits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Each orbit 1.8 times the one before.
    Realistic,
    /// Each orbit 1.6 times the one before.
    Compressed,
    /// Each orbit 1.5 times the one before, the first one close.
    Toy,
    /// As realistic, on elements with periods by Kepler's third law: the heavier the parent, the faster.
    Keplerian,
}

/// What a universe is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Where its random numbers begin.
    pub seed: Seed,
    /// How its systems are built.
    pub preset: Preset,
    /// How much there is of everything.
    pub style: Style,
    /// How far apart its orbits are.
    pub scale: Scale,
    /// How many systems it has, 1 to [`MAX_SYSTEMS`].
    pub systems: u32,
}

impl Recipe {
    /// A recipe with the defaults: `classic`, `solarLike`, `realistic`, and as many systems as the style has.
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            preset: Preset::Classic,
            style: Style::SolarLike,
            scale: Scale::Realistic,
            systems: Style::SolarLike.systems(),
        }
    }

    /// Reads `{seed, preset, style, scale, systems}`, of which all but the seed may be left out.
    ///
    /// # Errors
    /// Everything that is wrong with the recipe, with the nearest names.
    pub fn read(given: &Value) -> Result<Self, Findings> {
        read::recipe(given)
    }

    /// The recipe as JSON, with all its parameters: what [`Recipe::read`] reads.
    pub fn to_value(&self) -> Value {
        let seed = match &self.seed {
            Seed::Text(text) => json!(text),
            Seed::Number(number) => json!(number),
        };
        json!({
            "seed": seed,
            "preset": self.preset.name(),
            "style": self.style.name(),
            "scale": self.scale.name(),
            "systems": self.systems,
        })
    }

    /// The universe, at time 0. It passes the checks of [`Strictness::Strict`]. At most [`MAX_SYSTEMS`]
    /// systems are generated.
    ///
    /// # Errors
    /// The findings of the checks; a test shows that there are none.
    pub fn universe(&self) -> Result<State, Findings> {
        let mut master = Random::new(&self.seed);
        let mut universe = Universe::default();
        let count = self.systems.clamp(1, MAX_SYSTEMS);
        let numbers = 1..=count;
        let systems: Vec<_> = numbers
            .map(|number| {
                let seed = Seed::Number(master.int(0, i32::MAX).into());
                System::new(self, number, &Random::new(&seed))
            })
            .collect();
        let extent = systems.iter().map(System::extent).fold(1.0, f64::max);
        for (system, number) in systems.into_iter().zip(0_u32..) {
            system.put(&mut universe, spread(number, extent));
        }
        regions::add(self, &master, &mut universe, extent);
        let (state, _none) = State::read_partial(universe.into_value(), Strictness::Strict)?;
        Ok(state)
    }
}

/// A universe while it is made: entities by id, and the systems in order.
#[derive(Default)]
struct Universe {
    stars: Map<String, Value>,
    /// The root of each system, and where it is.
    systems: Vec<(String, [f64; 3])>,
    /// Bodies that belong to no system.
    roots: Vec<String>,
    groups: Map<String, Value>,
    root_groups: Vec<String>,
    fields: Map<String, Value>,
    disks: Map<String, Value>,
    nebulae: Map<String, Value>,
}

impl Universe {
    fn into_value(self) -> Value {
        let systems = self.systems.into_iter().map(|(id, _)| id);
        let roots: Vec<_> = systems.chain(self.roots).collect();
        json!({
            "stars": self.stars,
            "rootIds": roots,
            "groups": self.groups,
            "rootGroupIds": self.root_groups,
            "belts": {},
            "smallBodyFields": self.fields,
            "protoplanetaryDisks": self.disks,
            "nebulae": self.nebulae,
            "time": 0,
        })
    }
}

/// Where a system is: the first one in the middle, the others around it on a spiral, so far apart that none reaches
/// into another.
fn spread(number: u32, extent: f64) -> [f64; 3] {
    /// Any number of steps of this angle, in degrees, spreads out evenly over the circle.
    const GOLDEN_ANGLE: f64 = 137.507_764;
    let angle = f64::from(number) * GOLDEN_ANGLE * std::f64::consts::PI / 180.0;
    let distance = 2.5 * extent * f64::from(number).sqrt();
    [rounded(distance * libm::cos(angle)), 0.0, rounded(distance * libm::sin(angle))]
}

/// Four decimals. Adding zero makes a negative zero positive.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4 + 0.0
}

//! The positions of bodies: a pure function of the simulated time.
//!
//! World coordinates are right-handed: an orbit that is not turned lies in the plane of x and z, and north is −y, from
//! where it goes counter-clockwise, from x to z. `kepler` has what the angles of elements mean.
//!
//! Sines, cosines and roots come from `libm`, in plain Rust, so the same universe has the same places on every machine.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::date::Instant;
use crate::entity::Star;
use crate::kepler::{self, Elements, Kepler, Plane, Pole};
use crate::rotation::about_y;
pub use crate::rotation::{Vector3, about_x, about_z};
use crate::state::State;

/// The members of a body that say how it moves. Absent or null members have the defaults of the member tables.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Orbit {
    orbital_distance: Option<f64>,
    orbital_speed: Option<f64>,
    orbital_phase: Option<f64>,
    semi_major_axis: Option<f64>,
    eccentricity: Option<f64>,
    orbit_offset_x: Option<f64>,
    orbit_offset_y: Option<f64>,
    orbit_offset_z: Option<f64>,
    orbit_rot_x: Option<f64>,
    orbit_rot_y: Option<f64>,
    orbit_rot_z: Option<f64>,
    is_rogue_planet: Option<bool>,
    rogue_planet: Option<Path>,
    #[serde(deserialize_with = "kepler::lenient")]
    elements: Option<Elements>,
    #[serde(skip)]
    kepler: Option<Kepler>,
}

/// The path of a rogue planet.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Path {
    initial_position: Point,
    velocity: Point,
    path_curvature: Option<f64>,
    semi_major_axis: Option<f64>,
    eccentricity: Option<f64>,
    path_offset_x: Option<f64>,
    path_offset_y: Option<f64>,
    path_offset_z: Option<f64>,
    orbit_rot_x: Option<f64>,
    orbit_rot_y: Option<f64>,
    orbit_rot_z: Option<f64>,
    path_period: Option<f64>,
}

/// Nested objects may be given in part.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
struct Point {
    x: Option<f64>,
    y: Option<f64>,
    z: Option<f64>,
}

/// Where bodies are in the world at a time: the sum of a body's own position relative to its parent and those of all
/// bodies above it. Each is computed once.
#[derive(Debug)]
pub struct Places<'s> {
    state: &'s State,
    time: f64,
    known: HashMap<&'s str, Vector3>,
}

impl Orbit {
    /// How something with these members moves around a parent without a tilt, in a universe without an `epoch`.
    pub fn of(members: &Value) -> Self {
        Self::deserialize(members).unwrap_or_default().settled(None, Pole::default())
    }

    /// The position relative to the parent at `time` seconds. With `elements` it follows from Kepler's equation.
    /// Without, the angle grows evenly with time, and the parent is at the centre of the ellipse, moved by the offsets.
    /// A rogue planet follows its own path.
    pub fn place(&self, time: f64) -> Vector3 {
        match (&self.rogue_planet, self.is_rogue_planet, &self.kepler) {
            (Some(path), Some(true), _) => path.place(time),
            (_, _, Some(kepler)) => kepler.place(time),
            _ => self.at(time * or(self.orbital_speed) + or(self.orbital_phase)),
        }
    }

    /// Points of the whole orbit as it lies at `time` seconds, relative to the parent.
    pub fn round(&self, points: u32, time: f64) -> Vec<Vector3> {
        let degrees = (0..points).map(|n| f64::from(n) * 360.0 / f64::from(points));
        match &self.kepler {
            Some(kepler) => kepler.round(degrees, time),
            None => degrees.map(|degrees| self.at(degrees)).collect(),
        }
    }

    /// The position relative to the parent at an angle in degrees, without elements.
    fn at(&self, degrees: f64) -> Vector3 {
        let turned = turn(
            ellipse(self.semi_major_axis(), or(self.eccentricity), degrees),
            [self.orbit_rot_x, self.orbit_rot_y, self.orbit_rot_z],
        );
        let offset = [self.orbit_offset_x, self.orbit_offset_y, self.orbit_offset_z];
        plus(turned, offset.map(or))
    }

    /// The semi-major axis of its ellipse, in world units.
    pub fn semi_major_axis(&self) -> f64 {
        if let Some(kepler) = &self.kepler {
            return kepler.semi_major_axis();
        }
        self.semi_major_axis.unwrap_or(or(self.orbital_distance))
    }

    /// Whether it moves around its parent.
    pub fn is_round(&self) -> bool {
        self.semi_major_axis() > 0.0 && self.is_rogue_planet != Some(true)
    }

    /// The orbit with its elements, if it has any, in the world.
    fn settled(mut self, universe: Option<&State>, parent: Pole) -> Self {
        self.kepler = self.elements.take().map(|elements| {
            let epoch = elements.epoch.and_then(|epoch| match (epoch, universe) {
                (Instant::Seconds(seconds), _) => Some(seconds),
                // Without an epoch a date is refused when it is given.
                (date, universe) => universe?.time_of(date).ok(),
            });
            Kepler::new(elements, epoch.unwrap_or_default(), parent)
        });
        self
    }

    pub(crate) fn kepler(&self) -> Option<&Kepler> {
        self.kepler.as_ref()
    }
}

impl State {
    /// How a body moves. Reads its members once more and keeps nothing of them.
    pub fn orbit(&self, star: &Star) -> Orbit {
        let orbit: Orbit = star.read().unwrap_or_default();
        let is_in_equator = |elements: &Elements| elements.plane == Plane::ParentEquator;
        let parent =
            star.parent_id().filter(|_| orbit.elements.as_ref().is_some_and(is_in_equator));
        let pole = parent.and_then(|id| self.star(id)?.read());
        orbit.settled(Some(self), pole.unwrap_or_default())
    }

    /// The position of a body in the world at `time` seconds. For several bodies, use [`Places`].
    pub fn place(&self, star: &Star, time: f64) -> Vector3 {
        Places::new(self, time).of(star)
    }
}

impl<'s> Places<'s> {
    /// The positions at `time` seconds. Nothing is computed yet.
    pub fn new(state: &'s State, time: f64) -> Self {
        Self { state, time, known: HashMap::new() }
    }

    /// The position of a body in the world.
    pub fn of(&mut self, star: &'s Star) -> Vector3 {
        let mut above = Vec::new();
        let (mut next, mut place) = (Some(star), Vector3::default());
        while let Some(star) = next {
            if let Some(known) = self.known.get(star.id()) {
                place = *known;
                break;
            }
            above.push(star);
            next = star.parent_id().and_then(|id| self.state.star(id));
        }
        for star in above.into_iter().rev() {
            place = plus(place, self.state.orbit(star).place(self.time));
            self.known.insert(star.id(), place);
        }
        place
    }
}

impl Path {
    fn place(&self, time: f64) -> Vector3 {
        let begin = self.initial_position.place();
        if or(self.path_curvature) == 0.0 {
            return plus(begin, self.velocity.place().map(|part| part * time));
        }
        let axis = self.semi_major_axis.unwrap_or(100.0);
        let period = self.path_period.unwrap_or(5.0 * axis);
        let degrees = if period == 0.0 { 0.0 } else { time * 360.0 / period };
        let turned = turn(
            ellipse(axis, or(self.eccentricity), degrees),
            [self.orbit_rot_x, self.orbit_rot_y, self.orbit_rot_z],
        );
        let offset = [self.path_offset_x, self.path_offset_y, self.path_offset_z];
        plus(plus(turned, offset.map(or)), begin)
    }
}

impl Point {
    fn place(&self) -> Vector3 {
        [self.x, self.y, self.z].map(or)
    }
}

fn or(number: Option<f64>) -> f64 {
    number.unwrap_or_default()
}

fn ellipse(axis: f64, eccentricity: f64, degrees: f64) -> Vector3 {
    let angle = degrees * std::f64::consts::PI / 180.0;
    let short = axis * (1.0 - eccentricity * eccentricity).max(0.0).sqrt();
    [axis * libm::cos(angle), 0.0, short * libm::sin(angle)]
}

/// Turned by z, then by y, then by x; degrees.
pub(crate) fn turn(direction: Vector3, by: [Option<f64>; 3]) -> Vector3 {
    let [x, y, z] = by.map(or);
    about_x(about_y(about_z(direction, z), y), x)
}

fn plus([a, b, c]: Vector3, [x, y, z]: Vector3) -> Vector3 {
    [a + x, b + y, c + z]
}

//! The positions of bodies: a pure function of the simulated time.
//!
//! Sines, cosines and roots come from `libm`, in plain Rust, so the same universe has the same places on every machine.

use serde::Deserialize;
use serde_json::Value;

use crate::entity::Star;
use crate::state::State;

/// A position or a direction, world units: x, y and z.
pub type Vector3 = [f64; 3];

/// The most bodies above one that [`State::place`] goes through.
const MAX_DEPTH: usize = 10_000;

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

impl Star {
    /// How it moves. Reads its members once more and keeps nothing of them.
    #[must_use]
    pub fn orbit(&self) -> Orbit {
        self.read().unwrap_or_default()
    }
}

impl Orbit {
    /// How something with these members moves.
    #[must_use]
    pub fn of(members: &Value) -> Self {
        Self::deserialize(members).unwrap_or_default()
    }

    /// The position relative to the parent at `time` seconds. The angle grows evenly with time, and the parent is at
    /// the centre of the ellipse, moved by the offsets. A rogue planet follows its own path.
    #[must_use]
    pub fn place(&self, time: f64) -> Vector3 {
        match (&self.rogue_planet, self.is_rogue_planet) {
            (Some(path), Some(true)) => path.place(time),
            _ => self.at(time * or(self.orbital_speed) + or(self.orbital_phase)),
        }
    }

    /// The position relative to the parent at an angle in degrees. For drawing the whole orbit.
    #[must_use]
    pub fn at(&self, degrees: f64) -> Vector3 {
        let turned = turn(
            ellipse(self.semi_major_axis(), or(self.eccentricity), degrees),
            [self.orbit_rot_x, self.orbit_rot_y, self.orbit_rot_z],
        );
        let offset = [self.orbit_offset_x, self.orbit_offset_y, self.orbit_offset_z];
        plus(turned, offset.map(or))
    }

    /// The semi-major axis of its ellipse, in world units.
    #[must_use]
    pub fn semi_major_axis(&self) -> f64 {
        self.semi_major_axis.unwrap_or(or(self.orbital_distance))
    }

    /// Whether it moves around its parent.
    #[must_use]
    pub fn is_round(&self) -> bool {
        self.semi_major_axis() > 0.0 && self.is_rogue_planet != Some(true)
    }
}

impl State {
    /// The position of a body in the world at `time` seconds: the sum of its own position relative to its parent and
    /// those of all bodies above it.
    #[must_use]
    pub fn place(&self, star: &Star, time: f64) -> Vector3 {
        let mut place = star.orbit().place(time);
        let mut above = star.parent_id().and_then(|id| self.star(id));
        for _ in 0..MAX_DEPTH {
            let Some(parent) = above else { break };
            place = plus(place, parent.orbit().place(time));
            above = parent.parent_id().and_then(|id| self.star(id));
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
pub(crate) fn turn([x, y, z]: Vector3, by: [Option<f64>; 3]) -> Vector3 {
    let [by_x, by_y, by_z] = by.map(|degrees| {
        let angle = or(degrees) * std::f64::consts::PI / 180.0;
        (libm::sin(angle), libm::cos(angle))
    });
    let (sin, cos) = by_z;
    let (x, y) = (x * cos - y * sin, x * sin + y * cos);
    let (sin, cos) = by_y;
    let (x, z) = (x * cos + z * sin, -x * sin + z * cos);
    let (sin, cos) = by_x;
    [x, y * cos - z * sin, y * sin + z * cos]
}

fn plus([a, b, c]: Vector3, [x, y, z]: Vector3) -> Vector3 {
    [a + x, b + y, c + z]
}

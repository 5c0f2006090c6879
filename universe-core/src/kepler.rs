//! Keplerian orbits: where a body with `elements` is, as a pure function of the simulated time.
//!
//! The reference plane is the universe's: x points to the origin of longitudes (the vernal equinox, in a universe whose
//! plane is the ecliptic), y is 90 degrees ahead of it, z is north, and angles grow counter-clockwise as seen from
//! north. In world coordinates, which all drawings and the original's members share, that is (x, z, −y): north is −y.
//!
//! An equator is this plane, inclined by `axialTilt` about its ascending node at longitude `axialNode`. Longitudes in
//! an equator begin at that node.

use std::f64::consts::PI;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::date::Instant;
use crate::entity::Members;
use crate::rotation::{Vector3, about_x, about_z};

/// A Julian century, in seconds.
const CENTURY: f64 = 36_525.0 * 86_400.0;
/// The largest eccentricity: what `rates` lead beyond it stays there.
const MAX_ECCENTRICITY: f64 = 0.999;
/// The most steps to solve Kepler's equation. Bisection alone would need some 55 of them.
const MAX_STEPS: usize = 64;

/// The members of a body that follow from its elements, in place of what is stored, each with the element to set
/// instead.
pub(crate) const DERIVED: [(&str, &str); 11] = [
    ("orbitalDistance", "semiMajorAxis"),
    ("orbitalSpeed", "period"),
    ("orbitalPhase", "meanAnomaly"),
    ("semiMajorAxis", "semiMajorAxis"),
    ("eccentricity", "eccentricity"),
    ("orbitOffsetX", "eccentricity"),
    ("orbitOffsetY", "eccentricity"),
    ("orbitOffsetZ", "eccentricity"),
    ("orbitRotX", "inclination"),
    ("orbitRotY", "ascendingNode"),
    ("orbitRotZ", "argumentOfPeriapsis"),
];

/// The elements of an orbit, as they are given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Elements {
    semi_major_axis: f64,
    period: f64,
    #[serde(default)]
    eccentricity: f64,
    #[serde(default)]
    inclination: f64,
    #[serde(default)]
    ascending_node: f64,
    #[serde(default)]
    argument_of_periapsis: f64,
    #[serde(default)]
    mean_anomaly: f64,
    pub(crate) epoch: Option<Instant>,
    #[serde(default)]
    rates: Rates,
    #[serde(default)]
    pub(crate) plane: Plane,
}

/// Changes in a Julian century.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rates {
    semi_major_axis: f64,
    eccentricity: f64,
    inclination: f64,
    ascending_node: f64,
    argument_of_periapsis: f64,
    mean_anomaly: f64,
    period: f64,
}

/// What the angles of elements are measured from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Plane {
    #[default]
    Ecliptic,
    ParentEquator,
}

/// The pole of a body: how its equator lies. Degrees.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Pole {
    axial_tilt: Option<f64>,
    axial_node: Option<f64>,
}

/// The orbit of a body with elements, in the world.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kepler {
    elements: Elements,
    /// The simulated time of the elements.
    epoch: f64,
    /// The pole of the plane that the angles are measured from.
    pole: Pole,
}

/// An ellipse with the parent in its focus.
struct Ellipse {
    axis: f64,
    eccentricity: f64,
    /// The directions of the periapsis and of 90 degrees ahead of it.
    periapsis: Vector3,
    ahead: Vector3,
    /// The mean anomaly, degrees.
    anomaly: f64,
    /// The angles that turn with time: the sum of their rates, degrees in a century.
    turning: f64,
}

/// Elements among the members of a body. What does not fit was a member of another meaning before there were elements.
pub(crate) fn lenient<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Elements>, D::Error> {
    Ok(Elements::deserialize(Value::deserialize(given)?).ok())
}

impl Kepler {
    pub(crate) fn new(elements: Elements, epoch: f64, parent: Pole) -> Self {
        let pole = match elements.plane {
            Plane::Ecliptic => Pole::default(),
            Plane::ParentEquator => parent,
        };
        Self { elements, epoch, pole }
    }

    /// The position relative to the parent at `time` seconds, in world coordinates.
    pub(crate) fn place(&self, time: f64) -> Vector3 {
        let ellipse = self.ellipse(time);
        let anomaly = ellipse.anomaly * PI / 180.0;
        ellipse.at(eccentric_anomaly(anomaly, ellipse.eccentricity))
    }

    /// The points at eccentric anomalies in degrees of the ellipse as it lies at `time`.
    pub(crate) fn round(&self, degrees: impl Iterator<Item = f64>, time: f64) -> Vec<Vector3> {
        let ellipse = self.ellipse(time);
        degrees.map(|degrees| ellipse.at(degrees * PI / 180.0)).collect()
    }

    pub(crate) fn semi_major_axis(&self) -> f64 {
        self.elements.semi_major_axis
    }

    fn ellipse(&self, time: f64) -> Ellipse {
        let Elements { rates, period, .. } = &self.elements;
        let elapsed = time - self.epoch;
        let centuries = elapsed / CENTURY;
        let moved = |start: f64, rate: f64| start + rate * centuries;
        let turns = elapsed / period;
        // A period that changes evenly by p' adds −p' t² / 2 P² turns.
        let slowing = 0.5 * turns * centuries * rates.period / period;
        let turns = turns - slowing;
        let anomaly = moved(self.elements.mean_anomaly, rates.mean_anomaly)
            + 360.0 * (turns - libm::floor(turns));
        let inclination = moved(self.elements.inclination, rates.inclination);
        let node = moved(self.elements.ascending_node, rates.ascending_node);
        let argument = moved(self.elements.argument_of_periapsis, rates.argument_of_periapsis);
        let direction = |degrees: f64| {
            let angle = degrees * PI / 180.0;
            let in_orbit = [libm::cos(angle), libm::sin(angle), 0.0];
            let in_plane = about_z(about_x(in_orbit, inclination), node);
            let Pole { axial_tilt, axial_node } = self.pole;
            let tilted = about_x(in_plane, axial_tilt.unwrap_or_default());
            let [x, y, z] = about_z(tilted, axial_node.unwrap_or_default());
            [x, -z, y]
        };
        let is_retrograde = inclination > 90.0;
        let nodes = if is_retrograde { -rates.ascending_node } else { rates.ascending_node };
        Ellipse {
            axis: moved(self.elements.semi_major_axis, rates.semi_major_axis).max(0.0),
            eccentricity: moved(self.elements.eccentricity, rates.eccentricity)
                .clamp(0.0, MAX_ECCENTRICITY),
            periapsis: direction(argument),
            ahead: direction(argument + 90.0),
            anomaly,
            turning: rates.mean_anomaly + rates.argument_of_periapsis + nodes,
        }
    }

    /// The original's members for this orbit as it is at time 0: the same ellipse and the same position then, and the
    /// mean motion in longitude.
    pub(crate) fn derived(&self) -> Members {
        let ellipse = self.ellipse(0.0);
        let anomaly =
            eccentric_anomaly(ellipse.anomaly * PI / 180.0, ellipse.eccentricity) * 180.0 / PI;
        let speed = 360.0 / self.elements.period + ellipse.turning / CENTURY;
        let [x, y, z] = ellipse.periapsis.map(|part| -ellipse.axis * ellipse.eccentricity * part);
        let [turn_x, turn_y, turn_z] = turns(ellipse.periapsis, ellipse.ahead);
        let phase = anomaly - 360.0 * libm::floor(anomaly / 360.0);
        let values = [
            ellipse.axis,
            speed,
            phase,
            ellipse.axis,
            ellipse.eccentricity,
            x,
            y,
            z,
            turn_x,
            turn_y,
            turn_z,
        ];
        // Adding zero makes a negative zero positive, which JSON readers do not agree on.
        let value = |value: f64| -> Value { json!(value + 0.0) };
        DERIVED.map(|(name, _)| name.to_owned()).into_iter().zip(values.map(value)).collect()
    }
}

impl Ellipse {
    fn at(&self, eccentric: f64) -> Vector3 {
        let Self { axis, eccentricity, .. } = *self;
        let along = axis * (libm::cos(eccentric) - eccentricity);
        let across = axis * libm::sqrt(1.0 - eccentricity * eccentricity) * libm::sin(eccentric);
        let [px, py, pz] = self.periapsis;
        let [qx, qy, qz] = self.ahead;
        [px * along + qx * across, py * along + qy * across, pz * along + qz * across]
    }
}

/// Solves Kepler's equation by Newton's steps, each kept within what bisection knows. Radians.
fn eccentric_anomaly(mean: f64, eccentricity: f64) -> f64 {
    let mean = mean - 2.0 * PI * libm::round(mean / (2.0 * PI));
    let (mut least, mut most) = (mean - eccentricity, mean + eccentricity);
    let mut found = mean + eccentricity * libm::sin(mean);
    for _ in 0..MAX_STEPS {
        let wrong = found - eccentricity * libm::sin(found) - mean;
        if wrong > 0.0 {
            most = found
        } else {
            least = found
        }
        let step = wrong / (1.0 - eccentricity * libm::cos(found));
        let next = found - step;
        let next = if (least..=most).contains(&next) { next } else { (least + most) / 2.0 };
        if (next - found).abs() < 1e-15 {
            break;
        }
        found = next;
    }
    found
}

/// The turns by x, y and z in degrees, applied by z, then y, then x, that bring x to `first` and z to `second`.
fn turns(first: Vector3, second: Vector3) -> Vector3 {
    let [px, py, pz] = first;
    let [qx, qy, qz] = second;
    let y = libm::asin(qx.clamp(-1.0, 1.0));
    let (x, z) = if qx.abs() < 1.0 - 1e-12 {
        // Where y goes: its part along x.
        let yx = qy * pz - qz * py;
        (libm::atan2(-qy, qz), libm::atan2(-yx, px))
    } else {
        // The turns by x and by z have the same axis: all is put into one.
        (0.0, libm::atan2(py, -qx * pz))
    };
    [x, y, z].map(|angle| angle * 180.0 / PI)
}

//! From orbital elements to the simulator's orbit members.

use serde_json::{Value, json};

use super::table::{Body, Units};

/// J2000.0 as a Julian date.
const J2000: f64 = 2_451_545.0;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Multiples of this angle, in degrees, spread out evenly over the circle.
const GOLDEN_ANGLE: f64 = 137.507_764;

/// An ellipse around the parent. All values are zero for a body that orbits nothing.
#[derive(Debug, Default)]
pub(super) struct Orbit {
    axis: f64,
    eccentricity: f64,
    inclination: f64,
    perihelion_longitude: f64,
    anomaly: f64,
    speed: f64,
}

impl Orbit {
    /// The orbit of `body`, which is number `n` in the table.
    pub(super) fn of(body: &Body, n: u32, units: &Units) -> Self {
        let (Some(axis), Some(period)) = (body.axis_au(units), body.period_days) else {
            return Self::default();
        };
        Self {
            axis,
            eccentricity: body.eccentricity.unwrap_or_default(),
            inclination: body.inclination_deg.unwrap_or_default(),
            perihelion_longitude: body.node_deg.unwrap_or_default()
                + body.perihelion_deg.unwrap_or_default(),
            anomaly: body.mean_anomaly_deg.unwrap_or_else(|| f64::from(n) * GOLDEN_ANGLE),
            speed: 360.0 / (period * SECONDS_PER_DAY),
        }
    }

    /// Smallest distance from the parent, in astronomical units.
    pub(super) fn perihelion(&self) -> f64 {
        self.axis * (1.0 - self.eccentricity)
    }

    /// Greatest distance from the parent, in astronomical units.
    pub(super) fn aphelion(&self) -> f64 {
        self.axis * (1.0 + self.eccentricity)
    }

    /// The simulator's members for a body that is `ahead` degrees ahead of this orbit's body.
    pub(super) fn members(&self, ahead: f64) -> [(&'static str, Value); 10] {
        let [x, y, z] = self.centre();
        [
            ("orbitalDistance", json!(self.axis)),
            ("semiMajorAxis", json!(self.axis)),
            ("eccentricity", json!(self.eccentricity)),
            ("orbitalSpeed", json!(self.speed)),
            ("orbitalPhase", json!((self.anomaly + ahead).rem_euclid(360.0))),
            ("orbitOffsetX", json!(x)),
            ("orbitOffsetY", json!(y)),
            ("orbitOffsetZ", json!(z)),
            ("orbitRotX", json!(self.inclination)),
            (
                "orbitRotY",
                // Adding zero makes a negative zero positive, because JSON readers do not agree on negative zero.
                json!((-self.perihelion_longitude).rem_euclid(360.0) + 0.0),
            ),
        ]
    }

    /// The centre of the ellipse as seen from its focus: away from perihelion by axis × eccentricity.
    fn centre(&self) -> [f64; 3] {
        let (sin_p, cos_p) = self.perihelion_longitude.to_radians().sin_cos();
        let (sin_i, cos_i) = self.inclination.to_radians().sin_cos();
        let perihelion = [cos_p, -sin_p * sin_i, sin_p * cos_i];
        // Adding zero turns -0 into 0, the expected offset of a circular orbit.
        perihelion.map(|part| -self.axis * self.eccentricity * part + 0.0)
    }
}

/// Seconds of simulation time at a Julian date; `None` stays `None`.
pub(super) fn seconds_from_j2000(julian_date: Option<f64>) -> Option<f64> {
    julian_date.map(|date| ((date - J2000) * SECONDS_PER_DAY).round())
}

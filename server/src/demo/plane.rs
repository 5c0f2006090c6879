//! Planes of reference, and the angles of an orbit in one plane or another.

use universe_core::orbit::{Vector3, about_x, about_z};

/// The inclination of the ecliptic of J2000 to the equator of the ICRF, degrees.
const OBLIQUITY: f64 = 23.439_291_1;

/// The equator of a body, or another plane: its inclination to the ecliptic and its ascending node, degrees.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plane {
    pub(super) tilt: f64,
    pub(super) node: f64,
}

/// The angles of an orbit in a plane, degrees.
pub(super) struct Angles {
    pub(super) inclination: f64,
    pub(super) node: f64,
    pub(super) argument: f64,
}

impl Plane {
    /// The plane with this pole: right ascension and declination in the ICRF, degrees.
    pub(super) fn with_pole([ascension, declination]: [f64; 2]) -> Self {
        let (sin, cos) = declination.to_radians().sin_cos();
        let (y, x) = ascension.to_radians().sin_cos();
        let [x, y, z] = about_x([cos * x, cos * y, sin], -OBLIQUITY);
        Self { tilt: z.clamp(-1.0, 1.0).acos().to_degrees(), node: turn(x.atan2(-y).to_degrees()) }
    }

    /// The angle to another plane, degrees.
    pub(super) fn apart(self, other: Self) -> f64 {
        let along: f64 = self.pole().iter().zip(other.pole()).map(|(a, b)| a * b).sum();
        along.clamp(-1.0, 1.0).acos().to_degrees()
    }

    fn pole(self) -> Vector3 {
        self.outward([0.0, 0.0, 1.0])
    }

    /// From the plane's own frame, whose x points to the ascending node, to the ecliptic.
    fn outward(self, direction: Vector3) -> Vector3 {
        about_z(about_x(direction, self.tilt), self.node)
    }

    fn inward(self, direction: Vector3) -> Vector3 {
        about_x(about_z(direction, -self.node), -self.tilt)
    }

    /// How far ahead of its node on the equator of the ICRF, where published longitudes begin, its node on the
    /// ecliptic is: degrees.
    fn equinox(self) -> f64 {
        let [x, y, _] = about_x(self.pole(), OBLIQUITY);
        let node = x.atan2(-y).to_degrees();
        let [x, y, _] = self.inward(about_x(about_z([1.0, 0.0, 0.0], node), -OBLIQUITY));
        -y.atan2(x).to_degrees()
    }
}

impl Angles {
    /// The same orbit, whose angles are published in one plane, in another.
    pub(super) fn seen_from(&self, plane: Plane, other: Plane) -> Self {
        let node = self.node - plane.equinox();
        let moved = |direction| {
            let in_plane = about_z(about_x(direction, self.inclination), node);
            other.inward(plane.outward(in_plane))
        };
        let [x, y, z] = moved([0.0, 0.0, 1.0]);
        let found = turn(x.atan2(-y).to_degrees());
        let periapsis = moved(about_z([1.0, 0.0, 0.0], self.argument));
        let inclination = z.clamp(-1.0, 1.0).acos().to_degrees();
        let [x, y, _] = about_x(about_z(periapsis, -found), -inclination);
        Self { inclination, node: found, argument: turn(y.atan2(x).to_degrees()) }
    }
}

/// An angle from 0 to below 360 degrees.
pub(super) fn turn(degrees: f64) -> f64 {
    degrees.rem_euclid(360.0)
}

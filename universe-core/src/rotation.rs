//! Directions turned about the axes. Sines and cosines come from `libm`, so all machines agree on them.

use std::f64::consts::PI;

/// A position or a direction, world units: x, y and z.
pub type Vector3 = [f64; 3];

/// Turned about x by degrees, from y to z.
pub fn about_x([x, y, z]: Vector3, degrees: f64) -> Vector3 {
    let [y, z] = turned([y, z], degrees);
    [x, y, z]
}

/// Turned about y by degrees, from z to x.
pub(crate) fn about_y([x, y, z]: Vector3, degrees: f64) -> Vector3 {
    let [z, x] = turned([z, x], degrees);
    [x, y, z]
}

/// Turned about z by degrees, from x to y.
pub fn about_z([x, y, z]: Vector3, degrees: f64) -> Vector3 {
    let [x, y] = turned([x, y], degrees);
    [x, y, z]
}

fn turned([along, across]: [f64; 2], degrees: f64) -> [f64; 2] {
    let (sin, cos) = (libm::sin(degrees * PI / 180.0), libm::cos(degrees * PI / 180.0));
    [along * cos - across * sin, along * sin + across * cos]
}

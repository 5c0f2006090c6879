//! The members of a Keplerian orbit, and the units of a universe. These objects are closed: a wrong member is refused.

use crate::member::Kind::{Choice, Instant, Number, Object};
use crate::member::Mode::Part;
use crate::member::Need::{Omittable, Required};
use crate::member::{Table, row};

const PLANES: &[&str] = &["ecliptic", "parentEquator"];
const LENGTHS: &[&str] = &["m", "km", "au", "ly", "pc"];
const MASSES: &[&str] = &["kg", "earthMass", "jupiterMass", "solarMass"];
const RADII: &[&str] = &["m", "km", "au", "earthRadius", "jupiterRadius", "solarRadius"];

// Tables are read by column.
#[rustfmt::skip]
pub(crate) static ELEMENTS: Table = Table { name: "elements", members: &[
    row("semiMajorAxis", Number, Required, "the universe's length unit").only_above(0.0),
    row("eccentricity", Number, Omittable, "of a closed orbit; 0 if absent").only_within(0.0, 0.999),
    row("inclination", Number, Omittable, "to the plane, degrees; above 90 retrograde; 0 if absent").only_within(0.0, 180.0),
    row("ascendingNode", Number, Omittable, "longitude where it goes north, degrees; 0 if absent"),
    row("argumentOfPeriapsis", Number, Omittable, "from the node to the periapsis, degrees; 0 if absent"),
    row("meanAnomaly", Number, Omittable, "at the epoch, degrees; 0 if absent"),
    row("period", Number, Required, "seconds from periapsis to periapsis").only_above(0.0),
    row("epoch", Instant, Omittable, "a date or simulated seconds; 0 if absent"),
    row("rates", Object(&RATES, Part), Omittable, "changes in a Julian century"),
    row("plane", Choice(PLANES), Omittable, "what the angles are measured from; ecliptic if absent"),
] };

#[rustfmt::skip]
pub(crate) static RATES: Table = Table { name: "rates", members: &[
    row("semiMajorAxis", Number, Omittable, "length units in a century"),
    row("eccentricity", Number, Omittable, "in a century"),
    row("inclination", Number, Omittable, "degrees in a century"),
    row("ascendingNode", Number, Omittable, "degrees in a century"),
    row("argumentOfPeriapsis", Number, Omittable, "degrees in a century"),
    row("meanAnomaly", Number, Omittable, "degrees in a century, beside the motion by the period"),
    row("period", Number, Omittable, "seconds in a century"),
] };

#[rustfmt::skip]
pub(crate) static UNITS: Table = Table { name: "units", members: &[
    row("length", Choice(LENGTHS), Omittable, "of distances and positions"),
    row("mass", Choice(MASSES), Omittable, "of masses"),
    row("radius", Choice(RADII), Omittable, "of radii"),
] };

/// Whether an object of this type has only known members.
pub(crate) fn is_closed(table: &Table) -> bool {
    [&ELEMENTS, &RATES, &UNITS].into_iter().any(|closed| std::ptr::eq(closed, table))
}

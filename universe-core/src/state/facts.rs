//! What follows from the members of a body in a universe that names its units: computed for each answer, never stored.

use std::f64::consts::TAU;

use serde_json::Value;

use super::State;
use crate::entity::Star;

/// Kilometres in each unit of length and of radius.
const KILOMETRES: [(&str, f64); 8] = [
    ("m", 1e-3),
    ("km", 1.0),
    ("au", 149_597_870.7),
    ("ly", 9.460_730_472_580_8e12),
    ("pc", 3.085_677_581_491_367e13),
    ("earthRadius", 6_371.0),
    ("jupiterRadius", 69_911.0),
    ("solarRadius", 695_700.0),
];

/// Kilograms in each unit of mass.
const KILOGRAMS: [(&str, f64); 4] = [
    ("kg", 1.0),
    ("earthMass", 5.9722e24),
    ("jupiterMass", 1.898_125e27),
    ("solarMass", 1.988_41e30),
];

/// The constant of gravitation, in m³ kg⁻¹ s⁻².
const GRAVITATION: f64 = 6.674_3e-11;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// How much a stored fact may differ from the computed one, as a part of it.
const TOLERANCE: f64 = 0.002;

impl State {
    /// The names of [`facts`](Self::facts).
    pub const FACTS: [&'static str; 4] = ["massKg", "radiusKm", "semiMajorAxisKm", "periodDays"];

    /// What follows from the members of a body and the `units` of the universe, with six digits: `massKg`, `radiusKm`
    /// (Earth's is the mean one, 6371 km), `semiMajorAxisKm` and `periodDays`, each where its unit is named and
    /// the body has no such member that agrees. A stored one may be from before a change. Empty without `units`.
    pub fn facts(&self, star: &Star) -> Vec<(&'static str, f64)> {
        let units = [("mass", &KILOGRAMS[..]), ("radius", &KILOMETRES), ("length", &KILOMETRES)];
        let [mass, radius, length] = units.map(|(of, table)| self.size(of, table));
        if mass.or(radius).or(length).is_none() {
            return Vec::new();
        }
        let number = |name| star.get(name).and_then(Value::as_f64);
        let axis = number("semiMajorAxis").or(number("orbitalDistance")).filter(|axis| *axis > 0.0);
        let speed = number("orbitalSpeed").filter(|speed| *speed != 0.0 && axis.is_some());
        let facts = [
            mass.zip(number("mass")).map(|(unit, mass)| mass * unit),
            radius.zip(number("radius")).map(|(unit, radius)| radius * unit),
            length.zip(axis).map(|(unit, axis)| axis * unit),
            speed.map(|speed| 360.0 / speed.abs() / SECONDS_PER_DAY),
        ];
        let facts = Self::FACTS.into_iter().zip(facts);
        let facts = facts.filter_map(|(name, fact)| Some((name, fact?)));
        // A stored one that agrees may be more exact, or be written in another way.
        let is_off = |(name, fact): &(&str, f64)| {
            let stored = star.get(name).and_then(|stored| match stored {
                Value::String(text) => text.parse::<f64>().ok(),
                stored => stored.as_f64(),
            });
            stored.is_none_or(|stored| (stored - fact).abs() > fact.abs() * TOLERANCE)
        };
        facts.filter(is_off).map(|(name, fact)| (name, six_digits(fact))).collect()
    }

    /// The period by Kepler's third law, in seconds with six digits. `None` unless the units of length and mass are
    /// named, and the body moves round one with a mass.
    pub(crate) fn lawful_period(&self, star: &Star) -> Option<f64> {
        let number = |star: &Star, name| star.get(name).and_then(Value::as_f64);
        let parent = number(self.star(star.parent_id()?)?, "mass").filter(|mass| *mass > 0.0)?;
        let mass = parent + number(star, "mass").unwrap_or_default().max(0.0);
        let axis = number(star, "semiMajorAxis")? * self.size("length", &KILOMETRES)? * 1e3;
        let pull = GRAVITATION * mass * self.size("mass", &KILOGRAMS)?;
        Some(six_digits(TAU * (axis.powi(3) / pull).sqrt()))
    }

    /// The size of a unit that the universe names, in that of the table.
    fn size(&self, of: &str, table: &[(&str, f64)]) -> Option<f64> {
        let unit = self.unit(of)?;
        table.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
    }
}

/// The number rounded to six digits. Never a negative zero.
pub fn six_digits(number: f64) -> f64 {
    format!("{:.5e}", number + 0.0).parse().unwrap_or(number)
}

//! What follows from the members of a body in a universe that names its units: computed for each answer, never stored.

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

const SECONDS_PER_DAY: f64 = 86_400.0;

/// How much a stored fact may differ from the computed one, as a part of it.
const TOLERANCE: f64 = 0.002;

impl State {
    /// The names of [`facts`](Self::facts).
    pub const FACTS: [&'static str; 4] = ["massKg", "radiusKm", "semiMajorAxisKm", "periodDays"];

    /// What follows from the members of a body and the `units` of the universe, with six digits: `massKg`, `radiusKm`
    /// (Earth's is the mean one, 6371 km), `semiMajorAxisKm` and `periodDays`, each where its unit is named and
    /// the body has no such member that agrees. A stored one may be from before a change. Empty without `units`.
    #[must_use]
    pub fn facts(&self, star: &Star) -> Vec<(&'static str, f64)> {
        let units = [("mass", &KILOGRAMS[..]), ("radius", &KILOMETRES), ("length", &KILOMETRES)];
        let [mass, radius, length] = units.map(|(of, table)| {
            let unit = self.unit(of)?;
            table.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
        });
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
}

/// The number rounded to six digits. Never a negative zero.
#[must_use]
pub fn six_digits(number: f64) -> f64 {
    format!("{:.5e}", number + 0.0).parse().unwrap_or(number)
}

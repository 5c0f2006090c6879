//! The systems that a jump drive reaches.

use std::collections::BTreeMap;

use super::{Invalid, Limited};
use crate::map::{Map, Space, SystemIndex};

/// The length of a light year in the game.
pub const METRES_PER_LIGHT_YEAR: f64 = 9.46e15;

/// A system in range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InRange {
    /// The system.
    pub system: SystemIndex,
    /// How far it is.
    pub light_years: f64,
}

/// The systems that a jump drive reaches, and how many in range cannot be entered.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The systems that can be entered.
    pub found: Limited<InRange>,
    /// How many systems in range a drive cannot enter, by kind of space.
    pub closed: BTreeMap<Space, usize>,
}

/// Why a jump range cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JumpRangeError {
    /// A range that is not a distance.
    Invalid(Invalid),
    /// The map has no position for the origin. If its file has no positions, no system has one.
    NoPosition(SystemIndex),
    /// The origin is in space where jump drives do not work.
    NoWayOut(SystemIndex),
}

/// The systems that a ship with a jump drive reaches from here in one jump, by distance, then by name, without the
/// origin. [`Space`] has the rules for where drives work, and their sources. Systems without a known position are left
/// out.
///
/// # Errors
/// [`JumpRangeError`]
pub fn jump_range(
    map: &Map,
    origin: SystemIndex,
    light_years: f64,
    limit: usize,
) -> Result<Range, JumpRangeError> {
    if !(light_years.is_finite() && light_years > 0.0) {
        let reason = "must be above 0".to_owned();
        let invalid = Invalid::new("light_years", light_years, reason);
        return Err(JumpRangeError::Invalid(invalid));
    }
    if !Space::of(map, origin).lets_drives_out() {
        return Err(JumpRangeError::NoWayOut(origin));
    }
    if map.system(origin).position.is_none() {
        return Err(JumpRangeError::NoPosition(origin));
    }
    let mut in_range = Vec::new();
    let mut closed = BTreeMap::new();
    for system in map.indices().filter(|it| *it != origin) {
        let far = light_years_between(map, origin, system).filter(|far| *far <= light_years);
        let Some(light_years) = far else {
            continue;
        };
        let space = Space::of(map, system);
        if space.lets_drives_in() {
            in_range.push(InRange { system, light_years })
        } else {
            *closed.entry(space).or_default() += 1
        }
    }
    let name = |it: &InRange| &map.system(it.system).name;
    let order = |a: &InRange, b: &InRange| {
        let by_distance = a.light_years.total_cmp(&b.light_years);
        by_distance.then_with(|| name(a).cmp(name(b)))
    };
    Ok(Range { found: Limited::first(in_range, limit, order), closed })
}

/// The distance between two systems; `None` if the position of one is not known.
pub fn light_years_between(map: &Map, a: SystemIndex, b: SystemIndex) -> Option<f64> {
    let (a, b) = (map.system(a).position?, map.system(b).position?);
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    Some(squares.sum::<f64>().sqrt() / METRES_PER_LIGHT_YEAR)
}

impl JumpRangeError {
    /// The reason as a sentence.
    pub fn sentence(&self, map: &Map) -> String {
        match self {
            Self::Invalid(invalid) => invalid.to_string(),
            Self::NoPosition(system) => format!(
                "the map does not say where {} is; a map with positions is needed",
                map.system(*system).name
            ),
            Self::NoWayOut(system) => format!(
                "{} is in {}, where jump drives do not work",
                map.system(*system).name,
                Space::of(map, *system)
            ),
        }
    }
}

//! What a jump drive reaches.

use super::{Found, Invalid};
use crate::map::{Map, SecurityClass, SystemIndex};

/// What the game takes for a light year.
pub const METRES_PER_LIGHT_YEAR: f64 = 9.46e15;

/// Ids of systems that are no part of known space (wormholes, abyssal and void space): no beacon is lit there.
const BEYOND_KNOWN_SPACE: std::ops::Range<u32> = 31_000_000..40_000_000;

/// A system in range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InRange {
    /// The system.
    pub system: SystemIndex,
    /// How far it is.
    pub light_years: f64,
}

/// No answer about a jump drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JumpRangeError {
    /// A range that is no distance.
    Invalid(Invalid),
    /// The map does not say where the origin is; nor where anything is, if its file has no positions.
    NoPosition(SystemIndex),
    /// The origin is beyond known space, where jump drives do not work.
    BeyondKnownSpace(SystemIndex),
}

/// The systems that a ship with a jump drive reaches from here in one jump, by distance, then by name. High security cannot
/// be jumped into, but out of. The origin is left out, and so are systems whose position the map does not know, and what
/// lies beyond known space. Special rules of the game for single places are not on the map and not known here.
///
/// # Errors
/// [`JumpRangeError`]
///
/// # Panics
/// With handles of another, larger map.
pub fn jump_range(
    map: &Map,
    origin: SystemIndex,
    light_years: f64,
    limit: usize,
) -> Result<Found<InRange>, JumpRangeError> {
    if !(light_years.is_finite() && light_years > 0.0) {
        let reason = "must be above 0".to_owned();
        let invalid = Invalid::new("light_years", light_years, reason);
        return Err(JumpRangeError::Invalid(invalid));
    }
    if BEYOND_KNOWN_SPACE.contains(&map.system(origin).id) {
        return Err(JumpRangeError::BeyondKnownSpace(origin));
    }
    if map.system(origin).position.is_none() {
        return Err(JumpRangeError::NoPosition(origin));
    }
    let enterable = map.indices().filter(|it| {
        let system = map.system(*it);
        *it != origin
            && system.class != SecurityClass::High
            && !BEYOND_KNOWN_SPACE.contains(&system.id)
    });
    let in_range = enterable.filter_map(|system| {
        let far = light_years_between(map, origin, system)?;
        (far <= light_years).then_some(InRange {
            system,
            light_years: far,
        })
    });
    let name = |it: &InRange| &map.system(it.system).name;
    Ok(Found::first(in_range.collect(), limit, |a, b| {
        a.light_years
            .total_cmp(&b.light_years)
            .then_with(|| name(a).cmp(name(b)))
    }))
}

/// How far two systems are apart; `None` if the map does not say where one is.
///
/// # Panics
/// With handles of another, larger map.
#[must_use]
pub fn light_years_between(map: &Map, a: SystemIndex, b: SystemIndex) -> Option<f64> {
    let (a, b) = (map.system(a).position?, map.system(b).position?);
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    Some(squares.sum::<f64>().sqrt() / METRES_PER_LIGHT_YEAR)
}

impl JumpRangeError {
    /// The reason as a sentence.
    ///
    /// # Panics
    /// With handles of another, larger map.
    #[must_use]
    pub fn sentence(&self, map: &Map) -> String {
        match self {
            Self::Invalid(invalid) => invalid.to_string(),
            Self::NoPosition(system) => format!(
                "the map does not say where {} is; a map with positions is needed",
                map.system(*system).name
            ),
            Self::BeyondKnownSpace(system) => format!(
                "{} is not in known space, where alone jump drives work",
                map.system(*system).name
            ),
        }
    }
}

//! The systems that a jump drive reaches.

use std::collections::{BTreeMap, HashMap};

use super::Limited;
use crate::errors::InvalidParameterError as Invalid;
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
    /// The destination is in space where no jump ends.
    NoWayIn(SystemIndex),
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
    leaves(map, origin, light_years)?;
    let mut in_range = Vec::new();
    let mut closed = BTreeMap::new();
    for system in map.indices().filter(|it| *it != origin) {
        let far = light_years_between(map, origin, system).filter(|far| *far <= light_years);
        let Some(light_years) = far else {
            continue;
        };
        let space = map.space(system).without_class();
        if space.lets_drives_in() {
            in_range.push(InRange { system, light_years })
        } else {
            *closed.entry(space).or_default() += 1
        }
    }
    let name = |it: &InRange| map.name(it.system);
    let order = |a: &InRange, b: &InRange| {
        let by_distance = a.light_years.total_cmp(&b.light_years);
        by_distance.then_with(|| name(a).cmp(name(b)))
    };
    Ok(Range { found: Limited::first(in_range, limit, order), closed })
}

/// The jumps of a ship with a jump drive from one system to another, as few as possible, and among those the shortest
/// in light years: where each jump ends, and how far it goes. `None` if there is no way. No jump ends in a system that
/// is only an end ([`Map::only_ends`]), unless it is the destination: no source says that a drive can be led there.
///
/// Each level of the search measures all systems that are left from all that the level before has reached: some ten
/// milliseconds in New Eden.
///
/// # Errors
/// [`JumpRangeError`], also for a destination that drives do not reach.
pub fn jump_plan(
    map: &Map,
    origin: SystemIndex,
    destination: SystemIndex,
    light_years: f64,
) -> Result<Option<Vec<InRange>>, JumpRangeError> {
    leaves(map, origin, light_years)?;
    if !map.space(destination).lets_drives_in() {
        return Err(JumpRangeError::NoWayIn(destination));
    }
    let ends = |it: &SystemIndex| {
        map.space(*it).lets_drives_in() && !map.only_ends().contains(it) || *it == destination
    };
    let mut left: Vec<SystemIndex> = map.indices().filter(|it| ends(it) && *it != origin).collect();
    // For each system, the light years of the way to it, and the last jump of it.
    let mut reached: HashMap<SystemIndex, (f64, SystemIndex, f64)> = HashMap::new();
    let mut level = vec![(origin, 0.0)];
    while !level.is_empty() && !reached.contains_key(&destination) {
        let mut next = Vec::new();
        left.retain(|&system| {
            let jumps = level.iter().filter_map(|&(from, before)| {
                let far = light_years_between(map, from, system)?;
                (far <= light_years).then_some((before + far, from, far))
            });
            let best = jumps.min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some(best) = best {
                reached.insert(system, best);
                next.push((system, best.0));
            }
            best.is_none()
        });
        level = next;
    }
    let mut jumps = Vec::new();
    let mut here = destination;
    while here != origin {
        let Some(&(_, from, light_years)) = reached.get(&here) else {
            return Ok(None);
        };
        jumps.push(InRange { system: here, light_years });
        here = from;
    }
    jumps.reverse();
    Ok(Some(jumps))
}

/// The range of the drive of a kind of ship in light years, before the skill Jump Drive Calibration, which adds a fifth
/// for each of its five levels (EVE University wiki, "Jump drives"). Ships that differ from their class have an entry.
pub const DRIVES: [(&str, f64); 13] = [
    ("jump_freighter", 5.0),
    ("rorqual", 5.0),
    ("black_ops", 4.0),
    ("carrier", 3.5),
    ("dreadnought", 3.5),
    ("force_auxiliary", 3.5),
    ("supercarrier", 3.0),
    ("titan", 3.0),
    ("rhea", 5.0),
    ("anshar", 5.0),
    ("ark", 5.0),
    ("nomad", 5.0),
    ("fax", 3.5),
];

/// Checks that a ship can leave here, and that its range is a distance.
fn leaves(map: &Map, origin: SystemIndex, light_years: f64) -> Result<(), JumpRangeError> {
    if !(light_years.is_finite() && light_years > 0.0) {
        let invalid = Invalid::new("light_years", light_years, "must be above 0");
        return Err(JumpRangeError::Invalid(invalid));
    }
    if !map.space(origin).lets_drives_out() {
        return Err(JumpRangeError::NoWayOut(origin));
    }
    if map.system(origin).position.is_none() {
        return Err(JumpRangeError::NoPosition(origin));
    }
    Ok(())
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
                map.name(*system)
            ),
            Self::NoWayIn(system) => format!(
                "{} is in {}, where no jump ends: no cynosural field can be lit there",
                map.name(*system),
                map.space(*system).without_class()
            ),
            Self::NoWayOut(system) => format!(
                "{} is in {}, where jump drives do not work",
                map.name(*system),
                map.space(*system).without_class()
            ),
        }
    }
}

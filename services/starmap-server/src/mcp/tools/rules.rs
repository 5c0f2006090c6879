//! The line of an answer that a rule of the game changed.

use crate::explore::matrix;
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Travel, Warning};

/// What the rules mean for an answer about the surroundings of a system: `again` gives the same answer without them, if
/// it can be given.
pub(crate) fn around<T: PartialEq>(
    map: &Map,
    travel: &Travel,
    origin: Option<SystemIndex>,
    found: &T,
    again: impl FnOnce(&Travel) -> Option<T>,
) -> Vec<String> {
    let lifted = travel.lifted(map).and_then(|lifted| again(&lifted));
    let changed = lifted.is_some_and(|lifted| lifted != *found);
    let left_out = held(map, travel).next().filter(|_| changed);
    locked(map, travel, origin)
        .into_iter()
        .chain(left_out.and_then(|it| not_passed(map, it)))
        .collect()
}

/// What the rules mean for ways from some systems to others.
pub(super) fn between(
    map: &Map,
    travel: &Travel,
    [from, to]: [&[SystemIndex]; 2],
    avoid: &Avoid,
) -> Option<String> {
    let known = matrix(map, from, to, avoid, travel);
    let through = held(map, travel).find(|end| {
        let there = matrix(map, from, &[*end], avoid, travel);
        let on = matrix(map, &[*end], to, avoid, travel);
        let on = on.first().map_or(&[][..], Vec::as_slice);
        there.iter().zip(&known).any(|(there, row)| {
            let there = there.first().copied().flatten();
            let cells = row.iter().zip(on);
            let both = |on: &Option<u32>| Some(there? + (*on)?);
            cells
                .into_iter()
                .any(|(known, on)| both(on).is_some_and(|both| known.is_none_or(|it| both < it)))
        })
    });
    through.and_then(|end| not_passed(map, end))
}

/// The warning that the way out of the origin may be closed.
pub(super) fn locked(map: &Map, travel: &Travel, origin: Option<SystemIndex>) -> Option<String> {
    let origin = origin.filter(|it| !travel.may_pass(map, *it))?;
    Some(Warning::Locked(origin).sentence(map))
}

/// The systems that are only an end for this travel.
fn held(map: &Map, travel: &Travel) -> impl Iterator<Item = SystemIndex> {
    map.only_ends().iter().copied().filter(|it| !travel.may_pass(map, *it))
}

fn not_passed(map: &Map, end: SystemIndex) -> Option<String> {
    let rule = map.only_end(end)?.sentence();
    Some(format!("No way through {} is counted: {rule}", map.system(end).name))
}

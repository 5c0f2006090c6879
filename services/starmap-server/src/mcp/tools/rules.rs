//! The lines of an answer that rules of the game changed.

use crate::explore::matrix;
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Travel, Warning};

/// What the rules mean for an answer about the surroundings of a system: `again` gives the same answer without a rule,
/// if it can be given.
pub(crate) fn around<T: PartialEq>(
    map: &Map,
    travel: &Travel,
    origin: Option<SystemIndex>,
    found: &T,
    again: impl Fn(&Travel) -> Option<T>,
) -> Vec<String> {
    let changed = travel.held(map).filter(|rule| {
        let lifted = again(&travel.clone().allowing([rule.word]));
        lifted.is_some_and(|lifted| lifted != *found)
    });
    let changed = changed.map(|rule| format!("A rule leaves out some ways: {}", rule.sentence()));
    locked(map, travel, origin).into_iter().chain(changed).collect()
}

/// What the rules mean for ways from some systems to others.
pub(super) fn between(
    map: &Map,
    travel: &Travel,
    [from, to]: [&[SystemIndex]; 2],
    avoid: &Avoid,
) -> Vec<String> {
    let known = matrix(map, from, to, avoid, travel);
    let again = |travel: &_| Some(matrix(map, from, to, avoid, travel));
    around(map, travel, None, &known, again)
}

/// The warning that the way out of the origin may be closed.
pub(super) fn locked(map: &Map, travel: &Travel, origin: Option<SystemIndex>) -> Option<String> {
    let origin = origin.filter(|it| !travel.may_pass(map, *it))?;
    Some(Warning::Locked(origin).sentence(map))
}

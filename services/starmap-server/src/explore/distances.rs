//! The distances between many systems.

use crate::errors::InvalidParameterError as Invalid;
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Travel, Walk};

/// The most systems on each side of a matrix.
pub const MAX_DISTANCES: usize = 100;

/// The fewest jumps from each of `from` (a row) to each of `to` (a column), by gates and extra connections of any cost.
/// `None` if there is no route. Avoided systems are not passed through, but may be an end.
///
/// # Errors
/// [`Invalid`] for no systems or more than [`MAX_DISTANCES`] on a side.
pub fn distances(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    avoid: &Avoid,
    travel: &Travel,
) -> Result<Vec<Vec<Option<u32>>>, Invalid> {
    Invalid::unless_within("from", from.len(), 1..=MAX_DISTANCES)?;
    Invalid::unless_within("to", to.len(), 1..=MAX_DISTANCES)?;
    Ok(matrix(map, from, to, avoid, travel))
}

/// The same without the limit: a walk for each row, some tens of microseconds on the map of New Eden.
pub(crate) fn matrix(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    avoid: &Avoid,
    travel: &Travel,
) -> Vec<Vec<Option<u32>>> {
    let mut walk = Walk::new(map);
    let row = |from: &SystemIndex| {
        walk.run(map, travel, *from, u32::MAX, |system| !avoid.contains(system));
        let ends = to.iter().map(|to| {
            if avoid.contains(*to) && to != from {
                // An avoided end is entered, and not passed.
                walk.jumps_into(map, travel, *to)
            } else {
                walk.jumps(*to)
            }
        });
        ends.collect()
    };
    from.iter().map(row).collect()
}

//! How far many systems are from each other.

use std::mem;

use super::Invalid;
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Extras, PerSystem};

/// The most systems on each side of a matrix.
pub const MAX_DISTANCES: usize = 100;

/// The jumps from each of `from` (a row) to each of `to` (a column): the fewest, by gates and extra connections whatever
/// they cost. `None` where there is no way. What is avoided is not passed through, but may be an end.
///
/// # Errors
/// [`Invalid`] for no systems or more than [`MAX_DISTANCES`] on a side.
///
/// # Panics
/// With handles of another, larger map.
pub fn distances(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    avoid: &Avoid,
    extras: &Extras,
) -> Result<Vec<Vec<Option<u32>>>, Invalid> {
    Invalid::unless_within("from", from.len(), 1, MAX_DISTANCES)?;
    Invalid::unless_within("to", to.len(), 1, MAX_DISTANCES)?;
    Ok(matrix(map, from, to, extras, |it| !avoid.contains(it)))
}

const NOT_REACHED: u32 = u32::MAX;

/// The same without bounds.
pub(crate) fn matrix(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    extras: &Extras,
    may_pass: impl Fn(SystemIndex) -> bool,
) -> Vec<Vec<Option<u32>>> {
    let mut is_wanted = PerSystem::new(map, false);
    let mut wanted = 0;
    for system in to {
        wanted += usize::from(!mem::replace(&mut is_wanted[*system], true));
    }
    let mut jumps = PerSystem::new(map, NOT_REACHED);
    let mut reached: Vec<SystemIndex> = Vec::new();
    let rows = from.iter().map(|origin| {
        for system in reached.drain(..) {
            jumps[system] = NOT_REACHED;
        }
        jumps[*origin] = 0;
        reached.push(*origin);
        let mut missing = wanted - usize::from(is_wanted[*origin]);
        let mut at = 0;
        while let (Some(&here), 1..) = (reached.get(at), missing) {
            at += 1;
            // It is an end; it is not passed through.
            if here != *origin && !may_pass(here) {
                continue;
            }
            let next = jumps[here] + 1;
            let extra = extras.leading_from(here);
            map.neighbours(here)
                .iter()
                .copied()
                .chain(extra)
                .for_each(|far| {
                    if jumps[far] == NOT_REACHED {
                        jumps[far] = next;
                        reached.push(far);
                        missing -= usize::from(is_wanted[far]);
                    }
                });
        }
        let cells = to.iter().map(|system| jumps[*system]);
        cells
            .map(|jumps| (jumps != NOT_REACHED).then_some(jumps))
            .collect()
    });
    rows.collect()
}

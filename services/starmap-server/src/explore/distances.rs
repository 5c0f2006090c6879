//! How far many systems are from each other.

use std::collections::HashMap;
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

/// How many origins are walked from at once: each is a bit of a `u128`.
pub(crate) const MOST_ORIGINS: usize = 128;

/// The same for at most [`MOST_ORIGINS`] origins; rows of others stay empty. Systems that may not be passed can be ends.
pub(crate) fn matrix(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    extras: &Extras,
    may_pass: impl Fn(SystemIndex) -> bool,
) -> Vec<Vec<Option<u32>>> {
    let mut columns: HashMap<SystemIndex, Vec<usize>> = HashMap::new();
    // Asked at every step, where a hash would take longer than the step.
    let mut is_wanted = PerSystem::new(map, false);
    for (column, system) in to.iter().enumerate() {
        columns.entry(*system).or_default().push(column);
        is_wanted[*system] = true;
    }
    let mut matrix = vec![vec![None; to.len()]; from.len()];
    // Of each origin a bit: where it has been, where it is now, where it is next.
    let mut been: PerSystem<u128> = PerSystem::new(map, 0);
    let mut now: PerSystem<u128> = PerSystem::new(map, 0);
    let mut next: PerSystem<u128> = PerSystem::new(map, 0);
    let mut front = Vec::new();
    for (bit, system) in from.iter().take(MOST_ORIGINS).enumerate() {
        if now[*system] == 0 {
            front.push(*system);
        }
        now[*system] |= 1 << bit;
        been[*system] |= 1 << bit;
    }
    let mut ahead = Vec::new();
    let mut missing = from.len() * to.len();
    let mut jumps = 0;
    while missing > 0 && !front.is_empty() {
        for here in front.iter().filter(|here| is_wanted[**here]) {
            for column in columns.get(here).into_iter().flatten() {
                for (bit, row) in matrix.iter_mut().take(MOST_ORIGINS).enumerate() {
                    if now[*here] & (1 << bit) != 0
                        && let Some(cell) = row.get_mut(*column)
                    {
                        *cell = Some(jumps);
                        missing -= 1;
                    }
                }
            }
        }
        for here in front.drain(..) {
            let leaving = mem::take(&mut now[here]);
            // It was an end; it is not passed through.
            if jumps > 0 && !may_pass(here) {
                continue;
            }
            let extra = extras.leading_from(here);
            for far in map.neighbours(here).iter().copied().chain(extra) {
                let new = leaving & !been[far];
                if new != 0 {
                    if next[far] == 0 {
                        ahead.push(far);
                    }
                    next[far] |= new;
                    been[far] |= new;
                }
            }
        }
        mem::swap(&mut now, &mut next);
        mem::swap(&mut front, &mut ahead);
        jumps += 1;
    }
    matrix
}

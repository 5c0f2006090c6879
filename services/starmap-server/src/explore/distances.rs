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

/// A set of origins, with a bit for each.
///
/// All of them are searched from at once (multi-source breadth-first search, as in Then and others, "The More the Merrier",
/// 2014): a level for many origins takes hardly longer than one for a single origin.
type Origins<const WORDS: usize> = [u64; WORDS];

/// How many origins a word holds.
const PER_WORD: usize = u64::BITS as usize;

/// After so many levels it is looked whether there was anything new, which ends searches for what cannot be reached, and
/// which jumps lead nowhere new.
const LEVELS_BETWEEN_LOOKS: u32 = 8;

/// The same without bounds.
pub(crate) fn matrix(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    extras: &Extras,
    may_pass: impl Fn(SystemIndex) -> bool,
) -> Vec<Vec<Option<u32>>> {
    let passages = Passages::new(map, extras, may_pass);
    let mut rows = vec![vec![None; to.len()]; from.len()];
    if from.len() <= PER_WORD {
        fill::<1>(&mut rows, map, from, to, extras, &passages);
        return rows;
    }
    // Two words take less time than one word twice.
    const AT_ONCE: usize = 2 * PER_WORD;
    for (from, rows) in from.chunks(AT_ONCE).zip(rows.chunks_mut(AT_ONCE)) {
        fill::<2>(rows, map, from, to, extras, &passages);
    }
    rows
}

/// The jumps that lead on from systems that may be passed.
#[derive(Clone)]
struct Passages {
    /// Those that can be taken both ways, once each.
    both_ways: Vec<(SystemIndex, SystemIndex)>,
    one_way: Vec<(SystemIndex, SystemIndex)>,
}

impl Passages {
    fn new(map: &Map, extras: &Extras, may_pass: impl Fn(SystemIndex) -> bool) -> Self {
        let mut it = Self {
            both_ways: Vec::with_capacity(map.connections()),
            one_way: Vec::new(),
        };
        for near in map.indices().filter(|near| may_pass(*near)) {
            for &far in map.neighbours(near) {
                match may_pass(far) {
                    true if near < far => it.both_ways.push((near, far)),
                    true => {}
                    false => it.one_way.push((near, far)),
                }
            }
        }
        let extras = extras.steps().filter(|(near, _)| may_pass(*near));
        it.one_way.extend(extras);
        it
    }

    /// Whoever is at one end of a jump will be at the other.
    fn take<const WORDS: usize>(
        &self,
        now: &PerSystem<Origins<WORDS>>,
        then: &mut PerSystem<Origins<WORDS>>,
    ) {
        for &(a, b) in &self.both_ways {
            join(&mut then[b], &now[a]);
            join(&mut then[a], &now[b]);
        }
        for &(near, far) in &self.one_way {
            join(&mut then[far], &now[near]);
        }
    }
}

fn join<const WORDS: usize>(set: &mut Origins<WORDS>, other: &Origins<WORDS>) {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
}

fn only<const WORDS: usize>(row: usize) -> Origins<WORDS> {
    std::array::from_fn(|word| match word == row / PER_WORD {
        true => 1 << (row % PER_WORD),
        false => 0,
    })
}

/// Fills in the rows of at most as many origins as there are bits.
fn fill<const WORDS: usize>(
    rows: &mut [Vec<Option<u32>>],
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    extras: &Extras,
    passages: &Passages,
) {
    let mut passages = passages.clone();
    let all = (0..rows.len()).fold([0; WORDS], |mut all, row| {
        join(&mut all, &only(row));
        all
    });
    // By system, from where it has been reached; and by column, what of that is in the rows.
    let mut reached = PerSystem::new(map, [0; WORDS]);
    let mut told = vec![[0; WORDS]; to.len()];
    let mut missing = rows.len() * to.len();
    let mut tell = |jumps: u32, reached: &PerSystem<Origins<WORDS>>| {
        for ((column, system), told) in to.iter().enumerate().zip(&mut told) {
            for ((word, now), told) in reached[*system].iter().enumerate().zip(told) {
                let mut new = now & !mem::replace(told, *now);
                while new != 0 {
                    let row = rows.get_mut(word * PER_WORD + new.trailing_zeros() as usize);
                    if let Some(cell) = row.and_then(|row| row.get_mut(column)) {
                        *cell = Some(jumps);
                    }
                    missing -= 1;
                    new &= new - 1;
                }
            }
        }
        missing == 0
    };
    for (row, origin) in from.iter().enumerate() {
        join(&mut reached[*origin], &only(row));
    }
    let mut complete = tell(0, &reached);
    // An origin is left even if it may not be passed.
    for (row, origin) in from.iter().enumerate() {
        let extra = extras.leading_from(*origin);
        for far in map.neighbours(*origin).iter().copied().chain(extra) {
            join(&mut reached[far], &only(row));
        }
    }
    complete = complete || tell(1, &reached);
    // What is one level behind can be used for the next one: all that it lacks comes once more from where it came from.
    let mut next = reached.clone();
    let mut jumps = 1;
    while !complete {
        jumps += 1;
        passages.take(&reached, &mut next);
        complete = tell(jumps, &next);
        if jumps % LEVELS_BETWEEN_LOOKS == 0 && !complete {
            complete = next == reached;
            // Between systems that all origins have reached nothing new can go; both tables must have it so.
            let done = |it: SystemIndex| reached[it] == all && next[it] == all;
            passages.both_ways.retain(|&(a, b)| !(done(a) && done(b)));
        }
        mem::swap(&mut reached, &mut next);
    }
}

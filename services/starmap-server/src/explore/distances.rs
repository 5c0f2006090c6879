//! The distances between many systems.

use std::mem;

use super::Invalid;
use super::passages::{Entered, LEVELS, Passages};
use crate::map::{Map, SystemIndex};
use crate::route::{Avoid, Travel};

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
    Invalid::unless_within("from", from.len(), 1, MAX_DISTANCES)?;
    Invalid::unless_within("to", to.len(), 1, MAX_DISTANCES)?;
    Ok(matrix(map, from, to, avoid, travel))
}

/// A set of origins, with a bit for each.
///
/// All of them are searched from at once (multi-source breadth-first search, as in Then and others, "The More the
/// Merrier", 2014). A level for many origins takes hardly longer than a level for a single origin.
type Origins<const WORDS: usize> = [u64; WORDS];

/// The number of origins in a word.
const PER_WORD: usize = u64::BITS as usize;

/// The number of levels between two checks. A check ends a search that makes no more progress, because the remaining
/// systems are unreachable, and drops systems that are complete.
const LEVELS_BETWEEN_LOOKS: usize = 8;

/// The same without the limit.
pub(crate) fn matrix(
    map: &Map,
    from: &[SystemIndex],
    to: &[SystemIndex],
    avoid: &Avoid,
    travel: &Travel,
) -> Vec<Vec<Option<u32>>> {
    if avoid.is_nothing()
        && travel.list().is_empty()
        && travel.obeys_all(map)
        && let Some(hubs) = map.hubs()
    {
        return hubs.matrix(map, from, to);
    }
    let may_pass = |system| !avoid.contains(system) && travel.may_pass(map, system);
    // Two words at once take less time than one word twice.
    const AT_ONCE: usize = 2 * PER_WORD;
    let mut rows = vec![vec![None; to.len()]; from.len()];
    for (from, rows) in from.chunks(AT_ONCE).zip(rows.chunks_mut(AT_ONCE)) {
        let passages = Passages::new(map, travel, [from, to], may_pass);
        match from.len() {
            ..=PER_WORD => fill::<1>(rows, from, to, passages),
            _ => fill::<2>(rows, from, to, passages),
        }
    }
    rows
}

fn only<const WORDS: usize>(row: usize) -> Origins<WORDS> {
    std::array::from_fn(|word| if word == row / PER_WORD { 1 << (row % PER_WORD) } else { 0 })
}

fn joined<const WORDS: usize>(mut set: Origins<WORDS>, other: &Origins<WORDS>) -> Origins<WORDS> {
    for (word, other) in set.iter_mut().zip(other) {
        *word |= other;
    }
    set
}

/// For each of the last levels, the origins that have reached each node. The newest level is the number of jumps
/// counted.
struct Levels<const WORDS: usize> {
    /// By level and node: a ring with one level more than the jumps of the longest passage.
    ring: Vec<Origins<WORDS>>,
    nodes: usize,
    jumps: usize,
}

impl<const WORDS: usize> Levels<WORDS> {
    /// The start of the level that is `before` jumps older than the newest.
    const fn start(&self, before: usize) -> usize {
        (self.jumps + LEVELS - before) % LEVELS * self.nodes
    }

    /// One level, by node.
    fn level(&self, before: usize) -> &[Origins<WORDS>] {
        let start = self.start(before);
        known_range::items(&self.ring, start..start + self.nodes)
    }

    fn begin(&mut self, node: usize, row: usize) {
        if let Some(set) = self.ring.get_mut(node) {
            *set = joined(*set, &only(row));
        }
    }

    /// Counts one more jump. Origins that reached the start of a passage as many levels ago as it is long reach its
    /// end.
    fn advance(&mut self, passages: &Passages) {
        self.jumps += 1;
        let starts = std::array::from_fn(|before| self.start(before));
        self.enter(&passages.two, starts, 1);
        self.enter(&passages.four, starts, 1);
        // These are added to the sets that the other passages have entered.
        self.enter(&passages.more, starts, 0);
    }

    #[expect(clippy::indexing_slicing, reason = "the ring has all nodes of the ways on all levels")]
    fn enter<const WAYS: usize>(
        &mut self,
        entered: &[Entered<WAYS>],
        starts: [usize; LEVELS],
        known: usize,
    ) {
        for (node, ways) in entered {
            let mut all = self.ring[starts[known] + *node as usize];
            for way in ways {
                let from = starts[way.jumps()] + way.from();
                all = joined(all, &self.ring[from]);
            }
            self.ring[starts[0] + *node as usize] = all;
        }
    }
}

/// Fills in the rows of at most as many origins as there are bits.
fn fill<const WORDS: usize>(
    rows: &mut [Vec<Option<u32>>],
    from: &[SystemIndex],
    to: &[SystemIndex],
    mut passages: Passages,
) {
    let all = (0..rows.len()).fold([0; WORDS], |all, row| joined(all, &only(row)));
    let nodes = passages.count();
    let mut levels = Levels { ring: vec![[0; WORDS]; nodes * LEVELS], nodes, jumps: 0 };
    for (row, origin) in from.iter().enumerate() {
        levels.begin(passages.node(*origin), row);
        if let Some(source) = passages.source(*origin) {
            levels.begin(source, row);
        }
    }
    // For each column, its node and the origins whose rows are already filled in.
    let mut columns: Vec<_> = to.iter().map(|it| (passages.node(*it), [0; WORDS])).collect();
    let mut missing = rows.len() * to.len();
    loop {
        let newest = levels.level(0);
        for (column, (node, reported)) in columns.iter_mut().enumerate() {
            let reached = newest.get(*node).copied().unwrap_or([0; WORDS]);
            for (word, (now, reported)) in reached.into_iter().zip(reported).enumerate() {
                let mut new = now & !mem::replace(reported, now);
                while new != 0 {
                    let row = rows.get_mut(word * PER_WORD + new.trailing_zeros() as usize);
                    if let Some(cell) = row.and_then(|row| row.get_mut(column)) {
                        *cell = u32::try_from(levels.jumps).ok();
                    }
                    missing -= 1;
                    new &= new - 1;
                }
            }
        }
        if missing == 0 {
            return;
        }
        if levels.jumps % LEVELS_BETWEEN_LOOKS == LEVELS_BETWEEN_LOOKS - 1 {
            // An origin that reached a node by the oldest level is in all later levels too.
            let oldest = levels.level(LEVELS - 1);
            if oldest == newest {
                return;
            }
            passages.drop_done(|node| oldest.get(node as usize) == Some(&all));
        }
        levels.advance(&passages);
    }
}

//! Chooses the border systems that a round trip visits.

use tokio_util::sync::CancellationToken;

use super::Optimize;
use super::exact::{Exact, MAX_EXACT};
use super::problem::Problem;
use super::shortest::shortest;

/// The requirements for a round trip.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) target: usize,
    pub(super) tolerance: usize,
    /// The fewest and the most stops besides the origin.
    pub(super) fewest: usize,
    pub(super) most: usize,
    pub(super) optimize: Optimize,
    /// Whether the origin counts as a visited border system.
    pub(super) at_home: bool,
}

/// The rank of a choice, lowest first: the number of missing stops, the length beyond the tolerance, the value to be
/// optimized, the distance from the target length. It is one number instead of four, because hundreds are compared at
/// each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score(u128);

impl Score {
    fn new(missing: u32, intolerable: u32, worth: u32, off: u32) -> Self {
        let parts = [missing, intolerable, !worth, off];
        Self(parts.iter().fold(0, |all, part| all << 32 | u128::from(*part)))
    }

    /// The score if the length were exactly the target.
    const fn at_this_length(self) -> Self {
        const WITHOUT_LENGTH: u128 = 0xffff_ffff_0000_0000_ffff_ffff_0000_0000;
        Self(self.0 & WITHOUT_LENGTH)
    }
}

fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// A choice of stops, in the order of the tour.
#[derive(Debug, Clone)]
struct Choice {
    score: Score,
    order: Vec<usize>,
}

/// The number of different first stops that the search starts from.
const MAX_STARTS: usize = 8;
/// The most steps of a search. Each step improves the choice, so it ends by itself, usually after fewer than 30.
const MAX_STEPS: usize = 200;
/// The number of promising steps that are tried out.
const MAX_TRIALS: usize = 8;

/// Chooses stops and their order. The choice is longer than tolerated only if there is no shorter one with that few
/// stops, or if the bounded search did not find one. The second number is a lower bound for the length of such a round
/// trip.
pub(super) fn select(
    problem: &Problem,
    wish: &Wish,
    stop: Option<&CancellationToken>,
) -> (Vec<usize>, Option<usize>) {
    let best = if problem.len() <= MAX_EXACT {
        exact(problem, wish)
    } else {
        // The best possible choice visits all stops that are allowed, at the target length.
        let best = Score::new(0, 0, number(wish.most.min(problem.len())), 0);
        let is_best = |it: &Choice| wish.optimize == Optimize::Density && it.score == best;
        let mut found: Option<Choice> = None;
        for nth in 0..MAX_STARTS {
            let next = search(problem, wish, nth * problem.len() / MAX_STARTS, stop);
            if found.as_ref().is_none_or(|found| next.score < found.score) {
                found = Some(next);
            }
            if found.as_ref().is_some_and(is_best) {
                break;
            }
        }
        found
    };
    let order = best.map(|choice| choice.order).unwrap_or_default();
    let length = problem.length(&order);
    if length as usize <= wish.target + wish.tolerance {
        return (order, None);
    }
    let found = shortest(problem, wish.fewest.max(1), length, stop);
    (found.order.unwrap_or(order), Some(found.bound as usize))
}

/// Compares all choices.
fn exact(problem: &Problem, wish: &Wish) -> Option<Choice> {
    let exact = Exact::new(problem);
    let members = |set: usize| (0..problem.len()).filter(move |stop| set & (1 << stop) != 0);
    let scored = exact.sets().map(|set| {
        let stops: Vec<usize> = members(set).collect();
        let length = exact.tour_length(set) as usize;
        let apart = apart(problem, wish, &stops);
        (score(wish, stops.len(), apart, length), set)
    });
    let (score, set) = scored.min()?;
    let order = exact.order(set);
    Some(Choice { score, order })
}

/// Starts from a single stop and changes one stop at a time.
fn search(
    problem: &Problem,
    wish: &Wish,
    first: usize,
    stop: Option<&CancellationToken>,
) -> Choice {
    let mut best = choice(problem, wish, vec![first]);
    for _ in 0..MAX_STEPS {
        if stop.is_some_and(CancellationToken::is_cancelled) {
            break;
        }
        let trials = steps(problem, wish, &best);
        let better = trials.into_iter().find_map(|(score, step)| {
            let mut order = best.order.clone();
            step.take(&mut order);
            // Optimizing the order can only make it shorter, at best as short as the target.
            let hope = if problem.length(&order) as usize > wish.target {
                score.at_this_length()
            } else {
                score
            };
            if hope >= best.score {
                return None;
            }
            problem.improve(&mut order, 0);
            let next = choice(problem, wish, order);
            (next.score < best.score).then_some(next)
        });
        match better {
            Some(next) => best = next,
            None => break,
        }
    }
    best
}

/// Removes a stop, adds one, or exchanges one for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    /// The position of the stop that is removed.
    out: Option<usize>,
    /// The stop that is added, and its position afterwards.
    into: Option<(usize, usize)>,
}

impl Step {
    fn take(self, order: &mut Vec<usize>) {
        if let Some(out) = self.out {
            order.remove(out);
        }
        if let Some((stop, place)) = self.into {
            order.insert(place, stop);
        }
    }
}

/// The most promising steps, by the score that each would have without reordering the stops.
fn steps(problem: &Problem, wish: &Wish, choice: &Choice) -> Vec<(Score, Step)> {
    let order = &choice.order;
    let length = problem.length(order);
    let mut steps = Vec::with_capacity(MAX_TRIALS + 1);
    let outs: Vec<Without> = (std::iter::once(None).chain((0..order.len()).map(Some)))
        .map(|out| Without::new(problem, wish, order, length, out))
        .collect();
    for out in outs.iter().filter(|it| it.out.is_some() && it.stops > 0) {
        let score = score(wish, out.stops, out.apart, out.length as usize);
        let step = Step { out: out.out, into: None };
        keep_least(&mut steps, MAX_TRIALS, (score, step));
    }
    let all_gaps: Vec<Gap> = (0..=order.len()).map(|at| Gap::new(problem, order, at, at)).collect();
    for stop in (0..problem.len()).filter(|stop| !order.contains(stop)) {
        let (from, into) = (problem.leaving(stop), problem.arriving(stop));
        let cell = |row: &[u32], at: usize| row.get(at).copied().unwrap_or_default();
        let detour = |gap: &Gap| cell(into, gap.before) + cell(from, gap.after) - gap.jumps;
        // The smallest detours with their gaps, and the nearest of the others with their positions. Removing a stop
        // removes two gaps and one of the others.
        let mut gaps = Least::<3>::new();
        for (at, gap) in all_gaps.iter().enumerate() {
            gaps.add(detour(gap), at);
        }
        let mut nearest = Least::<2>::new();
        let home = beside(problem, wish, &[], stop);
        if wish.optimize == Optimize::Coverage {
            for (place, other) in order.iter().enumerate() {
                nearest.add(cell(into, *other), place);
            }
        }
        for without in outs.iter().filter(|it| it.stops < wish.most) {
            // When a stop is removed, two gaps become one.
            let left = gaps.iter().find_map(|(longer, at)| match without.out {
                Some(out) if at == out || at == out + 1 => None,
                Some(out) if at > out => Some((longer, at - 1)),
                _ => Some((longer, at)),
            });
            let closed = without.out.map(|out| (detour(&without.gap), out));
            let Some((longer, place)) = left.into_iter().chain(closed).min() else {
                continue;
            };
            let other = nearest.iter().find(|it| Some(it.1) != without.out);
            let apart = other.map_or(home, |(jumps, _)| home.min(jumps));
            let longer = (without.length + longer) as usize;
            let step = Step { out: without.out, into: Some((stop, place)) };
            let score = score(wish, without.stops + 1, without.apart.min(apart), longer);
            keep_least(&mut steps, MAX_TRIALS, (score, step));
        }
    }
    steps
}

/// Inserts an item into the sorted list of the smallest items so far.
fn keep_least<T: Ord>(least: &mut Vec<T>, most: usize, another: T) {
    if least.len() < most || least.last().is_some_and(|it| another < *it) {
        least.truncate(most.saturating_sub(1));
        let place = least.partition_point(|it| *it < another);
        least.insert(place, another);
    }
}

/// The smallest numbers with their positions, sorted.
struct Least<const N: usize>([u64; N]);

impl<const N: usize> Least<N> {
    const fn new() -> Self {
        Self([u64::MAX; N])
    }

    fn add(&mut self, number: u32, place: usize) {
        let mut new = u64::from(number) << 32 | place as u64;
        for least in &mut self.0 {
            (*least, new) = ((*least).min(new), (*least).max(new));
        }
    }

    fn iter(&self) -> impl Iterator<Item = (u32, usize)> {
        let added = self.0.iter().filter(|it| **it != u64::MAX);
        added.map(|it| ((it >> 32) as u32, (it & u64::from(u32::MAX)) as usize))
    }
}

/// The gap between two stops of a choice, or between a stop and home. Home has the number after the last stop.
struct Gap {
    before: usize,
    after: usize,
    jumps: u32,
}

impl Gap {
    /// The gap between the stop before one position and the stop at another.
    fn new(problem: &Problem, order: &[usize], first: usize, next: usize) -> Self {
        let stop = |at: usize| order.get(at).copied().unwrap_or(problem.len());
        let (before, after) = (first.checked_sub(1).map_or(problem.len(), stop), stop(next));
        Self { before, after, jumps: problem.step(before, after) }
    }
}

/// A choice without one of its stops, or the whole choice.
struct Without {
    /// The position of the removed stop, and the gap that it leaves.
    out: Option<usize>,
    gap: Gap,
    /// How many stops are left.
    stops: usize,
    length: u32,
    apart: u32,
}

impl Without {
    fn new(
        problem: &Problem,
        wish: &Wish,
        order: &[usize],
        length: u32,
        out: Option<usize>,
    ) -> Self {
        let mut rest = order.to_vec();
        let stop = out.map(|out| rest.remove(out));
        let gap = out.map_or_else(
            || Gap::new(problem, order, 0, 0),
            |out| Gap::new(problem, order, out, out + 1),
        );
        let at = stop.unwrap_or(problem.len());
        let stop_takes = problem.step(gap.before, at) + problem.step(at, gap.after);
        Self {
            out,
            length: match stop {
                None => length,
                Some(_) => length + gap.jumps - stop_takes,
            },
            gap,
            apart: apart(problem, wish, &rest),
            stops: rest.len(),
        }
    }
}

fn choice(problem: &Problem, wish: &Wish, order: Vec<usize>) -> Choice {
    let length = problem.length(&order) as usize;
    let apart = apart(problem, wish, &order);
    Choice { score: score(wish, order.len(), apart, length), order }
}

/// The score for a number of stops, the distance between the two nearest stops, and the length.
fn score(wish: &Wish, stops: usize, apart: u32, length: usize) -> Score {
    // Too many are as bad as too few.
    let missing = wish.fewest.saturating_sub(stops) + stops.saturating_sub(wish.most);
    let off = length.abs_diff(wish.target);
    let worth = match wish.optimize {
        Optimize::Density => number(stops),
        Optimize::Coverage => apart,
    };
    let intolerable = off.saturating_sub(wish.tolerance);
    Score::new(number(missing), number(intolerable), worth, number(off))
}

/// The distance between the two nearest visited stops. With a single stop there is no limit.
fn apart(problem: &Problem, wish: &Wish, stops: &[usize]) -> u32 {
    let visited = (0..).zip(stops);
    visited
        .map(|(at, stop)| beside(problem, wish, known_range::items(stops, ..at), *stop))
        .min()
        .unwrap_or(u32::MAX)
}

/// The distance of a stop from the nearest visited one of the others. It is not computed if it is not needed.
fn beside(problem: &Problem, wish: &Wish, others: &[usize], stop: usize) -> u32 {
    if wish.optimize == Optimize::Density {
        return u32::MAX;
    }
    let home = wish.at_home.then(|| problem.cost(None, Some(stop)));
    let others = others.iter().map(|other| problem.cost(Some(*other), Some(stop)));
    others.chain(home).min().unwrap_or(u32::MAX)
}

//! Which border systems a round trip visits.

use std::cmp::Reverse;

use super::Optimize;
use super::exact::{Exact, MAX_EXACT};
use super::problem::Problem;
use super::shortest::shortest;

/// What a round trip should be like.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) target: usize,
    pub(super) tolerance: usize,
    /// How many stops besides the origin at least and at most.
    pub(super) fewest: usize,
    pub(super) most: usize,
    pub(super) optimize: Optimize,
    /// Whether the origin counts as one that is visited.
    pub(super) at_home: bool,
}

/// How good a choice is, the best the least: how many stops are missing, by how much the length misses the tolerated, what
/// is to be optimized, by how much it misses the target.
type Score = (usize, usize, Reverse<usize>, usize);

/// A choice of stops, in the order of the tour.
#[derive(Debug, Clone)]
struct Choice {
    score: Score,
    order: Vec<usize>,
}

/// From how many first stops the search sets out.
const MAX_STARTS: usize = 8;
/// How many steps a search may take. Each makes the choice better, so it ends by itself, and usually after fewer than 30.
const MAX_STEPS: usize = 200;
/// How many of the steps that look best are taken on trial.
const MAX_TRIALS: usize = 8;

/// Chooses stops and their order. A choice is longer than tolerated only if none past so few stops is shorter, or if that
/// was not found within the bounds of the search; the second number says how short such a round trip may be at best.
pub(super) fn select(problem: &Problem, wish: &Wish) -> (Vec<usize>, Option<usize>) {
    let best = match problem.len() <= MAX_EXACT {
        true => exact(problem, wish),
        false => {
            // Nothing is better than all that may be visited, on a way of the length that was asked for.
            let best = (0, 0, Reverse(wish.most.min(problem.len())), 0);
            let is_best = |it: &Choice| wish.optimize == Optimize::Density && it.score == best;
            let mut found: Option<Choice> = None;
            for nth in 0..MAX_STARTS {
                let next = search(problem, wish, nth * problem.len() / MAX_STARTS);
                if found.as_ref().is_none_or(|found| next.score < found.score) {
                    found = Some(next);
                }
                if found.as_ref().is_some_and(is_best) {
                    break;
                }
            }
            found
        }
    };
    let order = best.map(|choice| choice.order).unwrap_or_default();
    let length = problem.length(&order);
    if length as usize <= wish.target + wish.tolerance {
        return (order, None);
    }
    let found = shortest(problem, wish.fewest.max(1), length);
    (found.order.unwrap_or(order), Some(found.bound as usize))
}

/// Weighs all choices.
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

/// Sets out from a single stop and changes one at a time.
fn search(problem: &Problem, wish: &Wish, first: usize) -> Choice {
    let mut best = choice(problem, wish, vec![first]);
    for _ in 0..MAX_STEPS {
        let trials = steps(problem, wish, &best);
        let better = trials.into_iter().find_map(|(_, step)| {
            let mut order = best.order.clone();
            step.take(&mut order);
            problem.improve(&mut order);
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

/// One stop less, one more, or one for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    /// The place of the stop that is given up.
    out: Option<usize>,
    /// The stop that is taken in, and its place then.
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

/// The steps that look best: by the score that each would have if the order were not made better after it.
fn steps(problem: &Problem, wish: &Wish, choice: &Choice) -> Vec<(Score, Step)> {
    let order = &choice.order;
    let length = problem.length(order);
    let mut steps = Vec::new();
    let outs: Vec<Without> = (std::iter::once(None).chain((0..order.len()).map(Some)))
        .map(|out| Without::new(problem, wish, order, length, out))
        .collect();
    for out in outs
        .iter()
        .filter(|it| it.out.is_some() && !it.rest.is_empty())
    {
        let score = score(wish, out.rest.len(), out.apart, out.length as usize);
        let step = Step {
            out: out.out,
            into: None,
        };
        steps.push((score, step));
    }
    let detour = |before, stop, after| {
        problem.cost(before, Some(stop)) + problem.cost(Some(stop), after)
            - problem.cost(before, after)
    };
    let mut gaps = Vec::with_capacity(order.len() + 1);
    for stop in (0..problem.len()).filter(|stop| !order.contains(stop)) {
        gaps.clear();
        gaps.extend((0..=order.len()).map(|at| {
            let before = at.checked_sub(1).and_then(|at| order.get(at).copied());
            detour(before, stop, order.get(at).copied())
        }));
        for without in outs.iter().filter(|it| it.rest.len() < wish.most) {
            // Where one is given up, two gaps become one.
            let (before, closed, after) = match without.out {
                None => (gaps.as_slice(), None, &[][..]),
                Some(out) => (
                    gaps.get(..out).unwrap_or_default(),
                    Some(detour(without.before, stop, without.after)),
                    gaps.get(out + 2..).unwrap_or_default(),
                ),
            };
            let detours = before
                .iter()
                .copied()
                .chain(closed)
                .chain(after.iter().copied());
            let Some((longer, place)) = detours.zip(0..).min() else {
                continue;
            };
            let apart = without
                .apart
                .min(beside(problem, wish, &without.rest, stop));
            let longer = (without.length + longer) as usize;
            let step = Step {
                out: without.out,
                into: Some((stop, place)),
            };
            steps.push((score(wish, without.rest.len() + 1, apart, longer), step));
        }
    }
    if steps.len() > MAX_TRIALS {
        steps.select_nth_unstable(MAX_TRIALS);
        steps.truncate(MAX_TRIALS);
    }
    steps.sort_unstable();
    steps
}

/// A choice without one of its stops, or as it is.
struct Without {
    /// The place of the stop, and what is before and behind it.
    out: Option<usize>,
    before: Option<usize>,
    after: Option<usize>,
    rest: Vec<usize>,
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
        let before = out.and_then(|out| rest.get(out.checked_sub(1)?).copied());
        let after = out.and_then(|out| rest.get(out).copied());
        let stop_takes = problem.cost(before, stop) + problem.cost(stop, after);
        Self {
            out,
            before,
            after,
            length: match stop {
                None => length,
                Some(_) => length + problem.cost(before, after) - stop_takes,
            },
            apart: apart(problem, wish, &rest),
            rest,
        }
    }
}

fn choice(problem: &Problem, wish: &Wish, order: Vec<usize>) -> Choice {
    let length = problem.length(&order) as usize;
    let apart = apart(problem, wish, &order);
    Choice {
        score: score(wish, order.len(), apart, length),
        order,
    }
}

/// By how many stops there are, how far the two nearest are apart, and the length.
fn score(wish: &Wish, stops: usize, apart: u32, length: usize) -> Score {
    // Too many are as bad as too few.
    let missing = wish.fewest.saturating_sub(stops) + stops.saturating_sub(wish.most);
    let off = length.abs_diff(wish.target);
    let worth = match wish.optimize {
        Optimize::Density => stops,
        Optimize::Coverage => apart as usize,
    };
    (
        missing,
        off.saturating_sub(wish.tolerance),
        Reverse(worth),
        off,
    )
}

/// How far the two nearest of the visited are apart. A single one is near nothing.
fn apart(problem: &Problem, wish: &Wish, stops: &[usize]) -> u32 {
    let visited = (0..).zip(stops);
    visited
        .map(|(at, stop)| beside(problem, wish, stops.get(..at).unwrap_or_default(), *stop))
        .min()
        .unwrap_or(u32::MAX)
}

/// How far a stop is from the nearest of others that are visited; where nobody asks, it is not counted.
fn beside(problem: &Problem, wish: &Wish, others: &[usize], stop: usize) -> u32 {
    if wish.optimize == Optimize::Density {
        return u32::MAX;
    }
    let home = wish.at_home.then(|| problem.cost(None, Some(stop)));
    let others = others
        .iter()
        .map(|other| problem.cost(Some(*other), Some(stop)));
    others.chain(home).min().unwrap_or(u32::MAX)
}

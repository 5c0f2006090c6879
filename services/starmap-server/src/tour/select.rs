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
        false => (0..MAX_STARTS)
            .map(|nth| search(problem, wish, nth * problem.len() / MAX_STARTS))
            .min_by(|a, b| a.score.cmp(&b.score)),
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
        (score(problem, wish, &stops, length), set)
    });
    let (score, set) = scored.min()?;
    let order = exact.order(set);
    Some(Choice { score, order })
}

/// Sets out from a single stop and changes one at a time.
fn search(problem: &Problem, wish: &Wish, first: usize) -> Choice {
    let mut best = choice(problem, wish, vec![first]);
    for _ in 0..MAX_STEPS {
        let mut trials = steps(problem, wish, &best);
        trials.sort_unstable();
        let better = trials.into_iter().take(MAX_TRIALS).find_map(|(_, step)| {
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

/// All steps, with the score that each would have if the order were not made better after it.
fn steps(problem: &Problem, wish: &Wish, choice: &Choice) -> Vec<(Score, Step)> {
    let mut steps = Vec::new();
    let outs = (0..choice.order.len()).map(Some);
    for out in std::iter::once(None).chain(outs) {
        let mut rest = choice.order.clone();
        if let Some(out) = out {
            rest.remove(out);
            if !rest.is_empty() {
                let length = problem.length(&rest) as usize;
                let out = Some(out);
                let step = Step { out, into: None };
                steps.push((score(problem, wish, &rest, length), step));
            }
        }
        if rest.len() == wish.most {
            continue;
        }
        let length = problem.length(&rest);
        for stop in (0..problem.len()).filter(|stop| !choice.order.contains(stop)) {
            let detour = |place: &usize| {
                let before = place.checked_sub(1).and_then(|at| rest.get(at).copied());
                let after = rest.get(*place).copied();
                problem.cost(before, Some(stop)) + problem.cost(Some(stop), after)
                    - problem.cost(before, after)
            };
            let Some(place) = (0..=rest.len()).min_by_key(detour) else {
                continue;
            };
            let longer = (length + detour(&place)) as usize;
            let into = Some((stop, place));
            rest.push(stop);
            let score = score(problem, wish, &rest, longer);
            rest.pop();
            steps.push((score, Step { out, into }));
        }
    }
    steps
}

fn choice(problem: &Problem, wish: &Wish, order: Vec<usize>) -> Choice {
    let length = problem.length(&order) as usize;
    Choice {
        score: score(problem, wish, &order, length),
        order,
    }
}

fn score(problem: &Problem, wish: &Wish, stops: &[usize], length: usize) -> Score {
    // Too many are as bad as too few.
    let missing = wish.fewest.saturating_sub(stops.len()) + stops.len().saturating_sub(wish.most);
    let off = length.abs_diff(wish.target);
    let worth = match wish.optimize {
        Optimize::Density => stops.len(),
        Optimize::Coverage => apart(problem, wish, stops),
    };
    (
        missing,
        off.saturating_sub(wish.tolerance),
        Reverse(worth),
        off,
    )
}

/// How far the two nearest of the visited are apart. A single one is near nothing.
fn apart(problem: &Problem, wish: &Wish, stops: &[usize]) -> usize {
    let pairs = (1..).zip(stops).flat_map(|(next, a)| {
        let others = stops.get(next..).unwrap_or_default().iter();
        others.map(move |b| problem.cost(Some(*a), Some(*b)))
    });
    let home = stops.iter().filter(|_| wish.at_home);
    let from_home = home.map(|stop| problem.cost(None, Some(*stop)));
    pairs.chain(from_home).min().unwrap_or(u32::MAX) as usize
}

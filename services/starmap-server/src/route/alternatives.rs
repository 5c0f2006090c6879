//! Other routes than the best one, and the cost of safety.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use super::net::Net;
use super::search::{Direction, Search};
use super::{Cost, Mode, NoRoute, Query, Route, find, no_route};
use crate::map::{Map, PerSystem, SystemIndex};

/// The most routes of one answer.
pub const MAX_ALTERNATIVES: usize = 10;

/// How many of a hundred jumps a route may share with one already in the answer.
pub const MOST_SHARED_PERCENT: usize = 80;

/// The most routes that are examined.
const MAX_LOOKED_AT: usize = 150;

/// A route compared with the shortest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostOfSafety {
    /// The shortest route.
    pub shortest: Route,
    /// The safe one.
    pub safe: Route,
}

/// The next system on a route from each system. The route passes no system twice.
struct Steps(PerSystem<Option<SystemIndex>>);

/// The best route, then others with increasing cost: at most `count`, and never more than [`MAX_ALTERNATIVES`].
///
/// An alternative is the best route that passes through some chosen system (via-node alternatives, as in Abraham,
/// Delling, Goldberg and Werneck, "Alternative Routes in Road Networks", 2013). It consists of two best routes, so it
/// has no senseless detour. Candidates are examined by cost, then jumps, then the id of that system. A candidate is
/// left out if it passes a system twice, if more than [`MOST_SHARED_PERCENT`] of its jumps are jumps of a route already
/// taken, or if it costs more than one and a half times the best and 5 jumps. The search ends early after 150
/// candidates.
///
/// # Errors
/// [`NoRoute`] if there is no route at all.
pub fn alternatives(map: &Map, query: &Query<'_>, count: usize) -> Result<Vec<Route>, NoRoute> {
    let net = Net::new(map, query);
    let mut tail = Search::new(map, &net, Direction::To(query.destination), None);
    if !query.is_closed(map) {
        tail.find(query.origin);
    }
    let Some(best) = tail.route(query.origin) else {
        return Err(no_route::why(map, query));
    };
    let dearest = dearest(&best);
    let mut taken = vec![best];
    let count = count.min(MAX_ALTERNATIVES);
    if count < 2 || query.origin == query.destination {
        return Ok(taken);
    }
    tail.advance(dearest);
    let mut head = Search::new(map, &net, Direction::From(query.origin), None);
    head.advance(dearest);
    let through = map.indices().filter_map(|system| {
        let (to, from) = (head.far(system)?, tail.far(system)?);
        let cost = to.cost() + from.cost();
        let jumps = to.jumps() + from.jumps();
        (cost <= dearest).then_some(Reverse((cost, jumps, system)))
    });
    let mut waiting: BinaryHeap<_> = through.collect();
    // For each system, the cost of the last route through it. If a system is on a route that costs the same as the best
    // route through that system, it adds nothing new.
    let mut shown = PerSystem::new(map, None);
    let mut steps = Vec::with_capacity(count);
    for route in &taken {
        for system in &route.systems {
            shown[*system] = Some(route.cost);
        }
        steps.push(Steps::new(map, route));
    }
    // For each system, the last route that passed it.
    let mut passed = PerSystem::new(map, 0);
    let mut looked_at = 0;
    let before = |here| head.step(here).map(|jump| jump.far);
    let next = |here| tail.step(here).map(|jump| jump.far);
    // For each route in the answer, how many jumps the candidate shares with it.
    let mut shared = Vec::with_capacity(count);
    while let Some(Reverse((cost, jumps, via))) = waiting.pop() {
        if taken.len() >= count || looked_at >= MAX_LOOKED_AT {
            break;
        }
        // A system that is left by the jump that entered it adds nothing either.
        let ends = [before(via), next(via)];
        let turns_back = matches!(ends, [Some(before), Some(next)] if before == next);
        if shown[via] == Some(cost) || turns_back {
            continue;
        }
        looked_at += 1;
        shown[via] = Some(cost);
        passed[via] = looked_at;
        shared.clear();
        shared.resize(steps.len(), 0);
        let mut is_loopless = true;
        // Few candidates are taken, so each is examined before a route is built from it.
        let mut look = |from: SystemIndex, to: SystemIndex, reached: SystemIndex| {
            shown[reached] = Some(cost);
            is_loopless &= mem::replace(&mut passed[reached], looked_at) != looked_at;
            for (Steps(other), shared) in steps.iter().zip(&mut shared) {
                *shared += usize::from(other[from] == Some(to));
            }
        };
        let mut here = via;
        while let Some(far) = before(here) {
            look(far, here, far);
            here = far;
        }
        here = via;
        while let Some(far) = next(here) {
            look(here, far, far);
            here = far;
        }
        let differs = |shared: &usize| shared * 100 <= jumps as usize * MOST_SHARED_PERCENT;
        if is_loopless
            && shared.iter().all(differs)
            && let (Some(mut route), Some(rest)) = (head.route(via), tail.route(via))
        {
            route.systems.extend(rest.systems.into_iter().skip(1));
            route.by.extend(rest.by);
            route.cost = cost;
            steps.push(Steps::new(map, &route));
            taken.push(route);
        }
    }
    Ok(taken)
}

/// The safe route compared with the shortest one between the same ends. The safe route uses the mode of the query if
/// that is a safe one, else [`Mode::Safe`].
///
/// # Errors
/// [`NoRoute`]
pub fn cost_of_safety(map: &Map, query: &Query<'_>) -> Result<CostOfSafety, NoRoute> {
    let by = |mode| find(map, &Query { mode, ..*query });
    let safe = if query.mode.is_safe() { query.mode } else { Mode::Safe };
    Ok(CostOfSafety { shortest: by(Mode::Shortest)?, safe: by(safe)? })
}

impl CostOfSafety {
    /// How many more jumps the safe route takes.
    pub const fn more_jumps(&self) -> usize {
        self.safe.jumps().saturating_sub(self.shortest.jumps())
    }
}

/// The most that an alternative may cost, given the best route.
fn dearest(best: &Route) -> Cost {
    best.cost + best.cost.half() + Cost::jumps(5)
}

impl Steps {
    fn new(map: &Map, route: &Route) -> Self {
        let mut steps = PerSystem::new(map, None);
        for (from, to) in route.systems.iter().zip(route.systems.iter().skip(1)) {
            steps[*from] = Some(*to);
        }
        Self(steps)
    }
}

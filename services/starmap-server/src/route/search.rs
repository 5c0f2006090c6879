//! The search for the cheapest routes to a system or from it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::bound::Bound;
use super::net::{Jump, Net};
use super::{Cost, Route};
use crate::map::{Map, PerSystem, SystemIndex};

/// The distances of systems from one end of a query.
#[derive(Debug)]
pub(super) struct Search<'q> {
    net: &'q Net<'q>,
    direction: Direction,
    far: PerSystem<Far>,
    /// How far the other end of the query is at least: a search with it leads there. It has no queues.
    bound: Option<Bound<'q>>,
    /// The systems that were found and not followed yet, by what the last jump to them costs. Systems are followed
    /// nearest first, so those of one cost are found nearest first too, and a queue keeps them in order.
    queues: Vec<(Cost, VecDeque<(Far, SystemIndex)>)>,
    /// Those to which the last jump costs what no gate does.
    waiting: BinaryHeap<Reverse<(Far, SystemIndex)>>,
}

/// The direction in which jumps are followed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    /// Distances from this system.
    From(SystemIndex),
    /// Distances to this system.
    To(SystemIndex),
}

/// A distance: first by cost, then by jumps. Both are in one number, with the cost in the high bits, because distances
/// are compared more often than anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Far(u128);

impl<'q> Search<'q> {
    /// With a bound, the distances of systems that are on no best route may be missing or too large.
    pub(super) fn new(
        map: &Map,
        net: &'q Net<'q>,
        direction: Direction,
        bound: Option<Bound<'q>>,
    ) -> Self {
        let (Direction::From(end) | Direction::To(end)) = direction;
        let mut far = PerSystem::new(map, Far::NOT_REACHED);
        far[end] = Far(0);
        let costs = if bound.is_none() { net.costs() } else { BTreeSet::new() };
        let queues = costs.into_iter().map(|cost| (cost, VecDeque::new())).collect();
        let mut search = Self { net, direction, far, bound, queues, waiting: BinaryHeap::new() };
        search.waiting.push(Reverse((search.through(end), end)));
        search
    }

    /// Finds the distance of this system and of all on the best routes to it.
    pub(super) fn find(&mut self, goal: SystemIndex) {
        // What lies on such a route is nearer, for a bound has no jumps.
        self.run(|far, next| next >= far[goal]);
    }

    /// Finds the distance of all systems within this cost.
    pub(super) fn advance(&mut self, most: Cost) {
        self.run(|_, next| next.cost() > most);
    }

    /// The distance of this system; `None` if there is no route, or none was found so far.
    pub(super) fn far(&self, system: SystemIndex) -> Option<Far> {
        let far = self.far[system];
        (far != Far::NOT_REACHED).then_some(far)
    }

    /// The best route between this system and the end, always the same one: from this system with [`Direction::To`], to
    /// it with [`Direction::From`]. With [`Direction::To`] it is the first by ids.
    pub(super) fn route(&self, start: SystemIndex) -> Option<Route> {
        let far = self.far(start)?;
        let mut route = Route { systems: vec![start], by: Vec::new(), cost: far.cost() };
        let mut here = start;
        for _ in 0..far.jumps() {
            let step = self.step(here)?;
            here = step.far;
            route.systems.push(here);
            route.by.push(step.by);
        }
        if matches!(self.direction, Direction::From(_)) {
            route.systems.reverse();
            route.by.reverse();
        }
        Some(route)
    }

    /// The jump of [`Search::route`] at this system, seen from it.
    pub(super) fn step(&self, here: SystemIndex) -> Option<Jump> {
        let far = self.far(here)?;
        let away = matches!(self.direction, Direction::To(_));
        let mut best: Option<Jump> = None;
        self.net.each(here, away, |jump| {
            let leads = self.far(jump.far).is_some_and(|rest| rest.and(jump.cost, 1) == far);
            if leads && best.is_none_or(|best| (jump.far, jump.by) < (best.far, best.by)) {
                best = Some(jump);
            }
        });
        best
    }

    /// Searches until the next system is too far. That system is next again when the search continues.
    fn run(&mut self, stop: impl Fn(&PerSystem<Far>, Far) -> bool) {
        let away = matches!(self.direction, Direction::From(_));
        while let Some(((through, here), queue)) = self.next() {
            if stop(&self.far, through) {
                return;
            }
            match self.queues.get_mut(queue) {
                Some((_, queue)) => _ = queue.pop_front(),
                None => _ = self.waiting.pop(),
            }
            // A shorter route to it was found while this entry waited.
            if through > self.through(here) {
                continue;
            }
            let (net, far) = (self.net, self.far[here]);
            net.each(here, away, |jump| {
                let longer = far.and(jump.cost, 1);
                // Most jumps lead back to what is known; the rules are asked for the others alone.
                if longer < self.far[jump.far] && net.is_open(jump.far) {
                    self.reach(jump, longer);
                }
            });
        }
    }

    /// Takes a shorter route to a system.
    fn reach(&mut self, jump: Jump, far: Far) {
        self.far[jump.far] = far;
        match self.queues.iter_mut().find(|(cost, _)| *cost == jump.cost) {
            Some((_, queue)) => queue.push_back((far, jump.far)),
            None => self.waiting.push(Reverse((self.through(jump.far), jump.far))),
        }
    }

    /// How far it is at least by way of this system.
    fn through(&self, system: SystemIndex) -> Far {
        let (far, bound) = (self.far[system], self.bound.as_ref());
        bound.map_or(far, |bound| bound.least(system).map_or(Far::NOT_REACHED, |it| far.and(it, 0)))
    }

    /// The next system to follow, and the place of its queue.
    fn next(&self) -> Option<((Far, SystemIndex), usize)> {
        let mut next = self.waiting.peek().map(|Reverse(it)| (*it, self.queues.len()));
        for (at, (_, queue)) in self.queues.iter().enumerate() {
            let front = queue.front().filter(|it| next.is_none_or(|(next, _)| it.0 < next.0));
            next = front.map(|it| (*it, at)).or(next);
        }
        next
    }
}

impl Far {
    /// Farther than any system.
    const NOT_REACHED: Self = Self(u128::MAX);

    pub(super) fn cost(self) -> Cost {
        // The high bits were a cost when they were stored.
        Cost::from_millionths(u64::try_from(self.0 >> 32).unwrap_or(u64::MAX))
    }

    pub(super) fn jumps(self) -> u32 {
        u32::try_from(self.0 & u128::from(u32::MAX)).unwrap_or(u32::MAX)
    }

    fn and(self, cost: Cost, jumps: u32) -> Self {
        Self(self.0 + (u128::from(cost.millionths()) << 32) + u128::from(jumps))
    }
}

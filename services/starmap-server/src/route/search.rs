//! The search for the cheapest routes to a system or from it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::net::{Jump, Net};
use super::{Cost, Route};
use crate::map::{Map, PerSystem, SystemIndex};

/// The distances of systems from one end of a query.
#[derive(Debug)]
pub(super) struct Search<'q> {
    net: &'q Net<'q>,
    direction: Direction,
    far: PerSystem<Far>,
    /// The systems that were found and not followed yet.
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
    pub(super) fn new(map: &Map, net: &'q Net<'q>, direction: Direction) -> Self {
        let (Direction::From(end) | Direction::To(end)) = direction;
        let mut far = PerSystem::new(map, Far::NOT_REACHED);
        far[end] = Far(0);
        Self { net, direction, far, waiting: BinaryHeap::from([Reverse((Far(0), end))]) }
    }

    /// Finds the distance of this system and of all nearer ones.
    pub(super) fn find(&mut self, goal: SystemIndex) {
        self.run(|here, _| here == goal, |_, _| true);
    }

    /// Continues until all systems within this cost are found.
    pub(super) fn advance(&mut self, most: Cost) {
        self.run(|_, far| far.cost() > most, |_, _| true);
    }

    /// Finds the distance of all systems from which the rest of the route, which has been searched, leads to a route
    /// within this cost.
    pub(super) fn find_before(&mut self, rest: &Self, most: Cost) {
        let leads_on = |here, far: Far| {
            let rest = rest.far(here);
            rest.is_some_and(|rest| far.cost() + rest.cost() <= most)
        };
        self.run(|_, _| false, leads_on);
    }

    /// The distance of this system; `None` if there is no route, or none was found so far.
    pub(super) fn far(&self, system: SystemIndex) -> Option<Far> {
        let far = self.far[system];
        (far != Far::NOT_REACHED).then_some(far)
    }

    /// In a search with [`Direction::To`]: the first by ids of the best routes from this system to the end.
    pub(super) fn route_from(&self, origin: SystemIndex) -> Option<Route> {
        let far = self.far(origin)?;
        let mut route = Route {
            systems: Vec::with_capacity(far.jumps() as usize + 1),
            by: Vec::with_capacity(far.jumps() as usize),
            cost: far.cost(),
        };
        route.systems.push(origin);
        let mut here = origin;
        for _ in 0..far.jumps() {
            let next = self.next(here)?;
            here = next.far;
            route.systems.push(here);
            route.by.push(next.by);
        }
        Some(route)
    }

    /// In a search with [`Direction::From`]: a best route from the end to this system, always the same one.
    pub(super) fn route_to(&self, destination: SystemIndex) -> Option<Route> {
        let far = self.far(destination)?;
        let mut route = Route {
            systems: vec![destination],
            by: Vec::with_capacity(far.jumps() as usize),
            cost: far.cost(),
        };
        let mut here = destination;
        for _ in 0..far.jumps() {
            let before = self.before(here)?;
            here = before.far;
            route.systems.push(here);
            route.by.push(before.by);
        }
        route.systems.reverse();
        route.by.reverse();
        Some(route)
    }

    /// The first jump of [`Search::route_from`].
    pub(super) fn next(&self, here: SystemIndex) -> Option<Jump> {
        let far = self.far(here)?;
        let best = self.net.leaving(here).filter(|jump| self.leads(jump, far));
        best.min_by_key(|jump| (jump.far, jump.by))
    }

    /// The last jump of [`Search::route_to`], seen from its end.
    pub(super) fn before(&self, here: SystemIndex) -> Option<Jump> {
        let far = self.far(here)?;
        let best = self.net.arriving(here).filter(|jump| self.leads(jump, far));
        best.min_by_key(|jump| (jump.far, jump.by))
    }

    /// Whether a jump is part of a best route of this distance.
    fn leads(&self, jump: &Jump, far: Far) -> bool {
        self.far(jump.far).is_some_and(|rest| rest.and(jump) == far)
    }

    /// Searches until the next system is one to stop at. That system is next again when the search continues.
    fn run(
        &mut self,
        stop: impl Fn(SystemIndex, Far) -> bool,
        enter: impl Fn(SystemIndex, Far) -> bool,
    ) {
        while let Some(&Reverse((far, here))) = self.waiting.peek() {
            if stop(here, far) {
                return;
            }
            self.waiting.pop();
            // A shorter route to it was found while this entry waited.
            if far > self.far[here] {
                continue;
            }
            let (all, waiting, net) = (&mut self.far, &mut self.waiting, self.net);
            let reach = |jump: Jump| {
                let longer = far.and(&jump);
                let known = &mut all[jump.far];
                if longer < *known && enter(jump.far, longer) {
                    *known = longer;
                    waiting.push(Reverse((longer, jump.far)));
                }
            };
            match self.direction {
                Direction::From(_) => net.leaving(here).for_each(reach),
                Direction::To(_) => net.arriving(here).for_each(reach),
            }
        }
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

    fn and(self, jump: &Jump) -> Self {
        Self(self.0 + (u128::from(jump.cost.millionths()) << 32) + 1)
    }
}

//! The search for the cheapest routes to a system or from it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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
    /// Those of them to which the last jump costs least. Systems are followed nearest first, so these are found nearest
    /// first too, and a queue keeps them in order.
    next: VecDeque<(Far, SystemIndex)>,
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
        let (waiting, next) = (BinaryHeap::new(), VecDeque::from([(Far(0), end)]));
        Self { net, direction, far, waiting, next }
    }

    /// Finds the distance of this system and of all nearer ones.
    pub(super) fn find(&mut self, goal: SystemIndex) {
        self.run(|here, _| here == goal);
    }

    /// Finds the distance of all systems within this cost.
    pub(super) fn advance(&mut self, most: Cost) {
        self.run(|_, far| far.cost() > most);
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
        let leads = |jump: &Jump| self.far(jump.far).is_some_and(|rest| rest.and(jump) == far);
        let away = matches!(self.direction, Direction::To(_));
        let best = self.net.around(here, away).filter(leads);
        best.min_by_key(|jump| (jump.far, jump.by))
    }

    /// Searches until the next system is one to stop at. That system is next again when the search continues.
    fn run(&mut self, stop: impl Fn(SystemIndex, Far) -> bool) {
        let away = matches!(self.direction, Direction::From(_));
        loop {
            let (next, other) = (self.next.front(), self.waiting.peek());
            let other = other.map(|Reverse(other)| other);
            let is_next = other.is_none_or(|other| next.is_some_and(|next| next <= other));
            let Some(&(far, here)) = (if is_next { next } else { other }) else { return };
            if stop(here, far) {
                return;
            }
            if is_next {
                self.next.pop_front();
            } else {
                self.waiting.pop();
            }
            // A shorter route to it was found while this entry waited.
            if far > self.far[here] {
                continue;
            }
            let (all, waiting, next, net) =
                (&mut self.far, &mut self.waiting, &mut self.next, self.net);
            let least = net.least();
            let reach = |jump: Jump| {
                let longer = far.and(&jump);
                let known = &mut all[jump.far];
                if longer < *known {
                    *known = longer;
                    if jump.cost == least {
                        next.push_back((longer, jump.far));
                    } else {
                        waiting.push(Reverse((longer, jump.far)));
                    }
                }
            };
            net.around(here, away).for_each(reach);
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

//! The search for the cheapest way, by Dijkstra's algorithm, and by levels where all jumps cost the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::net::{Jump, Net};
use super::{Cost, PerSystem, Route};
use crate::map::{Map, SystemIndex};

/// How far each system is from one end of a query. Keeps its memory from run to run.
#[derive(Debug)]
pub(super) struct Search {
    far: PerSystem<Far>,
    heap: BinaryHeap<Reverse<(Far, SystemIndex)>>,
    /// Where a search by levels has come to, and up to where it has followed the jumps.
    queue: Vec<SystemIndex>,
    at: usize,
    direction: Option<Direction>,
}

/// How far: by cost, then by jumps. One number, the cost above the jumps, since it is compared more than anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Far(u128);

/// Which way the jumps are followed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    /// How far it is from this system.
    From(SystemIndex),
    /// How far it is to this system.
    To(SystemIndex),
}

/// Farther than any system.
const NOT_REACHED: Far = Far(u128::MAX);

impl Search {
    pub(super) fn new(map: &Map) -> Self {
        Self {
            far: PerSystem::new(map, NOT_REACHED),
            heap: BinaryHeap::new(),
            queue: Vec::new(),
            at: 0,
            direction: None,
        }
    }

    /// Finds how far every system is; or, with a goal, only it and those that are nearer.
    pub(super) fn run(&mut self, net: &Net<'_>, direction: Direction, goal: Option<SystemIndex>) {
        self.start(direction);
        self.search(net, |here, _| Some(here) == goal, |_, _| true);
    }

    /// After a run with a goal: finds all that are at most this far.
    pub(super) fn go_on(&mut self, net: &Net<'_>, most: Cost) {
        self.search(net, |_, far| far.cost() > most, |_, _| true);
    }

    /// Finds how far all systems are from which the rest of the way, which has been searched, leads on to a way of at most
    /// this cost.
    pub(super) fn run_before(
        &mut self,
        net: &Net<'_>,
        origin: SystemIndex,
        rest: &Self,
        most: Cost,
    ) {
        self.start(Direction::From(origin));
        let leads_on = |here, far: Far| {
            let rest = rest.far(here);
            rest.is_some_and(|rest| far.cost() + rest.cost() <= most)
        };
        self.search(net, |_, _| false, leads_on);
    }

    /// How far this system is; `None` if there is no way, or none was looked for.
    pub(super) fn far(&self, system: SystemIndex) -> Option<Far> {
        let far = self.far[system];
        (far != NOT_REACHED).then_some(far)
    }

    /// After a run [`Direction::To`] an end: the first of the best ways from this system to it, by ids.
    pub(super) fn route_from(&self, net: &Net<'_>, origin: SystemIndex) -> Option<Route> {
        let far = self.far(origin)?;
        let mut route = Route {
            systems: Vec::with_capacity(far.jumps() as usize + 1),
            by: Vec::with_capacity(far.jumps() as usize),
            cost: far.cost(),
        };
        route.systems.push(origin);
        let mut here = origin;
        while self.far[here] != Far(0) {
            let next = self.next(net, here)?;
            here = next.far;
            route.systems.push(here);
            route.by.push(next.by);
        }
        Some(route)
    }

    /// After a run [`Direction::From`] an end: a best way from it to this system, always the same.
    pub(super) fn route_to(&self, net: &Net<'_>, destination: SystemIndex) -> Option<Route> {
        let far = self.far(destination)?;
        let mut route = Route {
            systems: vec![destination],
            by: Vec::with_capacity(far.jumps() as usize),
            cost: far.cost(),
        };
        let mut here = destination;
        while self.far[here] != Far(0) {
            let before = self.before(net, here)?;
            here = before.far;
            route.systems.push(here);
            route.by.push(before.by);
        }
        route.systems.reverse();
        route.by.reverse();
        Some(route)
    }

    /// The first jump of [`Search::route_from`].
    pub(super) fn next(&self, net: &Net<'_>, here: SystemIndex) -> Option<Jump> {
        let far = self.far(here)?;
        let best = net.leaving(here).filter(|jump| self.leads(jump, far));
        best.min_by_key(|jump| (jump.far, jump.by))
    }

    /// The last jump of [`Search::route_to`], seen from its end.
    pub(super) fn before(&self, net: &Net<'_>, here: SystemIndex) -> Option<Jump> {
        let far = self.far(here)?;
        let best = net.arriving(here).filter(|jump| self.leads(jump, far));
        best.min_by_key(|jump| (jump.far, jump.by))
    }

    /// Whether a jump is part of a best way that is this far.
    fn leads(&self, jump: &Jump, far: Far) -> bool {
        self.far(jump.far).is_some_and(|rest| rest.and(jump) == far)
    }

    fn start(&mut self, direction: Direction) {
        let (Direction::From(end) | Direction::To(end)) = direction;
        self.far.fill(NOT_REACHED);
        self.far[end] = Far(0);
        self.direction = Some(direction);
        self.queue.clear();
        self.queue.push(end);
        self.at = 0;
        self.heap.clear();
        self.heap.push(Reverse((Far(0), end)));
    }

    /// Searches until a system is next at which to stop; that one is next again when the search goes on.
    fn search(
        &mut self,
        net: &Net<'_>,
        stop: impl Fn(SystemIndex, Far) -> bool,
        enter: impl Fn(SystemIndex, Far) -> bool,
    ) {
        // With the choice made out here, the loops are made for each direction.
        match (net.counts_jumps(), self.direction) {
            (_, None) => {}
            (true, Some(Direction::From(_))) => self.by_levels(|it| net.leaving(it), stop, enter),
            (true, Some(Direction::To(_))) => self.by_levels(|it| net.arriving(it), stop, enter),
            (false, Some(Direction::From(_))) => self.by_cost(|it| net.leaving(it), stop, enter),
            (false, Some(Direction::To(_))) => self.by_cost(|it| net.arriving(it), stop, enter),
        }
    }

    fn by_levels<I: Iterator<Item = Jump>>(
        &mut self,
        around: impl Fn(SystemIndex) -> I,
        stop: impl Fn(SystemIndex, Far) -> bool,
        enter: impl Fn(SystemIndex, Far) -> bool,
    ) {
        while let Some(&here) = self.queue.get(self.at) {
            let far = self.far[here];
            // What is nearer has been found before it.
            if stop(here, far) {
                return;
            }
            self.at += 1;
            for jump in around(here) {
                let longer = far.and(&jump);
                if self.far[jump.far] == NOT_REACHED && enter(jump.far, longer) {
                    self.far[jump.far] = longer;
                    self.queue.push(jump.far);
                }
            }
        }
    }

    fn by_cost<I: Iterator<Item = Jump>>(
        &mut self,
        around: impl Fn(SystemIndex) -> I,
        stop: impl Fn(SystemIndex, Far) -> bool,
        enter: impl Fn(SystemIndex, Far) -> bool,
    ) {
        while let Some(&Reverse((far, here))) = self.heap.peek() {
            if stop(here, far) {
                return;
            }
            self.heap.pop();
            // A nearer way to it was found while this one waited.
            if far > self.far[here] {
                continue;
            }
            for jump in around(here) {
                let longer = far.and(&jump);
                if longer < self.far[jump.far] && enter(jump.far, longer) {
                    self.far[jump.far] = longer;
                    self.heap.push(Reverse((longer, jump.far)));
                }
            }
        }
    }
}

impl Far {
    pub(super) fn cost(self) -> Cost {
        // The part above the jumps was a cost when it was put there.
        Cost::from_millionths(u64::try_from(self.0 >> 32).unwrap_or(u64::MAX))
    }

    pub(super) fn jumps(self) -> u32 {
        u32::try_from(self.0 & u128::from(u32::MAX)).unwrap_or(u32::MAX)
    }

    fn and(self, jump: &Jump) -> Self {
        Self(self.0 + (u128::from(jump.cost.millionths()) << 32) + 1)
    }
}

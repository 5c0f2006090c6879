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
    queue: Vec<SystemIndex>,
    end: Option<SystemIndex>,
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
            end: None,
        }
    }

    /// Finds how far every system is; or, with a goal, only it and those that are nearer.
    pub(super) fn run(&mut self, net: &Net<'_>, direction: Direction, goal: Option<SystemIndex>) {
        self.far.fill(NOT_REACHED);
        let (Direction::From(end) | Direction::To(end)) = direction;
        self.end = Some(end);
        self.far[end] = Far(0);
        // Without this choice within the loops, each is made for one direction.
        match (net.counts_jumps(), direction) {
            (true, Direction::From(_)) => self.by_levels(end, goal, |it| net.out_of(it)),
            (true, Direction::To(_)) => self.by_levels(end, goal, |it| net.into_it(it)),
            (false, Direction::From(_)) => self.by_cost(end, goal, |it| net.out_of(it)),
            (false, Direction::To(_)) => self.by_cost(end, goal, |it| net.into_it(it)),
        }
    }

    /// How far this system is; `None` if there is no way, or none was looked for.
    pub(super) fn far(&self, system: SystemIndex) -> Option<Far> {
        let far = self.far[system];
        (far != NOT_REACHED).then_some(far)
    }

    /// After a run [`Direction::To`] an end: the first of the best ways from this system to it, by ids.
    pub(super) fn route_from(&self, net: &Net<'_>, origin: SystemIndex) -> Option<Route> {
        let end = self.end?;
        let mut left = self.far(origin)?;
        let mut route = Route {
            systems: Vec::with_capacity(left.jumps() as usize + 1),
            by: Vec::with_capacity(left.jumps() as usize),
            cost: left.cost(),
        };
        route.systems.push(origin);
        let mut here = origin;
        while here != end {
            let best = net.out_of(here).filter(|jump| self.leads(jump, left));
            let next = best.min_by_key(|jump| (jump.far, jump.by))?;
            here = next.far;
            left = self.far(here)?;
            route.systems.push(here);
            route.by.push(next.by);
        }
        Some(route)
    }

    /// After a run [`Direction::From`] an end: a best way from it to this system, always the same.
    pub(super) fn route_to(&self, net: &Net<'_>, destination: SystemIndex) -> Option<Route> {
        let end = self.end?;
        let mut left = self.far(destination)?;
        let mut route = Route {
            systems: vec![destination],
            by: Vec::with_capacity(left.jumps() as usize),
            cost: left.cost(),
        };
        let mut here = destination;
        while here != end {
            let best = net.into_it(here).filter(|jump| self.leads(jump, left));
            let next = best.min_by_key(|jump| (jump.far, jump.by))?;
            here = next.far;
            left = self.far(here)?;
            route.systems.push(here);
            route.by.push(next.by);
        }
        route.systems.reverse();
        route.by.reverse();
        Some(route)
    }

    /// Whether a jump is part of a best way that is this far.
    fn leads(&self, jump: &Jump, far: Far) -> bool {
        self.far(jump.far).is_some_and(|rest| rest.and(jump) == far)
    }

    fn by_levels<I: Iterator<Item = Jump>>(
        &mut self,
        end: SystemIndex,
        goal: Option<SystemIndex>,
        around: impl Fn(SystemIndex) -> I,
    ) {
        self.queue.clear();
        self.queue.push(end);
        let mut at = 0;
        while let Some(&here) = self.queue.get(at) {
            // What is nearer than the goal has been found before it.
            if Some(here) == goal {
                return;
            }
            at += 1;
            let far = self.far[here];
            for jump in around(here) {
                if self.far[jump.far] == NOT_REACHED {
                    self.far[jump.far] = far.and(&jump);
                    self.queue.push(jump.far);
                }
            }
        }
    }

    fn by_cost<I: Iterator<Item = Jump>>(
        &mut self,
        end: SystemIndex,
        goal: Option<SystemIndex>,
        around: impl Fn(SystemIndex) -> I,
    ) {
        self.heap.clear();
        self.heap.push(Reverse((self.far[end], end)));
        while let Some(Reverse((far, here))) = self.heap.pop() {
            if Some(here) == goal {
                return;
            }
            // A nearer way to it was found while this one waited.
            if far > self.far[here] {
                continue;
            }
            for jump in around(here) {
                let longer = far.and(&jump);
                let known = &mut self.far[jump.far];
                if longer < *known {
                    *known = longer;
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

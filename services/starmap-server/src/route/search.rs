//! The search for the cheapest routes to a system or from it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::net::{Jump, Net};
use super::{Cost, Query, Route};
use crate::map::{Map, PerSystem, SystemIndex};

/// The distances of systems from one end of a query, or to it.
#[derive(Debug)]
pub(super) struct Search<'q> {
    net: &'q Net<'q>,
    /// Whether jumps are followed away from the end.
    away: bool,
    far: PerSystem<Far>,
    /// The systems that were found and not followed yet, by what the last jump to them costs. Systems are followed
    /// nearest first, so those of one cost are found nearest first too, and a queue keeps them in order.
    queues: Vec<(Cost, VecDeque<(Far, SystemIndex)>)>,
    /// Those to which the last jump costs what no gate does.
    waiting: BinaryHeap<Reverse<(Far, SystemIndex)>>,
}

/// A system that waits: its distance, itself, and the place of its queue.
type Next = (Far, SystemIndex, usize);

/// A distance: first by cost, then by jumps. Both are in one number, with the cost in the high bits, because distances
/// are compared more often than anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Far(u128);

/// The best route, found from both ends: neither search goes much farther than halfway. It does not look for the reason
/// if there is none.
pub(super) fn best(map: &Map, query: &Query<'_>) -> Option<Route> {
    if query.is_closed(map) {
        return None;
    }
    let net = Net::new(map, query);
    let mut head = Search::new(map, &net, query.origin, true);
    let mut tail = Search::new(map, &net, query.destination, false);
    let mut best = Far::NOT_REACHED;
    while let (Some(first), Some(last)) = (head.next(), tail.next())
        && first.0.and(last.0) <= best
    {
        let (search, other, next) =
            if first <= last { (&mut head, &tail, first) } else { (&mut tail, &head, last) };
        best = best.min(next.0.and(other.far[next.1]));
        search.follow(next);
    }
    // Each system of each best route was followed from one end at least, and where the searches met, it is known from
    // both. From there back, distances to the end follow from those to the origin.
    let is_between = |it: &SystemIndex| head.far[*it].and(tail.far[*it]) == best;
    let mut known: Vec<SystemIndex> = map.indices().filter(is_between).collect();
    while let Some(here) = known.pop().filter(|_| best < Far::NOT_REACHED) {
        for jump in net.around(here, false) {
            let far = head.far[jump.far];
            if far.by(&jump) == head.far[here] && far.and(tail.far[jump.far]) > best {
                tail.far[jump.far] = Far(best.0 - far.0);
                known.push(jump.far);
            }
        }
    }
    tail.route(query.origin)
}

impl<'q> Search<'q> {
    pub(super) fn new(map: &Map, net: &'q Net<'q>, end: SystemIndex, away: bool) -> Self {
        let mut far = PerSystem::new(map, Far::NOT_REACHED);
        far[end] = Far(0);
        let costs: BTreeSet<Cost> = net.weights.into_iter().flatten().collect();
        let queues = costs.into_iter().map(|cost| (cost, VecDeque::new())).collect();
        Self { net, away, far, queues, waiting: BinaryHeap::from([Reverse((Far(0), end))]) }
    }

    /// Finds the distance of all systems within this cost.
    pub(super) fn advance(&mut self, most: Cost) {
        while let Some(next) = self.next().filter(|next| next.0.cost() <= most) {
            self.follow(next);
        }
    }

    /// The distance of this system; `None` if there is no route, or none was found so far.
    pub(super) fn far(&self, system: SystemIndex) -> Option<Far> {
        let far = self.far[system];
        (far != Far::NOT_REACHED).then_some(far)
    }

    /// The best route between this system and the end, always the same one. If it leads to the end, it is the first by
    /// ids.
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
        if self.away {
            route.systems.reverse();
            route.by.reverse();
        }
        Some(route)
    }

    /// The jump of [`Search::route`] at this system, seen from it.
    pub(super) fn step(&self, here: SystemIndex) -> Option<Jump> {
        let far = self.far(here)?;
        let leads = |jump: &Jump| self.far(jump.far).is_some_and(|rest| rest.by(jump) == far);
        let best = self.net.around(here, !self.away).filter(leads);
        best.min_by_key(|jump| (jump.far, jump.by))
    }

    /// The nearest system that waits.
    fn next(&self) -> Option<Next> {
        let fronts = self.queues.iter().map(|(_, queue)| queue.front());
        let all = fronts.chain([self.waiting.peek().map(|Reverse(nearest)| nearest)]);
        let all = all.enumerate().filter_map(|(queue, front)| front.map(|it| (it.0, it.1, queue)));
        all.min()
    }

    /// Follows the jumps of the nearest system that waits.
    fn follow(&mut self, (far, here, queue): Next) {
        match self.queues.get_mut(queue) {
            Some((_, queue)) => _ = queue.pop_front(),
            None => _ = self.waiting.pop(),
        }
        // A shorter route to it was found while it waited.
        if far > self.far[here] {
            return;
        }
        let (all, queues, waiting) = (&mut self.far, &mut self.queues, &mut self.waiting);
        self.net.around(here, self.away).for_each(|jump| {
            let longer = far.by(&jump);
            if longer < all[jump.far] {
                all[jump.far] = longer;
                match queues.iter_mut().find(|(cost, _)| *cost == jump.cost) {
                    Some((_, queue)) => queue.push_back((longer, jump.far)),
                    None => waiting.push(Reverse((longer, jump.far))),
                }
            }
        });
    }
}

impl Far {
    /// Farther than any system. The sum of two is still a number.
    const NOT_REACHED: Self = Self(u128::MAX >> 2);

    pub(super) fn cost(self) -> Cost {
        // The high bits were a cost when they were stored.
        Cost::from_millionths(u64::try_from(self.0 >> 32).unwrap_or(u64::MAX))
    }

    pub(super) fn jumps(self) -> u32 {
        u32::try_from(self.0 & u128::from(u32::MAX)).unwrap_or(u32::MAX)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    fn by(self, jump: &Jump) -> Self {
        Self(self.0 + (u128::from(jump.cost.millionths()) << 32) + 1)
    }
}

//! The least that a way costs, known beforehand: it leads a search to where it ends.

use super::net::Net;
use super::search::{Direction, Search};
use super::{Cost, Mode, Penalty, Query, Travel};
use crate::map::{LANDMARKS, Map, PerSystem, SystemIndex};

/// The least that a way from the origin of a query to a system costs, by the distances of both from some landmarks, as
/// in Goldberg and Harrelson, "Computing the Shortest Path: A* Search Meets Graph Theory", 2005. Avoided systems, rules
/// and surcharges only make ways dearer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'q> {
    landmarks: &'q PerSystem<Row>,
    origin: &'q Row,
    /// Whether ways may touch the first landmark, which those of the landmarks do not.
    touches_first: bool,
}

/// For each landmark, what a way from it costs, and one to it, in thousandths of a jump. It is rounded down.
type Row = [[u32; 2]; LANDMARKS];

/// More than any way. A larger number says that there is none.
const FAR: u32 = u32::MAX / 2;

impl<'q> Bound<'q> {
    /// `None` if nothing is known for the query: for penalties of its own, and for connections of a call. The first
    /// query of a mode takes some milliseconds.
    pub(super) fn new(map: &'q Map, query: &Query<'q>) -> Option<Self> {
        let travel = query.travel;
        let gates = Some(&map.landmarks).filter(|_| travel.list().is_empty());
        let penalty = Penalty::default();
        let modes = [Mode::Shortest, Mode::Safe, Mode::Unsafe, Mode::Safer { penalty }];
        let modes = modes.into_iter().chain([Mode::LessSecure { penalty }]);
        let mut known = modes.zip(gates.or(travel.landmarks.as_deref())?);
        let (mode, landmarks) = known.find(|(mode, _)| *mode == query.mode)?;
        let landmarks = landmarks.get_or_init(|| self::landmarks(map, mode, travel));
        let ends = [query.origin, query.destination];
        let touched = |it| ends.contains(it) || travel.may_pass(map, *it);
        let touches_first = map.only_ends().iter().any(touched);
        Some(Self { landmarks, origin: &landmarks[query.origin], touches_first })
    }

    /// The least to a system; `None` if there is no way.
    pub(super) fn least(&self, system: SystemIndex) -> Option<Cost> {
        // A way from a landmark is no longer than one by the origin, and one from the origin no longer than one by the
        // system.
        let apart = self.landmarks[system].iter().zip(self.origin).map(|(here, origin)| {
            here[0].saturating_sub(origin[0]).max(origin[1].saturating_sub(here[1]))
        });
        // Both were rounded.
        let mut least = thousandths(apart.max()?.saturating_sub(1));
        if self.touches_first {
            least = least.min(self.by_first(system));
        }
        (least < thousandths(FAR)).then_some(least)
    }

    /// The least by the first landmark.
    pub(super) fn by_first(&self, system: SystemIndex) -> Cost {
        let (to, from) = (self.origin[0][1], self.landmarks[system][0][0]);
        thousandths(to.saturating_add(from))
    }
}

fn thousandths(number: u32) -> Cost {
    Cost::from_millionths(u64::from(number) * 1_000)
}

/// The first landmark is the system that is only an end, if there is one. The others are far from each other.
fn landmarks(map: &Map, mode: Mode, travel: &Travel) -> PerSystem<Row> {
    let mut known = PerSystem::new(map, [[u32::MAX; 2]; LANDMARKS]);
    // Without the rules that a query may lift, but for the one of the first landmark.
    let mut travel = travel.clone();
    (travel.ship, travel.allowed) = (None, vec!["jove"]);
    let mut near = PerSystem::new(map, u32::MAX);
    let joined = map.indices().filter(|it| !map.neighbours(*it).is_empty());
    let Some(mut landmark) = map.only_ends().iter().copied().chain(joined).next() else {
        return known;
    };
    for at in 0..LANDMARKS {
        let query = Query::new(landmark, landmark, mode).with(&travel);
        let net = Net::new(map, &query);
        let ways = [Direction::From(landmark), Direction::To(landmark)].map(|direction| {
            let mut search = Search::new(map, &net, direction, None);
            search.advance(Cost::jumps(u32::MAX));
            search
        });
        for system in map.indices() {
            let ways = ways.each_ref().map(|search| search.far(system));
            if let Some(far) = ways[0] {
                near[system] = near[system].min(far.jumps());
            }
            let costs = ways.map(|far| {
                let cost = far.map(|far| far.cost().millionths() / 1_000);
                cost.map_or(u32::MAX, |cost| u32::try_from(cost).unwrap_or(FAR).min(FAR))
            });
            if let Some(place) = known[system].get_mut(at) {
                *place = costs;
            }
        }
        let far = |it: &SystemIndex| Some(near[*it]).filter(|jumps| *jumps < u32::MAX);
        landmark = map.indices().max_by_key(far).unwrap_or(landmark);
    }
    known
}

//! The distances of landmarks, which are found out once for a map and a mode.

use super::bound::{Bound, FAR, Row};
use super::net::Net;
use super::search::{Direction, Search};
use super::{Cost, Mode, Penalty, Query, Travel};
use crate::map::{LANDMARKS, Map, PerSystem, SystemIndex};

/// What is known beforehand of the ways of a query.
///
/// `None` if nothing is known for the query: for penalties of its own, and for connections of a call. The first
/// query of a mode takes some milliseconds.
pub(super) fn bound<'q>(map: &'q Map, query: &Query<'q>) -> Option<Bound<'q>> {
    let travel = query.travel;
    let gates = Some(&map.landmarks).filter(|_| travel.list().is_empty());
    let penalty = Penalty::default();
    let modes = [Mode::Shortest, Mode::Safe, Mode::Unsafe, Mode::Safer { penalty }];
    let modes = modes.into_iter().chain([Mode::LessSecure { penalty }]);
    let mut known = modes.zip(gates.or(travel.landmarks.as_deref())?);
    let (mode, landmarks) = known.find(|(mode, _)| *mode == query.mode)?;
    let landmarks = landmarks.get_or_init(|| found(map, mode, travel));
    let ends = [query.origin, query.destination];
    let touched = |it| ends.contains(it) || travel.may_pass(map, *it);
    let touches_first = map.only_ends().iter().any(touched);
    Some(Bound { landmarks, origin: &landmarks[query.origin], touches_first })
}

/// The first landmark is the system that is only an end, if there is one. The others are far from each other.
fn found(map: &Map, mode: Mode, travel: &Travel) -> PerSystem<Row> {
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

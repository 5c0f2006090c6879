//! From stops to systems.

use crate::map::{Map, PerSystem, SystemIndex};
use crate::route::{Avoid, Travel, Walk};

/// All systems on the tour, each leg as short as possible. Among the shortest paths of a leg it takes one that passes
/// the fewest systems already on the tour, and among those always the same one. `None` if a leg has no path.
pub(super) fn expand(
    map: &Map,
    travel: &Travel,
    stops: &[SystemIndex],
    legs: &[usize],
    avoid: &Avoid,
) -> Option<Vec<SystemIndex>> {
    let may_enter = |system| !avoid.contains(system);
    let mut systems = vec![*stops.first()?];
    let mut been = PerSystem::new(map, false);
    let (mut there, mut walk) = (Walk::new(map), Walk::new(map));
    for ((&from, &to), &jumps) in stops.iter().zip(stops.iter().skip(1)).zip(legs) {
        been[from] = true;
        let jumps = u32::try_from(jumps).unwrap_or(u32::MAX);
        // This walk has the remaining distance of each system. Two walks that meet in the middle pass fewer systems
        // than one.
        let half = jumps / 2;
        there.run(map, travel, from, half, may_enter);
        walk.run_back(map, travel, to, jumps, |system, left| {
            let meets = |there: u32| there + left == jumps;
            let on_way = left < jumps - half || there.jumps(system).is_some_and(meets);
            on_way && (may_enter(system) || system == from)
        });
        let leg = leg(map, travel, &walk, &been, from)?;
        for &system in &leg {
            been[system] = true;
        }
        systems.extend(leg);
    }
    Some(systems)
}

/// A system that a leg may pass, how many systems before it were already on the tour, and the position of its
/// predecessor in the level before.
type Passed = (SystemIndex, u32, usize);

fn leg(
    map: &Map,
    travel: &Travel,
    walk: &Walk,
    been: &PerSystem<bool>,
    from: SystemIndex,
) -> Option<Vec<SystemIndex>> {
    let jumps = walk.jumps(from)?;
    let mut levels: Vec<Vec<Passed>> = vec![vec![(from, 0, 0)]];
    for left in (0..jumps).rev() {
        let mut level: Vec<Passed> = Vec::new();
        for (at, &(here, again, _)) in levels.last()?.iter().enumerate() {
            let gates = map.neighbours(here).iter().copied();
            for far in gates.chain(travel.leading_from(here)) {
                if walk.jumps(far) == Some(left) {
                    level.push((far, again + u32::from(been[far]), at));
                }
            }
        }
        level.sort_unstable();
        level.dedup_by_key(|(system, ..)| *system);
        levels.push(level);
    }
    let mut leg = Vec::with_capacity(jumps as usize);
    let mut at = 0;
    for level in levels.iter().skip(1).rev() {
        let &(system, _, before) = level.get(at)?;
        leg.push(system);
        at = before;
    }
    leg.reverse();
    Some(leg)
}

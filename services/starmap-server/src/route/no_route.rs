//! Why there is no route.

use super::warning::counted;
use super::{Avoid, Avoided, Cost, Mode, NEAR, Query, Walk, best};
use crate::map::{Map, Rule, SystemIndex};

/// Why there is no route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoRoute {
    /// No connection leaves the origin, or none leads to the destination. Wormhole space is an example.
    NoGates {
        /// The end without gates; the origin if both are.
        system: SystemIndex,
    },
    /// No connections lead from the part of the map with the origin to the part with the destination.
    CutOff {
        /// Where the route would begin.
        origin: SystemIndex,
        /// How many systems can be reached from there, itself included.
        from_origin: usize,
        /// Where it would end.
        destination: SystemIndex,
        /// From how many systems it can be reached, itself included.
        to_destination: usize,
    },
    /// A rule keeps the ship out of the destination.
    Closed {
        /// The destination.
        system: SystemIndex,
        /// The rule.
        rule: &'static Rule,
    },
    /// Every route passes avoided systems.
    Avoided {
        /// The things to stop avoiding: a single one if that is enough, else several that are all needed. With more
        /// than 32 things to avoid there may be some that are not needed.
        give_up: Vec<Avoided>,
        /// The number of jumps of the shortest route in that case.
        jumps: usize,
    },
}

/// How many things to avoid are tried one by one.
const MAX_TRIED: usize = 32;
/// What an avoided system costs in the search for a route past the fewest: more than any route without one.
const DEAR: Cost = Cost::jumps(1_000_000_000);

/// Finds out why a query has no answer.
pub(super) fn why(map: &Map, query: &Query<'_>) -> NoRoute {
    let (origin, destination) = (query.origin, query.destination);
    if let Some(rule) = query.travel.closed(map, destination) {
        return NoRoute::Closed { system: destination, rule };
    }
    let mut walk = Walk::new(map);
    walk.run(map, query.travel, origin, u32::MAX, |_| true);
    if walk.jumps(destination).is_some() {
        return avoided(map, query, &mut walk);
    }
    let from_origin = walk.reached().len();
    walk.run_back(map, query.travel, destination, u32::MAX, |_, _| true);
    let to_destination = walk.reached().len();
    let alone = match (from_origin, to_destination) {
        (1, _) => Some(origin),
        (_, 1) => Some(destination),
        _ => None,
    };
    match alone {
        Some(system) => NoRoute::NoGates { system },
        None => NoRoute::CutOff { origin, from_origin, destination, to_destination },
    }
}

fn avoided(map: &Map, query: &Query<'_>, walk: &mut Walk) -> NoRoute {
    let (origin, destination) = (query.origin, query.destination);
    let ends = [origin, destination];
    let may = |avoid: &Avoid, system| !avoid.contains(system) || ends.contains(&system);
    walk.run(map, query.travel, origin, NEAR, |it| may(query.avoid, it));
    let around = walk.reached().len();
    walk.run_back(map, query.travel, destination, NEAR, |it, _| may(query.avoid, it));
    // The smaller surroundings are walked more quickly.
    let back = walk.reached().len() < around && query.travel.closed(map, origin).is_none();
    let mut jumps_without = |given_up: &[Avoided]| {
        let avoid = query.avoid.without(map, given_up);
        if back {
            walk.run_back(map, query.travel, destination, u32::MAX, |it, _| may(&avoid, it));
            return walk.jumps(origin);
        }
        walk.run(map, query.travel, origin, u32::MAX, |it| may(&avoid, it));
        walk.jumps(destination)
    };
    let things = query.avoid.things();
    for thing in things.iter().take(MAX_TRIED) {
        if let Some(jumps) = jumps_without(&[*thing]) {
            return NoRoute::Avoided { give_up: vec![*thing], jumps: jumps as usize };
        }
    }
    // No single thing is enough. The things on a route past the fewest avoided systems are enough; those that are not
    // needed are removed.
    let dear = |system| if query.avoid.contains(system) { DEAR } else { Cost::ZERO };
    let surcharges: Vec<Cost> = map.indices().map(dear).collect();
    let avoid = Avoid::nothing();
    let open = Query { mode: Mode::Shortest, avoid, surcharges: &surcharges, ..*query };
    let open = best(map, &open);
    let inner = open.iter().flat_map(|route| route.systems.iter().take(route.jumps()).skip(1));
    let met = |thing: &Avoided| inner.clone().any(|it| thing.holds(map, *it));
    let mut give_up: Vec<Avoided> = things.iter().copied().filter(met).collect();
    let mut at = 0;
    for _ in 0..give_up.len().min(MAX_TRIED) {
        let mut fewer = give_up.clone();
        fewer.remove(at);
        match jumps_without(&fewer) {
            Some(_) => give_up = fewer,
            None => at += 1,
        }
    }
    let jumps = jumps_without(&give_up).unwrap_or_default() as usize;
    NoRoute::Avoided { give_up, jumps }
}

impl NoRoute {
    /// The reason as half a sentence, to follow "No route from A to B: ".
    pub fn reason(&self, map: &Map) -> String {
        let name = |system: SystemIndex| map.name(system);
        match self {
            Self::NoGates { system } => {
                format!("no gate leads to or from {}{}", name(*system), apart(map, [*system]))
            }
            Self::Closed { system, rule } => {
                format!("{} is closed to the ship: {}", name(*system), rule.sentence())
            }
            Self::CutOff { origin, from_origin, destination, to_destination }
                if from_origin <= to_destination =>
            {
                format!(
                    "from {} only {} can be reached, and {} is not among them{}",
                    name(*origin),
                    systems(*from_origin),
                    name(*destination),
                    apart(map, [*origin, *destination])
                )
            }
            Self::CutOff { origin, destination, to_destination, .. } => format!(
                "{} can be reached only from {}, and {} is not among them{}",
                name(*destination),
                systems(*to_destination),
                name(*origin),
                apart(map, [*origin, *destination])
            ),
            Self::Avoided { give_up, jumps } => {
                let names: Vec<String> = give_up.iter().map(|thing| thing.name(map)).collect();
                format!(
                    "every way passes through what is avoided; without avoiding {} there is one of {}",
                    names.join(", "),
                    counted(*jumps)
                )
            }
        }
    }
}

/// Describes the kind of space of an end that gates do not join to the rest, and suggests what would help.
pub(crate) fn apart<const N: usize>(map: &Map, ends: [SystemIndex; N]) -> String {
    let help = "give the wormholes or bridges that are open as connections";
    let mut spaces = ends.into_iter().map(|end| (end, map.space(end).without_class()));
    match spaces.find(|(_, space)| space.is_apart()) {
        Some((end, space)) => {
            let name = map.name(end);
            format!(" ({name} is in {space}, which no gates join to the rest; {help})")
        }
        None => format!("; {help}"),
    }
}

fn systems(count: usize) -> String {
    format!("{count} systems that gates join")
}

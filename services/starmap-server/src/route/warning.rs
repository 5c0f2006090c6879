//! Warnings for a pilot before undocking.

use super::landmarks::bound;
use super::{Cost, NoRoute, Query, Route, best, find};
use crate::map::{Map, ONLY_ENDS, Rule, SecurityClass, Space, SystemIndex};

/// An easily overlooked fact about a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// An end of the route is on the list to avoid. It is used anyway, see [`Query::avoid`].
    AvoidedEnd(SystemIndex),
    /// A route that begins in high security, without a request to stay there, enters this many other systems.
    LowerSecurity {
        /// Of low security.
        low: usize,
        /// Of null security.
        null: usize,
    },
    /// A route in safe mode still leaves high security, because no other is cheaper.
    LeavesHighSecurity {
        /// How many systems of low security it enters.
        low: usize,
        /// How many of null security.
        null: usize,
    },
    /// A route that begins in high security, or is meant to be safe, enters so many systems of a space of its own.
    Enters {
        /// The space, see [`Space::is_apart`].
        space: Space,
        /// How many systems of it.
        count: usize,
    },
    /// The route begins in a system that is only an end, see [`Map::only_ends`]: whoever came by another gate is
    /// locked.
    Locked(SystemIndex),
    /// The route enters a system of Pochven that asks for standings.
    Standing(SystemIndex),
    /// A better route leads through a system that a rule closes.
    LeftOut {
        /// The system.
        through: SystemIndex,
        /// The rule.
        rule: &'static Rule,
        /// The number of jumps of that route.
        jumps: usize,
    },
    /// The first system below high security on the route that has one gate in and one out. Anyone who waits there
    /// cannot be avoided.
    Pipe(SystemIndex),
}

/// The best route as [`find`] has it, with all warnings for it in a fixed order.
///
/// # Errors
/// [`NoRoute`]
pub fn find_warned(map: &Map, query: &Query<'_>) -> Result<(Route, Vec<Warning>), NoRoute> {
    let end = by_end(map, query);
    let without = || best(map, &query.with(&query.travel.lifted(map)?));
    let open = if end.is_none() { without() } else { None };
    // If the best route without the rules keeps to them, it is the best with them too.
    let kept = open.as_ref().filter(|open| broken(map, query, open).is_none());
    let route = kept.map_or_else(|| find(map, query), |kept| Ok(kept.clone()))?;
    let mut warnings = without_rules(map, query, &route);
    let open = open.or_else(|| end.filter(|end| *end < route.cost).and_then(|_| without()));
    let open = open.filter(|open| open.cost < route.cost);
    warnings.extend(open.and_then(|open| {
        let (through, rule) = broken(map, query, &open)?;
        Some(Warning::LeftOut { through, rule, jumps: open.jumps() })
    }));
    Ok((route, warnings))
}

/// The warnings that do not compare with a route without the rules.
fn without_rules(map: &Map, query: &Query<'_>, route: &Route) -> Vec<Warning> {
    let other = Some(query.destination).filter(|it| *it != query.origin);
    let avoided = [query.origin].into_iter().chain(other).filter(|it| query.avoid.contains(*it));
    let mut warnings: Vec<Warning> = avoided.map(Warning::AvoidedEnd).collect();
    let entered = known_range::items(&route.systems, 1..);
    let class = |system: &SystemIndex| map.system(*system).class;
    let space = |system: &SystemIndex| map.space(*system).without_class();
    let count = |wanted| entered.iter().filter(|it| space(it) == wanted).count();
    let (low, null) = (count(Space::Low), count(Space::Null));
    let leaves = |pair: (&SystemIndex, &SystemIndex)| {
        class(pair.0) == SecurityClass::High && matches!(space(pair.1), Space::Low | Space::Null)
    };
    if query.mode.is_safe() && route.systems.iter().zip(entered).any(leaves) {
        warnings.push(Warning::LeavesHighSecurity { low, null });
    } else if query.mode.is_safe() || class(&query.origin) == SecurityClass::High {
        warnings.extend((low + null > 0).then_some(Warning::LowerSecurity { low, null }));
    }
    if query.mode.is_safe() || class(&query.origin) == SecurityClass::High {
        let apart = [Space::Pochven, Space::Jove, Space::Wormhole(0), Space::Beyond];
        let entered = apart.map(|space| Warning::Enters { space, count: count(space) });
        let is_any = |it: &Warning| !matches!(it, Warning::Enters { count: 0, .. });
        warnings.extend(entered.into_iter().filter(is_any));
    }
    let passed = entered.split_last().map_or(&[][..], |(_, passed)| passed);
    let pipe = passed
        .iter()
        .find(|it| class(it) != SecurityClass::High && map.neighbours(**it).len() == 2);
    warnings.extend(pipe.copied().map(Warning::Pipe));
    if route.jumps() > 0 && !query.travel.may_pass(map, query.origin) {
        warnings.push(Warning::Locked(query.origin));
    }
    let home =
        |at: &&SystemIndex| map.space(**at) == Space::Pochven && HOMES.contains(&map.name(**at));
    warnings.extend(entered.iter().find(home).copied().map(Warning::Standing));
    warnings
}

/// The home systems of Pochven.
const HOMES: [&str; 3] = ["Archee", "Kino", "Niarja"];

/// The route that there would be without the rules, the first system that a rule closes, and the rule.
pub fn ruled_out(map: &Map, query: &Query<'_>) -> Option<(Route, SystemIndex, &'static Rule)> {
    let lifted = query.travel.lifted(map)?;
    let route = best(map, &query.with(&lifted))?;
    let (through, rule) = broken(map, query, &route)?;
    Some((route, through, rule))
}

/// What a way that breaks a rule costs at least, if it can only lead through what is only an end.
fn by_end(map: &Map, query: &Query<'_>) -> Option<Cost> {
    let of_ends = |rule| ONLY_ENDS.iter().any(|(_, it)| *it == rule);
    let all = query.travel.held(map).all(of_ends);
    bound(map, query).filter(|_| all).map(|bound| bound.by_first(query.destination))
}

/// The first system of a route that a rule closes, and the rule.
fn broken(map: &Map, query: &Query<'_>, route: &Route) -> Option<(SystemIndex, &'static Rule)> {
    let inner = route.systems.iter().take(route.jumps()).skip(1);
    let passed = inner.map(|system| (*system, query.travel.rule(map, *system)));
    let last = route.systems.last().filter(|_| route.jumps() > 0);
    let last = last.map(|end| (*end, query.travel.closed(map, *end)));
    passed.chain(last).find_map(|(at, rule)| Some((at, rule?)))
}

impl Warning {
    /// The warning as a sentence.
    pub fn sentence(self, map: &Map) -> String {
        match self {
            Self::AvoidedEnd(end) => {
                format!("{} is to be avoided, but the route begins or ends there", map.name(end))
            }
            Self::LowerSecurity { low, null } => {
                format!("The route enters {}", systems(low, null))
            }
            Self::LeavesHighSecurity { low, null } => format!(
                "The route leaves high security although it was asked to be safe: it enters {}",
                systems(low, null)
            ),
            Self::Enters { space, count } => {
                let plural = if count == 1 { "" } else { "s" };
                format!("The route enters {count} system{plural} of {space}")
            }
            Self::Locked(system) => {
                let why = map.only_end(system).map_or("", |rule| rule.why);
                format!("The way out of {} may be closed: {why}", map.name(system))
            }
            Self::Standing(system) => format!(
                "{} lets in only pilots whose standing with the Triglavian Collective is 7.0 or more",
                map.name(system)
            ),
            Self::LeftOut { through, rule, jumps } => format!(
                "The way of {} through {} is left out: {}",
                counted(jumps),
                map.name(through),
                rule.sentence()
            ),
            Self::Pipe(system) => {
                let it = map.system(system);
                format!(
                    "The route passes through {} ({} security), which has only two gates and is easily camped",
                    it.name, it.class
                )
            }
        }
    }
}

pub(super) fn counted(jumps: usize) -> String {
    if jumps == 1 { "1 jump".to_owned() } else { format!("{jumps} jumps") }
}

fn systems(low: usize, null: usize) -> String {
    let some = |count, class| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {class}-security system{plural}")
    };
    match (low, null) {
        (low, 0) => some(low, "low"),
        (0, null) => some(null, "null"),
        (low, null) => format!("{} and {}", some(low, "low"), some(null, "null")),
    }
}

//! Warnings for a pilot before undocking.

use super::{Query, Route};
use crate::map::{Map, SecurityClass, SystemIndex};

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
    /// The first system below high security on the route that has one gate in and one out. Anyone who waits there
    /// cannot be avoided.
    Pipe(SystemIndex),
}

/// All warnings for a route, in a fixed order.
pub fn warnings(map: &Map, query: &Query<'_>, route: &Route) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut avoided = |end| {
        if query.avoid.contains(end) {
            warnings.push(Warning::AvoidedEnd(end));
        }
    };
    avoided(query.origin);
    if query.destination != query.origin {
        avoided(query.destination);
    }
    let entered = known_range::items(&route.systems, 1..);
    let class = |system: &SystemIndex| map.system(*system).class;
    let count = |wanted| entered.iter().filter(|it| class(it) == wanted).count();
    let (low, null) = (count(SecurityClass::Low), count(SecurityClass::Null));
    let leaves = |pair: (&SystemIndex, &SystemIndex)| {
        class(pair.0) == SecurityClass::High && class(pair.1) != SecurityClass::High
    };
    if query.mode.is_safe() {
        if route.systems.iter().zip(entered).any(leaves) {
            warnings.push(Warning::LeavesHighSecurity { low, null });
        }
    } else if class(&query.origin) == SecurityClass::High && low + null > 0 {
        warnings.push(Warning::LowerSecurity { low, null });
    }
    let passed = entered.split_last().map_or(&[][..], |(_, passed)| passed);
    let pipe = passed
        .iter()
        .find(|it| class(it) != SecurityClass::High && map.neighbours(**it).len() == 2);
    warnings.extend(pipe.copied().map(Warning::Pipe));
    warnings
}

impl Warning {
    /// The warning as a sentence.
    pub fn sentence(self, map: &Map) -> String {
        match self {
            Self::AvoidedEnd(end) => format!(
                "{} is to be avoided, but the route begins or ends there",
                map.system(end).name
            ),
            Self::LowerSecurity { low, null } => {
                format!("The route enters {}", systems(low, null))
            }
            Self::LeavesHighSecurity { low, null } => format!(
                "The route leaves high security although it was asked to be safe: it enters {}",
                systems(low, null)
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

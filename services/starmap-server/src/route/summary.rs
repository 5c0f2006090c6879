//! The security of a route as a whole.

use crate::map::{Map, SecurityClass, SystemIndex};

/// The security of the systems of a route, its ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many systems are of high security.
    pub high: usize,
    /// How many are of low security.
    pub low: usize,
    /// How many are of null security.
    pub null: usize,
    /// The lowest security status, unrounded.
    pub lowest: f64,
    /// The first system with this status.
    pub lowest_system: SystemIndex,
}

/// Counts the systems of a route by class, each as often as it is passed. `None` if there are no systems.
pub fn summary(map: &Map, systems: &[SystemIndex]) -> Option<Summary> {
    let first = *systems.first()?;
    let mut summary = Summary {
        high: 0,
        low: 0,
        null: 0,
        lowest: map.system(first).security,
        lowest_system: first,
    };
    for &index in systems {
        let system = map.system(index);
        match system.class {
            SecurityClass::High => summary.high += 1,
            SecurityClass::Low => summary.low += 1,
            SecurityClass::Null => summary.null += 1,
        }
        if system.security < summary.lowest {
            summary.lowest = system.security;
            summary.lowest_system = index;
        }
    }
    Some(summary)
}

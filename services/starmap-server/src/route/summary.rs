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
    let security = |system: SystemIndex| map.system(system).security;
    let count = |class| systems.iter().filter(|it| map.class(**it) == class).count();
    let by_security = |a: &SystemIndex, b: &SystemIndex| security(*a).total_cmp(&security(*b));
    let lowest_system = systems.iter().copied().min_by(by_security)?;
    Some(Summary {
        high: count(SecurityClass::High),
        low: count(SecurityClass::Low),
        null: count(SecurityClass::Null),
        lowest: security(lowest_system),
        lowest_system,
    })
}

//! Where a route is dangerous.

use crate::errors::InvalidParameterError as Invalid;
use crate::map::{Map, Rule, SecurityClass, SystemIndex};
use crate::route::{Summary, Travel, summary};

/// The analysis of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Its systems by class.
    pub summary: Summary,
    /// Where it crosses the edge of high security, in order: the lower system of each step.
    pub chokepoints: Vec<SystemIndex>,
    /// Its stretches below high security, in order.
    pub danger_zones: Vec<DangerZone>,
}

/// An unbroken stretch below high security.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DangerZone {
    /// Its first system.
    pub start: SystemIndex,
    /// Its last.
    pub end: SystemIndex,
    /// How many systems it has.
    pub systems: usize,
    /// The lowest unrounded security status in it.
    pub min_security: f64,
}

/// Why a list of systems is not a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalyzeError {
    /// Fewer than two systems.
    Invalid(Invalid),
    /// Two consecutive systems that are not joined.
    NotJoined {
        /// The first.
        from: SystemIndex,
        /// The second.
        to: SystemIndex,
    },
    /// A system that a rule closes.
    NotPassed {
        /// The system before it.
        from: SystemIndex,
        /// The system.
        through: SystemIndex,
        /// The system after it, or itself at the end.
        to: SystemIndex,
        /// The rule.
        rule: &'static Rule,
    },
}

/// Finds where a route is dangerous. Any two consecutive systems must be joined by a gate or by one of the extra
/// connections in this direction.
///
/// # Errors
/// [`AnalyzeError`]
pub fn analyze(
    map: &Map,
    systems: &[SystemIndex],
    travel: &Travel,
) -> Result<Analysis, AnalyzeError> {
    let too_short = || {
        let reason = "a way has at least 2 systems";
        AnalyzeError::Invalid(Invalid::new("systems", systems.len(), reason))
    };
    let pairs = || systems.iter().copied().zip(systems.iter().copied().skip(1));
    if pairs().next().is_none() {
        return Err(too_short());
    }
    for (from, to) in pairs() {
        let gate = map.neighbours(from).binary_search(&to).is_ok();
        if !gate && !travel.joins(from, to) {
            return Err(AnalyzeError::NotJoined { from, to });
        }
    }
    for (at, (from, through)) in pairs().enumerate() {
        let to = systems.get(at + 2).copied().unwrap_or(through);
        // Whoever turns back leaves by the gate that was entered by.
        let passes = to != through && to != from;
        let rule = if passes { travel.rule(map, through) } else { travel.closed(map, through) };
        if let Some(rule) = rule {
            return Err(AnalyzeError::NotPassed { from, through, to, rule });
        }
    }
    let is_high = |system| map.system(system).class == SecurityClass::High;
    let chokepoints = pairs().filter_map(|(from, to)| match (is_high(from), is_high(to)) {
        (true, false) => Some(to),
        (false, true) => Some(from),
        _ => None,
    });
    let zones = systems.split(|system| is_high(*system));
    Ok(Analysis {
        summary: summary(map, systems).ok_or_else(too_short)?,
        chokepoints: chokepoints.collect(),
        danger_zones: zones.filter_map(|zone| danger_zone(map, zone)).collect(),
    })
}

fn danger_zone(map: &Map, systems: &[SystemIndex]) -> Option<DangerZone> {
    Some(DangerZone {
        start: *systems.first()?,
        end: *systems.last()?,
        systems: systems.len(),
        min_security: summary(map, systems)?.lowest,
    })
}

impl AnalyzeError {
    /// The reason as half a sentence, to follow "No route from A to B: ".
    pub fn reason(&self, map: &Map) -> String {
        match self {
            Self::Invalid(invalid) => invalid.reason.clone(),
            Self::NotJoined { from, to } => format!(
                "no gate joins {} and {}, which follow each other in the list",
                map.name(*from),
                map.name(*to)
            ),
            Self::NotPassed { through, rule, .. } => {
                format!("{} is closed: {}", map.name(*through), rule.sentence())
            }
        }
    }
}

//! Checking a map: whether it is connected, and whether it is fit for routes.

use std::fmt;

use serde::Serialize;

pub use crate::map::TRADE_HUBS;
use crate::map::{Map, SecurityClass, System, SystemIndex};
use crate::stats::parts;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The condition that should hold.
    pub name: &'static str,
    /// The outcome.
    pub outcome: Outcome,
    /// What was counted, what fails, or why the check was skipped.
    pub note: String,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The condition holds.
    Passed,
    /// The condition does not apply to this map.
    Skipped,
    /// The condition does not hold.
    Failed,
}

/// Runs all checks on a map. The first few items that fail a check are named.
pub fn verify(map: &Map) -> Vec<Check> {
    let systems = map.systems();
    let around: Vec<&[SystemIndex]> = map.indices().map(|it| map.neighbours(it)).collect();
    vec![
        check("the map has systems", counted(systems.len(), "systems")),
        check("every id and every name finds what bears it", indices(map)),
        check("every system has the one security class of its status", classes(systems)),
        check(
            "the border systems are those of high security with a lower neighbour",
            borders(systems, &around),
        ),
        check("every system with gates has a position", positions(systems, &around)),
        check("the data is not older than a year", age(map)),
        check("the trade hubs are there", hubs(map)),
        check("the trade hubs are joined by gates", hubs_joined(map)),
    ]
}

/// Whether no check failed.
pub fn passed(checks: &[Check]) -> bool {
    checks.iter().all(|it| it.outcome != Outcome::Failed)
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Passed => "passed",
            Outcome::Skipped => "skipped",
            Outcome::Failed => "FAILED",
        };
        write!(f, "{outcome:<7} {} ({})", self.name, self.note)
    }
}

/// The outcome and the note.
type Verdict = (Outcome, String);

fn check(name: &'static str, (outcome, note): Verdict) -> Check {
    Check { name, outcome, note }
}

fn counted(count: usize, what: &str) -> Verdict {
    match count {
        0 => (Outcome::Failed, format!("no {what}")),
        _ => (Outcome::Passed, format!("{count} {what}")),
    }
}

/// Passed if `wrong` is empty; else its first three entries are named.
fn none(wrong: impl Iterator<Item = String>, judged: usize) -> Verdict {
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        return (Outcome::Passed, format!("{judged} judged"));
    }
    let first: Vec<&str> = wrong.iter().take(3).map(String::as_str).collect();
    let more = if wrong.len() > first.len() { ", …" } else { "" };
    let note = format!("{} of {judged} are not: {}{more}", wrong.len(), first.join(", "));
    (Outcome::Failed, note)
}

/// Old data is a reason to look for newer data, not a fault of the map.
fn age(map: &Map) -> Verdict {
    let Some(released) = map.released() else {
        let note = format!("its version, {:?}, does not say when it was released", map.version());
        return (Outcome::Skipped, note);
    };
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let days = (today - released).get_days();
    match days {
        ..=365 => (Outcome::Passed, format!("released {released}, {days} days ago")),
        _ => (Outcome::Skipped, format!("released {released}, {days} days ago: build a newer one")),
    }
}

fn indices(map: &Map) -> Verdict {
    let systems = map.indices().zip(map.systems()).filter(|(index, it)| {
        map.system_by_id(it.id) != Some(*index) || map.system_by_name(&it.name) != Some(*index)
    });
    let constellations = map.constellations().iter().filter(|it| {
        let found = map.constellation_by_name(&it.name);
        found.is_none_or(|found| map.constellation(found).id != it.id)
    });
    let regions = map.regions().iter().filter(|it| {
        let found = map.region_by_name(&it.name);
        found.is_none_or(|found| map.region(found).id != it.id)
    });
    let wrong = systems.map(|(_, it)| it.name.to_string());
    let wrong = wrong.chain(constellations.map(|it| it.name.to_string()));
    let wrong = wrong.chain(regions.map(|it| it.name.to_string()));
    none(wrong, map.systems().len() + map.constellations().len() + map.regions().len())
}

fn classes(systems: &[System]) -> Verdict {
    let wrong = systems.iter().filter(|it| it.class != SecurityClass::of(it.security));
    none(wrong.map(|it| it.name.to_string()), systems.len())
}

fn borders(systems: &[System], around: &[&[SystemIndex]]) -> Verdict {
    let lower = |to: &SystemIndex| systems.get(to.index()).is_some_and(|it| it.security < 0.45);
    let wrong = systems
        .iter()
        .zip(around)
        .filter(|(it, around)| it.border != (it.security >= 0.45 && around.iter().any(lower)));
    none(wrong.map(|(it, _)| it.name.to_string()), systems.len())
}

fn positions(systems: &[System], around: &[&[SystemIndex]]) -> Verdict {
    if systems.iter().all(|it| it.position.is_none()) {
        let note = "the map has no positions: distances in light years are not known";
        return (Outcome::Skipped, note.to_owned());
    }
    let joined = systems.iter().zip(around).filter(|(_, around)| !around.is_empty());
    let lacks = joined.clone().filter(|(it, _)| it.position.is_none());
    none(lacks.map(|(it, _)| it.name.to_string()), joined.count())
}

fn hubs(map: &Map) -> Verdict {
    let (there, missing): (Vec<&str>, Vec<&str>) =
        TRADE_HUBS.iter().partition(|name| map.system_by_name(name).is_some());
    match (there.as_slice(), missing.as_slice()) {
        ([], _) => (Outcome::Skipped, "a map without them".to_owned()),
        (there, []) => (Outcome::Passed, there.join(", ")),
        (_, missing) => (Outcome::Failed, format!("missing: {}", missing.join(", "))),
    }
}

fn hubs_joined(map: &Map) -> Verdict {
    let parts = parts(map);
    let hubs = TRADE_HUBS.iter().filter_map(|name| map.system_by_name(name));
    let mut hubs = hubs.map(|it| (it, parts.get(it.index())));
    let Some((first, part)) = hubs.next() else {
        return (Outcome::Skipped, "a map without them".to_owned());
    };
    let name = |it: SystemIndex| &map.system(it).name;
    match hubs.find(|(_, other)| *other != part) {
        Some((cut, _)) => {
            let note = format!("no way from {} to {}", name(first), name(cut));
            (Outcome::Failed, note)
        }
        None => (Outcome::Passed, format!("all with {}", name(first))),
    }
}

#[cfg(test)]
mod tests;

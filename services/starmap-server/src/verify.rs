//! Checking a map: whether it is connected, and whether it is fit for routes.
//!
//! No map is without systems, ids and names find what bears them, classes follow the status, and border systems are
//! those of high security with a lower neighbour: [`Map::new`] makes it so.

use std::fmt;

use serde::Serialize;

use crate::map::Map;
pub use crate::map::TRADE_HUBS;
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
    let systems = map.systems().len();
    vec![
        check("the map has systems", (Outcome::Passed, format!("{systems} systems"))),
        check("every system with gates has a position", positions(map)),
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

fn positions(map: &Map) -> Verdict {
    if map.systems().iter().all(|it| it.position.is_none()) {
        let note = "the map has no positions: distances in light years are not known";
        return (Outcome::Skipped, note.to_owned());
    }
    let joined = || map.indices().filter(|it| !map.neighbours(*it).is_empty());
    let lacks = joined().filter(|it| map.system(*it).position.is_none());
    none(lacks.map(|it| map.name(it).to_owned()), joined().count())
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
    match hubs.find(|(_, other)| *other != part) {
        Some((cut, _)) => {
            let note = format!("no way from {} to {}", map.name(first), map.name(cut));
            (Outcome::Failed, note)
        }
        None => (Outcome::Passed, format!("all with {}", map.name(first))),
    }
}

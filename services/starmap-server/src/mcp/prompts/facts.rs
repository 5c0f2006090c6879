//! Facts from the map, as text for a model.

use std::fmt::Write as _;

use crate::errors::UniverseError;
use crate::explore;
use crate::map::{Space, SystemIndex, shown_security};
use crate::route::{self, Mode, Penalty, Query, SecurityFilter};

use super::super::records::SecuritySummary;
use super::super::tools::{no_route, rules};
use super::super::universe::Snapshot;

/// The radius of the area that a roam is planned in.
const ROAM_JUMPS: u32 = 6;
/// The most systems of one kind that are named.
const MAX_NAMED: usize = 12;

/// The routes between two systems, in the modes that matter to a hauler and to a fleet.
pub(super) fn ways(
    now: &Snapshot,
    origin: SystemIndex,
    destination: SystemIndex,
) -> Result<String, UniverseError> {
    let map = &*now.map;
    let modes = [
        ("shortest", Mode::Shortest),
        ("safe", Mode::Safe),
        (
            "safer (as the autopilot's \"prefer safer\")",
            Mode::Safer { penalty: Penalty::default() },
        ),
    ];
    let mut text = String::new();
    let mut seen: Vec<Vec<SystemIndex>> = Vec::new();
    for (word, mode) in modes {
        let query = Query::new(origin, destination, mode).with(&now.travel);
        let found = route::find_warned(map, &query);
        let (found, warnings) = found.map_err(|why| now.explained(no_route(map, &query, &why)))?;
        // Writing to a string does not fail.
        let _ = write!(text, "- {word}: {} jumps", found.jumps());
        if seen.contains(&found.systems) {
            text.push_str(", the same way\n");
            continue;
        }
        let summary = SecuritySummary::of(map, &found.systems);
        let (high, low) = (summary.highsec_systems, summary.lowsec_systems);
        let _ = write!(text, " ({high} systems high, {low} low, {} null", summary.nullsec_systems);
        for (space, count) in summary.other_systems {
            let _ = write!(text, ", {count} of {space}");
        }
        text.push(')');
        let names: Vec<String> = found.systems.iter().map(|&at| named(now, at)).collect();
        let _ = writeln!(text, ": {}", names.join(" > "));
        for warning in warnings {
            let _ = writeln!(text, "  ! {}", warning.sentence(map));
        }
        seen.push(found.systems);
    }
    Ok(text)
}

/// The surroundings of a system, from a hunter's view.
pub(super) fn surroundings(now: &Snapshot, origin: SystemIndex) -> String {
    let map = &*now.map;
    let near = explore::within(map, &now.travel, origin, ROAM_JUMPS, SecurityFilter::Any);
    let of = |space: Space| near.iter().filter(move |near| map.space(near.system) == space);
    let mut text = format!(
        "- {} and within {ROAM_JUMPS} jumps {} more systems: {} high, {} low, {} null\n",
        named(now, origin),
        near.len().saturating_sub(1),
        of(Space::High).count(),
        of(Space::Low).count(),
        of(Space::Null).count()
    );
    let again = |lifted: &_| explore::within(map, lifted, origin, ROAM_JUMPS, SecurityFilter::Any);
    for line in rules::around(map, &now.travel, Some(origin), &near, |lifted| Some(again(lifted))) {
        let _ = writeln!(text, "- {line}");
    }
    for (space, what) in [(Space::Low, "low"), (Space::Null, "null")] {
        let names: Vec<String> = of(space)
            .take(MAX_NAMED)
            .map(|near| format!("{} ({} jumps)", named(now, near.system), near.jumps))
            .collect();
        if !names.is_empty() {
            let _ = writeln!(text, "- nearest of {what} security: {}", names.join(", "));
        }
    }
    let borders =
        explore::borders(map, &now.travel, origin, ROAM_JUMPS, SecurityFilter::Any, MAX_NAMED);
    let names: Vec<String> = borders
        .list
        .iter()
        .map(|near| format!("{} ({} jumps)", map.name(near.system), near.jumps))
        .collect();
    let _ = if names.is_empty() {
        writeln!(text, "- no border system of high security is that near")
    } else {
        writeln!(
            text,
            "- border systems of high security ({} in all): {}",
            borders.total,
            names.join(", ")
        )
    };
    text
}

/// A system with its security as the game shows it, and its kills if they are known.
fn named(now: &Snapshot, system: SystemIndex) -> String {
    let record = now.map.system(system);
    let kills = now
        .activity
        .as_deref()
        .map(|activity| activity.figures(record.id).kills())
        .filter(|kills| *kills > 0);
    let security = shown_security(record.security);
    match kills {
        Some(kills) => format!("{} {security:.1} [{kills} kills]", record.name),
        None => format!("{} {security:.1}", record.name),
    }
}

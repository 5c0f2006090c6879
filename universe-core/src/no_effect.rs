//! What an accepted command did not do: a success without an effect, and members whose effect another one hides.

use serde_json::Value;

use crate::command::{Action, Command, RecordKind};
use crate::entity::{Id, Members, Star};
use crate::finding::{Findings, Path};
use crate::kepler::DERIVED;
use crate::nearest;
use crate::orbit::turn;
use crate::state::{State, six_digits};

/// How much a value may differ, as a part of what was expected, without a warning.
const TOLERANCE: f64 = 0.01;

/// How many ids are compared with one that nothing has.
const COMPARED: usize = 10_000;

/// Members with the same fact in another unit, which no command keeps in step.
const COPIES: [(&str, &str); 5] = [
    ("mass", "massKg"),
    ("radius", "radiusKm"),
    ("semiMajorAxis", "semiMajorAxisKm"),
    ("orbitalSpeed", "periodDays"),
    ("orbitRotX", "inclinationDeg"),
];

const OFFSETS: [&str; 3] = ["orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"];
const TURNS: [&str; 3] = ["orbitRotX", "orbitRotY", "orbitRotZ"];

impl Command {
    /// Warnings about this command, which took the universe from `before` to `after`: that it changed nothing, or what
    /// of it another member hides, with the member to set. Paths are those of the command.
    ///
    /// The cost depends on what the command touched, as for [`State::apply`].
    pub fn warnings(&self, before: &State, after: &State) -> Findings {
        let mut found = Findings::default();
        match &self.action {
            Action::Tick { dt } => {
                // What it has instead, such as `days`, was meant to be it.
                if self.lacks("dt") {
                    let message = "is missing: the time moved by 1 s; give the seconds to move by";
                    found.add("dt", message);
                }
                tick(*dt, before.time(), after.time(), &mut found);
            }
            Action::TickUntil { .. } if before.time() == after.time() => {
                found.add("until", "is the present time: it did not move");
            }
            Action::AddStar { id, payload } => body(id, payload, before, after, &mut found),
            Action::UpdateStar { id, payload } if is_changed(before, after) => {
                body(id, payload, before, after, &mut found);
            }
            Action::RemoveRecord { kind, id } => removed(*kind, id, before, &mut found),
            Action::DetachStar { child } => detached(child, after, &mut found),
            action if !is_changed(before, after) => {
                let name = action.body().map_or("", |(name, _)| name);
                let message = match action.patch() {
                    Some(patch) if patch.is_empty() => "is empty: nothing was changed",
                    _ => "is so already: nothing was changed",
                };
                if name.is_empty() {
                    found.push(&Path::ROOT, message);
                } else {
                    found.add(name, message);
                }
            }
            _ => {}
        }
        found
    }
}

fn is_changed(before: &State, after: &State) -> bool {
    after.time != before.time
        || after.extra != before.extra
        || after.roots_changed_since(before)
        || after.changed_since(before).next().is_some()
}

fn tick(dt: f64, before: f64, after: f64, found: &mut Findings) {
    let moved = after - before;
    if dt == 0.0 {
        found.add("dt", "is 0: the time did not move");
    } else if moved == 0.0 {
        let least = before.abs().next_up() - before.abs();
        found.add(
            "dt",
            format_args!("is too small for the time {before}, which moves by {least} s or more: it did not move"),
        );
    } else if (moved - dt).abs() > dt.abs() * TOLERANCE {
        found.add(
            "dt",
            format_args!("cannot be added to the time {before} exactly: it moved by {moved} s"),
        );
    }
}

fn removed(kind: RecordKind, id: &Id, before: &State, found: &mut Findings) {
    let family = kind.family();
    if before.entity(family, id).is_none() {
        let hint = nearest::hint(id, before.entities(family).map(|(id, _)| id).take(COMPARED));
        let family = family.name();
        found.add("id", format_args!("is not in {family:?}: nothing was removed{hint}"));
    }
}

fn detached(child: &Id, after: &State, found: &mut Findings) {
    let Some(star) = after.star(child) else { return };
    let size = if star.derived.is_some() {
        "elements"
    } else if number(star, "semiMajorAxis") > 0.0 {
        "semiMajorAxis"
    } else {
        return;
    };
    let message = format_args!(
        "goes on moving round the origin by its {size}, which stays: set {size} to null by updateStar"
    );
    found.add("childId", message);
}

/// Warns of members that a command gave to a body and that another one hides.
fn body(id: &Id, given: &Members, before: &State, after: &State, found: &mut Findings) {
    let Some(star) = after.star(id) else { return };
    let was = before.star(id);
    // A body that is sent as it was read changes only what differs.
    let is_set = |name: &str| {
        let given = given.get(name).filter(|value| !value.is_null());
        given.is_some() && given != was.and_then(|was| was.get(name))
    };
    let payload = Path::ROOT.at(&"payload");
    if star.derived.is_some() {
        for (name, element) in DERIVED.into_iter().filter(|(name, _)| is_set(name)) {
            if given.get(name).and_then(Value::as_f64) != Some(number(star, name)) {
                let message = format_args!(
                    "has no effect beside `elements`, which say how the body moves; set elements.{element}"
                );
                found.push(&payload.at(&name), message);
            }
        }
        let given = given.get("elements").filter(|_| is_set("elements"));
        if let (Some(period), Some(lawful)) = (
            given.and_then(|elements| elements.get("period")?.as_f64()),
            after.lawful_period(star).filter(|lawful| *lawful > 0.0),
        ) && !(0.5..=2.0).contains(&(period / lawful))
        {
            let message = format_args!(
                "{period} s is not what the masses and semiMajorAxis give by Kepler's third law, {lawful} s: compare \
                 the units of all three with those of the universe"
            );
            found.push(&payload.at(&"elements").at(&"period"), message);
        }
    } else if let (Some(true), true) =
        (star.get("isRoguePlanet").and_then(Value::as_bool), was.is_some())
    {
        for (name, _) in DERIVED.into_iter().filter(|(name, _)| is_set(name)) {
            found.push(
                &payload.at(&name),
                "has no effect on a rogue planet, whose path is set by `roguePlanet`",
            );
        }
    } else {
        let axis = star.get("semiMajorAxis").and_then(Value::as_f64);
        if let Some(axis) = axis.filter(|axis| *axis != number(star, "orbitalDistance"))
            && is_set("orbitalDistance")
        {
            let message =
                format_args!("has no effect beside semiMajorAxis, {axis}, which counts; set that");
            found.push(&payload.at(&"orbitalDistance"), message);
        }
        let moves = ["eccentricity", "semiMajorAxis"].into_iter().chain(TURNS);
        let moved = moves.into_iter().find(|name| is_set(name));
        if let (Some(moved), Some(right)) = (moved, misplaced(star))
            && (moved == "eccentricity" || was.is_none_or(|was| misplaced(was).is_none()))
        {
            let [x, y, z] = right.map(six_digits);
            let message = format_args!(
                "leaves what it orbits outside of the focus; set orbitOffsetX {x}, orbitOffsetY {y}, orbitOffsetZ {z}"
            );
            found.push(&payload.at(&moved), message);
        }
    }
    for (name, copy) in COPIES {
        if was.is_some() && is_set(name) && !is_set(copy) && star.get(copy).is_some() {
            let message =
                format_args!("is set, and {copy} still has the old value; set {copy} too");
            found.push(&payload.at(&name), message);
        }
    }
}

/// The offsets that bring the focus of an ellipse to where its parent is, unless it is there.
fn misplaced(star: &Star) -> Option<[f64; 3]> {
    let axis = star.get("semiMajorAxis").and_then(Value::as_f64);
    let axis = axis.unwrap_or(number(star, "orbitalDistance"));
    let focus = axis * number(star, "eccentricity");
    let turned = turn([-focus, 0.0, 0.0], TURNS.map(|name| star.get(name).and_then(Value::as_f64)));
    let is_off =
        |(right, name): (f64, &str)| (number(star, name) - right).abs() > focus.abs() * TOLERANCE;
    turned.into_iter().zip(OFFSETS).any(is_off).then_some(turned)
}

fn number(star: &Star, name: &str) -> f64 {
    star.get(name).and_then(Value::as_f64).unwrap_or_default()
}

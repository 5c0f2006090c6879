//! A universe as indented text: what orbits what, what is in which group, and the rest by name. For models and people.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Number, Value};
use universe_core::{ChildKind, Entity, Family, Star, State};

use crate::commands::Universe;

/// The most levels that are indented. Deeper levels have the same indent and show their depth.
const MAX_INDENT: usize = 30;
/// The longest name that is shown, in characters.
const MAX_NAME: usize = 80;
/// The members of a body that are shown, and their labels.
const SHOWN: [(&str, &str); 3] =
    [("mass", "mass"), ("radius", "radius"), ("orbitalDistance", "distance")];

/// The text so far, and which part of the entities it shows.
struct Outline {
    text: String,
    /// The number of entities that are still to be skipped.
    skip: usize,
    /// The number of entities that may be shown after those.
    room: usize,
    /// The number of entities after the shown ones.
    omitted: usize,
    /// The text that is written before the next entity.
    heading: String,
}

/// The outline of a universe: the lines of at most `max` entities after the first `skip`, and the number of entities
/// after these.
///
/// It does not contain the time, so it changes only when something is added, changed or removed.
pub(crate) fn tree(universe: &Universe, skip: usize, max: usize) -> (String, usize) {
    let state = &universe.state;
    let mut outline = Outline {
        text: format!(
            "Universe {} [{}]: {}\n",
            shown(&universe.name),
            whole(universe.id.as_str()),
            counts(state)
        ),
        skip,
        room: max,
        omitted: 0,
        heading: String::new(),
    };
    outline.bodies(state);
    outline.groups(state);
    for family in
        [Family::Belts, Family::SmallBodyFields, Family::ProtoplanetaryDisks, Family::Nebulae]
    {
        outline.records(state, family);
    }
    let Outline { text, omitted, .. } = outline;
    (text, omitted)
}

/// The number of entities in each family that is not empty.
fn counts(state: &State) -> String {
    let counts = Family::ALL
        .map(|family| (family, state.entities(family).len()))
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(family, count)| format!("{count} {}", family.name()));
    let counts: Vec<_> = counts.collect();
    if counts.is_empty() { "empty".to_owned() } else { counts.join(", ") }
}

impl Outline {
    /// The roots with everything that orbits them. Not recursive, since a universe may have any depth.
    fn bodies(&mut self, state: &State) {
        if state.star_count() == 0 {
            return;
        }
        self.heading =
            "\nBodies: name [id] type, numbers to six digits; indented under what they orbit\n"
                .to_owned();
        let listed: HashSet<&str> = state.root_ids().collect();
        let unlisted = state
            .stars()
            .filter(|star| star.parent_id().is_none() && !listed.contains(star.id()))
            .map(Star::id);
        let mut open: Vec<_> = state.root_ids().chain(unlisted).map(|id| (id, 0)).collect();
        open.reverse();
        while let Some((id, depth)) = open.pop() {
            let Some(star) = state.star(id) else { continue };
            if self.takes() {
                self.body(star, depth);
            }
            let from = open.len();
            open.extend(star.children().map(|child| (child, depth + 1)));
            if let Some(children) = open.get_mut(from..) {
                children.reverse();
            }
        }
    }

    fn body(&mut self, star: &Star, depth: usize) {
        self.begin(depth);
        self.name(Entity::Star(star), star.id());
        if let Some(kind) = star.get("bodyType").and_then(Value::as_str) {
            self.push(format_args!(" {}", shown(kind)));
        }
        for (member, called) in SHOWN {
            if let Some(Value::Number(number)) = star.get(member) {
                self.push(format_args!(", {called} {}", rounded(number)));
            }
        }
        if star.get("ring").is_some_and(Value::is_object) {
            self.push(", ring");
        }
        self.text.push('\n');
    }

    fn groups(&mut self, state: &State) {
        if state.groups().len() == 0 {
            return;
        }
        self.heading = "\nGroups: name [id], with the systems and groups in them\n".to_owned();
        let mut open: Vec<_> = state.root_group_ids().map(|id| (ChildKind::Group, id, 0)).collect();
        open.reverse();
        while let Some((kind, id, depth)) = open.pop() {
            let group = match kind {
                ChildKind::Group => state.group(id),
                ChildKind::System => None,
            };
            if self.takes() {
                self.begin(depth);
                match group {
                    Some(group) => self.name(Entity::Group(group), id),
                    None => self.push(format_args!("system [{}]", whole(id))),
                }
                self.text.push('\n');
            }
            let from = open.len();
            let children = group.into_iter().flat_map(|group| group.children());
            open.extend(children.map(|child| (child.kind(), child.id(), depth + 1)));
            if let Some(children) = open.get_mut(from..) {
                children.reverse();
            }
        }
    }

    fn records(&mut self, state: &State, family: Family) {
        let records = state.entities(family);
        if records.len() == 0 {
            return;
        }
        self.heading = format!("\n{}: name [id]\n", family.name());
        for (id, record) in records {
            if self.takes() {
                self.begin(0);
                self.name(record, id);
                self.text.push('\n');
            }
        }
    }

    /// Whether the next entity is shown.
    fn takes(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if self.room == 0 {
            self.omitted += 1;
            return false;
        }
        self.room -= 1;
        let heading = std::mem::take(&mut self.heading);
        self.text.push_str(&heading);
        true
    }

    fn begin(&mut self, depth: usize) {
        for _ in 0..depth.min(MAX_INDENT) {
            self.text.push_str("  ");
        }
        if depth > MAX_INDENT {
            self.push(format_args!("(level {depth}) "));
        }
        self.text.push_str("- ");
    }

    fn name(&mut self, entity: Entity<'_>, id: &str) {
        let name = shown(entity.name().as_deref().unwrap_or("unnamed"));
        self.push(format_args!("{name} [{}]", whole(id)));
    }

    fn push(&mut self, text: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{text}");
    }
}

/// A text from a universe in one short line, so that a name cannot imitate a line of this outline.
fn shown(text: &str) -> String {
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(MAX_NAME).collect()
}

/// A number rounded to six digits. The entity itself has it in full.
fn rounded(number: &Number) -> Number {
    let exact = number.as_f64();
    let short = exact.and_then(|exact| format!("{exact:.5e}").parse::<f64>().ok());
    match short.filter(|_| short != exact).and_then(Number::from_f64) {
        Some(short) => short,
        None => number.clone(),
    }
}

/// An id, which must not be shortened.
fn whole(id: &str) -> Cow<'_, str> {
    if id.contains(char::is_control) { id.escape_debug().to_string().into() } else { id.into() }
}

//! A universe as indented text: what orbits what, what is in which group, and the rest by name. For models and people.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};

use serde_json::{Number, Value};
use universe_core::{ChildKind, Entity, Family, Star, State, six_digits};

use crate::commands::{CommandService, ServiceError, Universe};
use crate::store::{Revision, UniverseId};

/// The most levels that are indented. Deeper levels have the same indent and show their depth.
const MAX_INDENT: usize = 30;
/// The longest name that is shown, in characters.
const MAX_NAME: usize = 80;
/// What is shown of the line of an entity that is too long for a page, in bytes.
const CUT: usize = 1_000;
/// The members of a body that are shown, and their labels.
const SHOWN: [(&str, &str); 3] =
    [("mass", "mass"), ("radius", "radius"), ("orbitalDistance", "distance")];

/// The part of an outline that is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// The number of entities that the pages before it have.
    pub(crate) skip: usize,
    /// The most entities.
    pub(crate) entities: usize,
    /// The most bytes that the text may have as JSON.
    pub(crate) bytes: usize,
    /// The number of levels of bodies. What is below them is counted.
    pub(crate) depth: usize,
}

/// A page of an outline.
pub(crate) struct TreePage {
    pub(crate) text: String,
    /// Where the next page begins, and the number of entities from there on. `None` on the last page.
    pub(crate) next: Option<(Cursor, usize)>,
}

/// Where a page begins. All pages show the revision of the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor {
    revision: Revision,
    skip: usize,
}

impl Cursor {
    /// Reads a cursor, which may be any text.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (revision, skip) = text.split_once('.')?;
        Some(Self { revision: Revision(revision.parse().ok()?), skip: skip.parse().ok()? })
    }

    /// The universe that a page shows, and the number of entities before the page.
    pub(crate) async fn begin(
        cursor: Option<Self>,
        service: &CommandService,
        id: &UniverseId,
    ) -> Result<(Universe, usize), ServiceError> {
        let present = service.get(id).await?;
        Ok(match cursor {
            Some(Self { revision, skip }) if revision != present.revision => {
                (service.at(id, revision).await?, skip)
            }
            cursor => (present, cursor.map_or(0, |cursor| cursor.skip)),
        })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.revision, self.skip)
    }
}

/// The text so far, and which part of the entities it shows.
struct Outline {
    text: String,
    part: Part,
    /// The number of entities that were visited, and of those that are shown.
    seen: usize,
    taken: usize,
    /// The length of the text as JSON.
    size: usize,
    /// Where the text of the present entity begins.
    begin: usize,
    /// Whether nothing else fits.
    is_full: bool,
    /// The text that is written before the next entity.
    heading: String,
}

/// A part of the outline of a universe.
///
/// It does not contain the time, so it changes only when something is added, changed or removed.
pub(crate) fn tree(universe: &Universe, part: Part) -> TreePage {
    let state = &universe.state;
    let mut outline = Outline {
        text: format!(
            "Universe {} [{}]: {}\n",
            shown(&universe.name),
            whole(universe.id.as_str()),
            counted(state)
        ),
        part,
        seen: 0,
        taken: 0,
        size: 0,
        begin: 0,
        is_full: false,
        heading: String::new(),
    };
    outline.size = written(&outline.text);
    outline.bodies(state);
    outline.groups(state);
    for family in
        [Family::Belts, Family::SmallBodyFields, Family::ProtoplanetaryDisks, Family::Nebulae]
    {
        outline.records(state, family);
    }
    let Outline { text, seen, taken, .. } = outline;
    let skip = part.skip.min(seen) + taken;
    let next = Cursor { revision: universe.revision, skip };
    TreePage { text, next: (skip < seen).then_some((next, seen - skip)) }
}

/// The number of entities in each family that is not empty.
pub(crate) fn counts(state: &State) -> impl Iterator<Item = (&'static str, usize)> {
    let counts = Family::ALL.map(|family| (family.name(), state.entities(family).len()));
    counts.into_iter().filter(|(_, count)| *count > 0)
}

/// The most levels of bodies that have at most `max` bodies together; at least one.
pub(crate) fn depth_within(state: &State, max: usize) -> usize {
    let mut levels: Vec<usize> = Vec::new();
    let mut open: Vec<_> = roots(state).map(|id| (id, 0)).collect();
    while let Some((id, depth)) = open.pop() {
        let Some(star) = state.star(id) else { continue };
        levels.resize(levels.len().max(depth + 1), 0);
        if let Some(level) = levels.get_mut(depth) {
            *level += 1;
        }
        open.extend(star.children().map(|child| (child, depth + 1)));
    }
    let together = levels.iter().scan(0, |sum, level| {
        *sum += level;
        Some(*sum)
    });
    together.take_while(|sum| *sum <= max).count().max(1)
}

fn counted(state: &State) -> String {
    let counts: Vec<_> = counts(state).map(|(name, count)| format!("{count} {name}")).collect();
    if counts.is_empty() { "empty".to_owned() } else { counts.join(", ") }
}

/// The bodies without a parent: the listed ones in their order, then the others.
fn roots(state: &State) -> impl Iterator<Item = &str> {
    let listed: HashSet<&str> = state.root_ids().collect();
    let unlisted = state
        .stars()
        .filter(move |star| star.parent_id().is_none() && !listed.contains(star.id()))
        .map(Star::id);
    state.root_ids().chain(unlisted)
}

/// The number of bodies below one.
fn below(state: &State, star: &Star) -> usize {
    let mut open: Vec<_> = star.children().collect();
    let mut count = 0;
    while let Some(id) = open.pop() {
        count += 1;
        open.extend(state.star(id).into_iter().flat_map(Star::children));
    }
    count
}

/// The length of a text as JSON, without the quotes around it.
fn written(text: &str) -> usize {
    let bytes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' => 2,
        0..=0x1f => 6,
        _ => 1,
    });
    bytes.sum()
}

impl Default for Part {
    fn default() -> Self {
        Self { skip: 0, entities: usize::MAX, bytes: usize::MAX, depth: usize::MAX }
    }
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
        let mut open: Vec<_> = roots(state).map(|id| (id, 0)).collect();
        open.reverse();
        while let Some((id, depth)) = open.pop() {
            let Some(star) = state.star(id) else { continue };
            let is_last = depth + 1 >= self.part.depth;
            if self.takes() {
                let below = if is_last { below(state, star) } else { 0 };
                self.body(star, depth, below);
            }
            if is_last {
                continue;
            }
            let from = open.len();
            open.extend(star.children().map(|child| (child, depth + 1)));
            if let Some(children) = open.get_mut(from..) {
                children.reverse();
            }
        }
    }

    fn body(&mut self, star: &Star, depth: usize, below: usize) {
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
        if below > 0 {
            self.push(format_args!(", {below} below it"));
        }
        self.end();
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
                self.end();
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
                self.end();
            }
        }
    }

    /// Whether the next entity is shown.
    fn takes(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.part.skip || self.taken >= self.part.entities || self.is_full {
            return false;
        }
        self.taken += 1;
        self.begin = self.text.len();
        let heading = std::mem::take(&mut self.heading);
        self.text.push_str(&heading);
        true
    }

    /// Ends the line of an entity. One that is too much for this page is left to the next; one that is too much for
    /// any page is cut.
    fn end(&mut self) {
        self.text.push('\n');
        self.size += written(known_range::text(&self.text, self.begin..));
        if self.size <= self.part.bytes {
            return;
        }
        self.is_full = true;
        if self.taken > 1 {
            self.taken -= 1;
            self.text.truncate(self.begin);
        } else {
            let end = self.text.floor_char_boundary(self.begin + CUT);
            self.text.truncate(end);
            self.text.push_str("…\n");
        }
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
    let short = exact.map(six_digits).filter(|short| exact != Some(*short));
    short.and_then(Number::from_f64).unwrap_or_else(|| number.clone())
}

/// An id, which must not be shortened.
fn whole(id: &str) -> Cow<'_, str> {
    if id.contains(char::is_control) { id.escape_debug().to_string().into() } else { id.into() }
}

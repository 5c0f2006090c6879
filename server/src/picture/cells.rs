//! Which systems a picture shows, and where: one fills it, several stand in rows.

use std::collections::{BTreeMap, BTreeSet};

use universe_core::{ChildKind, Family, State, nearest};

use super::color::Color;
use super::scene::At;
use super::view::{Body, Kind};
use super::{MAX_BODIES, PictureError, is_there};

/// One separate part of the drawing: a body, a group or a system.
pub(super) struct Cell {
    pub(super) root: Body,
    /// The group that it belongs to.
    pub(super) group: Option<usize>,
    pub(super) at: At,
    /// Its largest radius, in pixels.
    pub(super) reach: f64,
}

/// A group with at least one body in the picture.
pub(super) struct Group {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) color: Color,
}

/// The content of a picture.
pub(super) struct Shown {
    pub(super) cells: Vec<Cell>,
    pub(super) groups: Vec<Group>,
    /// Planets without a star.
    pub(super) rogues: Vec<Body>,
    /// Whether only a part of the universe is shown.
    pub(super) is_part: bool,
}

/// Finds what to show: a body, the members of a group, or all systems. Places it in an area (left, top, width, height).
pub(super) fn shown(
    state: &State,
    focus: Option<&str>,
    area: [f64; 4],
) -> Result<Shown, PictureError> {
    if let Some(id) = focus
        && !is_there(state, id)
    {
        let families = [Family::Stars, Family::Groups].into_iter();
        let ids = families.flat_map(|family| state.entities(family)).map(|(id, _)| id);
        let (shown, hint) = (id.chars().take(80).collect(), nearest::hint(id, ids));
        return Err(PictureError::NoFocus { shown, hint });
    }
    let (groups, group_of) = groups(state);
    let mut roots: Vec<&str> = match focus {
        Some(id) if state.star(id).is_some() => vec![id],
        Some(id) => below(state, id),
        None => state.root_ids().collect(),
    };
    roots.truncate(MAX_BODIES);
    let bodies = roots.into_iter().filter_map(|id| state.star(id));
    let (rogues, systems): (Vec<_>, Vec<_>) = bodies
        .map(|star| Body::of(state, star))
        .partition(|body| body.kind == Kind::Rogue && focus.is_none());
    let mut cells: Vec<_> = systems
        .into_iter()
        .map(|root| Cell { group: group_of.get(&root.id).copied(), root, at: [0.0; 2], reach: 0.0 })
        .collect();
    // Systems of a group are adjacent, in the order of the groups. Those without a group come last.
    cells.sort_by_key(|cell| cell.group.unwrap_or(usize::MAX));
    place(&mut cells, area);
    let used: BTreeSet<_> = cells.iter().filter_map(|cell| cell.group).collect();
    let mut kept = Vec::new();
    let mut places = BTreeMap::new();
    for (at, group) in groups.into_iter().enumerate() {
        if used.contains(&at) {
            places.insert(at, kept.len());
            kept.push(group);
        }
    }
    for cell in &mut cells {
        cell.group = cell.group.and_then(|at| places.get(&at).copied());
    }
    Ok(Shown { cells, groups: kept, rogues, is_part: focus.is_some() })
}

/// The groups, and for each body the first group that lists it.
fn groups(state: &State) -> (Vec<Group>, BTreeMap<String, usize>) {
    let (mut groups, mut group_of) = (Vec::new(), BTreeMap::new());
    for (group, at) in state.groups().zip(0..) {
        let text = |member| group.get(member).and_then(|value| value.as_str());
        groups.push(Group {
            id: group.id().to_owned(),
            name: text("name").unwrap_or(group.id()).to_owned(),
            color: Color::read(text("color")),
        });
        for child in group.children() {
            if child.kind() == ChildKind::System {
                group_of.entry(child.id().to_owned()).or_insert(at);
            }
        }
    }
    (groups, group_of)
}

/// The bodies in a group and in the groups within it.
fn below<'s>(state: &'s State, group: &'s str) -> Vec<&'s str> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut waiting = vec![group];
    // Each group is visited once, however they are nested.
    while let Some(id) = waiting.pop() {
        let Some(group) = state.group(id).filter(|_| seen.insert(id)) else {
            continue;
        };
        for child in group.children() {
            match child.kind() {
                ChildKind::System => found.push(child.id()),
                ChildKind::Group => waiting.push(child.id()),
            }
        }
    }
    found
}

/// Places the cells in the number of columns that makes them largest.
fn place(cells: &mut [Cell], [left, top, width, height]: [f64; 4]) {
    let count = cells.len();
    if count == 0 {
        return;
    }
    let side = |columns: usize| {
        let rows = count.div_ceil(columns);
        (width / columns as f64).min(height / rows as f64)
    };
    // Of equally good numbers, the one with the fullest last row.
    let empty = |columns: usize| count.div_ceil(columns) * columns - count;
    let best = (1..=count.min(500)).max_by(|a, b| {
        let larger = side(*a).total_cmp(&side(*b));
        larger.then(empty(*b).cmp(&empty(*a)))
    });
    let columns = best.unwrap_or(1);
    let rows = count.div_ceil(columns);
    let (wide, high) = (width / columns as f64, height / rows as f64);
    for (at, cell) in cells.iter_mut().enumerate() {
        let (row, column) = (at / columns, at % columns);
        // The last row is centered too.
        let in_row = if row + 1 == rows { count - row * columns } else { columns };
        let indent = (columns - in_row) as f64 * wide / 2.0;
        cell.at = [left + indent + (column as f64 + 0.5) * wide, top + (row as f64 + 0.5) * high];
        cell.reach = wide.min(high) / 2.0;
    }
}

//! From JSON to a universe.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use imbl::OrdMap;
use serde_json::Value;

use super::sequence::Sequence;
use super::{Records, State};
use crate::check::{check_object, describe};
use crate::entity::tables::UNIVERSE;
use crate::entity::{ChildKind, Group, GroupChild, Id, LazyMembers, Members, Record, Star};
use crate::finding::{Findings, Path};
use crate::member::Mode;
use crate::warning::{self, Strictness};

/// The known members of a universe that are kept among the unknown ones.
pub(crate) const IN_EXTRA: [&str; 2] = ["epoch", "units"];

impl State {
    /// Reads a universe as one is stored: `stars`, `rootIds` and `time` must be there, so that a truncated text is not
    /// mistaken for an empty universe. Other sections, if missing, are empty.
    ///
    /// Unknown members are kept. Tolerated: bodies without a parent that are not in `rootIds` (rogue
    /// planets), partial nested objects, and groups that list a missing body or one that another
    /// group lists, too.
    ///
    /// # Errors
    ///
    /// Every member that is missing or of a wrong type; or, if the types are right, every broken
    /// invariant (see [`State::check`]).
    pub fn from_value(value: Value) -> Result<Self, Findings> {
        Self::read(value, Mode::Whole)
    }

    /// Reads a universe from a user: missing sections are empty, a missing `time` is 0.
    ///
    /// # Errors
    ///
    /// As for [`State::from_value`], but for what is missing.
    pub fn from_partial(value: Value) -> Result<Self, Findings> {
        Self::read(value, Mode::Part)
    }

    /// [`State::from_partial`] that warns of what is odd, as [`Command::read`](crate::Command::read) does.
    ///
    /// # Errors
    ///
    /// As for [`State::from_partial`]; with [`Strictness::Strict`] also for what is odd.
    pub fn read_partial(
        value: Value,
        strictness: Strictness,
    ) -> Result<(Self, Findings), Findings> {
        let mut warnings = Findings::default();
        if let Value::Object(universe) = &value {
            // Judged before it is read, and answered only if it can be: what is wrong comes first.
            warning::judge(universe, &UNIVERSE, Mode::Part, strictness, &mut warnings);
        }
        let state = Self::from_partial(value)?;
        match strictness {
            Strictness::Strict if !warnings.is_empty() => Err(warnings),
            _ => Ok((state, warnings)),
        }
    }

    fn read(value: Value, mode: Mode) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        let Value::Object(mut universe) = value else {
            let found = describe(&value);
            findings
                .push(&Path::ROOT, format_args!("expected an object (universe), found {found}"));
            return Err(findings);
        };
        check_object(&universe, &UNIVERSE, mode, &Path::ROOT, &mut findings);
        findings.into_result()?;

        let mut state = Self::from_sections(&mut universe);
        state.time = universe.get("time").and_then(Value::as_f64).unwrap_or(0.0) + 0.0;
        state.extra = Arc::new(beside_sections(universe));
        state.derive_all();
        state.check()?;
        Ok(state)
    }

    /// Takes the sections out of an object of right types, leaving `true` in the place of each
    /// (nulls stay). What they say about each other is left to [`State::check`].
    pub(crate) fn from_sections(universe: &mut Members) -> Self {
        let mut state = Self {
            root_ids: take_ids(universe, "rootIds"),
            root_group_ids: take_ids(universe, "rootGroupIds"),
            belts: take_records(universe, "belts"),
            small_body_fields: take_records(universe, "smallBodyFields"),
            protoplanetary_disks: take_records(universe, "protoplanetaryDisks"),
            nebulae: take_records(universe, "nebulae"),
            ..Self::default()
        };
        let mut stars: Vec<_> = take_entities(universe, "stars").map(read_star).collect();
        link_stars(&mut stars, &state.root_ids);
        state.stars = by_id(stars, |star| Arc::clone(&star.id));
        let mut groups: Vec<_> = take_entities(universe, "groups").map(read_group).collect();
        state.memberships = link_groups(&mut groups, &state.root_group_ids);
        state.groups = by_id(groups, |group| Arc::clone(&group.id));
        state
    }
}

/// The members of a universe that no field of the state has: the unknown ones, `epoch` and `units`.
pub(crate) fn beside_sections(mut universe: Members) -> Members {
    universe.retain(|name, _| IN_EXTRA.contains(&name.as_str()) || UNIVERSE.member(name).is_none());
    universe
}

/// Notes where each body stands, in its parent's `children` or in `rootIds`. Of two entries the last one counts.
/// Whether the bodies keep the invariants of [`State::check`].
pub(super) fn link_stars(stars: &mut [Star], roots: &Sequence<Id>) -> bool {
    let mut is_sound = true;
    let mut slots = vec![None; stars.len()];
    let index: HashMap<&str, usize> = stars.iter().map(|star| &*star.id).zip(0..).collect();
    let mut note = |parent: Option<&Id>, slot, child: &Id| {
        let at = index.get(&**child).copied().unwrap_or(usize::MAX);
        match (stars.get(at), slots.get_mut(at)) {
            (Some(star), Some(place)) if star.parent.as_ref() == parent => {
                is_sound &= place.replace(slot).is_none();
            }
            _ => is_sound = false,
        }
    };
    for star in stars.iter() {
        for (slot, child) in star.children.slots() {
            note(Some(&star.id), slot, child);
        }
    }
    for (slot, root) in roots.slots() {
        note(None, slot, root);
    }
    let parents = stars.iter().map(|star| star.parent.as_deref());
    let parents: Vec<_> =
        parents.map(|parent| parent.and_then(|id| index.get(id).copied())).collect();
    is_sound &= index.len() == stars.len() && all_lead_to_a_root(&parents);
    for (star, slot) in stars.iter_mut().zip(slots) {
        is_sound &= star.parent.is_none() || slot.is_some();
        star.slot = slot;
    }
    is_sound
}

/// Whether following the parents, given as places in the list, ends everywhere.
fn all_lead_to_a_root(parents: &[Option<usize>]) -> bool {
    // On which walk each was first reached.
    let mut walks = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut next = Some(start);
        while let Some((at, walk)) = next.and_then(|at| Some((at, walks.get_mut(at)?))) {
            match *walk {
                usize::MAX => *walk = start,
                other if other == start => return false,
                _ => break,
            }
            next = parents.get(at).copied().flatten();
        }
    }
    true
}

/// The same for groups, and where systems stand in them.
pub(super) fn link_groups(groups: &mut [Group], roots: &Sequence<Id>) -> OrdMap<(Id, Id), u64> {
    let (mut slots, mut memberships) = (HashMap::new(), OrdMap::new());
    for group in groups.iter() {
        for (slot, child) in group.children.slots() {
            let (id, group) = (Arc::clone(&child.id), Arc::clone(&group.id));
            match child.kind {
                ChildKind::System => drop(memberships.insert((id, group), slot)),
                ChildKind::Group => drop(slots.insert((Some(group), id), slot)),
            }
        }
    }
    for (slot, root) in roots.slots() {
        slots.insert((None, Arc::clone(root)), slot);
    }
    for group in groups {
        let place = (group.parent.clone(), Arc::clone(&group.id));
        group.slot = slots.get(&place).copied();
    }
    memberships
}

pub(super) fn by_id<T>(entities: Vec<T>, id: impl Fn(&T) -> Id) -> OrdMap<Id, Arc<T>> {
    entities.into_iter().map(|entity| (id(&entity), Arc::new(entity))).collect()
}

// What follows reads values that the checker has passed. A value of another type reads as empty.

pub(super) fn read_star(mut members: Members) -> Star {
    Star {
        id: take_id(&mut members, "id").unwrap_or_default(),
        parent: take_id(&mut members, "parentId"),
        slot: None,
        children: read_ids(members.remove("children").unwrap_or_default()),
        members: LazyMembers::written(members),
        derived: None,
    }
}

pub(super) fn read_group(mut members: Members) -> Group {
    Group {
        id: take_id(&mut members, "id").unwrap_or_default(),
        parent: take_id(&mut members, "parentGroupId"),
        slot: None,
        children: take_group_children(&mut members).into_iter().map(Arc::new).collect(),
        members: LazyMembers::written(members),
    }
}

pub(super) fn read_record(members: Members) -> Record {
    Record { members: LazyMembers::written(members) }
}

/// Takes the entries of a new or stored group.
pub(crate) fn take_group_children(group: &mut Members) -> Vec<GroupChild> {
    let Some(Value::Array(children)) = group.remove("children") else {
        return Vec::new();
    };
    children.into_iter().map(read_group_child).collect()
}

/// Reads one entry of a group.
pub(crate) fn read_group_child(child: Value) -> GroupChild {
    let Value::Object(mut members) = child else {
        return GroupChild::new(Id::default(), ChildKind::System);
    };
    let id = take_id(&mut members, "id").unwrap_or_default();
    let kind = match members.remove("type") {
        Some(Value::String(kind)) if kind == "group" => ChildKind::Group,
        _ => ChildKind::System,
    };
    GroupChild { id, kind, members }
}

/// Reads an object from id to entity.
pub(crate) fn read_records(entries: Value) -> Records {
    let Value::Object(entries) = entries else {
        return Records::default();
    };
    let record = |(id, value)| match value {
        Value::Object(members) => Some((Id::from(id), read_record(members))),
        _ => None,
    };
    entries.into_iter().filter_map(record).collect()
}

fn take_id(object: &mut Members, name: &str) -> Option<Id> {
    match object.remove(name) {
        Some(Value::String(id)) => Some(id.into()),
        _ => None,
    }
}

fn take_section(universe: &mut Members, name: &str) -> Value {
    match universe.get_mut(name) {
        None | Some(Value::Null) => Value::Null,
        Some(section) => mem::replace(section, Value::Bool(true)),
    }
}

fn take_entities(universe: &mut Members, name: &str) -> impl Iterator<Item = Members> {
    let section = match take_section(universe, name) {
        Value::Object(entities) => entities,
        _ => Members::new(),
    };
    section.into_iter().filter_map(|(_, entity)| match entity {
        Value::Object(members) => Some(members),
        _ => None,
    })
}

fn take_records(universe: &mut Members, name: &str) -> Records {
    read_records(take_section(universe, name))
}

fn take_ids(universe: &mut Members, name: &str) -> Sequence<Id> {
    read_ids(take_section(universe, name))
}

fn read_ids(ids: Value) -> Sequence<Id> {
    let Value::Array(ids) = ids else {
        return Sequence::default();
    };
    let id = |id| match id {
        Value::String(id) => Some(Id::from(id)),
        _ => None,
    };
    ids.into_iter().filter_map(id).collect()
}

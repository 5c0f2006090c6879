//! addGroup, updateGroup, removeGroup.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::Outcome;
use super::stars::merge;
use crate::entity::{ChildKind, Group, GroupChild, Id, Members};
use crate::event::{Event, Reason};
use crate::refusal::Refusal;
use crate::state::sequence::Sequence;
use crate::state::{State, read_group_child, take_group_children};

/// The members that are typed in [`Group`].
const TYPED: [&str; 3] = ["id", "parentGroupId", "children"];

impl State {
    /// The children it is given leave the groups they are in.
    pub(super) fn add_group(&mut self, id: &Id, payload: &Members) -> Outcome {
        let parent = payload.get("parentGroupId").and_then(Value::as_str).map(Id::from);
        let parent = parent.as_ref();
        if self.groups.contains_key(id) {
            let message = format!(
                "group {id:?} exists; choose another id, or change it with updateGroup or moveToGroup"
            );
            return Err(Refusal::move_failed(Reason::AlreadyExists, id, parent, message));
        }
        if parent == Some(id) {
            return Err(self_contained(id, parent));
        }
        if let Some(parent) = parent.filter(|parent| !self.groups.contains_key(*parent)) {
            return Err(Refusal::group_not_found(parent));
        }
        let mut members = payload.clone();
        let children = take_group_children(&mut members);
        let above: HashSet<_> =
            parent.into_iter().flat_map(|id| self.group_and_above(id)).collect();
        for child in &children {
            if child.kind == ChildKind::Group && child.id == *id {
                return Err(self_contained(id, Some(id)));
            }
            self.expect_child(&child.id, child.kind)?;
            if child.kind == ChildKind::Group && above.contains(&*child.id) {
                return Err(contained(&child.id, id));
            }
        }

        members.retain(|name, _| !TYPED.contains(&name.as_str()));
        let group = Group {
            id: Arc::clone(id),
            parent: None,
            slot: None,
            children: Sequence::default(),
            members: members.into(),
        };
        self.groups.insert(Arc::clone(id), Arc::new(group));
        match parent {
            None => self.link_root_group(id),
            Some(parent) => {
                let entry = GroupChild::new(Arc::clone(id), ChildKind::Group);
                self.link_child(Arc::new(entry), parent);
            }
        }
        for child in children {
            self.leave_groups(&child.id, child.kind);
            self.link_child(Arc::new(child), id);
        }
        Ok(Event::GroupAdded { id: Arc::clone(id) })
    }

    pub(super) fn update_group(&mut self, id: &Id, payload: &Members) -> Outcome {
        let group = self.group_mut(id).ok_or_else(|| Refusal::group_not_found(id))?;
        if let Some(parent) = payload.get("parentGroupId").map(Value::as_str)
            && parent != group.parent_group_id()
        {
            let message =
                format!("the parent of group {id:?} is not set by updateGroup; use moveToGroup");
            let parent = parent.map(Id::from);
            return Err(Refusal::move_failed(Reason::ManagedMember, id, parent.as_ref(), message));
        }
        if let Some(Value::Array(given)) = payload.get("children")
            && let Some(child) = first_difference(given, group)
        {
            let message = format!(
                "the children of group {id:?} are not set by updateGroup; use addToGroup, \
                 removeFromGroup or moveToGroup on {child:?}"
            );
            return Err(Refusal::move_failed(Reason::ManagedMember, &child, Some(id), message));
        }
        group.members.update(|members| merge(members, payload, &TYPED));
        Ok(Event::GroupUpdated { id: Arc::clone(id) })
    }

    /// Its groups move up to where it was, its systems become ungrouped.
    pub(super) fn remove_group(&mut self, id: &Id) -> Outcome {
        let group = self.groups.get(id).cloned().ok_or_else(|| Refusal::group_not_found(id))?;
        self.unlink_group(id);
        self.groups.remove(id);
        if let Some(parent) = &group.parent {
            // The parent loses every entry of that id, even that of a system of the same name.
            self.unlink_system(id, parent);
        }
        for child in group.children.iter() {
            match (child.kind, &group.parent) {
                (ChildKind::System, _) => {
                    self.memberships.remove(&(Arc::clone(&child.id), Arc::clone(id)));
                }
                (ChildKind::Group, Some(parent)) => self.link_child(Arc::clone(child), parent),
                (ChildKind::Group, None) => self.link_root_group(&child.id),
            }
        }
        Ok(Event::GroupRemoved { id: Arc::clone(id) })
    }

    /// That there is such a body or group.
    pub(super) fn expect_child(&self, id: &Id, kind: ChildKind) -> Result<(), Refusal> {
        match kind {
            ChildKind::System if !self.stars.contains_key(id) => Err(Refusal::star_not_found(id)),
            ChildKind::Group if !self.groups.contains_key(id) => Err(Refusal::group_not_found(id)),
            _ => Ok(()),
        }
    }

    /// Removes a system or a group from the lists that have it.
    pub(super) fn leave_groups(&mut self, id: &Id, kind: ChildKind) {
        match kind {
            ChildKind::System => self.ungroup_system(id),
            ChildKind::Group => drop(self.unlink_group(id)),
        }
    }
}

/// The id of the first entry that is in one list and not at the same place in the other.
fn first_difference(given: &[Value], group: &Group) -> Option<Id> {
    let mut present = group.children();
    for given in given.iter().cloned().map(read_group_child) {
        if present.next() != Some(&given) {
            return Some(given.id);
        }
    }
    present.next().map(|child| Arc::clone(&child.id))
}

fn self_contained(id: &Id, target: Option<&Id>) -> Refusal {
    let message = format!("group {id:?} cannot be in itself; name another group or null");
    Refusal::move_failed(Reason::Cycle, id, target, message)
}

/// Group `child` cannot be put in `target`, which is itself or below it.
pub(super) fn contained(child: &Id, target: &Id) -> Refusal {
    let message = format!(
        "group {child:?} cannot be put in {target:?}, which is itself or is somewhere in it; \
         name a group outside of it"
    );
    Refusal::move_failed(Reason::Cycle, child, Some(target), message)
}

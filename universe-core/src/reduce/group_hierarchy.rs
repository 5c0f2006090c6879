//! addToGroup, removeFromGroup, moveToGroup.

use std::sync::Arc;

use super::Outcome;
use super::groups::contained;
use crate::entity::{ChildKind, Group, GroupChild, Id};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::State;

impl State {
    /// The child leaves the group it is in.
    pub(super) fn add_to_group(&mut self, group: &Id, child: &Arc<GroupChild>) -> Outcome {
        let (group_id, child_id) = (Arc::clone(group), Arc::clone(&child.id));
        if !self.groups.contains_key(group) {
            return Err(Refusal::group_not_found(group));
        }
        let there = match child.kind {
            ChildKind::System => self.is_system_in(&child.id, group),
            ChildKind::Group => self.is_group_in(&child.id, group),
        };
        if there {
            let kind = child.kind.as_str();
            let message = format!("the {kind} {child_id:?} is in the group {group:?} already");
            let event = Event::ChildAlreadyInGroup { group_id, child_id };
            return Err(Refusal::new("CHILD_ALREADY_IN_GROUP", event, message));
        }
        self.expect_child(&child.id, child.kind)?;
        if child.kind == ChildKind::Group && self.is_group_above(&child.id, group) {
            return Err(contained(&child.id, group));
        }
        self.leave_groups(&child.id, child.kind);
        self.link_child(Arc::clone(child), group);
        Ok(Event::ChildAddedToGroup { group_id, child_id })
    }

    /// Removes the entries of that id of either type. A group becomes a root group.
    pub(super) fn remove_from_group(&mut self, group: &Id, child: &Id) -> Outcome {
        let (group_id, child_id) = (Arc::clone(group), Arc::clone(child));
        if !self.groups.contains_key(group) {
            return Err(Refusal::group_not_found(group));
        }
        let was_system = self.unlink_system(child, group);
        let was_group = self.is_group_in(child, group);
        if was_group {
            self.unlink_group(child);
            self.link_root_group(child);
        }
        if !was_system && !was_group {
            let message = format!(
                "{child:?} is not in the group {group:?} itself; name an entry of its children"
            );
            let event = Event::ChildNotInGroup { group_id, child_id };
            return Err(Refusal::new("CHILD_NOT_IN_GROUP", event, message));
        }
        Ok(Event::ChildRemovedFromGroup { group_id, child_id })
    }

    pub(super) fn move_to_group(
        &mut self,
        child: &Id,
        kind: ChildKind,
        target: Option<&Id>,
    ) -> Outcome {
        if let Some(target) = target {
            if !self.groups.contains_key(target) {
                return Err(Refusal::group_not_found(target));
            }
            if kind == ChildKind::Group && self.is_group_above(child, target) {
                return Err(contained(child, target));
            }
            self.expect_child(child, kind)?;
        }
        self.leave_groups(child, kind);
        match (target, kind) {
            (Some(target), _) => {
                let entry = GroupChild::new(Arc::clone(child), kind);
                self.link_child(Arc::new(entry), target);
            }
            (None, ChildKind::Group) if self.groups.contains_key(child) => {
                self.link_root_group(child);
            }
            (None, _) => {}
        }
        let (child_id, target_group_id) = (Arc::clone(child), target.cloned());
        Ok(Event::MovedToGroup { child_id, target_group_id })
    }

    fn is_group_in(&self, child: &Id, group: &Id) -> bool {
        self.group(child).and_then(Group::parent_group_id) == Some(group)
    }
}

//! The ties between entities, changed on both sides at once. Everything here takes logarithmic
//! time, except for the walks, which take as many steps as they visit entities.

use std::iter;
use std::sync::Arc;

use super::State;
use crate::entity::{ChildKind, Group, GroupChild, Id, Star};

/// Bodies.
impl State {
    /// The body, to be changed; unshared first if other states hold it.
    pub(crate) fn star_mut(&mut self, id: &str) -> Option<&mut Star> {
        self.stars.get_mut(id).map(Arc::make_mut)
    }

    /// Takes the body out of its parent's `children` or out of `rootIds`.
    pub(crate) fn unlink_star(&mut self, id: &str) {
        let Some((parent, slot)) = self.stars.get(id).map(|star| (star.parent.clone(), star.slot))
        else {
            return;
        };
        let Some(slot) = slot else { return };
        match parent {
            None => drop(self.root_ids.remove(slot)),
            Some(parent) => {
                if let Some(parent) = self.star_mut(&parent) {
                    parent.children.remove(slot);
                }
            }
        }
    }

    /// Puts an unlinked body at the end of the parent's `children` or of `rootIds`.
    pub(crate) fn link_star(&mut self, id: &Id, parent: Option<&Id>) {
        let entry = Arc::clone(id);
        let slot = match parent {
            None => Some(self.root_ids.push(entry)),
            Some(parent) => self.star_mut(parent).map(|parent| parent.children.push(entry)),
        };
        if let Some(star) = self.star_mut(id) {
            star.parent = parent.cloned();
            star.slot = slot;
        }
    }

    /// Whether the body is the other one or is somewhere above it.
    pub(crate) fn is_star_above(&self, id: &str, other: &str) -> bool {
        // A body without children has nothing below it: no need to walk.
        let has_children = self.star(id).is_some_and(|star| !star.children.is_empty());
        id == other || (has_children && self.star_and_above(other).any(|above| above == id))
    }

    /// The body, its parent, and so on up to a root.
    fn star_and_above<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        iter::successors(Some(id), |id| self.star(id)?.parent_id())
    }

    /// The body and all below it: each before its children, children in order.
    pub(crate) fn star_and_descendants(&self, id: &Id) -> Vec<Id> {
        let mut visited = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            visited.push(Arc::clone(id));
            if let Some(star) = self.stars.get(id) {
                pending.extend(star.children.iter().rev());
            }
        }
        visited
    }
}

/// Groups.
impl State {
    /// The group, to be changed; unshared first if other states hold it.
    pub(crate) fn group_mut(&mut self, id: &str) -> Option<&mut Group> {
        self.groups.get_mut(id).map(Arc::make_mut)
    }

    /// Takes the group out of its parent's `children` (returning its entry) or of `rootGroupIds`.
    pub(crate) fn unlink_group(&mut self, id: &str) -> Option<Arc<GroupChild>> {
        let group = self.groups.get(id)?;
        let (parent, slot) = (group.parent.clone(), group.slot?);
        match parent {
            None => {
                self.root_group_ids.remove(slot);
                None
            }
            Some(parent) => self.group_mut(&parent)?.children.remove(slot),
        }
    }

    /// Puts an unlinked group at the end of `rootGroupIds`.
    pub(crate) fn link_root_group(&mut self, id: &Id) {
        let slot = self.root_group_ids.push(Arc::clone(id));
        if let Some(group) = self.group_mut(id) {
            group.parent = None;
            group.slot = Some(slot);
        }
    }

    /// Puts the entry of an unlinked group, or of a system, at the end of the parent's `children`.
    pub(crate) fn link_child(&mut self, entry: Arc<GroupChild>, parent: &Id) {
        let (id, kind) = (Arc::clone(&entry.id), entry.kind);
        let Some(slot) = self.group_mut(parent).map(|group| group.children.push(entry)) else {
            return;
        };
        match kind {
            ChildKind::System => {
                self.memberships.insert((id, Arc::clone(parent)), slot);
            }
            ChildKind::Group => {
                if let Some(group) = self.group_mut(&id) {
                    group.parent = Some(Arc::clone(parent));
                    group.slot = Some(slot);
                }
            }
        }
    }

    /// Takes a system out of one group. False if it was not in it.
    pub(crate) fn unlink_system(&mut self, system: &Id, group: &Id) -> bool {
        let place = (Arc::clone(system), Arc::clone(group));
        let Some(slot) = self.memberships.remove(&place) else {
            return false;
        };
        if let Some(group) = self.group_mut(group) {
            group.children.remove(slot);
        }
        true
    }

    /// Takes a system out of every group.
    pub(crate) fn ungroup_system(&mut self, system: &Id) {
        while let Some(group) = self.group_of(system) {
            self.unlink_system(system, &group);
        }
    }

    /// A group that lists the system. (Only an imported universe can have several.)
    fn group_of(&self, system: &Id) -> Option<Id> {
        let first = (Arc::clone(system), Id::default());
        let ((found, group), _) = self.memberships.range(first..).next()?;
        (found == system).then(|| Arc::clone(group))
    }

    /// Whether the system is listed by the group.
    pub(crate) fn is_system_in(&self, system: &Id, group: &Id) -> bool {
        self.memberships.contains_key(&(Arc::clone(system), Arc::clone(group)))
    }

    /// Whether the group is the other one or is somewhere above it.
    pub(crate) fn is_group_above(&self, id: &str, other: &str) -> bool {
        let has_children = self.group(id).is_some_and(|group| !group.children.is_empty());
        id == other || (has_children && self.group_and_above(other).any(|above| above == id))
    }

    /// The group, its parent, and so on up to a root.
    pub(crate) fn group_and_above<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        iter::successors(Some(id), |id| self.group(id)?.parent_group_id())
    }
}

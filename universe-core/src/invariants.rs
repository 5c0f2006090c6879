//! What holds in every universe, whatever commands it was given.

use std::collections::HashSet;

use crate::entity::ChildKind;
use crate::finding::{Findings, Path};
use crate::state::State;

impl State {
    /// Checks the whole universe, in time proportional to its size. Commands keep the invariants
    /// by themselves, so this is for imports and tests.
    ///
    /// 1. The key of an entity is its `id`.
    /// 2. A body with a parent is listed exactly once, by that parent; the parent exists.
    ///    A body without a parent is listed by none, and at most once in `rootIds`.
    /// 3. The same for groups, `rootGroupIds` and the entries of type `group`; here a group
    ///    without a parent is in `rootGroupIds` exactly once.
    /// 4. No body is above itself, and no group.
    /// 5. A group lists a system at most once.
    /// 6. `time` is finite.
    ///
    /// # Errors
    ///
    /// Every broken invariant, with a pointer into the universe's JSON.
    pub fn check(&self) -> Result<(), Findings> {
        let mut findings = Findings::default();
        self.check_in(&Path::ROOT, &mut findings);
        findings.into_result()
    }

    pub(crate) fn check_in(&self, root: &Path<'_>, findings: &mut Findings) {
        if !self.time.is_finite() {
            findings.push(&root.at(&"time"), "must be a finite number of seconds");
        }
        self.check_stars(root, findings);
        self.check_groups(root, findings);
        if findings.is_empty() {
            self.check_cycles(root, findings);
        }
    }

    fn check_stars(&self, root: &Path<'_>, findings: &mut Findings) {
        let stars = root.at(&"stars");
        for (key, star) in &self.stars {
            let place = stars.at(key);
            if *key != star.id {
                findings.push(&place.at(&"id"), format_args!("must equal its key {key:?}"));
            }
            if let Some(parent) = &star.parent {
                let listed = self.stars.get(parent).map(|parent| {
                    star.slot.and_then(|slot| parent.children.get(slot)) == Some(key)
                });
                let message = match listed {
                    Some(true) => None,
                    Some(false) => Some("does not list this body among its children"),
                    None => Some("does not exist"),
                };
                if let Some(message) = message {
                    let place = place.at(&"parentId");
                    findings.push(&place, format_args!("the parent {parent:?} {message}"));
                }
            }
            let children = place.at(&"children");
            for (index, (slot, child)) in star.children.slots().enumerate() {
                let message = match self.stars.get(child) {
                    None => "does not exist",
                    Some(child) if child.parent.as_ref() != Some(key) => "has another parentId",
                    Some(child) if child.slot != Some(slot) => "is listed more than once",
                    Some(_) => continue,
                };
                findings.push(
                    &children.at(&index),
                    format_args!("the body {child:?} {message}"),
                );
            }
        }
        let roots = root.at(&"rootIds");
        for (index, (slot, id)) in self.root_ids.slots().enumerate() {
            let message = match self.stars.get(id) {
                None => "does not exist",
                Some(star) if star.parent.is_some() => "has a parent",
                Some(star) if star.slot != Some(slot) => "is listed more than once",
                Some(_) => continue,
            };
            findings.push(&roots.at(&index), format_args!("the body {id:?} {message}"));
        }
    }

    fn check_groups(&self, root: &Path<'_>, findings: &mut Findings) {
        let groups = root.at(&"groups");
        for (key, group) in &self.groups {
            let place = groups.at(key);
            if *key != group.id {
                findings.push(&place.at(&"id"), format_args!("must equal its key {key:?}"));
            }
            let slot = group.slot;
            let message = match &group.parent {
                None if slot.and_then(|slot| self.root_group_ids.get(slot)) == Some(key) => None,
                None => Some("is null, but rootGroupIds does not list this group".to_owned()),
                Some(parent) => match self.groups.get(parent) {
                    None => Some(format!("the group {parent:?} does not exist")),
                    Some(holder) => {
                        let entry = slot.and_then(|slot| holder.children.get(slot));
                        let listed = entry.is_some_and(|entry| {
                            entry.kind == ChildKind::Group && entry.id == *key
                        });
                        (!listed).then(|| format!("the group {parent:?} does not list this group"))
                    }
                },
            };
            if let Some(message) = message {
                findings.push(&place.at(&"parentGroupId"), message);
            }
            let children = place.at(&"children");
            for (index, (slot, child)) in group.children.slots().enumerate() {
                let (kind, id) = (child.kind.as_str(), &child.id);
                let message = match (child.kind, self.groups.get(id)) {
                    (ChildKind::System, _) => {
                        let place = (id.clone(), key.clone());
                        (self.memberships.get(&place) != Some(&slot))
                            .then_some("is listed more than once")
                    }
                    (ChildKind::Group, None) => Some("does not exist"),
                    (ChildKind::Group, Some(child)) if child.parent.as_ref() != Some(key) => {
                        Some("has another parentGroupId")
                    }
                    (ChildKind::Group, Some(child)) => {
                        (child.slot != Some(slot)).then_some("is listed more than once")
                    }
                };
                if let Some(message) = message {
                    let place = children.at(&index);
                    findings.push(&place, format_args!("the {kind} {id:?} {message}"));
                }
            }
        }
        let roots = root.at(&"rootGroupIds");
        for (index, (slot, id)) in self.root_group_ids.slots().enumerate() {
            let message = match self.groups.get(id) {
                None => "does not exist",
                Some(group) if group.parent.is_some() => "has a parent",
                Some(group) if group.slot != Some(slot) => "is listed more than once",
                Some(_) => continue,
            };
            findings.push(
                &roots.at(&index),
                format_args!("the group {id:?} {message}"),
            );
        }
    }

    /// Where all links are mutual, what cannot be reached from a root is on or below a cycle.
    fn check_cycles(&self, root: &Path<'_>, findings: &mut Findings) {
        let mut reached = HashSet::new();
        let mut pending: Vec<_> = self
            .stars
            .values()
            .filter(|star| star.parent.is_none())
            .collect();
        while let Some(star) = pending.pop() {
            reached.insert(&star.id);
            pending.extend(
                star.children
                    .iter()
                    .filter_map(|child| self.stars.get(child)),
            );
        }
        let stars = root.at(&"stars");
        for id in self.stars.keys().filter(|id| !reached.contains(id)) {
            findings.push(&stars.at(id).at(&"parentId"), "is on a cycle, or below one");
        }

        let mut reached = HashSet::new();
        let mut pending: Vec<_> = self.root_group_ids.iter().collect();
        while let Some(id) = pending.pop() {
            reached.insert(id);
            let children = self
                .groups
                .get(id)
                .into_iter()
                .flat_map(|group| group.children.iter());
            let groups = children.filter(|child| child.kind == ChildKind::Group);
            pending.extend(groups.map(|child| &child.id));
        }
        let groups = root.at(&"groups");
        for id in self.groups.keys().filter(|id| !reached.contains(id)) {
            findings.push(
                &groups.at(id).at(&"parentGroupId"),
                "is on a cycle, or below one",
            );
        }
    }
}

//! The invariants of every universe, after any commands.

use std::collections::HashSet;

use crate::entity::{ChildKind, Group, GroupChild, Id, Star};
use crate::finding::{Findings, Path, Quoted};
use crate::state::State;

const NOT_FINITE: &str = "must be a finite number of seconds";
const CYCLE: &str = "leads back to itself, or to something that does";

impl State {
    /// Checks the whole universe, in time proportional to its size. Commands keep the invariants, so this is for
    /// imports and tests.
    ///
    /// 1. The key of an entity is its `id`.
    /// 2. A body with a parent is listed exactly once, by that parent; the parent exists.
    ///    A body without a parent is not listed by any body, and at most once in `rootIds`.
    /// 3. The same for groups, `rootGroupIds` and the entries of type `group`; here a group
    ///    without a parent is in `rootGroupIds` exactly once.
    /// 4. No body and no group is its own ancestor.
    /// 5. A group lists a system at most once.
    /// 6. `time` is finite.
    /// 7. Where elements have a date as their epoch, the universe has an `epoch`.
    ///
    /// # Errors
    ///
    /// Every broken invariant, with a pointer into the universe's JSON.
    pub fn check(&self) -> Result<(), Findings> {
        let mut findings = Findings::default();
        self.check_in(&Path::ROOT, &mut findings);
        findings.into_result()
    }

    /// The same for a universe that is part of a larger input.
    pub(crate) fn check_in(&self, root: &Path<'_>, findings: &mut Findings) {
        if !self.time.is_finite() {
            findings.push(&root.at(&"time"), NOT_FINITE);
        }
        self.check_stars(root, findings);
        self.check_groups(root, findings);
        self.check_records(root, findings);
        if findings.is_empty() {
            self.check_star_cycles(root, findings);
            self.check_group_cycles(root, findings);
        }
    }

    /// [`State::check`] of a universe whose bodies are known to be sound.
    pub(crate) fn check_but_stars(&self) -> Result<(), Findings> {
        let mut findings = Findings::default();
        if !self.time.is_finite() {
            findings.push(&Path::ROOT.at(&"time"), NOT_FINITE);
        }
        self.check_groups(&Path::ROOT, &mut findings);
        self.check_records(&Path::ROOT, &mut findings);
        self.check_group_cycles(&Path::ROOT, &mut findings);
        findings.into_result()
    }

    fn check_stars(&self, root: &Path<'_>, findings: &mut Findings) {
        let stars = root.at(&"stars");
        for (key, star) in &self.stars {
            let place = stars.at(key);
            check_key(key, &star.id, &place, findings);
            if let Some(problem) = self.star_parent_problem(star) {
                findings.push(&place.at(&"parentId"), problem);
            }
            if let Some(problem) = self.epoch_problem(star) {
                findings.push(&place.at(&"elements").at(&"epoch"), problem);
            }
            let children = place.at(&"children");
            for (index, (slot, child)) in star.children.slots().enumerate() {
                if let Some(problem) = self.star_entry_problem(child, slot, Some(key)) {
                    let child = Quoted(child);
                    findings.push(&children.at(&index), format_args!("the body {child} {problem}"));
                }
            }
        }
        let roots = root.at(&"rootIds");
        for (index, (slot, id)) in self.root_ids.slots().enumerate() {
            if let Some(problem) = self.star_entry_problem(id, slot, None) {
                let id = Quoted(id);
                findings.push(&roots.at(&index), format_args!("the body {id} {problem}"));
            }
        }
    }

    /// What is wrong with the parent of a body, as seen by the body.
    fn star_parent_problem(&self, star: &Star) -> Option<&'static str> {
        let parent = star.parent.as_ref()?;
        match self.stars.get(parent) {
            None => Some("names a body that does not exist"),
            Some(parent) => {
                let listed = star.slot.and_then(|slot| parent.children.get(slot));
                (listed != Some(&star.id))
                    .then_some("names a body that does not list this one among its children")
            }
        }
    }

    /// What is wrong with an entry in the `children` of a parent, or in `rootIds`.
    fn star_entry_problem(&self, id: &Id, slot: u64, parent: Option<&Id>) -> Option<&'static str> {
        match self.stars.get(id) {
            None => Some("does not exist"),
            Some(star) if star.parent.as_ref() != parent => Some("has another parentId"),
            Some(star) => (star.slot != Some(slot)).then_some("is listed more than once"),
        }
    }

    fn check_groups(&self, root: &Path<'_>, findings: &mut Findings) {
        let groups = root.at(&"groups");
        for (key, group) in &self.groups {
            let place = groups.at(key);
            check_key(key, &group.id, &place, findings);
            if let Some(problem) = self.group_parent_problem(group) {
                findings.push(&place.at(&"parentGroupId"), problem);
            }
            let children = place.at(&"children");
            for (index, (slot, child)) in group.children.slots().enumerate() {
                if let Some(problem) = self.group_child_problem(child, slot, key) {
                    let (kind, id) = (child.kind.as_str(), Quoted(&child.id));
                    findings.push(&children.at(&index), format_args!("the {kind} {id} {problem}"));
                }
            }
        }
        let roots = root.at(&"rootGroupIds");
        for (index, (slot, id)) in self.root_group_ids.slots().enumerate() {
            if let Some(problem) = self.group_entry_problem(id, slot, None) {
                let id = Quoted(id);
                findings.push(&roots.at(&index), format_args!("the group {id} {problem}"));
            }
        }
    }

    /// What is wrong with the parent of a group, as seen by the group.
    fn group_parent_problem(&self, group: &Group) -> Option<&'static str> {
        let Some(parent) = &group.parent else {
            let listed = group.slot.and_then(|slot| self.root_group_ids.get(slot));
            return (listed != Some(&group.id))
                .then_some("is null, but rootGroupIds does not list this group");
        };
        match self.groups.get(parent) {
            None => Some("names a group that does not exist"),
            Some(parent) => {
                let listed = group.slot.and_then(|slot| parent.children.get(slot));
                let listed = listed
                    .is_some_and(|entry| entry.kind == ChildKind::Group && entry.id == group.id);
                (!listed).then_some("names a group that does not list this one among its children")
            }
        }
    }

    fn group_child_problem(
        &self,
        child: &GroupChild,
        slot: u64,
        group: &Id,
    ) -> Option<&'static str> {
        match child.kind {
            ChildKind::Group => self.group_entry_problem(&child.id, slot, Some(group)),
            ChildKind::System => {
                let known = self.memberships.get(&(child.id.clone(), group.clone()));
                (known != Some(&slot)).then_some("is listed more than once")
            }
        }
    }

    /// What is wrong with an entry of a group in the `children` of a parent, or in `rootGroupIds`.
    fn group_entry_problem(&self, id: &Id, slot: u64, parent: Option<&Id>) -> Option<&'static str> {
        match self.groups.get(id) {
            None => Some("does not exist"),
            Some(group) if group.parent.as_ref() != parent => Some("has another parentGroupId"),
            Some(group) => (group.slot != Some(slot)).then_some("is listed more than once"),
        }
    }

    fn check_records(&self, root: &Path<'_>, findings: &mut Findings) {
        let sections = [
            ("belts", &self.belts),
            ("smallBodyFields", &self.small_body_fields),
            ("protoplanetaryDisks", &self.protoplanetary_disks),
            ("nebulae", &self.nebulae),
        ];
        for (name, records) in sections {
            let section = root.at(&name);
            for (key, record) in records {
                let id = record.members.text_of("id").unwrap_or_default();
                check_key(key, &id, &section.at(key), findings);
            }
        }
    }

    /// Where all links are mutual, what cannot be reached from a root is on or below a cycle.
    fn check_star_cycles(&self, root: &Path<'_>, findings: &mut Findings) {
        let mut reached = HashSet::new();
        let roots = self.stars.values().filter(|star| star.parent.is_none());
        let mut pending: Vec<_> = roots.collect();
        while let Some(star) = pending.pop() {
            reached.insert(&star.id);
            pending.extend(star.children.iter().filter_map(|child| self.stars.get(child)));
        }
        let stars = root.at(&"stars");
        for id in self.stars.keys().filter(|id| !reached.contains(id)) {
            findings.push(&stars.at(id).at(&"parentId"), CYCLE);
        }
    }

    fn check_group_cycles(&self, root: &Path<'_>, findings: &mut Findings) {
        let mut reached = HashSet::new();
        let mut pending: Vec<_> = self.root_group_ids.iter().collect();
        while let Some(id) = pending.pop() {
            reached.insert(id);
            let children = self.groups.get(id).into_iter().flat_map(|group| group.children.iter());
            let groups = children.filter(|child| child.kind == ChildKind::Group);
            pending.extend(groups.map(|child| &child.id));
        }
        let groups = root.at(&"groups");
        for id in self.groups.keys().filter(|id| !reached.contains(id)) {
            findings.push(&groups.at(id).at(&"parentGroupId"), CYCLE);
        }
    }
}

fn check_key(key: &str, id: &str, place: &Path<'_>, findings: &mut Findings) {
    if key != id {
        let key = Quoted(key);
        findings.push(&place.at(&"id"), format_args!("must equal its key {key}"));
    }
}

//! addStar, updateStar, removeStar.

use std::sync::Arc;

use serde_json::Value;

use super::Outcome;
use crate::entity::{Id, Members, Star};
use crate::event::{Event, Reason};
use crate::refusal::Refusal;
use crate::state::State;
use crate::state::sequence::Sequence;

/// The members that are typed in [`Star`].
const TYPED: [&str; 3] = ["id", "parentId", "children"];

impl State {
    pub(super) fn add_star(&mut self, id: &Id, payload: &Members) -> Outcome {
        let parent = payload.get("parentId").and_then(Value::as_str).map(Id::from);
        if self.stars.contains_key(id) {
            let message = format!(
                "body {id:?} exists; choose another id, or change it with updateStar or attachStar"
            );
            return Err(refused(Reason::AlreadyExists, id, parent.as_ref(), message));
        }
        if let Some(parent) = parent.as_ref().filter(|parent| !self.stars.contains_key(*parent)) {
            return Err(if parent == id {
                let message = format!("body {id:?} cannot orbit itself; name another body or null");
                refused(Reason::Cycle, id, Some(parent), message)
            } else {
                let message = format!(
                    "the parent {parent:?} does not exist in this universe; add it first, or give null"
                );
                refused(Reason::NotFound, id, Some(parent), message)
            });
        }

        let known = payload.iter().filter(|(name, _)| !TYPED.contains(&name.as_str()));
        let mut members: Members =
            known.map(|(name, value)| (name.clone(), value.clone())).collect();
        if members.get("orbitalPhase").is_none_or(Value::is_null) {
            members.insert("orbitalPhase".to_owned(), Value::from(0));
        }
        let star = Star {
            id: Arc::clone(id),
            parent: None,
            slot: None,
            children: Sequence::default(),
            members: members.into(),
            derived: None,
        };
        self.stars.insert(Arc::clone(id), Arc::new(star));
        self.link_star(id, parent.as_ref());
        self.settle_elements(id)?;
        Ok(Event::StarAdded { id: Arc::clone(id) })
    }

    pub(super) fn update_star(&mut self, id: &Id, payload: &Members) -> Outcome {
        let star = self.star_mut(id).ok_or_else(|| Refusal::star_not_found(id))?;
        if let Some(parent) = payload.get("parentId").map(Value::as_str)
            && parent != star.parent_id()
        {
            return Err(parent_is_managed(id, parent.map(Id::from)));
        }
        if let Some(Value::Array(given)) = payload.get("children")
            && let Some(child) = first_difference(given, star.children())
        {
            let message = format!(
                "the children of body {id:?} are not set by updateStar; use attachStar, \
                 detachStar, addStar or removeStar on {child:?}"
            );
            return Err(refused(Reason::ManagedMember, &child.into(), Some(id), message));
        }
        star.members.update(|members| merge(members, payload, &TYPED));
        self.settle_elements(id)?;
        if payload.contains_key("axialTilt") || payload.contains_key("axialNode") {
            self.derive_below(id);
        }
        Ok(Event::StarUpdated { id: Arc::clone(id) })
    }

    /// Computes what follows from a body's elements, whose epoch must have a meaning in this universe.
    fn settle_elements(&mut self, id: &Id) -> Result<(), Refusal> {
        self.derive(id);
        let problem = self.star(id).and_then(|star| self.epoch_problem(star));
        problem.map_or(Ok(()), |problem| {
            Err(Refusal::no_epoch(&format!("the epoch of the elements of body {id:?}: {problem}")))
        })
    }

    pub(super) fn remove_star(&mut self, id: &Id) -> Outcome {
        if !self.stars.contains_key(id) {
            return Err(Refusal::star_not_found(id));
        }
        let removed_ids = self.star_and_descendants(id);
        self.unlink_star(id);
        for removed in &removed_ids {
            self.stars.remove(removed);
            self.ungroup_system(removed);
        }
        Ok(Event::StarRemoved { id: Arc::clone(id), removed_ids })
    }
}

/// Sets each member of the patch, nulls included, other than those that are not its to set.
pub(super) fn merge(members: &mut Members, patch: &Members, except: &[&str]) {
    let given = patch.iter().filter(|(name, _)| !except.contains(&name.as_str()));
    members.extend(given.map(|(name, value)| (name.clone(), value.clone())));
}

/// The first id that is in one list and not at the same place in the other.
fn first_difference<'a>(
    given: &'a [Value],
    mut present: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    for given in given.iter().filter_map(Value::as_str) {
        if present.next() != Some(given) {
            return Some(given);
        }
    }
    present.next()
}

fn parent_is_managed(id: &Id, parent: Option<Id>) -> Refusal {
    let Some(parent) = parent else {
        let message = format!("the parent of body {id:?} is not set by updateStar; use detachStar");
        let reason = Reason::ManagedMember;
        let event = Event::DetachFailed { reason, child_id: Arc::clone(id) };
        return Refusal::new("STAR_MEMBER_MANAGED", event, message);
    };
    let message = format!("the parent of body {id:?} is not set by updateStar; use attachStar");
    refused(Reason::ManagedMember, id, Some(&parent), message)
}

fn refused(reason: Reason, id: &Id, parent: Option<&Id>, message: String) -> Refusal {
    Refusal::attach_failed(reason, id, parent, message)
}

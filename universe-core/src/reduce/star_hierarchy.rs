//! attachStar, detachStar.

use std::sync::Arc;

use serde_json::Value;

use super::Outcome;
use crate::entity::Id;
use crate::event::{Event, Reason};
use crate::refusal::Refusal;
use crate::state::State;

impl State {
    pub(super) fn attach_star(&mut self, child: &Id, parent: &Id) -> Outcome {
        if let Some(unknown) = [child, parent].into_iter().find(|id| !self.stars.contains_key(*id))
        {
            let message = format!("body {unknown:?} does not exist in this universe; add it first");
            return Err(Refusal::attach_failed(Reason::NotFound, child, Some(parent), message));
        }
        if self.is_star_above(child, parent) {
            let message = format!(
                "body {child:?} cannot orbit {parent:?}, which is itself or one of its descendants; \
                 name a body outside of it"
            );
            return Err(Refusal::attach_failed(Reason::Cycle, child, Some(parent), message));
        }
        self.unlink_star(child);
        self.link_star(child, Some(parent));
        self.derive(child);
        let (child_id, parent_id) = (Arc::clone(child), Arc::clone(parent));
        Ok(Event::StarAttached { child_id, parent_id })
    }

    /// The orbit's distance becomes 0; its other members stay.
    pub(super) fn detach_star(&mut self, child: &Id) -> Outcome {
        let problem = match self.star(child).map(|star| star.parent_id().is_some()) {
            Some(true) => None,
            Some(false) => Some("has no parent; it is a root body"),
            None => Some("does not exist in this universe; name one in \"stars\""),
        };
        let child_id = Arc::clone(child);
        if let Some(problem) = problem {
            let message = format!("body {child:?} {problem}");
            let event = Event::DetachFailed { reason: Reason::NotAttached, child_id };
            return Err(Refusal::new("DETACH_FAILED_NOT_ATTACHED", event, message));
        }
        self.unlink_star(child);
        self.link_star(child, None);
        if let Some(star) = self.star_mut(child) {
            star.members.update(|members| {
                members.insert("orbitalDistance".to_owned(), Value::from(0));
            });
        }
        self.derive(child);
        Ok(Event::StarDetached { child_id })
    }
}

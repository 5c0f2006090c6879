//! The error for a valid command that this universe does not allow.

use crate::entity::Id;
use crate::event::{Event, Reason};

/// Why a universe does not allow a command. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The event that reports the refusal; empty for a refused `tick`, which has none.
    pub events: Vec<Event>,
    code: &'static str,
    message: String,
}

impl Refusal {
    /// A stable name in upper snake case, e.g. `STAR_NOT_FOUND` or `ATTACH_FAILED_CYCLE`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// One sentence that says what was wrong and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn new(code: &'static str, event: Event, message: String) -> Self {
        let events = vec![event];
        Self { events, code, message }
    }

    pub(crate) fn time_overflow(time: f64, dt: f64) -> Self {
        let message =
            format!("time {time} + dt {dt} is not a finite number of seconds; give a smaller dt");
        Self { events: Vec::new(), code: "TIME_OVERFLOW", message }
    }

    pub(crate) fn no_epoch(message: &str) -> Self {
        Self { events: Vec::new(), code: "EPOCH_MISSING", message: message.to_owned() }
    }

    pub(crate) fn star_not_found(id: &Id) -> Self {
        let message = format!("body {id:?} does not exist in this universe; name one in \"stars\"");
        Self::new("STAR_NOT_FOUND", Event::StarNotFound { id: id.clone() }, message)
    }

    pub(crate) fn group_not_found(id: &Id) -> Self {
        let message =
            format!("group {id:?} does not exist in this universe; name one in \"groups\"");
        Self::new("GROUP_NOT_FOUND", Event::GroupNotFound { id: id.clone() }, message)
    }

    pub(crate) fn attach_failed(
        reason: Reason,
        child_id: &Id,
        parent_id: Option<&Id>,
        message: String,
    ) -> Self {
        let code = match reason {
            Reason::NotFound => "ATTACH_FAILED_NOT_FOUND",
            Reason::Cycle => "ATTACH_FAILED_CYCLE",
            Reason::NotAttached => "ATTACH_FAILED_NOT_ATTACHED",
            Reason::AlreadyExists => "STAR_ALREADY_EXISTS",
            Reason::ManagedMember => "STAR_MEMBER_MANAGED",
        };
        let (child_id, parent_id) = (child_id.clone(), parent_id.cloned());
        Self::new(code, Event::AttachFailed { reason, child_id, parent_id }, message)
    }

    pub(crate) fn move_failed(
        reason: Reason,
        child_id: &Id,
        target_group_id: Option<&Id>,
        message: String,
    ) -> Self {
        let code = match reason {
            Reason::NotFound => "MOVE_TO_GROUP_FAILED_NOT_FOUND",
            Reason::Cycle => "MOVE_TO_GROUP_FAILED_CYCLE",
            Reason::NotAttached => "MOVE_TO_GROUP_FAILED_NOT_ATTACHED",
            Reason::AlreadyExists => "GROUP_ALREADY_EXISTS",
            Reason::ManagedMember => "GROUP_MEMBER_MANAGED",
        };
        let (child_id, target_group_id) = (child_id.clone(), target_group_id.cloned());
        Self::new(code, Event::MoveToGroupFailed { reason, child_id, target_group_id }, message)
    }
}

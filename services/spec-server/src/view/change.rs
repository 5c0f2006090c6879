//! The list of changes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, name, notes};
use super::spec::{ListDetail, UnreadableFile};
use crate::model::Change;
use crate::project::Unreadable;

/// All changes in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct ChangeList {
    /// The changes, by id.
    pub changes: Vec<ChangeSummary>,
    /// How many there are.
    pub total: usize,
    /// Files that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableFile>,
    /// The offset to call again with for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One change in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeSummary {
    /// Its id.
    pub id: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_progress: Option<TaskProgress>,
    /// The day on which it was archived, as YYYY-MM-DD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_on: Option<String>,
}

/// How many tasks are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskProgress {
    /// Ticked boxes.
    pub completed: usize,
    /// All boxes.
    pub total: usize,
}

impl ChangeList {
    /// The changes from `offset` on that fit.
    pub fn new(
        changes: &[Arc<Change>],
        unreadable: &[Unreadable],
        detail: ListDetail,
        offset: usize,
        budget: Budget,
    ) -> Self {
        let summaries = changes.iter().map(|change| match detail {
            ListDetail::Full => ChangeSummary::of(change),
            ListDetail::Ids => {
                let id = change.id.clone();
                ChangeSummary { id, title: None, task_progress: None, archived_on: None }
            }
        });
        let page = budget.page(summaries, offset);
        let (unreadable, unlisted) = UnreadableFile::some(unreadable, budget);
        let odd = changes.iter().find(|change| !change.nested().is_empty());
        let odd = odd.map(|change| {
            format!("{} is not a change, but a folder around others; validate_change names such folders", change.id)
        });
        Self {
            note: notes([page.note(offset, "changes"), unlisted, odd]),
            changes: page.items,
            total: page.total,
            unreadable,
            next_offset: page.next_offset,
        }
    }
}

impl ChangeSummary {
    /// The summary of a change, active or archived.
    pub fn of(change: &Change) -> Self {
        Self {
            id: change.id.clone(),
            title: Some(name(&change.title)),
            task_progress: Some(TaskProgress::of(change)),
            archived_on: change.archived_on.clone(),
        }
    }
}

impl TaskProgress {
    /// The progress of a change. Without tasks it is zero of zero.
    pub fn of(change: &Change) -> Self {
        let (completed, total) = change.progress();
        Self { completed, total }
    }
}

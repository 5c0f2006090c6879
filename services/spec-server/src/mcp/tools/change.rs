//! `list_changes`, `get_change`, `next_step`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::choice;
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::model::{Change, Source};
use crate::parse::fold;
use crate::project::{Project, ReadError};
use crate::view::{ChangeList, ChangeView, ListDetail, StepView, notes};
use crate::words::Words;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListChanges {
    /// Lists the archived changes instead.
    archived: Option<bool>,
    /// `ids` alone; else title and progress too.
    #[serde(default)]
    #[schemars(schema_with = "choice::<ListDetail>")]
    detail: Option<ListDetail>,
    /// The `next_offset` of the answer before.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetChange {
    /// The id of the change, such as "add-login"; list_changes lists them.
    change_id: String,
    /// Only this part: `proposal`, `tasks`, `design`, `deltas`, another artifact, or a file.
    section: Option<String>,
    /// The `next_offset` of the answer before.
    offset: Option<usize>,
}

pub(super) fn list_changes(
    state: &ServerState,
    asked: &ListChanges,
) -> Result<ChangeList, Failure> {
    let project = state.project()?;
    let listing = project.changes_in(asked.archived.unwrap_or(false))?;
    let offset = asked.offset.unwrap_or(0);
    let unreadable = &listing.unreadable;
    let detail = asked.detail.unwrap_or_default();
    let mut list = ChangeList::new(&listing.items, unreadable, detail, offset, state.budget());
    list.note = state.note(notes([list.note, Words::of(&project).problem()]));
    Ok(list)
}

pub(super) fn get_change(state: &ServerState, asked: &GetChange) -> Result<ChangeView, Failure> {
    let change = state.change(&asked.change_id)?;
    let Some(section) = &asked.section else {
        return Ok(ChangeView::whole(&change, state.budget()));
    };
    let offset = asked.offset.unwrap_or(0);
    let read = unread(&state.project()?, &change, section)?;
    let view = ChangeView::section(&change, section, read.as_ref(), offset, state.budget());
    view.ok_or_else(|| {
        let name = section.to_lowercase();
        let file = change.schema.artifact(section).map(|artifact| artifact.files.as_str());
        let file =
            file.or_else(|| PARTS.iter().find(|(part, _)| *part == name).map(|(_, file)| *file));
        if let Some(file) = file {
            let message =
                format!("the change {:?} has no {section}: {file} is not there", change.id);
            return Failure::not_found("SECTION_NOT_FOUND", message)
                .with_data(json!({ "change_id": change.id, "section": section }));
        }
        let has = ChangeView::sections(&change).join(", ");
        let message = format!("/section: {:?} has no {section:?}; it has {has}", change.id);
        Failure::new("INVALID_ARGUMENTS", state.budget().share(10).beginning(&message).0)
    })
}

/// The parts that every change may have, with their files.
const PARTS: [(&str, &str); 3] =
    [("proposal", "proposal.md"), ("tasks", "tasks.md"), ("design", "design.md")];

/// The text of a file that is not read with its change.
fn unread(project: &Project, change: &Change, file: &str) -> Result<Option<Source>, ReadError> {
    let wanted = fold(file);
    let found = change.files.iter().find(|file| file.text.is_none() && fold(&file.path) == wanted);
    let Some(found) = found else { return Ok(None) };
    project.source(&project.folder_of(change).join(&found.path))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct NextStep {
    /// The id of an active change.
    change_id: String,
    /// This artifact instead of the next one.
    artifact: Option<String>,
}

pub(super) fn next_step(state: &ServerState, asked: &NextStep) -> Result<StepView, Failure> {
    let change = state.active_change(&asked.change_id)?;
    step(state, &change, asked.artifact.as_deref())
}

/// The next step of a change, or that of an artifact.
pub(super) fn step(
    state: &ServerState,
    change: &Change,
    artifact: Option<&str>,
) -> Result<StepView, Failure> {
    Ok(StepView::of(&state.project()?, change, artifact, state.budget())?)
}

//! `list_changes`, `get_change`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::choice;
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::validate::ChangePart;
use crate::view::{ChangeList, ChangeView};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListChanges {
    /// Lists the archived changes instead of the active ones.
    archived: Option<bool>,
    /// Where to continue in a long list; as the answer before says.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetChange {
    /// The id of the change, such as "add-login"; list_changes lists them.
    change_id: String,
    /// Only this part of it.
    #[serde(default)]
    #[schemars(schema_with = "choice::<ChangePart>")]
    section: Option<ChangePart>,
    /// Where to continue in a long section; as the answer before says.
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
    let mut list = ChangeList::new(&listing.items, unreadable, offset, state.budget());
    list.note = state.note(list.note);
    Ok(list)
}

pub(super) fn get_change(state: &ServerState, asked: &GetChange) -> Result<ChangeView, Failure> {
    let change = state.change(&asked.change_id)?;
    let Some(section) = asked.section else {
        return Ok(ChangeView::whole(&change, state.budget()));
    };
    let offset = asked.offset.unwrap_or(0);
    let view = ChangeView::section(&change, section, offset, state.budget());
    view.ok_or_else(|| {
        let name = section.name();
        let message = format!("the change {:?} has no {name}: {name}.md is not there", change.id);
        Failure::not_found("SECTION_NOT_FOUND", message)
            .with_data(json!({ "change_id": change.id, "section": name }))
    })
}

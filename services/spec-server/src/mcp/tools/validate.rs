//! `validate_spec`, `validate_change`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::archive;
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::validate::{self, Item, Report};
use crate::view::{Verdict, notes};
use crate::words::Words;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ValidateSpec {
    /// The id of the spec; all specs if it is left out.
    spec_id: Option<String>,
    /// Takes warnings for errors.
    strict: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ValidateChange {
    /// The id of an active change; all active changes if it is left out.
    change_id: Option<String>,
    /// Takes warnings for errors.
    strict: Option<bool>,
}

pub(super) fn validate_spec(state: &ServerState, asked: &ValidateSpec) -> Result<Verdict, Failure> {
    // The exact id, for an id in upper or lower case.
    let only = asked.spec_id.as_ref().map(|id| state.spec(id)).transpose()?;
    let items = validate::specs(&state.project()?, only.as_ref().map(|spec| &*spec.id))?;
    verdict(state, asked.strict, &items)
}

pub(super) fn validate_change(
    state: &ServerState,
    asked: &ValidateChange,
) -> Result<Verdict, Failure> {
    let only = asked.change_id.as_ref().map(|id| state.active_change(id)).transpose()?;
    let items = archive::judge(&state.project()?, only.as_ref().map(|change| &*change.id))?;
    verdict(state, asked.strict, &items)
}

fn verdict(state: &ServerState, strict: Option<bool>, items: &[Item]) -> Result<Verdict, Failure> {
    let mut verdict = Verdict::of(&Report::of(items, strict.unwrap_or(false)), state.budget());
    verdict.note = notes([verdict.note, Words::of(&state.project()?).problem()]);
    Ok(verdict)
}

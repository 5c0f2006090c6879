//! `validate_spec`, `validate_change`.

use mcp_proto::{Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::desk::Desk;
use crate::validate::{self, Report};
use crate::view::Verdict;

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

pub(super) async fn validate_spec(
    desk: Desk,
    asked: ValidateSpec,
    context: Context,
) -> Result<Verdict, ToolError> {
    let answer = desk.answer(&context, move |desk| {
        let project = desk.project()?;
        let only = match asked.spec_id {
            // As it is called, in whatever case it was asked for.
            Some(id) => Some(desk.spec(&id)?.id.clone()),
            None => None,
        };
        let items = validate::specs(&project, project.layout().kind.into(), only.as_deref())?;
        let report = Report::of(&items, asked.strict.unwrap_or(false));
        Ok(Verdict::of(&report, desk.budget()))
    });
    answer.await
}

pub(super) async fn validate_change(
    desk: Desk,
    asked: ValidateChange,
    context: Context,
) -> Result<Verdict, ToolError> {
    let answer = desk.answer(&context, move |desk| {
        let project = desk.project()?;
        let only = match asked.change_id {
            Some(id) => Some(desk.active_change(&id)?.id.clone()),
            None => None,
        };
        let items = validate::changes(&project, project.layout().kind.into(), only.as_deref())?;
        let report = Report::of(&items, asked.strict.unwrap_or(false));
        Ok(Verdict::of(&report, desk.budget()))
    });
    answer.await
}

//! `list_specs`, `get_spec_requirements`, `get_scenario`.

use mcp_proto::{Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::desk::Desk;
use crate::view::{Requirements, ScenarioView, SpecList};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListSpecs {
    /// Where to go on in a long list; as the answer before says.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetSpecRequirements {
    /// The id of the spec, such as "auth"; list_specs tells which there are.
    spec_id: String,
    /// Where to go on in a long list; as the answer before says.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetScenario {
    /// The id of the spec.
    spec_id: String,
    /// The name of the requirement, in any case.
    requirement: String,
    /// The name of the scenario, in any case; the first one of the requirement if it is left out.
    scenario: Option<String>,
}

pub(super) async fn list_specs(
    desk: Desk,
    asked: ListSpecs,
    _: Context,
) -> Result<SpecList, ToolError> {
    let listed = desk.read(move |desk| {
        let listing = desk.project()?.specs()?;
        let offset = asked.offset.unwrap_or(0);
        let unreadable = &listing.unreadable;
        Ok(SpecList::new(
            &listing.items,
            unreadable,
            offset,
            desk.budget(),
        ))
    });
    Ok(listed.await?)
}

pub(super) async fn get_spec_requirements(
    desk: Desk,
    asked: GetSpecRequirements,
    _: Context,
) -> Result<Requirements, ToolError> {
    let read = desk.read(move |desk| {
        let spec = desk.spec(&asked.spec_id)?;
        let offset = asked.offset.unwrap_or(0);
        Ok(Requirements::of(&spec, offset, desk.budget()))
    });
    Ok(read.await?)
}

pub(super) async fn get_scenario(
    desk: Desk,
    asked: GetScenario,
    _: Context,
) -> Result<ScenarioView, ToolError> {
    let read = desk.read(move |desk| {
        let spec = desk.spec(&asked.spec_id)?;
        let scenario = asked.scenario.as_deref();
        let found = ScenarioView::find(&spec, &asked.requirement, scenario, desk.budget());
        Ok(found?)
    });
    Ok(read.await?)
}

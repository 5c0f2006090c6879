//! `list_specs`, `get_spec_requirements`, `get_scenario`, `get_project`.

use mcp_proto::{Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::choice;
use crate::mcp::desk::Desk;
use crate::view::{Detail, ProjectView, Requirements, ScenarioView, Selection, SpecList, Touching};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListSpecs {
    /// Where to go on in a long answer; as the answer before says.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetSpecRequirements {
    /// The id of the spec, such as "auth"; list_specs lists them.
    spec_id: String,
    /// How much of each requirement: `names` if it is left out; `requirements` adds what each says, `scenarios` the
    /// scenarios too, `whole` is the file itself.
    #[serde(default)]
    #[schemars(schema_with = "choice::<Detail>")]
    detail: Option<Detail>,
    /// These requirements alone, by name or line, such as ["Sign in", "42"].
    #[schemars(length(max = 100))]
    requirements: Option<Vec<String>>,
    /// Where to go on in a long answer; as the answer before says.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetScenario {
    /// The id of the spec.
    spec_id: String,
    /// The name of the requirement, in any case, or its line.
    requirement: String,
    /// The name of the scenario, in any case, or its line; the first one of the requirement if it is left out.
    scenario: Option<String>,
}

pub(super) async fn list_specs(
    desk: Desk,
    asked: ListSpecs,
    context: Context,
) -> Result<SpecList, ToolError> {
    let answer = desk.answer(&context, move |desk| {
        let listing = desk.project()?.specs()?;
        let offset = asked.offset.unwrap_or(0);
        let unreadable = &listing.unreadable;
        let mut list = SpecList::new(&listing.items, unreadable, offset, desk.budget());
        list.note = desk.note(list.note);
        Ok(list)
    });
    answer.await
}

pub(super) async fn get_spec_requirements(
    desk: Desk,
    asked: GetSpecRequirements,
    context: Context,
) -> Result<Requirements, ToolError> {
    let answer = desk.answer(&context, move |desk| {
        let spec = desk.spec(&asked.spec_id)?;
        let selection = Selection {
            detail: asked.detail.unwrap_or_default(),
            names: asked.requirements.unwrap_or_default(),
            offset: asked.offset.unwrap_or(0),
        };
        let touching = Touching::of(&desk.project()?.changes()?.items);
        let read = Requirements::of(&spec, &selection, &touching, desk.budget());
        Ok(read?)
    });
    answer.await
}

pub(super) async fn get_scenario(
    desk: Desk,
    asked: GetScenario,
    context: Context,
) -> Result<ScenarioView, ToolError> {
    let answer = desk.answer(&context, move |desk| {
        let spec = desk.spec(&asked.spec_id)?;
        let scenario = asked.scenario.as_deref();
        let found = ScenarioView::find(&spec, &asked.requirement, scenario, desk.budget());
        Ok(found?)
    });
    answer.await
}

pub(super) async fn get_project(
    desk: Desk,
    asked: ListSpecs,
    context: Context,
) -> Result<ProjectView, ToolError> {
    let answer = desk.answer(&context, move |desk| {
        let offset = asked.offset.unwrap_or(0);
        let mut view = ProjectView::of(&desk.project()?, offset, desk.budget());
        view.note = desk.note(view.note);
        Ok(view)
    });
    answer.await
}

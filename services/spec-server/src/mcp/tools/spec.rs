//! `list_specs`, `get_spec_requirements`, `get_scenario`, `get_project`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::choice;
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::view::{Detail, ProjectView, Requirements, ScenarioView, Selection, SpecList, Touching};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListSpecs {
    /// Where to continue in a long answer; as the answer before says.
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
    /// Where to continue in a long answer; as the answer before says.
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

pub(super) fn list_specs(state: &ServerState, asked: &ListSpecs) -> Result<SpecList, Failure> {
    let listing = state.project()?.specs()?;
    let offset = asked.offset.unwrap_or(0);
    let unreadable = &listing.unreadable;
    let mut list = SpecList::new(&listing.items, unreadable, offset, state.budget());
    list.note = state.note(list.note);
    Ok(list)
}

pub(super) fn get_spec_requirements(
    state: &ServerState,
    asked: &GetSpecRequirements,
) -> Result<Requirements, Failure> {
    let spec = state.spec(&asked.spec_id)?;
    let selection = Selection {
        detail: asked.detail.unwrap_or_default(),
        names: asked.requirements.clone().unwrap_or_default(),
        offset: asked.offset.unwrap_or(0),
    };
    let touching = Touching::of(&state.project()?.changes()?.items);
    let read = Requirements::of(&spec, &selection, &touching, state.budget());
    Ok(read?)
}

pub(super) fn get_scenario(
    state: &ServerState,
    asked: &GetScenario,
) -> Result<ScenarioView, Failure> {
    let spec = state.spec(&asked.spec_id)?;
    let scenario = asked.scenario.as_deref();
    let found = ScenarioView::find(&spec, &asked.requirement, scenario, state.budget());
    Ok(found?)
}

pub(super) fn get_project(state: &ServerState, asked: &ListSpecs) -> Result<ProjectView, Failure> {
    let offset = asked.offset.unwrap_or(0);
    let mut view = ProjectView::of(&state.project()?, offset, state.budget());
    view.note = state.note(view.note);
    Ok(view)
}

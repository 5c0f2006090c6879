//! `list_specs`, `get_spec_requirements`, `get_scenario`, `get_project`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::choice;
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::validate::Touching;
use crate::view::{
    Detail, FileView, ListDetail, ProjectView, Requirements, ScenarioView, Selection, SpecList,
    notes,
};
use crate::words::Words;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListSpecs {
    /// `ids` alone; else title and purpose too.
    #[serde(default)]
    #[schemars(schema_with = "choice::<ListDetail>")]
    detail: Option<ListDetail>,
    /// The `next_offset` of the answer before.
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
    /// A file beside spec.md instead, such as "context.md".
    file: Option<String>,
    /// The `next_offset` of the answer before.
    offset: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetScenario {
    /// The id of the spec.
    spec_id: String,
    /// Its name, in any case, or its line.
    requirement: String,
    /// Its name, in any case, or its line; else the first one.
    scenario: Option<String>,
}

/// The most files beside a spec that an answer names.
const MAX_FILES: usize = 100;

pub(super) fn list_specs(state: &ServerState, asked: &ListSpecs) -> Result<SpecList, Failure> {
    let project = state.project()?;
    let listing = project.specs()?;
    let offset = asked.offset.unwrap_or(0);
    let unreadable = &listing.unreadable;
    let detail = asked.detail.unwrap_or_default();
    let mut list = SpecList::new(&listing.items, unreadable, detail, offset, state.budget());
    list.note = state.note(notes([list.note, project.hidden(), Words::of(&project).problem()]));
    Ok(list)
}

pub(super) fn get_spec_requirements(
    state: &ServerState,
    asked: &GetSpecRequirements,
) -> Result<Requirements, Failure> {
    let spec = state.spec(&asked.spec_id)?;
    let project = state.project()?;
    let offset = asked.offset.unwrap_or(0);
    if let Some(name) = &asked.file {
        let read = project.text_beside(&spec.id, name)?;
        let file = read.ok_or_else(|| {
            let files = project.beside(&spec.id).unwrap_or_default();
            let files: Vec<_> = files.into_iter().map(|(name, _)| name).take(MAX_FILES).collect();
            let message =
                format!("beside the spec {:?} is no {name:?}; there is {files:?}", spec.id);
            Failure::not_found("FILE_NOT_FOUND", message).with_data(json!({ "files": files }))
        })?;
        return Ok(Requirements::file(&spec, &file, offset, state.budget()));
    }
    let selection = Selection {
        detail: asked.detail.unwrap_or_default(),
        names: asked.requirements.clone().unwrap_or_default(),
        offset,
    };
    let touching = Touching::of(&project.changes()?.items);
    let mut read = Requirements::of(&spec, &selection, &touching, state.budget())?;
    let files = project.beside(&spec.id)?.into_iter().take(MAX_FILES);
    read.files = files.map(|(file, bytes)| FileView { file, bytes }).collect();
    Ok(read)
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

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetProject {
    /// The `next_offset` of the answer before.
    offset: Option<usize>,
}

pub(super) fn get_project(state: &ServerState, asked: &GetProject) -> Result<ProjectView, Failure> {
    let offset = asked.offset.unwrap_or(0);
    let mut view = ProjectView::of(&state.project()?, offset, state.budget());
    view.note = state.note(view.note);
    Ok(view)
}

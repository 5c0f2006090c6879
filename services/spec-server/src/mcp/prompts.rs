//! Prompts for the three steps of a change: proposing, implementing, archiving it.

mod text;

use std::sync::Arc;

use mcp_proto::{
    ContentBlock, Context, GetPromptResult, Prompt, PromptMessage, RequestError, ServerBuilder,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::failure::Failure;
use super::state::ServerState;
use super::{address, resources};
use crate::archive::{self, PreviewSpec};
use crate::model::{Change, Spec};
use crate::project::Project;
use crate::words::Words;

pub(super) const PROPOSE: &str = "propose_change";
pub(super) const IMPLEMENT: &str = "implement_change";
pub(super) const ARCHIVE: &str = "archive_change";

/// The most specs that a prompt about a change includes.
const MAX_SPECS: usize = 5;

#[derive(Debug, Deserialize, JsonSchema)]
struct Propose {
    /// What should be different, in a sentence or more.
    idea: String,
    /// A spec that it is about; it is put before the model.
    spec_id: Option<String>,
    /// The id for the change, in kebab-case, beginning with a verb; the model finds one if it is left out.
    change_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct OfChange {
    /// The id of the change.
    change_id: String,
}

/// Adds the prompts.
pub(super) fn add(builder: ServerBuilder<ServerState>) -> ServerBuilder<ServerState> {
    let propose_about = "Writes a change proposal: why, what, tasks, and the changed requirements.";
    let implement_about = "Works through the open tasks of a change.";
    let archive_about = "Applies a finished change to the specs and moves it to the archive.";
    let builder = prompt(builder, PROPOSE, "Propose a change", propose_about, propose);
    let builder = prompt(builder, IMPLEMENT, "Implement a change", implement_about, implement);
    prompt(builder, ARCHIVE, "Archive a change", archive_about, archive)
}

/// Adds a prompt that is made on a blocking thread.
fn prompt<A: DeserializeOwned + JsonSchema + Send + 'static>(
    builder: ServerBuilder<ServerState>,
    name: &str,
    title: &str,
    description: &str,
    make: fn(&ServerState, &A) -> Result<GetPromptResult, Failure>,
) -> ServerBuilder<ServerState> {
    let prompt = Prompt::new(name, description).with_title(title);
    builder.prompt(prompt, move |state: ServerState, asked: A, context: Context| async move {
        state.answer::<_, RequestError>(&context, move |state| make(state, &asked)).await
    })
}

fn propose(state: &ServerState, asked: &Propose) -> Result<GetPromptResult, Failure> {
    let project = state.project()?;
    let text = text::propose(&project, &asked.idea, asked.change_id.as_deref());
    let mut messages = vec![says(state, &text, &project)];
    if let Some(id) = asked.spec_id.as_deref().filter(|id| !id.trim().is_empty()) {
        messages.push(spec(state, &*state.spec(id.trim())?));
    }
    Ok(result(messages, "How to propose a change to the specs"))
}

fn implement(state: &ServerState, asked: &OfChange) -> Result<GetPromptResult, Failure> {
    let (project, change, mut messages) = begun(state, asked, text::implement)?;
    messages.extend(touched(state, &project, &change));
    Ok(result(messages, "How to implement a change"))
}

fn archive(state: &ServerState, asked: &OfChange) -> Result<GetPromptResult, Failure> {
    let (project, change, mut messages) = begun(state, asked, text::archive)?;
    if change.archived_on.is_none() {
        let preview = archive::preview(&project, &change.id)?;
        let diffs: Vec<_> = preview.specs.iter().map(PreviewSpec::diff).collect();
        let diff = state.budget().share(2).beginning(&diffs.join("\n")).0;
        let text = format!("What it would make of the specs now:\n\n```diff\n{diff}\n```");
        messages.push(PromptMessage::user(ContentBlock::text(text)));
    }
    Ok(result(messages, "How to archive a change"))
}

/// A change and the first messages of a prompt about it: the instructions and its files.
fn begun(
    state: &ServerState,
    asked: &OfChange,
    text: fn(&Project, &Change, bool) -> String,
) -> Result<(Project, Arc<Change>, Vec<PromptMessage>), Failure> {
    let project = state.project()?;
    let change = state.change(asked.change_id.trim())?;
    let text = text(&project, &change, state.settings().allow_writes);
    let messages = vec![says(state, &text, &project), files(state, &change)];
    Ok((project, change, messages))
}

fn result(messages: Vec<PromptMessage>, description: &str) -> GetPromptResult {
    GetPromptResult::new(messages).with_description(description)
}

/// The instructions, with the project's own guidance if it has any. Titles, tasks and guidance may be of any length.
fn says(state: &ServerState, text: &str, project: &Project) -> PromptMessage {
    let mut text = state.budget().beginning(text).0;
    let words = Words::of(project).text();
    if !words.is_empty() {
        let words = state.budget().share(4).beginning(&words).0;
        text.push_str("\n\nFollow what this repository says about itself and its workflow:\n\n");
        text.push_str(&words);
    }
    PromptMessage::user(ContentBlock::text(text))
}

/// The files of a change, up to the length that a model can read at once.
fn files(state: &ServerState, change: &Arc<Change>) -> PromptMessage {
    let text = state.budget().share(2).beginning(&resources::text_of(change)).0;
    embedded(address::change(&change.id), text)
}

/// The existing specs that a change touches.
fn touched(state: &ServerState, project: &Project, change: &Arc<Change>) -> Vec<PromptMessage> {
    let capabilities = change.deltas.iter().map(|delta| &delta.capability);
    // Most capabilities have a spec or create one, so similar names are not searched.
    let specs = capabilities.filter_map(|capability| project.existing_spec(capability).ok()?);
    let specs = specs.take(MAX_SPECS);
    specs.map(|read| spec(state, &read)).collect()
}

/// A spec that is included in a prompt.
fn spec(state: &ServerState, spec: &Spec) -> PromptMessage {
    let share = state.budget().share(2 * MAX_SPECS);
    let text = share.beginning(&spec.source.text).0;
    embedded(address::spec(&spec.id), text)
}

fn embedded(uri: String, text: String) -> PromptMessage {
    PromptMessage::user(ContentBlock::resource(resources::markdown(uri, text)))
}

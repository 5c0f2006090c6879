//! The project itself: its folders, and its own guidance for the workflow.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, notes};
use crate::project::{Dialect, Project};
use crate::words::Words;

/// The project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct ProjectView {
    /// openspec or spec-oxide.
    pub kind: String,
    /// The folder of the specs, below the root.
    pub specs: String,
    /// The folder of the active changes.
    pub changes: String,
    /// The folder of the archived changes.
    pub archive: String,
    /// The workflow of its changes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub schema: String,
    /// Context, rules and artifacts, in Markdown; empty if the project has no words of its own.
    pub words: String,
    /// The offset to call again with for the rest of the words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ProjectView {
    /// The view of a project, with its guidance from the character `offset` on. Blocks.
    pub fn of(project: &Project, offset: usize, budget: Budget) -> Self {
        let words = Words::of(project);
        let layout = project.layout();
        let (text, next_offset) = budget.part(&words.text(), offset);
        let more = next_offset.map(|next| format!("there is more; call again with offset {next}"));
        let problems = words.problems.iter().map(|problem| Some(problem.clone()));
        Self {
            kind: match layout.kind {
                Dialect::OpenSpec => "openspec",
                Dialect::SpecOxide => "spec-oxide",
            }
            .to_owned(),
            specs: project.display_path(&layout.specs),
            changes: project.display_path(&layout.changes),
            archive: project.display_path(&layout.archive),
            schema: words.schema.name.clone(),
            words: text,
            next_offset,
            note: notes([more, project.hidden()].into_iter().chain(problems))
                .map(|note| budget.share(4).beginning(&note).0),
        }
    }
}

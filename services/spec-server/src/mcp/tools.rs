//! The tools: eleven that read, and four that write if this is allowed.

mod change;
mod search;
mod spec;
mod validate;
mod write;

use clap::ValueEnum;
use mcp_proto::{Context, Json, ServerBuilder, Tool, ToolAnnotations, ToolError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failure::Failure;
use super::state::ServerState;

/// Adds the tools.
pub(super) fn add(
    builder: ServerBuilder<ServerState>,
    allow_writes: bool,
) -> ServerBuilder<ServerState> {
    let tools = Tools(builder)
        .reading(
            "list_specs",
            "List the specs",
            "List all specs with id, title and purpose.",
            spec::list_specs,
        )
        .reading(
            "get_spec_requirements",
            "Read the requirements of a spec",
            "Read the requirements of a spec: names, scenario counts, the active changes that touch them; more with \
             `detail`.",
            spec::get_spec_requirements,
        )
        .reading(
            "get_scenario",
            "Read a scenario",
            "Read one scenario in full: given, when, then.",
            spec::get_scenario,
        )
        .reading(
            "search_specs",
            "Search the specs",
            "Find requirements by a question or words, the best first. A result without a requirement is about its spec.",
            search::search_specs,
        )
        .reading(
            "list_changes",
            "List the changes",
            "List the active change proposals with title and progress.",
            change::list_changes,
        )
        .reading(
            "get_change",
            "Read a change",
            "Read a change: why, what, tasks, design, changed requirements by capability, its other files by name.",
            change::get_change,
        )
        .reading(
            "next_step",
            "Find the next step of a change",
            "Show which artifacts of a change are done and what comes next: an artifact with its template, rules and \
             instructions, a task, or the archive.",
            change::next_step,
        )
        .reading(
            "validate_spec",
            "Check specs",
            "Check one spec, or all. Findings have file, line and remedy.",
            validate::validate_spec,
        )
        .reading(
            "validate_change",
            "Check changes",
            "Check one active change, or all, and whether archiving would accept it.",
            validate::validate_change,
        )
        .reading(
            "preview_change",
            "Preview a change",
            "Show what archiving a change would make of each spec, as a diff, and what stands in its way.",
            write::preview_change,
        )
        .reading(
            "get_project",
            "Read the project's own words",
            "Read what this repository says about itself and its workflow.",
            spec::get_project,
        );
    if !allow_writes {
        return tools.0;
    }
    let new_change = Tool::new("new_change", "Make an empty change; the answer is its next step.")
        .with_title("Begin a change")
        .with_annotations(writing(false, false));
    let about = "Write a whole file of a change; the answer has what validation finds in it.";
    let write_artifact = Tool::new("write_artifact", about)
        .with_title("Write a file of a change")
        .with_annotations(writing(true, true));
    let about = "Apply a finished change to the specs and move it to the archive: all or nothing. Preview it first.";
    let archive_change = Tool::new("archive_change", about)
        .with_title("Archive a change")
        .with_annotations(writing(true, false));
    let complete_task = Tool::new("complete_task", "Tick a task of a change.")
        .with_title("Complete a task")
        .with_annotations(writing(false, true));
    let tools = tools.add(new_change, write::new_change).add(write_artifact, write::write_artifact);
    let builder = tools.0.tool(archive_change.asking(), write::archive_change);
    Tools(builder).add(complete_task, write::complete_task).0
}

/// The tools that were added so far. Each may ask the client for its roots to find the project.
struct Tools(ServerBuilder<ServerState>);

impl Tools {
    /// Adds a read-only tool.
    fn reading<A, O>(
        self,
        name: &str,
        title: &str,
        description: &str,
        work: fn(&ServerState, &A) -> Result<O, Failure>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        let tool = Tool::new(name, description).with_title(title);
        self.add(tool.with_annotations(ToolAnnotations::read_only()), work)
    }

    /// Adds a tool that works on a blocking thread.
    fn add<A, O>(self, tool: Tool, work: fn(&ServerState, &A) -> Result<O, Failure>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        let run = move |state: ServerState, asked: A, context: Context| async move {
            let answer = state.answer::<O, ToolError>(&context, move |state| work(state, &asked));
            answer.await.map(Json)
        };
        Self(self.0.tool(tool.asking(), run))
    }
}

/// Annotations of a tool that writes: whether it may overwrite or delete, and whether another call has no further
/// effect.
fn writing(destructive: bool, idempotent: bool) -> ToolAnnotations {
    let mut hints = ToolAnnotations::destructive();
    hints.destructive_hint = Some(destructive);
    hints.idempotent_hint = Some(idempotent);
    hints
}

/// The names that the command line also uses, as a plain enumeration, which clients support best.
fn choice<T: ValueEnum>(_: &mut SchemaGenerator) -> Schema {
    let values = T::value_variants().iter();
    let names = values.filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()));
    json_schema!({ "type": "string", "enum": names.collect::<Vec<_>>() })
}

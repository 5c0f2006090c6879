//! The tools: nine that read, one that previews a change, and two that write if this is allowed.

mod change;
mod search;
mod spec;
mod validate;
mod write;

use clap::ValueEnum;
use mcp_proto::{Context, ServerBuilder, Tool, ToolAnnotations, ToolError};
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
            "List all specs of the repository with id, title and purpose, without their requirements. Start here, \
             or with search_specs, to learn what is specified.",
            spec::list_specs,
        )
        .reading(
            "get_spec_requirements",
            "Read the requirements of a spec",
            "Read the requirements of one spec: their names, each with the number of its scenarios and the active \
             changes that touch it. `detail` adds their text and scenarios, or gives the whole file in one call; \
             `requirements` selects some.",
            spec::get_spec_requirements,
        )
        .reading(
            "get_scenario",
            "Read a scenario",
            "Read one scenario of a requirement in full: what the requirement says, and what is given, when, then. \
             Without `scenario` it is the first one; the answer names the others.",
            spec::get_scenario,
        )
        .reading(
            "search_specs",
            "Search the specs",
            "Find the requirements that have to do with a question or some words, the best first, each with the \
             active changes that touch it. A result without a requirement is about its spec as a whole. `in` searches \
             changes or the archive instead.",
            search::search_specs,
        )
        .reading(
            "list_changes",
            "List the changes",
            "List the active change proposals with title and progress; with `archived`, those that are done.",
            change::list_changes,
        )
        .reading(
            "get_change",
            "Read a change",
            "Read a change proposal: why, what, its tasks, its design, and the changed requirements by capability. \
             With `section` only that part.",
            change::get_change,
        )
        .reading(
            "validate_spec",
            "Check specs",
            "Check one spec, or all of them, for structure and content. Every finding names file, line and what \
             would be right.",
            validate::validate_spec,
        )
        .reading(
            "validate_change",
            "Check changes",
            "Check one active change proposal, or all of them, also against the specs that it changes.",
            validate::validate_change,
        )
        .reading(
            "preview_change",
            "Preview a change",
            "Show what a change would make of the specs if it were archived now, as a text difference for each \
             spec, and what stands in its way. Nothing is written.",
            write::preview_change,
        )
        .reading(
            "get_project",
            "Read the project's own words",
            "Read what this repository says about itself and its workflow: context, rules, and what a change \
             consists of. Follow it when you propose, implement or archive a change.",
            spec::get_project,
        );
    if !allow_writes {
        return tools.0;
    }
    let builder = tools.0.tool(
        Tool::new(
            "archive_change",
            "Apply a finished change to the specs and move its folder to the archive. All of it or nothing: what \
             stands in the way is listed. Look at preview_change first.",
        )
        .asking()
        .with_title("Archive a change")
        .with_annotations(ToolAnnotations::destructive()),
        write::archive_change,
    );
    let complete_task = Tool::new(
        "complete_task",
        "Tick a task of a change off, by its number such as 1.2 or its line; with `done` false, take the tick away.",
    );
    let complete_task = complete_task.with_title("Complete a task").with_annotations(idempotent());
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
            state.answer::<O, ToolError>(&context, move |state| work(state, &asked)).await
        };
        Self(self.0.tool(tool.asking(), run))
    }
}

/// Annotations of a tool that writes, but only changes that can be reverted, and that has no further effect if called
/// again.
fn idempotent() -> ToolAnnotations {
    let mut hints = ToolAnnotations::destructive();
    hints.destructive_hint = Some(false);
    hints.idempotent_hint = Some(true);
    hints
}

/// The names that the command line also uses, as a plain enumeration, which clients support best.
fn choice<T: ValueEnum>(_: &mut SchemaGenerator) -> Schema {
    let values = T::value_variants().iter();
    let names = values.filter_map(|value| Some(value.to_possible_value()?.get_name().to_owned()));
    json_schema!({ "type": "string", "enum": names.collect::<Vec<_>>() })
}

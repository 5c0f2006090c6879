//! `preview_change`, and the tools that write: `new_change`, `write_artifact`, `archive_change`, `complete_task`.

use mcp_proto::input::ElicitAction;
use mcp_proto::{Context, ElicitForm, Field, Json, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::archive::{self, ArchiveError, How};
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::view::{
    ArchivedView, Budget, PreviewView, ProblemView, StepView, TickedTask, WrittenView,
};

/// The longest list of problems in one answer.
const PROBLEMS: Budget = Budget::DEFAULT.share(4);

/// The error code that `force` or the user's agreement overrides.
const OPEN_TASKS: &str = "TASKS_OPEN";

/// The elicitation key for the user's agreement, and its field.
const YES: &str = "archive";

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OfChange {
    /// The id of an active change.
    change_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ArchiveChange {
    /// The id of an active change.
    change_id: String,
    /// Archives it although tasks are open. Ask the user first.
    force: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct CompleteTask {
    /// The id of an active change.
    change_id: String,
    /// Its number or mark ("1.2", "T001"), its text or a part of it, or its line ("line 14").
    task: String,
    /// Ticks it if true, takes the tick away if false; true if it is left out.
    done: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct NewChange {
    /// Its id in kebab-case, such as "add-login".
    change_id: String,
    /// Its workflow, if not the project's.
    schema: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WriteArtifact {
    /// The id of an active change.
    change_id: String,
    /// An artifact ("proposal"), or a file ("specs/auth/spec.md").
    file: String,
    /// The whole text.
    text: String,
}

pub(super) fn new_change(state: &ServerState, asked: &NewChange) -> Result<StepView, Failure> {
    archive::new_change(&state.project()?, &asked.change_id, asked.schema.as_deref())?;
    let change = state.active_change(&asked.change_id)?;
    super::change::step(state, &change, None)
}

pub(super) fn write_artifact(
    state: &ServerState,
    asked: &WriteArtifact,
) -> Result<WrittenView, Failure> {
    let project = state.project()?;
    let change = state.active_change(&asked.change_id)?;
    let written = archive::write_file(&project, &change, &asked.file, &asked.text)?;
    Ok(WrittenView::of(&project, &change.id, &written, state.budget())?)
}

pub(super) fn preview_change(
    state: &ServerState,
    asked: &OfChange,
) -> Result<PreviewView, Failure> {
    let change = state.active_change(&asked.change_id)?;
    let preview = archive::preview(&state.project()?, &change.id)?;
    Ok(PreviewView::of(&change.id, &preview, state.budget()))
}

pub(super) async fn archive_change(
    state: ServerState,
    asked: ArchiveChange,
    context: Context,
) -> Result<Json<ArchivedView>, ToolError> {
    state.find_by_roots(&context).await?;
    let id = asked.change_id;
    let open = match archive(&state, id.clone(), asked.force.unwrap_or(false)).await {
        Err(failure) if failure.code == OPEN_TASKS => failure,
        archived => return Ok(Json(archived?)),
    };
    if !context.client_capabilities.can_elicit_forms() {
        return Err(open.into());
    }
    let question = format!("{}. Archive the change {id:?} now?", open.message);
    let yes = Field::boolean().with_title("Archive it with open tasks");
    let form = ElicitForm::new(question).field(YES, yes.required());
    let answer = context.elicit(YES, &form)?;
    let agreed = answer.content.get(YES) == Some(&Value::Bool(true));
    if answer.action == ElicitAction::Accept && agreed {
        Ok(Json(archive(&state, id, true).await?))
    } else {
        Err(Failure::new("DECLINED", "the user said no: nothing was written").into())
    }
}

async fn archive(state: &ServerState, id: String, force: bool) -> Result<ArchivedView, Failure> {
    let archived = state.read(move |state| {
        let change = state.active_change(&id)?;
        let how = How { force, ..How::default() };
        let archived =
            archive::archive_change(&state.project()?, &change.id, &archive::today(), how)?;
        Ok(ArchivedView::of(&change.id, &archived, state.budget()))
    });
    archived.await
}

pub(super) fn complete_task(
    state: &ServerState,
    asked: &CompleteTask,
) -> Result<TickedTask, Failure> {
    let change = state.active_change(&asked.change_id)?;
    let done = asked.done.unwrap_or(true);
    let ticked = archive::complete_task(&state.project()?, &change.id, &asked.task, done)?;
    Ok(TickedTask::of(&change.id, ticked))
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        let message = error.to_string();
        match error {
            ArchiveError::Read(error) => error.into(),
            ArchiveError::Refused(problems) => {
                let problems = PROBLEMS.page(problems.iter().map(ProblemView::of), 0);
                let message = format!("nothing was written: {message}");
                Self::new("CANNOT_ARCHIVE", message)
                    .with_data(json!({ "problems": problems.items, "total": problems.total }))
            }
            ArchiveError::OpenTasks(_) => Self::new(OPEN_TASKS, message),
            ArchiveError::Changed(_) => Self::new("CHANGED_MEANWHILE", message),
            ArchiveError::Task(_) => Self::not_found("TASK_NOT_FOUND", message),
            ArchiveError::Draft(_) => Self::new("CANNOT_WRITE", message),
            _ => Self::new("NOT_WRITTEN", message),
        }
    }
}

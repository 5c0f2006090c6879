//! What comes next in a change: an artifact with all that is needed to write it, a task, or the archive.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, notes, sentence};
use super::change::TaskProgress;
use super::content::{TaskView, oddities};
use super::finding::Verdict;
use super::scenario::Missing;
use crate::archive::{self, Written};
use crate::model::{ArtifactState, Change, State};
use crate::project::{Project, ReadError};
use crate::validate::{Finding, Report};
use crate::words::Words;

/// The state of a change, and its next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct StepView {
    /// The change.
    pub change_id: String,
    /// Its workflow.
    pub schema: String,
    /// Its artifacts in their order.
    pub artifacts: Vec<ArtifactView>,
    /// Its tasks.
    pub tasks: TaskProgress,
    /// What to do now: write, apply (work on the task) or archive.
    pub step: &'static str,
    /// The artifact to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<WriteView>,
    /// The first open task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskView>,
    /// How to do it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How far an artifact is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArtifactView {
    /// Its id.
    pub id: String,
    /// done, ready, blocked or skipped.
    pub state: &'static str,
    /// Its files that exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The artifacts that must come first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// An artifact to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WriteView {
    /// Its id.
    pub artifact: String,
    /// Its file below the folder of the change; a pattern if it has several.
    pub file: String,
    /// What it is for.
    pub description: String,
    /// The rules of this project for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// What this project says about itself; not to be repeated in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Its form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The files of the change to read first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
}

/// A file of a change that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct WrittenView {
    /// The change.
    pub change_id: String,
    /// Its path below the root of the project.
    pub file: String,
    /// Whether the file is new.
    pub created: bool,
    /// Whether its text was another before; if not, nothing was written.
    pub changed: bool,
    /// What was replaced, as a unified diff, if the file was there with another text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The verdict on the whole change, with the findings in this file.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl StepView {
    /// The next step of a change, or that of its artifact `asked`. Blocks.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn of(
        project: &Project,
        change: &Change,
        asked: Option<&str>,
        budget: Budget,
    ) -> Result<Self, Missing> {
        let states = change.artifacts();
        let artifact = match asked {
            Some(asked) => {
                let same = |one: &&ArtifactState<'_>| one.artifact.id.eq_ignore_ascii_case(asked);
                Some(states.iter().find(same).ok_or_else(|| {
                    let schema = &change.schema;
                    let message =
                        format!("the workflow {:?} has no artifact {asked:?}", schema.name);
                    let has = schema.artifacts.iter().map(|one| one.id.clone()).collect();
                    Missing::new("ARTIFACT_NOT_FOUND", message, has)
                })?)
            }
            None => states.iter().find(|one| one.state == State::Ready),
        };
        let task =
            change.all_tasks().find(|(_, task)| !task.done).map(|(_, task)| TaskView::of(task));
        let (step, instruction) = match (artifact, &task) {
            (Some(one), _) => ("write", one.artifact.instruction.clone()),
            (None, Some(_)) => ("apply", change.schema.apply_instruction.clone()),
            (None, None) => ("archive", None),
        };
        let refused = (step == "archive").then(|| refusal(project, &change.id)).flatten();
        let warning = artifact.and_then(|one| match one.state {
            State::Skipped => Some("the change declares `skip_specs`: write no deltas".to_owned()),
            State::Blocked => Some(format!("write {} first", one.missing.join(", "))),
            State::Done | State::Ready => None,
        });
        Ok(Self {
            change_id: change.id.clone(),
            schema: change.schema.name.clone(),
            artifacts: states.iter().map(ArtifactView::of).collect(),
            tasks: TaskProgress::of(change),
            step,
            write: artifact.map(|one| WriteView::of(project, change, one, budget)),
            task: task.filter(|_| asked.is_none()),
            instruction: instruction.map(|text| budget.share(4).beginning(&text).0),
            note: notes([warning, refused, oddities(change), Words::of(project).problem()]),
        })
    }
}

/// Why archiving would refuse a change.
fn refusal(project: &Project, id: &str) -> Option<String> {
    match archive::judge(project, Some(id)).map(|items| Report::of(&items, false)) {
        Ok(report) => (report.archivable == Some(false)).then_some(report.summary),
        Err(error) => Some(error.to_string()),
    }
}

impl WrittenView {
    /// A file that was written to the change `id`, with what validation finds in it. Blocks.
    ///
    /// # Errors
    /// As [`archive::judge`].
    pub fn of(
        project: &Project,
        id: &str,
        written: &Written,
        budget: Budget,
    ) -> Result<Self, ReadError> {
        let items = archive::judge(project, Some(id))?;
        let file = project.display_path(&written.path);
        let mut report = Report::of(&items, false);
        // A draft without deltas is expected, and this file is not the place for them.
        let is_here = |one: &Finding| one.file == file && one.rule != "deltas-missing";
        if let Some(other) = report.errors.iter().find(|one| !is_here(one)) {
            report.summary = format!("{} Besides this file: {}.", report.summary, other.message);
        }
        for findings in [&mut report.errors, &mut report.warnings, &mut report.infos] {
            findings.retain(is_here);
        }
        Ok(Self {
            change_id: id.to_owned(),
            file,
            created: written.created,
            changed: written.changed,
            diff: written.diff.as_deref().map(|diff| budget.share(30).beginning(diff).0),
            verdict: Verdict::of(&report, budget),
        })
    }
}

impl ArtifactView {
    fn of(one: &ArtifactState<'_>) -> Self {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        Self {
            id: one.artifact.id.clone(),
            state: one.state.name(),
            files: owned(&one.files),
            missing: owned(&one.missing),
        }
    }
}

impl WriteView {
    fn of(project: &Project, change: &Change, one: &ArtifactState<'_>, budget: Budget) -> Self {
        let words = Words::of(project);
        let artifact = one.artifact;
        let share = budget.share(4);
        let required = artifact.requires.iter().filter_map(|id| change.schema.artifact(id));
        let read = required.flat_map(|required| change.files_of(required));
        let template = project.template(&change.schema, &artifact.template);
        let context = words.context.as_deref();
        Self {
            artifact: artifact.id.clone(),
            file: artifact.files.clone(),
            description: artifact.description.clone(),
            rules: words.rules_for(&artifact.id).iter().map(|rule| sentence(rule)).collect(),
            context: context.map(|context| share.beginning(context).0),
            template: template.map(|template| share.beginning(template.trim()).0),
            read: read.map(str::to_owned).collect(),
        }
    }
}

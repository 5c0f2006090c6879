//! How a change would alter the specs, and how archiving it has altered them.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, notes, sentence};
use crate::archive::{Archived, Preview, PreviewSpec, Ticked};
use crate::validate::{ChangePart, Finding};

/// What a change would make of the specs if it were archived now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct PreviewView {
    /// The change.
    pub change_id: String,
    /// Whether it could be archived as it is.
    pub applicable: bool,
    /// The specs that it changes.
    pub specs: Vec<SpecPreview>,
    /// Why it cannot be archived as it is.
    pub problems: Vec<ProblemView>,
    /// What does not stand in the way and should be known.
    pub warnings: Vec<ProblemView>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One spec, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecPreview {
    /// The capability.
    pub capability: String,
    /// Whether the change makes it.
    pub is_new: bool,
    /// Whether its file goes with its last requirement.
    pub retired: bool,
    /// The difference, as a unified diff; empty if nothing changes.
    pub diff: String,
}

/// Something that is wrong with a change, or that it leaves wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProblemView {
    /// The file where it can be put right, below the root of the project.
    pub file: String,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong and what would be right.
    pub description: String,
    /// Proposal, tasks, design or deltas, of a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<&'static str>,
}

/// A change that was archived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct ArchivedView {
    /// What it was called.
    pub change_id: String,
    /// What it is called now: the day before its old name.
    pub archived_id: String,
    /// Its folder, below the root of the project.
    pub folder: String,
    /// The specs that were written, made or removed.
    pub specs: Vec<SpecPreview>,
    /// What should be known.
    pub warnings: Vec<ProblemView>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A task after it was ticked.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct TickedTask {
    /// The change.
    pub change_id: String,
    /// Its number or mark, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// What it says.
    pub text: String,
    /// Its line.
    pub line: u32,
    /// Its file, below the root of the project.
    pub file: String,
    /// Whether it is ticked now.
    pub done: bool,
    /// Whether it was another way before; if not, nothing was written.
    pub changed: bool,
    /// How many tasks are ticked now.
    pub completed: usize,
    /// How many there are.
    pub total: usize,
}

impl TickedTask {
    /// The view of a task of the change `id`.
    pub fn of(id: &str, ticked: Ticked) -> Self {
        Self {
            change_id: id.to_owned(),
            number: ticked.task.id,
            text: ticked.task.text,
            line: ticked.task.line,
            file: ticked.file,
            done: ticked.task.done,
            changed: ticked.changed,
            completed: ticked.completed,
            total: ticked.total,
        }
    }
}

impl PreviewView {
    /// The preview of the change `id`, as far as it fits.
    pub fn of(id: &str, preview: &Preview, budget: Budget) -> Self {
        let (specs, cut) = specs(&preview.specs, budget.share(2));
        let problems = budget.share(4).page(problems(&preview.problems), 0);
        let warnings = budget.share(4).page(self::problems(&preview.warnings), 0);
        let more = problems.next_offset.is_some() || warnings.next_offset.is_some();
        Self {
            change_id: id.to_owned(),
            applicable: preview.problems.is_empty(),
            specs,
            note: note(&preview.specs, cut, more),
            problems: problems.items,
            warnings: warnings.items,
        }
    }
}

impl ArchivedView {
    /// The view of the archived change, formerly `id`, as far as it fits.
    pub fn of(id: &str, archived: &Archived, budget: Budget) -> Self {
        let (specs, cut) = specs(&archived.specs, budget.share(2));
        let warnings = budget.share(4).page(problems(&archived.warnings), 0);
        Self {
            change_id: id.to_owned(),
            archived_id: archived.id.clone(),
            folder: archived.path.to_string_lossy().into_owned(),
            specs,
            note: note(&archived.specs, cut, warnings.next_offset.is_some()),
            warnings: warnings.items,
        }
    }
}

impl ProblemView {
    /// The problem in an answer.
    pub fn of(problem: &Finding) -> Self {
        Self {
            file: problem.file.clone(),
            line: problem.line,
            description: sentence(&problem.message),
            section: problem.part.map(ChangePart::name),
        }
    }
}

/// The specs, each with an equal share for its diff, and the number of diffs that were cut.
fn specs(specs: &[PreviewSpec], budget: Budget) -> (Vec<SpecPreview>, usize) {
    let share = budget.share(specs.len());
    let mut cut = 0;
    let previews = specs.iter().map(|spec| {
        let (diff, was_cut) = share.beginning(&spec.diff());
        cut += usize::from(was_cut);
        SpecPreview {
            capability: spec.capability.clone(),
            is_new: spec.before.is_none(),
            retired: spec.retired,
            diff,
        }
    });
    (previews.collect(), cut)
}

fn problems(problems: &[Finding]) -> impl ExactSizeIterator<Item = ProblemView> {
    problems.iter().map(ProblemView::of)
}

fn note(specs: &[PreviewSpec], cut: usize, more_problems: bool) -> Option<String> {
    let cut = (cut > 0).then(|| {
        format!(
            "{cut} of {} differences are too long and cut; the whole texts are in the change's own files, which get_change \
             with the section deltas reads",
            specs.len()
        )
    });
    let more = more_problems
        .then(|| "there are more problems than are listed; fix these and ask again".to_owned());
    notes([cut, more])
}

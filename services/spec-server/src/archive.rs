//! Changes become part of the specs: what that would make of them, doing it, and ticking tasks off.
//!
//! A change is applied as OpenSpec does it, RENAMED, then REMOVED, MODIFIED and ADDED, with its refusals, and what is
//! in the specs already is not an error: a change may be applied twice. Unlike OpenSpec, which rewrites the whole spec,
//! only the lines of the requirements concerned are written; every other byte stays, line ends and a BOM too.
//!
//! The specs that would come of it are validated like any others before one is written: what validation refuses is not
//! archived. Open tasks are a reason to ask first.
//!
//! **Guarantees about failures.** Everything is read and checked before anything is written; if one capability cannot
//! be changed, none is. Each file is replaced whole, so that a crash leaves the old one or the new one. A failure while
//! writing puts back what was written before. A crash in the middle of several files leaves some of them new and the
//! change still active, and archiving it again does the rest, since the folder is moved last. (It is refused, not
//! guessed, if one rename takes the name that another has given up: the spec does not show whether they were done.) A
//! file that another program writes meanwhile is not overwritten, except at the very moment of the rename.

mod apply;
mod check;
mod commit;
mod lines;
mod names;
mod outcome;
mod parts;
mod plan;
mod task;

use std::path::PathBuf;

use jiff::Zoned;
use service_host::ReplaceError;

use crate::model::Line;
use crate::project::{Project, ReadError};
use crate::validate::ChangePart;

pub use apply::Counts;
pub use plan::Plan;
pub use task::{TaskAt, Ticked, complete_task};

/// What archiving a change would make of the specs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// One for each capability of the change whose delta can be applied, in their order.
    pub specs: Vec<PreviewSpec>,
    /// Why it cannot be archived; if empty, it can.
    pub problems: Vec<Problem>,
    /// Problems that do not prevent archiving.
    pub warnings: Vec<Problem>,
}

/// What becomes of one spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewSpec {
    /// The id of the spec.
    pub capability: String,
    /// Its text now, with LF line ends; `None` if the change makes it.
    pub before: Option<String>,
    /// Its text then, with LF line ends; empty if the file goes with its last requirement.
    pub after: String,
    /// From the one to the other, as a unified diff; empty if nothing changes.
    pub diff: String,
    /// Whether the file goes with its last requirement.
    pub retired: bool,
    /// What changes in it.
    pub counts: Counts,
}

/// Something that is wrong with a change, or that it leaves wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file where it can be put right, below the root of the project.
    pub path: PathBuf,
    /// Where in it.
    pub line: Option<Line>,
    /// The part of the change; `None` for a spec.
    pub part: Option<ChangePart>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// A change that was archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// Its id now: the name of its folder, which begins with the day.
    pub id: String,
    /// Its folder, below the root of the project.
    pub path: PathBuf,
    /// The specs that were written, made or removed.
    pub specs: Vec<PreviewSpec>,
    /// What should be known.
    pub warnings: Vec<Problem>,
}

/// Why something was not written. Nothing was, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The change, or a spec it concerns, cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be archived as it is.
    #[error("the change cannot be archived: {}", in_words(.0))]
    Refused(Vec<Problem>),
    /// There are open tasks, and archiving was not forced.
    #[error("the change is not archived: {}", in_words(std::slice::from_ref(.0)))]
    OpenTasks(Problem),
    /// A file is not as it was when it was read.
    #[error("{} was changed by another program meanwhile: nothing was written; read it again", .0.display())]
    Changed(PathBuf),
    /// The day is not a date.
    #[error("{0:?} is not a day; write YYYY-MM-DD")]
    BadDay(String),
    /// No task, or more than one, is meant.
    #[error("{0}")]
    Task(String),
    /// The disk's word.
    #[error("{0}")]
    Write(String),
}

/// What archiving the change `id` would do. Writes nothing.
///
/// # Errors
/// [`ReadError`] if the change or a spec it concerns cannot be read.
pub fn preview(project: &Project, id: &str) -> Result<Preview, ReadError> {
    Ok(Plan::of(project, id)?.preview())
}

/// Applies the change `id` to the specs and moves it to the archive, as of `day`, `YYYY-MM-DD`. A name that begins with
/// a day already keeps it. A change with open tasks is archived with `force` alone.
///
/// # Errors
/// [`ArchiveError`]; then nothing has changed.
pub fn archive_change(
    project: &Project,
    id: &str,
    day: &str,
    force: bool,
) -> Result<Archived, ArchiveError> {
    Plan::of(project, id)?.apply(day, force)
}

/// The day of today as `YYYY-MM-DD`, in the local time zone, as OpenSpec's own tool has it in the names of archived
/// changes.
#[must_use]
pub fn today() -> String {
    Zoned::now().date().to_string()
}

fn in_words(problems: &[Problem]) -> String {
    let sentences = problems.iter().map(|problem| {
        let path = problem.path.display();
        match problem.line {
            Some(line) => format!("{path}:{line}: {}", problem.message),
            None => format!("{path}: {}", problem.message),
        }
    });
    sentences.collect::<Vec<_>>().join("; ")
}

impl From<ReplaceError> for ArchiveError {
    fn from(error: ReplaceError) -> Self {
        match error {
            ReplaceError::Changed(path) => Self::Changed(path),
            error => Self::Write(error.to_string()),
        }
    }
}

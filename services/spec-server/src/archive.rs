//! Archiving: previews how a change would alter the specs, applies it, and ticks tasks.
//!
//! A change is applied as OpenSpec does it: RENAMED, then REMOVED, MODIFIED and ADDED, with the same refusals. An
//! operation that the spec already contains is not an error, so a change may be applied twice. Unlike OpenSpec, which
//! rewrites the whole spec, only the lines of the affected requirements are written. Every other byte stays, including
//! line ends and a BOM.
//!
//! The resulting specs are validated like any others before one is written. If validation rejects one, the change is
//! not archived. If tasks are open, the caller must confirm first.
//!
//! **Guarantees about failures.** Everything is read and checked before anything is written. If one capability cannot
//! be changed, none is. Each file is replaced as a whole, so that a crash leaves the old one or the new one. After a
//! failure while writing, the files that were already written are restored. A crash between several files leaves some
//! of them new and the change still active. Archiving it again completes it, since the folder is moved last. (One case
//! is refused, because the spec does not show whether it was applied: a rename takes the name that another rename has
//! freed.) A file that another program writes in the meantime is not overwritten, except at the very moment of the
//! rename.

mod apply;
mod check;
mod commit;
mod draft;
mod judge;
mod lines;
mod names;
mod outcome;
mod parts;
mod plan;
mod task;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Zoned;
use service_host::ReplaceError;
use similar::TextDiff;

use crate::project::{Project, ReadError};
use crate::validate::Finding;

pub use draft::{Written, new_change, write_file};
pub use judge::judge;
pub use plan::Plan;
pub use task::{Ticked, complete_task};

/// How archiving a change would alter the specs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// One entry for each capability of the change whose delta can be applied, in their order.
    pub specs: Vec<PreviewSpec>,
    /// Why it cannot be archived; if empty, it can.
    pub problems: Vec<Finding>,
    /// Problems that do not prevent archiving.
    pub warnings: Vec<Finding>,
}

/// How one spec would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewSpec {
    /// The id of the spec.
    pub capability: String,
    /// Its current text, with LF line ends; `None` if the change creates it.
    pub before: Option<String>,
    /// Its new text, with LF line ends; empty if the file is removed with its last requirement.
    pub after: String,
    /// Its file, below the root of the project.
    pub path: PathBuf,
    /// Whether the file is removed with its last requirement.
    pub retired: bool,
}

/// A change that was archived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    /// Its new id: the name of its folder, which begins with the date.
    pub id: String,
    /// Its folder, below the root of the project.
    pub path: PathBuf,
    /// The specs that were written, created or removed.
    pub specs: Vec<PreviewSpec>,
    /// Problems that did not prevent archiving.
    pub warnings: Vec<Finding>,
}

/// Why a change or a task was not written. Nothing was written, unless the message says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The change, or a spec that it affects, cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be archived in its current state.
    #[error("the change cannot be archived: {}", in_words(.0))]
    Refused(Vec<Finding>),
    /// There are open tasks, and archiving was not forced.
    #[error("the change is not archived: {}", in_words(std::slice::from_ref(.0)))]
    OpenTasks(Finding),
    /// A file has changed since it was read.
    #[error("{} was changed by another program meanwhile: nothing was written; read it again", .0.display())]
    Changed(PathBuf),
    /// The day is not a valid date.
    #[error("{0:?} is not a day; write YYYY-MM-DD")]
    BadDay(String),
    /// The task does not exist, or several match.
    #[error("{0}")]
    Task(String),
    /// A draft cannot be written as it was asked for.
    #[error("{0}")]
    Draft(String),
    /// An I/O error.
    #[error("{0}")]
    Write(String),
}

/// How a change is archived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct How {
    /// Although tasks are open.
    pub force: bool,
    /// Without a change to any spec, and whether its deltas could be applied or not.
    pub skip_specs: bool,
}

/// How long the search for the smallest diff of two texts may take. After that the diff may be larger.
const DIFF_TIME: Duration = Duration::from_millis(500);

impl PreviewSpec {
    /// Whether its text changes.
    pub fn is_changed(&self) -> bool {
        self.before.as_ref() != Some(&self.after)
    }

    /// The difference as a unified diff; empty if nothing changes.
    pub fn diff(&self) -> String {
        if !self.is_changed() {
            return String::new();
        }
        diff(&self.path, self.before.as_deref().unwrap_or_default(), &self.after)
    }
}

/// The difference of two texts of a file, as a unified diff.
fn diff(path: &Path, before: &str, after: &str) -> String {
    let path = path.display();
    TextDiff::configure()
        .timeout(DIFF_TIME)
        .diff_lines(before, after)
        .unified_diff()
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

/// Previews archiving the change `id`. Writes nothing.
///
/// # Errors
/// [`ReadError`] if the change or a spec that it affects cannot be read.
pub fn preview(project: &Project, id: &str) -> Result<Preview, ReadError> {
    Ok(Plan::of(project, id)?.preview())
}

/// Applies the change `id` to the specs and moves it to the archive under the date `day`, `YYYY-MM-DD`. A name that
/// already begins with a date keeps it. A change with open tasks is archived only with [`How::force`].
///
/// # Errors
/// [`ArchiveError`]. Nothing has changed then.
pub fn archive_change(
    project: &Project,
    id: &str,
    day: &str,
    how: How,
) -> Result<Archived, ArchiveError> {
    Plan::of(project, id)?.apply(day, how)
}

/// Today's date as `YYYY-MM-DD` in the local time zone. OpenSpec's own tool uses the same date in the names of archived
/// changes.
pub fn today() -> String {
    Zoned::now().date().to_string()
}

fn in_words(problems: &[Finding]) -> String {
    let sentences = problems.iter().map(|problem| {
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", problem.file, problem.message)
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

//! The folder of one change.

use std::path::{Path, PathBuf};

use super::error::{Kind, ReadError};
use super::files::Reader;
use super::layout::Dialect;
use super::walk;
use crate::model::Change;
use crate::parse;

/// The files in the folder of a change, not yet read.
pub(super) struct Folder {
    path: PathBuf,
    /// Capabilities and their files.
    deltas: Vec<(String, PathBuf)>,
}

impl Folder {
    /// Checks which files exist.
    pub(super) fn look(reader: &Reader, path: &Path, dialect: Dialect) -> Result<Self, ReadError> {
        let found = walk::deltas(reader, &path.join("specs"), dialect)?;
        // A delta that cannot be read must not be left out: the change would do less than its author intended.
        if let Some(problem) = found.unreadable.into_iter().next() {
            return Err(ReadError::Refused { path: problem.path, problem: problem.problem });
        }
        Ok(Self { path: path.to_owned(), deltas: found.items })
    }

    /// Every file that the change is made from, including files that do not exist.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let parts = ["proposal.md", "tasks.md", "design.md", ".openspec.yaml"];
        let parts = parts.into_iter().map(|name| self.path.join(name));
        let deltas = self.deltas.iter().map(|(_, path)| path.clone());
        parts.chain(deltas).collect()
    }

    /// Reads the change.
    pub(super) fn read(&self, reader: &Reader, kind: Kind, id: &str) -> Result<Change, ReadError> {
        let part = |name: &str| reader.source(&self.path.join(name));
        let proposal = part("proposal.md")?.map(parse::proposal);
        let tasks = part("tasks.md")?.map(parse::tasks);
        let design = part("design.md")?;
        let metadata = part(".openspec.yaml")?.map(parse::metadata);
        let mut deltas = Vec::new();
        for (capability, path) in &self.deltas {
            if let Some(source) = reader.source(path)? {
                deltas.push(parse::delta(capability, source));
            }
        }
        let dated = dated(id).filter(|_| kind == Kind::Archived);
        let name = undated(id).filter(|_| kind == Kind::Archived);
        Ok(Change {
            id: id.to_owned(),
            archived_on: dated.map(|(day, _)| day.to_owned()),
            title: parse::title_of_change(name.unwrap_or(id), proposal.as_ref()),
            proposal,
            tasks,
            design,
            metadata,
            deltas,
        })
    }
}

/// The date in the name of an archived change, and the rest of the name.
fn dated(id: &str) -> Option<(&str, &str)> {
    let dated = id.split_at_checked(10);
    dated.filter(|(day, _)| parse::is_day(day))
}

/// The name of an archived change without its date.
pub(super) fn undated(id: &str) -> Option<&str> {
    dated(id)?.1.strip_prefix('-')
}

/// The total length of the texts of a change.
pub(super) fn bytes(change: &Change) -> usize {
    change.sources().map(|source| source.text.len()).sum()
}

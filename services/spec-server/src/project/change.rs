//! The folder of one change.

use std::fs;
use std::path::{Path, PathBuf};

use super::Project;
use super::error::{Kind, ReadError};
use super::files::Reader;
use super::folders::What;
use super::walk;
use crate::model::{Change, ChangeFile, Source, Tasks};
use crate::parse;

/// The deepest folder that is searched, counted from the change's own folder.
const MAX_DEPTH: usize = 16;

/// The most files and folders of one change that are read.
const MAX_ENTRIES: usize = 10_000;

/// The files in the folder of a change, not yet read.
pub(super) struct Folder {
    path: PathBuf,
    /// The files, relative to the folder, sorted. Links to folders are included, but not followed.
    files: Vec<String>,
    is_partial: bool,
    /// Capabilities and their files.
    deltas: Vec<(String, PathBuf)>,
    /// The files that decide on its workflow.
    workflow: Vec<PathBuf>,
}

impl Folder {
    /// Checks which files exist.
    pub(super) fn look(project: &Project, path: &Path) -> Result<Self, ReadError> {
        let reader = &project.inner.reader;
        let found = walk::specs(reader, &path.join("specs"), project.layout().kind)?;
        // A delta that cannot be read must not be left out: the change would do less than its author intended.
        if let Some(problem) = found.unreadable.into_iter().next() {
            return Err(ReadError::Refused { path: problem.path, problem: problem.problem });
        }
        let mut folder = Self {
            path: path.to_owned(),
            files: Vec::new(),
            is_partial: false,
            deltas: found.items,
            workflow: project.workflow_files(),
        };
        folder.list(reader);
        Ok(folder)
    }

    fn list(&mut self, reader: &Reader) {
        let mut looked_at = 0;
        let mut waiting = vec![(String::new(), 0)];
        while let Some((prefix, depth)) = waiting.pop() {
            let Ok(list) = reader.list(&self.path.join(&prefix)) else {
                self.is_partial = true;
                continue;
            };
            self.is_partial |= list.is_cut;
            for entry in &list.entries {
                looked_at += 1;
                let below = format!("{prefix}{}", entry.name);
                if looked_at > MAX_ENTRIES || entry.is_odd {
                    self.is_partial = true;
                } else if entry.name.starts_with('.') && entry.name != ".openspec.yaml" {
                    // Editors and version control keep such files, and a file that is just being written is one.
                } else if entry.what != What::Folder {
                    self.files.push(below);
                } else {
                    if depth < MAX_DEPTH {
                        waiting.push((format!("{below}/"), depth + 1));
                    } else {
                        self.is_partial = true;
                    }
                }
            }
        }
        self.files.sort_unstable();
    }

    /// Every file that the change is made from.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let own = self.files.iter().map(|file| self.path.join(file));
        own.chain(self.workflow.iter().cloned()).collect()
    }

    /// Reads the change. Its proposal, its artifacts and its deltas must be readable; other files need not be.
    pub(super) fn read(
        &self,
        project: &Project,
        kind: Kind,
        id: &str,
    ) -> Result<Change, ReadError> {
        let reader = &project.inner.reader;
        let metadata = reader.source(&self.path.join(".openspec.yaml"))?.map(parse::metadata);
        let mut change = Change {
            id: id.to_owned(),
            archived_on: None,
            title: String::new(),
            schema: project.schema_of(metadata.as_ref()),
            files: Vec::with_capacity(self.files.len()),
            is_partial: self.is_partial,
            tasks: Vec::new(),
            metadata,
            deltas: Vec::new(),
        };
        for path in &self.files {
            let file = self.path.join(path);
            let bytes = fs::metadata(&file).map_or(0, |metadata| metadata.len());
            change.files.push(ChangeFile { path: path.clone(), bytes, text: None });
        }
        let artifacts = &change.schema.artifacts;
        let of_artifacts = artifacts.iter().flat_map(|artifact| change.files_of(artifact));
        let mut needed: Vec<String> = of_artifacts.map(str::to_owned).collect();
        needed.extend(["proposal.md", "tasks.md", "design.md"].map(str::to_owned));
        for file in &mut change.files {
            let is_needed = needed.contains(&file.path);
            let is_markdown = file.path.to_ascii_lowercase().ends_with(".md");
            // Links to folders are among the files.
            if (is_needed || is_markdown) && !self.path.join(&file.path).is_dir() {
                file.text = match reader.source(&self.path.join(&file.path)) {
                    Err(error) if is_needed => return Err(error),
                    read => read.unwrap_or_default(),
                };
            }
        }
        for (capability, path) in &self.deltas {
            if let Some(source) = reader.source(path)? {
                change.deltas.push(parse::delta(capability, source));
            }
        }
        change.tasks = tasks(&change);
        let dated = dated(id).filter(|_| kind == Kind::Archived);
        change.archived_on = dated.map(|(day, _)| day.to_owned());
        let name = undated(id).filter(|_| kind == Kind::Archived).unwrap_or(id);
        let proposal = change.text("proposal.md").cloned().map(parse::proposal);
        change.title = parse::title_of_change(name, proposal.as_ref());
        Ok(change)
    }
}

/// The task lists of a change: the files that its workflow tracks, or else its `tasks.md`.
fn tasks(change: &Change) -> Vec<Tasks> {
    let tracked = change.schema.tracked.as_deref().filter(|_| change.schema.is_known());
    let mut files: Vec<&Source> = match tracked {
        Some(pattern) => {
            change.matching(pattern).into_iter().filter_map(|path| change.text(path)).collect()
        }
        None => Vec::new(),
    };
    if files.is_empty() {
        files.extend(change.text("tasks.md"));
    }
    files.into_iter().cloned().map(parse::tasks).collect()
}

/// The date in the name of an archived change, and the rest of the name.
pub(super) fn dated(id: &str) -> Option<(&str, &str)> {
    let dated = id.split_at_checked(10);
    dated.filter(|(day, _)| parse::is_day(day))
}

/// The name of an archived change without its date.
pub(super) fn undated(id: &str) -> Option<&str> {
    dated(id)?.1.strip_prefix('-')
}

/// The total length of the texts of a change.
pub(super) fn bytes(change: &Change) -> usize {
    change.files.iter().filter_map(|file| file.text.as_ref()).map(|text| text.text.len()).sum()
}
